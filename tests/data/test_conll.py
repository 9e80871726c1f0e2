import io
import os
import re
from pathlib import Path
from typing import Any

import pytest

from treebp.data.conll import read_conll, write_conll
from treebp.data.errors import TreebankError
from treebp.data.sentence import Sentence

UD = """\
# sent_id = 1
# text = don't go
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tdo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_
3.1\tnow\tnow\tADV\tRB\t_\t_\t_\t3:advmod\t_

# sent_id = 2
1\tno\tno\tINTJ\tUH\t_\t0\troot\t_\t_

"""
X = "1\tWe\t_\tPRP\tPRP\t_\t2\tSBJ\t2\tSBJ\n2\tgo\t_\tVB\tVB\t_\t0\tROOT\t0\tROOT\n\n"


def read(text: str | bytes, **options: Any) -> list[Sentence]:
    return list(read_conll(io.BytesIO(text.encode() if isinstance(text, str) else text), **options))


def written(sentences: list[Sentence], **options: Any) -> bytes:
    stream = io.BytesIO()
    assert write_conll(stream, sentences, **options) == len(sentences)
    return stream.getvalue()


def row(number: object, form: str = "x", head: object = 0, tag: str = "NOUN") -> str:
    return f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\tdep\t_\t_\n"


def test_columns_are_those_of_the_words() -> None:
    first, second = read(UD)
    assert first.forms == ["do", "n't", "go"]
    assert first.lemmas == ["do", "not", "go"]
    assert first.coarse_tags == ["AUX", "PART", "VERB"]
    assert first.fine_tags == ["VB", "RB", "VB"]
    assert first.feats == ["Mood=Imp", "_", "_"]
    assert first.heads == [3, 3, 0]
    assert first.labels == ["aux", "advmod", "root"]
    assert first.comments == ["# sent_id = 1", "# text = don't go"]
    assert (len(first), first.line, first.line_of(3)) == (3, 1, 6)
    assert (second.source, second.line, second.line_of(1)) == ("<stream>", 9, 10)


@pytest.mark.parametrize(
    "text",
    [
        UD,
        X,
        UD.replace("\n", "\r\n"),
        "\ufeff" + UD,
        "\ufeff" + X.replace("\n", "\r\n"),
        X[:-1],
        X[:-2],
        X[:-2] + "\n  ",
        X[:-2] + "\n \t \n\n\n",
        "\n\n" + X + "\n\n\n" + X,
        "# a header\n\n" + X,
        X.replace("2\tgo", "# a comment in between\n2\tgo"),
        X.replace("We", "W\u2028e\x0b\x85\x1c"),
        X.replace("We", "W\x00e"),
        X.replace("_\t2\tSBJ\t2\tSBJ\n", "_\t2\tSBJ\t2\tSBJ\r\n"),
        X + "\ufeff" + X,
        X.replace("We", "the radar"),
        row("0.1", head="_") + row("0.2", head="_") + row(1),
        row(1, head="_") + row(2, head=1),
        row(1, head=0) + row(2, head=0),
    ],
)
def test_whatever_is_read_is_written_back_byte_for_byte(text: str) -> None:
    sentences = read(text)
    assert written(sentences) == text.encode()
    assert sum(len(sentence) for sentence in sentences) >= 1


def test_unicode_line_separators_do_not_split_lines() -> None:
    (sentence,) = read(X.replace("We", "W\u2028e\x85"))
    assert sentence.forms[0] == "W\u2028e\x85"


def test_heads_may_be_unknown_and_roots_many() -> None:
    (sentence,) = read(row(1, head="_") + row(2) + row(3))
    assert sentence.heads == [-1, 0, 0]


def test_a_sentence_is_read_before_the_rest_of_the_stream() -> None:
    sentences = read_conll(io.BytesIO((UD + "garbage\n").encode()))
    assert next(sentences).forms == ["do", "n't", "go"]
    assert next(sentences).forms == ["no"]
    with pytest.raises(TreebankError, match="1 columns instead of 10"):
        next(sentences)


