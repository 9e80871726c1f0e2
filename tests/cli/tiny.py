"""A treebank and settings so small that training takes a second."""

import subprocess
import sys
from pathlib import Path

from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from zygote import shared_zygote

SETTINGS = {
    "weight_bits": 14,
    "pruner_weight_bits": 14,
    "pruner_epochs": 1,
    "pruner_folds": 2,
    "rate": 0.05,
    "epochs": 2,
}
OPTIONS = [option for key, value in SETTINGS.items() for option in ("--set", f"{key}={value}")]


def write_treebank(folder: Path) -> None:
    write_conll(folder / "train.conllu", embedded_treebank("train")[:40])
    write_conll(folder / "dev.conllu", embedded_treebank("dev")[:10])
    write_conll(folder / "test.conllu", embedded_treebank("test")[:10])


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", "from treebp.cli import main; main()", *map(str, arguments)]


def treebp(*arguments: str | Path, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end, without the seconds that a new process takes to load everything."""
    words = [*map(str, arguments)]
    outcome = shared_zygote().run(words, folder, stdin=stdin.encode(), limit=300.0)
    assert outcome.status is not None, "it takes too long"
    return subprocess.CompletedProcess(words, outcome.status, outcome.out.decode(), outcome.err)
