"""The bar, and the warning before kernels compile."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

from rich.console import Console

from treebp.cli._progress import WordsBar, announce_compilation


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_compilation_is_announced_until_the_cache_holds_the_kernel(tmp_path: Path) -> None:
    kernel = SimpleNamespace(__name__="learn", stats=SimpleNamespace(cache_path=str(tmp_path)))
    console = Console(file=io.StringIO())
    (tmp_path / "sentence.learn-66.py27.nbi").touch()  # of another version of Python
    (tmp_path / f"sentence.learn_more-9.py{sys.version_info.major}{sys.version_info.minor}.nbi").touch()
    assert announce_compilation(console, kernel)
    assert text_of(console) == "compiling kernels (first run only, up to a minute)\n"
    (tmp_path / f"sentence.learn-66.py{sys.version_info.major}{sys.version_info.minor}.nbi").touch()
    assert not announce_compilation(console, kernel)
    assert text_of(console).count("\n") == 1


def test_numba_knows_the_cache_of_the_kernels() -> None:
    from treebp.kernels.tree_group import send_trees

    console = Console(file=io.StringIO())
    announce_compilation(console, send_trees)
    assert text_of(console) in ("", "compiling kernels (first run only, up to a minute)\n")


def test_the_bar_shows_itself_on_a_terminal_only() -> None:
    shown = {}
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
        with WordsBar(console) as bar:
            bar.start("pruner", 10)
            bar.advance(5)
            bar.start("[red]parsing[/red]")  # of unknown length; and names are no markup
            bar.advance(5, 20.0)
            console.print("above the bar")
        shown[terminal] = text_of(console)
    assert "[red]parsing[/red]" in shown[True]
    assert "above the bar" in shown[True]
    assert shown[False] == "above the bar\n"
    hidden = Console(file=io.StringIO(), force_terminal=True)
    with WordsBar(hidden, visible=False) as bar:
        bar.start("parsing", 10)
    assert "parsing" not in text_of(hidden)
