import io
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.data.conll import read_conll
from treebp.data.sentence import Sentence, find_cycle


def read_text(text: str, **options: Any) -> Sentence:
    (sentence,) = read_conll(io.BytesIO(text.encode()), **options)
    return sentence


RICH = (
    "\ufeff# sent_id = 1\r\n"
    "# text = don't go\r\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tA=1\r\n"
    "1\tdo\tdo\tAUX\tVB\tX=1\t3\taux\t3:aux\tKeep=Me|HeadProb=0.1\r\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_\r\n"
    "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_\r\n"
    "3.1\tnow\tnow\tADV\tRB\t_\t_\t_\t3:advmod\t_\r\n"
    "\r\n"
)


def test_with_parse_changes_nothing_but_heads_and_labels() -> None:
    sentence = read_text(RICH)
    parsed = sentence.with_parse([2, 0, 2], ["a", "b", "c"])
    expected = (
        RICH.replace("\t3\taux\t3:aux\t", "\t2\ta\t_\t")
        .replace("\t3\tadvmod\t3:advmod\t", "\t0\tb\t_\t")
        .replace("\t0\troot\t0:root\t", "\t2\tc\t_\t")
    )
    assert parsed.text == expected
    assert (parsed.heads, parsed.labels) == ([2, 0, 2], ["a", "b", "c"])
    assert sentence.text == RICH
    assert read_text(parsed.text) == parsed


def test_with_tags_changes_nothing_but_the_columns_that_are_given() -> None:
    sentence = read_text(RICH)
    tagged = sentence.with_tags(lemmas=["do", "no", "leave"], fine_tags=["A", "B", "C"])
    expected = RICH.replace("do\tAUX\tVB", "do\tAUX\tA").replace("not\tPART\tRB", "no\tPART\tB")
    assert tagged.text == expected.replace("go\tgo\tVERB\tVB", "go\tleave\tVERB\tC")
    assert read_text(tagged.text) == tagged
    assert sentence.with_tags() is sentence
    with pytest.raises(ValueError, match="2 feats for 3 words"):
        sentence.with_tags(feats=["_", "_"])


def test_with_parse_removes_what_is_out_of_date() -> None:
    text = RICH.replace("# text", "# alternative 1 x\r\n# text")
    parsed = read_text(text).with_parse([3, 3, 0], remove=("# alternative ", "HeadProb="))
    assert parsed.text == RICH.replace("|HeadProb=0.1", "")
    assert parsed.misc == ["Keep=Me", "_", "_"]


def test_with_parse_keeps_labels_when_none_are_given() -> None:
    assert read_text(RICH).with_parse([3, 3, 0]).text == RICH


def test_with_parse_merges_misc_and_adds_comments_after_the_present_ones() -> None:
    parsed = read_text(RICH).with_parse(
        [3, 3, 0], misc=["HeadProb=0.9", "HeadProb=0.8|More=1", ""], comments=["# score = 1", "note"]
    )
    lines = parsed.text.split("\r\n")
    assert lines[:5] == ["\ufeff# sent_id = 1", "# text = don't go", "# score = 1", "# note", RICH.split("\r\n")[2]]
    assert [line.split("\t")[9] for line in lines[5:8]] == ["Keep=Me|HeadProb=0.9", "HeadProb=0.8|More=1", "_"]
    assert parsed.comments == ["# sent_id = 1", "# text = don't go", "# score = 1", "# note"]
    assert read_text(parsed.text) == parsed


def test_comments_go_behind_a_byte_order_mark() -> None:
    text = "\ufeff1\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    assert read_text(text).with_parse([0], comments=["# new"]).text == text.replace("\ufeff", "\ufeff# new\n")


def test_conllx_takes_neither_misc_nor_comments() -> None:
    sentence = read_text("1\tgo\t_\tVB\tVB\t_\t0\troot\t0\troot\n")
    assert sentence.format == "conllx"
    assert sentence.with_parse([0], ["x"]).text == "1\tgo\t_\tVB\tVB\t_\t0\tx\t0\troot\n"
    with pytest.raises(ValueError, match="CoNLL-X"):
        sentence.with_parse([0], misc=["A=1"])
    with pytest.raises(ValueError, match="CoNLL-X"):
        sentence.with_parse([0], comments=["# a"])


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0], "1 heads for 3 words"),
        ([0, 4, 0], "word 2 has head 4"),
        ([0, -2, 0], "word 2 has head -2"),
        ([2, 3, 1], "cycle"),
        ([1, 0, 0], "cycle"),
    ],
)
def test_impossible_heads_are_refused(heads: Sequence[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sentence.from_columns(["a", "b", "c"], heads=heads)
    with pytest.raises(ValueError, match=message):
        Sentence.from_columns(["a", "b", "c"]).with_parse(heads)


@pytest.mark.parametrize("value", ["", "a\tb", "a\nb", "a\r"])
def test_values_that_would_break_the_file_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="forms of word 2"):
        Sentence.from_columns(["a", value])
    with pytest.raises(ValueError, match="labels of word 1"):
        Sentence.from_columns(["a"]).with_parse([0], [value])


def test_misfit_columns_and_comments_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one word"):
        Sentence.from_columns([])
    with pytest.raises(ValueError, match="1 lemmas for 2 words"):
        Sentence.from_columns(["a", "b"], lemmas=["a"])
    with pytest.raises(ValueError, match="line end"):
        Sentence.from_columns(["a"], comments=["# a\n1\tb"])


def test_from_columns_reads_back_as_itself() -> None:
    sentence = Sentence.from_columns(
        ["Ünder", "the radar\u2028"],
        lemmas=["under", "radar"],
        coarse_tags=["ADP", "NOUN"],
        fine_tags=["IN", "NN"],
        feats=["_", "Number=Sing"],
        heads=np.array([2, 0]),
        labels=["case", "root"],
        comments=["# sent_id = 7"],
    )
    assert read_text(sentence.text) == sentence
    assert read_text(sentence.text).line_of(2) == 3
    assert pickle.loads(pickle.dumps(sentence)) == sentence


@given(st.lists(st.integers(-1, 8), min_size=1, max_size=8))
def test_find_cycle_agrees_with_walking_from_every_word(heads: list[int]) -> None:
    heads = [min(head, len(heads)) for head in heads]
    looping = set()
    for start in range(1, len(heads) + 1):
        word = start
        for _ in heads:
            word = heads[word - 1] if word > 0 else 0
        if word > 0:
            looping.add(start)
    cycle = find_cycle(heads)
    assert bool(cycle) == bool(looping)
    for word, head in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert heads[word - 1] == head
