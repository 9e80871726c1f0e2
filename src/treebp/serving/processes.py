"""Several processes that do the same, for a program that Python lets use one core at a time."""

import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_PAUSE_SECONDS = 1.0  # before a process that has ended by itself is replaced


def run_in_processes(work: Callable[[T], None], shares: Sequence[T]) -> None:
    """Work on each share in a process of its own, until this one is stopped; they hear of that by SIGTERM.

    A process that ends by itself is replaced. If this one is killed, all end.
    """
    ours, theirs = os.pipe()  # nobody writes: its end is that of this process
    running: dict[int, T] = {}

    def start(share: T) -> None:
        process = os.fork()
        if process:
            running[process] = share
            return
        try:
            os.close(theirs)
            threading.Thread(target=_end_with, args=(ours,), daemon=True).start()
            work(share)
        finally:
            os._exit(0)

    gc.freeze()  # what all have in common stays so
    try:
        for share in shares:
            start(share)
        while True:
            process, status = os.wait()
            _LOG.error("a process has ended by itself, with status %d: another one takes its place", status)
            time.sleep(_PAUSE_SECONDS)
            start(running.pop(process))
    finally:
        for process in running:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        for process in running:
            with suppress(ChildProcessError):
                os.waitpid(process, 0)


def _end_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