def test_5000_words_are_no_problem() -> None:
    text = "".join(row(number, head=number - 1) for number in range(1, 5001))
    (sentence,) = read(text)
    assert len(sentence) == 5000
    assert written([sentence.with_parse([0] * 5000)]).count(b"\t0\tdep") == 5000


BAD = {
    "too few columns": (row(1) + "2\tx\t_\n", 2, 4, "3 columns instead of 10"),
    "too many columns": (row(1).replace("\n", "\t_\n"), 1, 11, "11 columns"),
    "spaces instead of tabs": (row(1).replace("\t", " "), 1, 2, "single tabs"),
    "empty column": (row(1) + row(2, form=""), 2, 2, "FORM is empty"),
    "empty last column": (row(1)[:-2] + "\n", 1, 10, "MISC is empty"),
    "empty last column, CRLF": (row(1)[:-2] + "\r\n", 1, 10, "MISC is empty"),
    "id is no number": (row(1) + row("x"), 2, 1, "'x' is not a number"),
    "id with leading zero": (row("01"), 1, 1, "'01'"),
    "superscript id": (row("²"), 1, 1, "'²' is not a number"),
    "id of 5,000 digits": (row("9" * 5000), 1, 1, "out of sequence"),
    "id skipped": ("# a\n" + row(1) + row(3), 3, 1, "2 should follow"),
    "id from zero": (row(0), 1, 1, "1 should follow"),
    "id repeated": (row(1) + row(1), 2, 1, "is a blank line missing"),
    "range begins late": (row(1) + row("1-2", head="_") + row(2), 2, 1, "'1-2'"),
    "range backwards": (row("1-0", head="_") + row(1), 1, 1, "'1-0'"),
    "range too long": (row("1-3", head="_") + row(1) + row(2), 1, 1, "reaches word 3"),
    "range beyond all rows": (row("1-9", head="_") + row(1), 1, 1, "'1-9'"),
    "ranges overlap": (row("1-2", head="_") + row(1) + row("2-3", head="_") + row(2) + row(3), 3, 1, "'2-3'"),
    "empty node out of place": (row(1) + row("2.1", head="_") + row(2), 2, 1, "'2.1'"),
    "only empty nodes": (row("0.1", head="_"), 1, 1, "no word"),
    "head is no number": (row(1, head="x"), 1, 7, "head 'x'"),
    "head with a sign": (row(1, head="+0"), 1, 7, "head '\\+0'"),
    "head negative": (row(1, head=-1), 1, 7, "head '-1'"),
    "head out of range": (UD + row(1, head=2), 12, 7, "head '2' is not in the sentence: write 0 to 1"),
    "head after multiword token": (UD.replace("\t0\troot\t0:root", "\t9\troot\t_"), 6, 7, "head '9'"),
    "head of 5,000 digits": (row(1, head="9" * 5000), 1, 7, "not in the sentence"),
    "self-loop": (row(1, head=1), 1, 7, "cycle, 1 -> 1"),
    "cycle": (row(1) + row(2, head=3) + row(3, head=2), 2, 7, "cycle, 2 -> 3 -> 2"),
    "empty file": ("", 1, None, "no sentence"),
    "blank file": ("\n \r\n\n", 1, None, "no sentence"),
    "mark only": ("\ufeff", 1, None, "without a sentence"),
    "comments only": ("# a\n# b\n", 1, None, "comment without a sentence"),
    "comment after all": (X + "# the end\n\n", 4, None, "comment without a sentence"),
    "not utf-8": (
        X.encode() + b"1\tcaf\xe9\t_\n",
        4,
        2,
        f"byte 0xe9 at offset {len(X) + 5} is not utf-8: .* --encoding",
    ),
    "carriage return": (row(1) + row(2, form="a\rb"), 2, 2, "carriage return within the line"),
    "two carriage returns": (row(1).replace("\n", "\r\r\n"), 1, 10, "carriage return within the line"),
    "old Mac line ends": (X.replace("\n", "\r"), 1, 10, "carriage return within the line"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_with_line_and_column(case: str) -> None:
    text, line, column, message = BAD[case]
    with pytest.raises(TreebankError, match=message) as caught:
        read(text)
    error = caught.value
    assert (error.path, error.line, error.column) == ("<stream>", line, column)
    place = ":".join(str(part) for part in ("<stream>", line, column) if part is not None)
    assert str(error) == f"{place}: {error.reason}"


def test_required_heads() -> None:
    with pytest.raises(TreebankError, match="head is missing") as caught:
        read(row(1) + row(2, head="_"), require_heads=True)
    assert (caught.value.line, caught.value.column) == (2, 7)
    assert read(UD, require_heads=True)[0].heads == [3, 3, 0]  # other rows need none


def test_cycles_can_be_let_through() -> None:
    assert read(row(1, head=2) + row(2, head=1), check_trees=False)[0].heads == [2, 1]


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        (X, ["conllx"]),
        ("# comment\n" + X, ["conllu"]),
        (row(1, tag="NOUN"), ["conllu"]),
        (row(1, tag="NN") + "\n" + row(1, tag="NOUN"), ["conllx", "conllx"]),
        (row(1, tag="NN") + "\n" + row("1-1", head="_") + row(1, tag="NN"), ["conllx", "conllu"]),
        (row(1, tag="NN") + row("1.1", head="_"), ["conllu"]),
    ],
)
def test_format_is_found(text: str, formats: list[str]) -> None:
    assert [sentence.format for sentence in read(text)] == formats


