import numpy as np
import pytest

from treebp.data.coarse_tags import PENN_TO_UNIVERSAL
from treebp.data.sentence import Sentence
from treebp.features.encoding import Encoding
from treebp.features.templates import ATTRIBUTES
from treebp.features.word_clusters import WordClusters

UNKNOWN, BOUNDARY, ROOT = range(3)


def sentence(words: str, *, coarse: str | None = None, fine: str | None = None, **columns: list[str]) -> Sentence:
    return Sentence.from_columns(
        words.split(),
        coarse_tags=coarse.split() if coarse else None,
        fine_tags=fine.split() if fine else None,
        **columns,
    )


def column(tokens, attribute):
    return tokens[2:-1, ATTRIBUTES.index(attribute)].tolist()


TRAIN = [
    sentence("the trees grow", coarse="DET NOUN VERB", fine="DT NNS VBP", lemmas=["the", "tree", "grow"]),
    sentence("trees fall", coarse="NOUN VERB", fine="NNS VBP", lemmas=["tree", "fall"]),
]


def test_rows_are_boundary_root_words_boundary():
    tokens = Encoding.of(TRAIN).encode(TRAIN[0])
    assert tokens.shape == (3 + 3, len(ATTRIBUTES))
    assert tokens.dtype == np.int64
    assert (tokens[0] == BOUNDARY).all()
    assert (tokens[-1] == BOUNDARY).all()
    assert (tokens[1] == ROOT).all()
    assert column(tokens, "word") == [3, 4, 5]  # in order of occurrence


def test_same_values_have_same_numbers_and_unseen_ones_are_all_unknown():
    encoding = Encoding.of(TRAIN)
    first, second = (encoding.encode(s) for s in TRAIN)
    assert column(first, "lemma")[1] == column(second, "lemma")[0]
    new = encoding.encode(sentence("bushes grow", coarse="PROPN VERB", fine="NNP VBP"))
    assert column(new, "word") == [UNKNOWN, column(first, "word")[2]]
    assert column(new, "fine")[0] == column(new, "coarse")[0] == UNKNOWN
    assert column(new, "lemma") == [UNKNOWN, UNKNOWN]
    assert column(new, "prefix")[0] == UNKNOWN


def test_prefixes_are_five_characters():
    encoding = Encoding.of([sentence("growing growth grow")])
    assert column(encoding.encode(sentence("growing growi growth")), "prefix") == [3, 3, 4]


def test_without_fine_tags_the_coarse_ones_stand_in():
    encoding = Encoding.of([sentence("trees grow", coarse="N V")])
    tokens = encoding.encode(sentence("trees grow", coarse="V N", fine="X Y"))
    assert column(tokens, "fine") == column(tokens, "coarse") == [4, 3]


def test_penn_tags_in_the_coarse_column_are_mapped():
    encoding = Encoding.of([sentence("the trees grow", coarse="DT NNS VBP", fine="DT NNS VBP")])
    assert encoding.tag_map == PENN_TO_UNIVERSAL
    assert encoding.values["coarse"] == ["DET", "NOUN", "VERB"]
    assert encoding.values["fine"] == ["DT", "NNS", "VBP"]
    tokens = encoding.encode(sentence("a tree", coarse="DT NN", fine="DT NN"))
    assert column(tokens, "coarse") == [3, 4]
    assert column(tokens, "fine") == [3, UNKNOWN]


def test_penn_tags_in_the_coarse_column_alone_are_kept():
    encoding = Encoding.of([sentence("the trees grow", coarse="DT NNS VBP")])
    assert column(encoding.encode(sentence("the trees grow", coarse="DT NNS VBP")), "fine") == [3, 4, 5]


def test_other_coarse_tags_are_taken_as_they_are():
    encoding = Encoding.of(TRAIN)
    assert encoding.tag_map is None
    assert encoding.values["coarse"] == ["DET", "NOUN", "VERB"]


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        ({}, {"lemmas", "morphology"}),
        ({"lemmas": ["tree", "grow"]}, {"morphology"}),
        ({"feats": ["Number=Plur", "_"]}, {"lemmas"}),
    ],
)
def test_groups_whose_column_is_empty_are_not_available(columns, missing):
    groups = ("words", "tags", "coarse", "between", "prefixes", "lemmas", "morphology")
    encoding = Encoding.of([sentence("trees grow", coarse="N V", **columns)])
    assert encoding.available(groups) == tuple(group for group in groups if group not in missing)


def test_an_encoding_can_be_made_again_from_its_values():
    encoding = Encoding.of(TRAIN)
    again = Encoding(encoding.values, encoding.tag_map)
    assert all(np.array_equal(again.encode(s), encoding.encode(s)) for s in TRAIN)


def test_tags_that_are_missing_altogether_do_no_harm():
    tokens = Encoding.of([sentence("trees grow")]).encode(sentence("trees grow"))
    assert column(tokens, "fine") == column(tokens, "coarse") == [UNKNOWN, UNKNOWN]


def test_clusters_are_those_that_training_words_have():
    clusters = WordClusters({"trees": "0101010", "bushes": "0101010", "grow": "0101100", "sing": "0101011"})
    encoding = Encoding.of(TRAIN, clusters)
    assert encoding.values["cluster"] == ["0101010", "0101100"]
    assert encoding.values["cluster6"] == ["010101", "010110"]
    assert encoding.values["cluster4"] == ["0101"]
    assert "clusters" in encoding.available(["words", "clusters"])
    tokens = encoding.encode(sentence("Bushes sing loudly grow"))
    assert column(tokens, "cluster") == [3, UNKNOWN, UNKNOWN, 4]
    assert column(tokens, "cluster6") == [3, 3, UNKNOWN, 4]
    assert column(tokens, "cluster4") == [3, 3, UNKNOWN, 3]


def test_without_clusters_nothing_is_said_of_them():
    encoding = Encoding.of(TRAIN)
    assert encoding.available(["words", "clusters"]) == ("words",)
    assert column(encoding.encode(TRAIN[0]), "cluster") == [UNKNOWN] * 3
