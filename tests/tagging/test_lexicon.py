"""Which labels words may have."""

import numpy as np
import pytest

from treebp.tagging.lexicon import Lexicon

WORDS = ["walking", "talking", "walking", "walks", "Walks", "tree", "trees", "THE", "the", "the"]
LABELS = [0, 0, 1, 1, 2, 3, 4, 5, 5, 5]
KEYS = [("", word) for word in WORDS]


def slow_distribution(word, left_out=None, smoothing=10.0):
    """The same step by step from the list of sightings, one of which may be left out."""
    seen = [(w, label) for k, (w, label) in enumerate(zip(WORDS, LABELS, strict=True)) if k != left_out]
    types = set(seen)

    def kind(text):
        return text[:1].isupper()

    steps = [[label for w, label in types if kind(w) == kind(word)]]
    for k in range(1, min(5, len(word)) + 1):
        ending = word.lower()[-k:]
        steps.append([label for w, label in types if kind(w) == kind(word) and w.lower().endswith(ending)])
    steps.append([label for w, label in seen if w.lower() == word.lower()])
    steps.append([label for w, label in seen if w == word])
    everything = {(w, label) for w, label in zip(WORDS, LABELS, strict=True)}
    p = np.bincount([label for _, label in everything], minlength=7) + 1e-3
    p /= p.sum()
    for step in steps:
        if step or left_out is not None:
            p = (np.bincount(step, minlength=7) + smoothing * p) / (len(step) + smoothing)
    return p


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.5])
def test_candidates_are_the_probable_labels(ratio):
    lexicon = Lexicon.of(KEYS, LABELS, labels=7, ratio=ratio)
    words = [*WORDS, "thinking", "Thinks", "bee", "x"]
    for word, found in zip(words, lexicon.candidates([("", word) for word in words]), strict=True):
        p = slow_distribution(word)
        assert found.tolist() == np.flatnonzero(p >= ratio * p.max()).tolist()


def test_in_training_a_word_is_looked_up_as_if_it_had_not_been_seen():
    lexicon = Lexicon.of(KEYS, LABELS, labels=7, ratio=0.1)
    for k, found in enumerate(lexicon.candidates_in_training(KEYS, LABELS)):
        p = slow_distribution(WORDS[k], left_out=k)
        expected = np.flatnonzero(p >= 0.1 * p.max()).tolist()
        assert sorted(found.tolist()) == sorted({*expected, LABELS[k]})


def test_tags_are_kept_apart():
    lexicon = Lexicon.of([("VERB", "saw"), ("NOUN", "saw")], [0, 1], labels=2, smoothing=0.1, ratio=0.1)
    assert [found.tolist() for found in lexicon.candidates([("VERB", "saw"), ("NOUN", "saw")])] == [[0], [1]]


def test_state():
    for keys in (KEYS, [(word[:1], word) for word in WORDS]):
        lexicon = Lexicon.of(keys, LABELS, labels=7)
        again = Lexicon.from_state(*lexicon.state(), labels=7)
        assert again.words == lexicon.words
        assert [own.tolist() for own in again.candidates(keys)] == [own.tolist() for own in lexicon.candidates(keys)]


@pytest.mark.parametrize("name", ["labels", "counts", "sizes"])
def test_arrays_that_do_not_fit_are_refused(name):
    header, arrays = Lexicon.of(KEYS, LABELS, labels=7).state()
    with pytest.raises(ValueError, match="do not fit"):
        Lexicon.from_state(header, {**arrays, name: arrays[name][:-1]}, labels=7)
    with pytest.raises(ValueError, match="labels other than its 3"):
        Lexicon.from_state(header, arrays, labels=3)
