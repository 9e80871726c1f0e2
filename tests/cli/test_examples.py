"""Every example in the README's section on the parser and in the commands' help runs as printed."""

import re
import shlex
from pathlib import Path

import pytest
from tiny import SETTINGS, write_treebank
from typer.testing import CliRunner

from treebp.cli import app
from treebp.experiments import plans
from treebp.parsing.config import Config

README = Path(__file__).parent.parent.parent / "README.md"
HELP = {
    command.callback.__name__: re.findall(r"Example: (treebp .*)", command.callback.__doc__ or "")
    for command in app.registered_commands
    if command.callback
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files that the examples name, and defaults that make training short."""
    monkeypatch.chdir(tmp_path)
    for name, value in SETTINGS.items():
        monkeypatch.setitem(Config.__init__.__kwdefaults__, name, value)
    monkeypatch.setattr(plans, "QUICK_SETTINGS", ())
    monkeypatch.setattr(plans, "QUICK_SENTENCES", 30)
    write_treebank(tmp_path)
    for copy in ("gold", "baseline", "new"):
        (tmp_path / f"{copy}.conllu").write_bytes((tmp_path / "test.conllu").read_bytes())
    (tmp_path / "wsj_0001.mrg").write_text("( (S (NP-SBJ (NNS Trees)) (VP (VBP grow)) (. .)))\n")
    return tmp_path


def run(line: str) -> None:
    """Run a command line of ours, with redirections from and to files."""
    words = shlex.split(line, comments=True)
    source, target = (Path(words[words.index(mark) + 1]) if mark in words else None for mark in "<>")
    end = min([words.index(mark) for mark in "<>" if mark in words], default=len(words))
    assert words[0] == "treebp"
    result = CliRunner().invoke(app, words[1:end], input=source.read_bytes() if source else None)
    assert result.exit_code == 0, result.output
    if target:
        target.write_text(result.stdout)


def test_the_examples_of_the_help_run(small: Path) -> None:
    for command in ("init_config", "train", "parse", "inspect", "evaluate", "debug_data", "convert", "experiment"):
        assert HELP[command], command
        for line in HELP[command]:
            run(line)


def test_the_examples_of_the_readme_run(small: Path) -> None:
    section = README.read_text(encoding="utf-8").split("\n## The parser\n")[1].split("\n## ")[0]
    commands = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
        if line.startswith("treebp ") and not line.startswith("treebp demo")
    ]
    assert {shlex.split(line)[1] for line in commands} >= {"train", "parse", "evaluate", "init-config", "debug-data"}
    Path("notes.txt").write_text("The dog sleeps.\n")
    for line in commands:
        run(line)
    assert Path("parsed.conllu").exists()
