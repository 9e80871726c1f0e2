"""The one place where errors become messages and exit statuses.

A user's mistake or a broken file is one line on standard error that says where and what to do, and status 1; wrong
usage is status 2. A reader that stops early (``treebp ... | head``) gets no message, and status 141 as from any Unix
tool; after a signal the status is 128 and its number. Anything else is our mistake: the traceback is
shown.
"""

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from treebp.cli._signals import Stopped, farewell

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed
_BROKEN_PIPE = 128 + 13


def printable(text: str) -> str:
    r"""The text with control characters spelt out, since terminals obey them.

    Example:
        >>> print(printable("nsubj\x1b[2J"))
        nsubj\u001b[2J

    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def complain(message: str) -> None:
    """Print a line on standard error; where that is impossible, there is nobody to tell."""
    try:
        typer.echo(f"treebp: {printable(' '.join(message.split()))}", err=True)
    except OSError:
        _silence(sys.stderr)


@contextmanager
def errors_told(*, debug: bool) -> Iterator[None]:
    """Turn errors into messages, and raise typer.Exit with the status; ``debug`` leaves those of users alone."""
    try:
        yield
        sys.stdout.flush()  # so that a full disk is noticed here
    except (typer.Exit, SystemExit):
        raise
    except BaseException as error:
        if (stop := _stop_behind(error)) is not None:
            farewell(stop.status - 128)
            raise typer.Exit(stop.status) from error
        if isinstance(error, BrokenPipeError):
            _silence(sys.stdout)
            raise typer.Exit(_BROKEN_PIPE) from error
        if isinstance(error, (ValueError, OSError, MemoryError, RecursionError)):
            _silence(sys.stdout)
            if not debug:
                complain(_one_line(error))
                raise typer.Exit(1) from error
        raise


def usage_message(error: Any) -> str:
    """What is wrong with a command's arguments."""
    context = getattr(error, "ctx", None)
    what = error.format_message()
    return (
        f"{what}{'' if what.endswith(('.', '?')) else '.'} See: {context.command_path if context else 'treebp'} --help"
    )


def open_standard_streams() -> None:
    """Stand in for standard streams that are closed: using them is an error then, and their numbers go to no file.

    Messages to a closed standard error vanish. What standard output's encoding lacks is spelt out.
    """
    for name, mode, flags in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, flags), mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _stop_behind(error: BaseException) -> Stopped | None:
    """The signal that is behind an error, if any.

    Numba wraps what arrives while a kernel returns in a SystemError; where a lock is being taken, giving it back fails.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Stopped):
            return cause
        if isinstance(cause, KeyboardInterrupt):
            return Stopped(signal.SIGINT)
        cause = cause.__cause__ or cause.__context__
    return None


def _silence(stream: TextIO) -> None:
    """What is still waiting to be written there would fail once more when Python ends."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        # All other files are named where they are opened.
        return f"{'<stdout>' if error.filename is None else os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"{error or 'there is not enough memory'}"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply"
    return str(error) or type(error).__name__
