"""A live bar for long work, and a word of warning before kernels compile."""

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} words/s" if task.speed else "", style="progress.data.speed")


class WordsBar:
    """A bar of words done, with rate and time left; it shows itself on a terminal only.

    Use it as a context manager; what is printed on the console meanwhile appears above the bar.
    """

    def __init__(self, console: Console, *, visible: bool = True) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), _Rate(), TimeRemainingColumn())
        visible = visible and console.is_terminal
        self._bar = Progress(*columns, console=console, transient=True, disable=not visible)
        self._task: TaskID | None = None

    def __enter__(self) -> "WordsBar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def start(self, what: str, words: float = 0) -> None:
        """Begin a piece of work of so many words; 0 if their number is unknown."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(what, total=words or None)

    def advance(self, words: int, total: float | None = None) -> None:
        """So many more words are done, of a total that is known better by now."""
        assert self._task is not None
        self._bar.update(self._task, advance=words, total=total)


def announce_compilation(console: Console, kernel: Any) -> bool:
    """Say so if Numba has not yet compiled a kernel for this version of Python, or cannot keep what it compiles.

    Return whether it is to be compiled and kept.
    """
    if kernel.stats.cache_path is None:
        console.print("compiling kernels, up to a minute at every start: set NUMBA_CACHE_DIR to a folder for them")
        return False
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    if any(Path(kernel.stats.cache_path).glob(f"*.{kernel.__name__}-*.py{version}*.nbi")):
        return False
    console.print("compiling kernels (first run only, up to a minute)")
    return True
