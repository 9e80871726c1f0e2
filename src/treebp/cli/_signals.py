"""Ctrl-C and friends: heard within a second whatever is running, and nothing is left half-written.

Python runs a signal's handler only when the main thread is back from compiled code, and a long sentence may keep it
there for minutes. So a second thread listens too. If the program has not left by itself soon after a signal, that
thread removes unfinished files and ends the process.
"""

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any

_SIGNALS = {name: getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
_PATIENCE_SECONDS = 0.6

last_words: list[str] = []
"""What to tell the user when the program is stopped by a signal, such as how to continue."""


class Stopped(BaseException):
    """A signal has come; ``status`` is what the program leaves with, 128 and the signal's number.

    No KeyboardInterrupt, which typer would take for itself.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def listen() -> None:
    """From now on signals that mean to stop raise `Stopped`; one that was ignored, as by nohup, still is."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    for number in _SIGNALS.values():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    sys.unraisablehook = _unless_stopped
    threading.Thread(target=_end_if_need_be, args=(ours,), daemon=True).start()


def hand_over() -> None:
    """Leave signals to a program that hears them by itself, and takes its time; what it raises anew is `Stopped`."""
    signal.set_wakeup_fd(-1)


def ignore() -> None:
    """The work is done: from now on signals change nothing."""
    for number in _SIGNALS.values():
        signal.signal(number, signal.SIG_IGN)


def farewell(number: int) -> None:
    """Say what there is to say after a signal."""
    words = [*last_words, "treebp: interrupted" if number == signal.SIGINT else "treebp: stopped by a signal"]
    with suppress(OSError):
        os.write(2, "".join(f"{line}\n" for line in words).encode())


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


def _unless_stopped(unraisable: Any) -> None:
    """Where an exception cannot be raised, as in a call from compiled code, a signal is left to the other thread."""
    if unraisable.exc_type is not Stopped:
        sys.__unraisablehook__(unraisable)


def _end_if_need_be(signals: socket.socket) -> None:
    while (number := signals.recv(1)[0]) not in _SIGNALS.values():
        pass
    time.sleep(_PATIENCE_SECONDS)

    from treebp.data.files import remove_unfinished

    remove_unfinished()
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(2, b"\r\x1b[K\x1b[?25h")  # a bar may have hidden the cursor
    farewell(number)
    os._exit(128 + number)
