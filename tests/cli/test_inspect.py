"""``treebp inspect``: that it writes its page, and what it refuses."""

import re
from html import unescape
from pathlib import Path

import pytest
from tiny import SETTINGS, treebp, write_treebank

from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.training import fit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a treebank of ten test sentences and a model."""
    folder = tmp_path_factory.mktemp("inspect")
    write_treebank(folder)
    parser = fit(embedded_treebank("train")[:40], embedded_treebank("dev")[:10], Config(**SETTINGS), threads=1)
    parser.save(folder / "en.model")
    return folder


def test_the_command_writes_the_page_once(folder: Path) -> None:
    arguments = ("inspect", "en.model", "test.conllu", "--sentence", "3", "-o", "page.html")
    result = treebp(*arguments, folder=folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "written: page.html\n")
    text = (folder / "page.html").read_text(encoding="utf-8")
    words = re.findall(r'<tr><td class="number soft">\d+</td><td><bdi>(.*?)</bdi></td>', text)
    assert list(map(unescape, words)) == embedded_treebank("test")[2].forms
    assert "Sentence 3" in text

    refused = treebp(*arguments, folder=folder)
    assert refused.returncode == 2
    assert "page.html exists: choose another name, or add --force." in refused.stderr
    assert treebp(*arguments, "--force", folder=folder).returncode == 0
    assert (folder / "page.html").read_text(encoding="utf-8") == text
    printed = treebp(*arguments[:-1], "-", folder=folder)
    assert printed.stdout == text


@pytest.mark.parametrize("number", ["0", "11"])
def test_a_sentence_that_is_not_there_is_wrong_usage(folder: Path, number: str) -> None:
    result = treebp("inspect", "en.model", "test.conllu", "--sentence", number, "-o", "none.html", folder=folder)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert ("test.conllu has 10 sentences." in result.stderr) == (number == "11")
    assert not (folder / "none.html").exists()


def test_bad_data_is_named_with_its_place(folder: Path) -> None:
    (folder / "bad.conllu").write_text("1\tTrees\n")
    result = treebp("inspect", "en.model", "bad.conllu", "-o", "none.html", folder=folder)
    assert result.returncode == 1
    assert result.stderr.startswith("treebp: bad.conllu:1:")
