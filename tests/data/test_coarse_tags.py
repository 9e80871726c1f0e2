"""Coarse tags: from a mapping, from a mapping file, or the treebank's own."""

import os
from pathlib import Path

import pytest

from treebp.data.coarse_tags import PENN_TO_UNIVERSAL, coarse_tags, default_mapping, read_tag_map
from treebp.data.errors import TreebankError
from treebp.data.sentence import Sentence

DATA = Path(os.environ.get("TREEBP_DATA", Path(__file__).parents[3] / "shared" / "data"))
UNIVERSAL_TAGS = {"VERB", "NOUN", "PRON", "ADJ", "ADV", "ADP", "CONJ", "DET", "NUM", "PRT", "X", "."}
SENTENCE = Sentence.from_columns(["a", "b"], coarse_tags=["D", "N"], fine_tags=["DT", "ODD"])


def test_without_a_mapping_the_coarse_column_is_taken() -> None:
    assert coarse_tags(SENTENCE) == ["D", "N"]


def test_a_mapping_applies_to_the_fine_tags_and_knows_no_others() -> None:
    assert coarse_tags(SENTENCE, {"DT": "DET"}) == ["DET", "X"]


def test_the_penn_mapping_uses_each_universal_tag_once() -> None:
    assert set(PENN_TO_UNIVERSAL.values()) == UNIVERSAL_TAGS


@pytest.mark.parametrize(
    ("tags", "penn"),
    [(["NN", "VBZ", "``"], True), (["NN", "NOUN"], False), (["_"], False), ([], False), (["SYM", "NUM"], False)],
)
def test_only_a_column_of_penn_tags_is_mapped_by_default(tags: list[str], penn: bool) -> None:
    assert (default_mapping(tags) is not None) == penn


def test_mapping_file(tmp_path: Path) -> None:
    path = tmp_path / "en.map"
    path.write_bytes(b"NN\tNOUN\r\n\n#\t.\nNN\tNOUN\n")
    assert read_tag_map(path) == {"NN": "NOUN", "#": "."}


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"NN\tNOUN\nVB\n", 2, "expected a fine tag"),
        (b"NN\tNOUN\tmore\n", 1, "expected a fine tag"),
        (b"NN\tNOUN\nNN\tVERB\n", 2, "already mapped to 'NOUN'"),
        (b"N\xff\tNOUN\n", 1, "not UTF-8"),
        (b"\n", None, "holds no pair"),
    ],
)
def test_a_bad_mapping_file_is_named_by_line(tmp_path: Path, content: bytes, line: int | None, reason: str) -> None:
    path = tmp_path / "bad.map"
    path.write_bytes(content)
    with pytest.raises(TreebankError, match=reason) as caught:
        read_tag_map(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the treebanks of TREEBP_DATA")
def test_the_built_in_mapping_agrees_with_the_published_one() -> None:
    published = read_tag_map(DATA / "universal_tagset" / "en-ptb.map")
    assert PENN_TO_UNIVERSAL.items() <= published.items()
    for path in (DATA / "universal_tagset").glob("*.map"):
        assert set(read_tag_map(path).values()) <= UNIVERSAL_TAGS