def test_format_is_found_in_the_name_or_given(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu.xz"
    write_conll(path, read(X))
    assert [sentence.format for sentence in read_conll(path)] == ["conllu"]
    assert [sentence.format for sentence in read_conll(path, format="conllx")] == ["conllx"]
    assert {sentence.format for sentence in read(X, format="conllu")} == {"conllu"}
    with pytest.raises(TreebankError, match="CoNLL-X numbers the words: write 1"):
        read(UD, format="conllx")


def test_unknown_options_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="unknown format 'conll09'"):
        read_conll("none", format="conll09")
    for encoding in ("utf-16", "klingon", "rot13", "cp037"):
        with pytest.raises(ValueError, match=f"'{encoding}' is not a known encoding"):
            read_conll("none", encoding=encoding)


@pytest.mark.parametrize("encoding", ["latin-1", "iso8859-15", "cp1252"])
def test_other_encodings_come_back_as_read(encoding: str) -> None:
    raw = X.replace("We", "né").encode(encoding)
    sentences = read(raw, encoding=encoding)
    assert sentences[0].forms[0] == "né"
    assert written(sentences, encoding=encoding) == raw


def test_sentences_of_several_files_are_kept_apart() -> None:
    for end in ("", "\n", "\n\n", "\n  ", "\n\n  ", "\r\n", "\r\n\r\n"):
        first = read(row(1).rstrip("\n") + end)
        assert [len(sentence) for sentence in read(written(first + read(X)))] == [1, 2]


def test_a_file_may_be_rewritten_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(UD.encode())
    assert write_conll(path, (sentence.with_parse([0] * len(sentence)) for sentence in read_conll(path))) == 2
    assert [sentence.heads for sentence in read_conll(path)] == [[0, 0, 0], [0]]


def test_a_reader_error_leaves_no_output(tmp_path: Path) -> None:
    with pytest.raises(TreebankError):
        write_conll(tmp_path / "out.conllu", read_conll(io.BytesIO((UD + row(2)).encode())))
    assert os.listdir(tmp_path) == []


def test_a_truncated_xz_file_is_a_treebank_error(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu.xz"
    write_conll(path, read(UD))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TreebankError, match=re.escape(str(path)) + ".*cut short"):
        list(read_conll(path))
