"""Penn Treebank brackets: what is read, what is refused, and the heads."""

import io
import os
from pathlib import Path

import pytest

from treebp.data.conll import read_conll
from treebp.data.errors import TreebankError
from treebp.data.head_rules import HEAD_RULES, head_child
from treebp.data.penn import read_penn
from treebp.data.projectivity import is_projective
from treebp.data.sentence import Sentence

DATA = Path(os.environ.get("TREEBP_DATA", Path(__file__).parents[3] / "shared" / "data"))


def read(text: str) -> list[Sentence]:
    return list(read_penn(io.BytesIO(text.encode())))


def heads(text: str) -> list[int]:
    (sentence,) = read(text)
    return sentence.heads


def test_columns_are_those_of_a_conll_x_file_with_a_dummy_label() -> None:
    (sentence,) = read("( (S (NP-SBJ (NNS Trees)) (VP (VBP grow)) (. .)))")
    assert sentence.text == (
        "1\tTrees\t_\tNNS\tNNS\t_\t2\tdep\t_\t_\n2\tgrow\t_\tVBP\tVBP\t_\t0\tdep\t_\t_\n3\t.\t_\t.\t.\t_\t2\tdep\t_\t_\n\n"
    )


def test_empty_elements_and_the_constituents_around_them_are_removed() -> None:
    (sentence,) = read(
        "( (S (S-TPC-1 (NP (PRP It)) (VP (VBZ works))) (, ,) (NP-SBJ (PRP he)) "
        "(VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1))))))"
    )
    assert sentence.forms == ["It", "works", ",", "he", "said"]
    assert sentence.heads == [2, 5, 5, 5, 0]


def test_a_tree_of_empty_elements_only_is_no_sentence() -> None:
    assert len(read("( (X (-NONE- *)))\n( (NP (NN yes)))")) == 1


def test_function_tags_indices_and_alternatives_do_not_hide_a_label() -> None:
    plain = "( (S (NP (NN a)) (VP (VBD b) (PRT (RP c)) (NP (NN d)))))"
    marked = "( (S=1 (NP-SBJ-2 (NN a)) (VP|NP (VBD b) (PRT|ADVP (RP c)) (NP-TMP=3 (NN d)))))"
    assert heads(plain) == heads(marked)


def test_brackets_and_quotes_as_words_keep_their_escapes_and_tags() -> None:
    (sentence,) = read("( (PRN (-LRB- -LRB-) (NP (CD 1\\/2)) (-RRB- -RRB-)))")
    assert sentence.forms == ["-LRB-", "1\\/2", "-RRB-"]
    assert sentence.fine_tags == ["-LRB-", "CD", "-RRB-"]
    assert sentence.heads == [2, 0, 2]


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("S", "NP VP .", "VP"),
        ("S", "S , CC S", "last S"),
        ("VP", "TO VP", "VP"),
        ("VP", "VB CC VB NP", "first VB"),
        ("NP", "NP , NP", "last NP"),
        ("NP", "NP POS", "POS"),
        ("NP", "DT QP", "QP"),
        ("NX", "NX CC NX PP", "last NX"),
        ("PP", "PP CC PP", "first PP"),
        ("SBAR", "WHNP S", "WHNP"),
        ("SBAR", "IN S", "IN"),
        ("QP", "IN CD", "IN"),
        ("QP", "$ CD CD", "$"),
        ("UCP", "ADJP CC NP", "ADJP"),
        ("PRN", ", S ,", "S"),
        ("FRAG", "`` NP . ''", "NP"),
        ("ADJP", "RB JJ PP", "JJ"),
        ("NO-SUCH", "NN VB .", "VB"),
        ("", ". .", "last ."),
    ],
)
def test_head_child(label: str, children: str, head: str) -> None:
    labels = children.split()
    which, _, wanted = head.rpartition(" ")
    expected = labels.index(wanted) if which != "last" else len(labels) - 1 - labels[::-1].index(wanted)
    assert head_child(label, labels) == expected


def test_head_is_always_one_of_the_children() -> None:
    for label in HEAD_RULES:
        for children in (["NN"], ["."], [".", ","], ["XX", "YY", "."]):
            assert 0 <= head_child(label, children) < len(children)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("( (S (NN a))", 1, 1, "never closed"),
        ("( (NN a))\n  )", 2, 3, "closes none"),
        ("( (NN a))\nword", 2, 1, "outside all brackets"),
        ("( (NP (NN a) b))", 1, 14, "bracket of its own"),
        ("( (NN a b))", 1, 9, "bracket of its own"),
        ("( (NN a (NN b)))", 1, 9, "both a word and a bracket"),
        ("( (NP (NN a) (NN)))", 1, 14, "holds no word"),
        ("()", 1, 1, "holds no word"),
        ("", None, None, "no sentence"),
        ("\n( (X (-NONE- *)))\n", None, None, "no sentence"),
    ],
)
def test_malformed_brackets_are_named_by_line_and_column(
    text: str, line: int | None, column: int | None, reason: str
) -> None:
    with pytest.raises(TreebankError, match=reason) as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_bytes_of_another_encoding_are_named_by_line_and_column() -> None:
    latin = "( (NN a))\n( (NN \xe9))".encode("latin-1")
    with pytest.raises(TreebankError, match=r"byte 0xe9 is not utf-8: .* --encoding latin-1") as caught:
        list(read_penn(io.BytesIO(latin)))
    assert (caught.value.line, caught.value.column) == (2, 7)
    with pytest.raises(ValueError, match="'klingon' is not a known encoding"):
        list(read_penn(io.BytesIO(latin), encoding="klingon"))
    assert [s.forms for s in read_penn(io.BytesIO(latin), encoding="latin-1")] == [["a"], ["\xe9"]]


def test_line_ends_of_other_systems_and_a_byte_order_mark_do_no_harm() -> None:
    assert heads("\ufeff( (NP (DT a)\r\n  (NN b)))\r\n") == [2, 0]


def test_depth_is_no_limit() -> None:
    depth = 20_000
    assert heads("(NP " * depth + "(NN a)" + ")" * depth) == [0]


def test_sentences_come_one_by_one() -> None:
    lines = iter([b"( (NN a))\n", b"( (NN b)\n"])

    class Slow(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readline(self, size: int | None = -1, /) -> bytes:
            return next(lines, b"")

    sentences = read_penn(Slow())
    assert next(sentences).forms == ["a"]
    assert next(lines) == b"( (NN b)\n"


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the treebanks of TREEBP_DATA")
def test_all_heads_equal_those_of_the_published_conversion() -> None:
    converted = list(read_penn(DATA / "ptb10.wsj_0001-0099.mrg.xz"))
    published = list(read_conll(DATA / "ptb10.wsj_0001-0099.conll.xz"))
    assert [sentence.text for sentence in converted] == [sentence.text for sentence in published]
    assert all(is_projective(sentence.heads) for sentence in converted)
