"""Clusters of words: how they are looked up, read and stored."""

import gzip
import io

import numpy as np
import pytest

from treebp.data.errors import TreebankError
from treebp.features.model_file import MODEL_KIND, write_tensors
from treebp.features.word_clusters import NO_CLUSTERS, WordClusters

FILE = "0110\tMonday\t7\n0110\tTuesday\t6\n1011\tdog\t12\n1011\tDog\t3\n111\tDOG\t1\n10\tbank\n110\tBank\n"


def clusters():
    return WordClusters.load(io.BytesIO(FILE.encode()))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("dog", "1011"),
        ("Dog", "1011"),  # as "dog"
        ("DOG", "111"),  # by itself
        ("monday", "0110"),
        ("MONDAY", "0110"),
        ("Bank", "110"),
        ("BANK", "10"),
        ("tree", "_"),
        ("", "_"),
    ],
)
def test_words_are_looked_up_as_they_are_and_then_with_other_capitals(word, name):
    assert clusters().of(word) == name


def test_words_that_have_the_same_cluster_anyway_are_not_kept():
    assert len(clusters()) == 6


def test_every_word_of_a_file_has_the_cluster_that_it_has_there():
    rng = np.random.default_rng(1)
    spellings = sorted({"".join(rng.choice(list("aAbBßİΣ"), rng.integers(1, 4))) for _ in range(300)})
    names = {word: str(rng.integers(1, 4)) for word in spellings}
    found = WordClusters.load(io.BytesIO("".join(f"{name}\t{word}\n" for word, name in names.items()).encode()))
    assert {word: found.of(word) for word in names} == names


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "clusters.gz"
    path.write_bytes(gzip.compress(FILE.encode()))
    assert WordClusters.load(path).of("dog") == "1011"


def test_clusters_of_a_model(tmp_path):
    english = WordClusters.load("en")
    assert english.of("Tuesday") == english.of("monday") != english.of("walked") != "_"
    write_tensors(tmp_path / "none.model", MODEL_KIND, {}, {})
    with pytest.raises(ValueError, match=r"none\.model has no clusters of words"):
        WordClusters.load(tmp_path / "none.model")
    (tmp_path / "text.model").write_text(FILE)
    with pytest.raises(ValueError, match=r"text\.model is damaged or not a treebp model"):
        WordClusters.load(str(tmp_path / "text.model"))


def test_stored_and_read_again():
    again = WordClusters.from_state(clusters().state())
    assert [again.of(word) for word in ("DOG", "monday", "Bank", "tree")] == ["111", "0110", "110", "_"]
    assert again.state().keys() == clusters().state().keys()
    assert all(np.array_equal(again.state()[name], array) for name, array in clusters().state().items())
    assert WordClusters.from_state(NO_CLUSTERS.state()) is NO_CLUSTERS


def test_more_than_256_clusters():
    names = {f"word{k}": f"cluster{k}" for k in range(700)}
    again = WordClusters.from_state(WordClusters(names).state())
    assert {word: again.of(word) for word in names} == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "there are no clusters"),
        (b"1\tone\ntwo\n", ":2: a cluster's name, a tab and a word"),
        (b"1\tone\n\ttwo\n", ":2: a cluster's name"),
        (b"1\tone\n_\ttwo\n", ":2: a cluster's name"),
        (b"1\tone\n1\t\n", ":2: a cluster's name"),
        (b"1\tone\n2\tone\n", ":2: 'one' is in two clusters, 1 and 2"),
        (b"1\t\xff\n", ":1: no UTF-8 text"),
    ],
)
def test_other_files_are_refused_with_the_line(text, message, tmp_path):
    path = tmp_path / "clusters"
    path.write_bytes(text)
    with pytest.raises(TreebankError, match=message):
        WordClusters.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"clusters": np.zeros((2, 5), np.uint8)},
        {"clusters": np.full((2, 6), 9, np.uint8)},
        {"clusters": np.zeros((2, 6), np.int64)},
        {"words": np.frombuffer(b"a\n\nb\nc\nd\ne", np.uint8)},
        {"names": np.frombuffer(b"\xff", np.uint8)},
    ],
)
def test_damaged_states_are_refused(change):
    with pytest.raises(ValueError, match=r"cluster|decode"):
        WordClusters.from_state({**clusters().state(), **change})
