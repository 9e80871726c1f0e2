"""The whole way from text to trees on the command line."""

from pathlib import Path

import pytest
from tiny import OPTIONS, treebp, write_treebank

from treebp.data.conll import read_conll
from treebp.data.plain_text import plain_text

SMALL = [*OPTIONS, "--set", "tagger_weight_bits=14", "--set", "tagger_folds=2", "--threads", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a treebank, its text, and a model of the whole way."""
    folder = tmp_path_factory.mktemp("pipeline")
    write_treebank(folder)
    run = treebp("train", "train.conllu", "--dev", "dev.conllu", "-o", "en.model", "--pipeline", *SMALL, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "from raw text: Tokens " in run.stdout
    assert 'tags = "predicted"\ntokeniser = true' in (folder / "en.model.config.toml").read_text()
    assert treebp("convert", "test.conllu", "-o", "test.txt", folder=folder).returncode == 0
    return folder


def test_text_becomes_trees_that_can_be_scored(folder: Path) -> None:
    run = treebp("parse", "en.model", "test.txt", "-o", "test.parsed.conllu", folder=folder)
    assert run.returncode == 0, run.stderr
    parsed = list(read_conll(folder / "test.parsed.conllu", require_heads=True))
    assert plain_text(parsed).text == (folder / "test.txt").read_text()
    scores = treebp("evaluate", "--raw", "test.conllu", "test.parsed.conllu", folder=folder)
    assert "BLEX" in scores.stdout


def test_standard_input_is_text_unless_told_otherwise(folder: Path) -> None:
    text = treebp("parse", "en.model", "--ranges", folder=folder, stdin="He saw\n her.\n")
    assert "TokenRange=3:6|SpacesAfter=\\n\\s" in text.stdout
    tokens = treebp("parse", "en.model", "--input", "tokens", folder=folder, stdin="He saw\nher .\n")
    assert [line.split("\t")[1] for line in tokens.stdout.splitlines() if line[:1].isdigit()] == [
        "He",
        "saw",
        "her",
        ".",
    ]
    treebank = (folder / "test.conllu").read_text()
    assert treebp("parse", "en.model", "--input", "conll", folder=folder, stdin=treebank).returncode == 0
    refused = treebp("parse", "en.model", folder=folder, stdin=treebank)
    assert (refused.returncode, "say --input conll" in refused.stderr) == (1, True)
    assert treebp("parse", "en.model", "--input", "html", folder=folder, stdin="").returncode == 1
    empty = treebp("parse", "en.model", folder=folder, stdin=" \n")
    assert (empty.returncode, empty.stdout) == (0, "")


def test_a_run_that_is_complete_is_known_again(folder: Path) -> None:
    options = ("train", "train.conllu", "--dev", "dev.conllu", "-o", "en.model", *SMALL, "--resume")
    again = treebp(*options, "--pipeline", folder=folder)
    assert (again.returncode, "is complete" in again.stdout) == (0, True)
    other = treebp(*options, folder=folder)
    assert (other.returncode, "of another run" in other.stderr) == (2, True)


def test_without_spaces_to_learn_from_there_is_a_warning(folder: Path) -> None:
    text = (folder / "train.conllu").read_text()
    (folder / "bare.conllu").write_text("".join(line for line in text.splitlines(True) if not line.startswith("#")))
    run = treebp("train", "bare.conllu", "-o", "bare.model", "--pipeline", *SMALL, "--epochs", "1", folder=folder)
    assert run.returncode == 0
    assert "warning: bare.conllu says nowhere that no space follows a token" in run.stderr
