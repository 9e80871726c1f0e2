"""Treebanks in a folder, and without one."""

import lzma
from pathlib import Path

import pytest

from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from treebp.experiments.treebanks import Treebank, codes_in, find_treebanks


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_conll(tmp_path / "da.train.conll.xz", embedded_treebank("train")[:5])
    write_conll(tmp_path / "da.test.conllu", embedded_treebank("test")[:3])
    (tmp_path / "README.md").write_text("not a treebank")
    return tmp_path


def test_files_are_found_whatever_their_ending_and_dev_may_be_missing(folder: Path) -> None:
    treebank = Treebank("da", folder)
    assert [len(treebank.read(split)) for split in ("train", "dev", "test")] == [5, 0, 3]
    assert codes_in(folder) == ["da"]


def test_a_missing_file_is_named_with_what_there_is(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"treebanks there: da") as caught:
        Treebank("sv", folder).read("train")
    assert caught.value.filename == str(folder / "sv.train.conllu")
    (folder / "da.test.conllu").unlink()
    with pytest.raises(FileNotFoundError):
        Treebank("da", folder).fingerprint()
    with pytest.raises(NotADirectoryError):
        codes_in(folder / "none")


def test_the_fingerprint_follows_the_data(folder: Path) -> None:
    treebank = Treebank("da", folder)
    before = treebank.fingerprint()
    assert before == Treebank("da", folder).fingerprint()
    path = folder / "da.train.conll.xz"
    path.write_bytes(lzma.compress(lzma.decompress(path.read_bytes()) + b"\n"))
    assert treebank.fingerprint() != before
    assert Treebank("embedded").fingerprint() != Treebank("embedded-nonprojective").fingerprint()


def test_without_a_folder_only_the_embedded_ones_are_there() -> None:
    with pytest.raises(ValueError, match=r"'da' needs --data; without it there are embedded"):
        find_treebanks(None, ["da"])
    assert Treebank("embedded").read("dev") == embedded_treebank("dev")
