"""Sentences from files of all kinds."""

import io
from pathlib import Path

import pytest

from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.errors import TreebankError
from treebp.data.plain_text import plain_text
from treebp.pipeline.reading import read_sentences
from treebp.tokenising.fitting import fit_tokeniser
from treebp.tokenising.tokeniser import Tokeniser

SENTENCES = embedded_treebank("dev")[:3]


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return fit_tokeniser(embedded_treebank("train")[:100])


def test_the_name_says_what_a_file_is(tokeniser: Tokeniser, tmp_path: Path) -> None:
    text = plain_text(SENTENCES).text
    for name in ("a.conllu", "a.conll.gz", "a.conllx"):
        write_conll(tmp_path / name, SENTENCES)
        assert [one.text for one in read_sentences(tmp_path / name, None, tokeniser)] == [one.text for one in SENTENCES]
    for name in ("a.txt", "a", "conllu.md"):
        (tmp_path / name).write_text(text)
        assert plain_text(list(read_sentences(tmp_path / name, None, tokeniser))).text == text
    (tmp_path / "a.tokens").write_text("He saw her .\n\n  She\tsleeps\r\n")
    read = list(read_sentences(tmp_path / "a.tokens", None, tokeniser))
    assert [one.forms for one in read] == [["He", "saw", "her", "."], ["She", "sleeps"]]
    assert [(one.source, one.line) for one in read] == [(str(tmp_path / "a.tokens"), line) for line in (1, 3)]


def test_whoever_knows_better_says_so(tokeniser: Tokeniser) -> None:
    conll = "".join(one.text for one in SENTENCES).encode()
    assert list(read_sentences(io.BytesIO(conll), None, None)) == list(
        read_sentences(io.BytesIO(conll), "conll", tokeniser)
    )
    with pytest.raises(TreebankError, match="looks like CoNLL"):
        list(read_sentences(io.BytesIO(conll), None, tokeniser))
    as_text = list(read_sentences(io.BytesIO(conll), "text", tokeniser, ranges=True))
    assert plain_text(as_text).text == conll.decode()
    assert "TokenRange=0:1" in as_text[0].text
    with pytest.raises(ValueError, match="unknown kind of input 'html'"):
        read_sentences(io.BytesIO(b"x"), "html", tokeniser)
    with pytest.raises(ValueError, match="no tokeniser"):
        read_sentences(io.BytesIO(b"x"), "text", None)


@pytest.mark.parametrize("kind", ["text", "tokens"])
def test_a_byte_that_is_no_text_is_named(tokeniser: Tokeniser, kind: str) -> None:
    before = "Bäume\n".encode() * 20_000
    with pytest.raises(TreebankError, match=f"<stream>:20001: byte 0xff at offset {len(before) + 2} is not utf-8"):
        list(read_sentences(io.BytesIO(before + b"ab\xffc"), kind, tokeniser))
    latin = list(read_sentences(io.BytesIO(b"B\xe4ume"), kind, tokeniser, encoding="latin-1"))
    assert [one.forms for one in latin] == [["Bäume"]]
