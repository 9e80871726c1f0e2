"""What a tagger sees of words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treebp.features.word_clusters import WordClusters
from treebp.kernels.spelling import ending_keys
from treebp.tagging.words import ATTRIBUTES, WordValues, spelling_of


def values(known, word):
    return dict(zip(ATTRIBUTES, known.rows([word])[0].tolist(), strict=True))


def test_words_seen_once_are_as_good_as_unknown():
    known = WordValues({"tree": 2, "Tree": 1, "grow": 1})
    assert values(known, "grow")["word"] == values(known, "never seen")["word"] == 0
    assert values(known, "tree")["word"] > 0
    assert values(known, "Tree")["word"] == 0
    assert values(known, "Tree")["lower"] == values(known, "tree")["lower"] > 0


def test_words_of_a_cluster_have_its_number():
    known = WordValues({"tree": 2}, WordClusters({"tree": "01", "bush": "01", "grow": "10"}))
    of_words = [values(known, word)["cluster"] for word in ("tree", "Bush", "grow", "stone")]
    assert of_words[0] == of_words[1] > 0
    assert of_words[2] not in (0, of_words[0])
    assert of_words[3] == 0


def test_affixes_are_of_the_word_in_lower_case():
    known = WordValues({})
    one, two = values(known, "Walking"), values(known, "talking")
    assert one["suffix5"] == two["suffix5"] != values(known, "talkiny")["suffix5"]
    assert one["prefix1"] == values(known, "wall")["prefix1"] != two["prefix1"]
    assert one["shape"] != two["shape"]


def test_shapes():
    alike = [("Éva", "Tree"), ("USA", "NATO"), ("3.14", "10.1"), ("e-mail", "x-ray"), ("日本", "a")]
    hashes = [spelling_of(words).shape.tolist() for words in alike]
    assert all(one == two for one, two in hashes)
    assert len({one for one, _ in hashes}) == len(alike)


def test_kinds():
    assert spelling_of(["Tree", "tree", "x2", "a-b", "B-52", "", "tREE"]).kind.tolist() == [1, 0, 2, 4, 7, 0, 0]


def test_only_ends_that_words_have_are_keys():
    keys = ending_keys(spelling_of(["at", "cat", "chat", ""]), np.zeros(4, np.uint64))
    assert (keys > 0).sum(axis=1).tolist() == [3, 4, 5, 1 + 1]
    assert keys[0, :3].tolist() == keys[1, :3].tolist() == keys[2, :3].tolist()
    assert len(np.unique(keys[keys > 0])) == 3 + 1 + 2 + 1


@given(st.text())
def test_every_text_has_values(word):
    assert len(values(WordValues({}), word)) == len(ATTRIBUTES)
