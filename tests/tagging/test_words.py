"""What a tagger sees of words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treebp.tagging.words import ATTRIBUTES, WordValues, shape


def values(known, word):
    return dict(zip(ATTRIBUTES, np.frombuffer(known.row(word), np.int32).tolist(), strict=True))


def test_words_seen_once_are_as_good_as_unknown():
    known = WordValues({"tree": 2, "Tree": 1, "grow": 1})
    assert values(known, "grow")["word"] == values(known, "never seen")["word"] == 0
    assert values(known, "tree")["word"] > 0
    assert values(known, "Tree")["word"] == 0
    assert values(known, "Tree")["lower"] == values(known, "tree")["lower"] > 0


def test_affixes_are_of_the_word_in_lower_case():
    known = WordValues({})
    one, two = values(known, "Walking"), values(known, "talking")
    assert one["suffix5"] == two["suffix5"] != values(known, "talkiny")["suffix5"]
    assert one["prefix1"] == values(known, "wall")["prefix1"] != two["prefix1"]
    assert one["shape"] != two["shape"]


def test_shapes():
    assert [shape(word) for word in ("Éva", "USA", "3.14", "e-mail", "...", "日本", "")] == [
        "Xx",
        "X",
        "d.d",
        "x-x",
        ".",
        "x",
        "",
    ]


@given(st.text())
def test_every_text_has_values(word):
    assert len(values(WordValues({}), word)) == len(ATTRIBUTES)
