import numpy as np

from small_pruner import CONFIG, encoded_treebank, has_tree, ignore, keep, small_pruner
from treebp.data.sentence import Sentence
from treebp.features.encoding import Encoding
from treebp.features.templates import ATTRIBUTES
from treebp.parsing.reports import PruningReport
from treebp.training.pruning import cross_fitted, train_pruner

FINE = ATTRIBUTES.index("fine")


def test_cross_fitting_keeps_more_than_a_pruner_that_has_seen_the_sentence():
    tokens, trees, _ = encoded_treebank()
    kept = cross_fitted(tokens, trees, CONFIG, (True, True), 1, ignore)
    assert len(kept) == len(tokens)
    assert all(len(keep) == len(sentence) - 2 for keep, sentence in zip(kept, tokens, strict=True))
    one_fold = CONFIG.override(["pruner_folds=1"])
    seen = cross_fitted(tokens, trees, one_fold, (True, True), 1, ignore)
    fresh, stale = (PruningReport.of(keep, trees) for keep in (kept, seen))
    assert fresh.heads > stale.heads
    full = small_pruner()
    assert all(np.array_equal(a, keep(full, b)) for a, b in zip(seen, tokens, strict=True))


def test_there_may_be_fewer_sentences_than_folds():
    tokens, trees, _ = encoded_treebank()
    assert len(cross_fitted(tokens[:2], trees[:2], CONFIG, (True, True), 1, ignore)) == 2
    assert len(cross_fitted(tokens[:1], trees[:1], CONFIG, (True, True), 1, ignore)) == 1


def test_length_bounds_are_the_longest_arcs_of_training():
    tokens, trees, new = encoded_treebank()
    pruner = small_pruner(length_bounds="true")
    longest: dict[tuple[int, int, bool], int] = {}
    for sentence, heads in zip(tokens, trees, strict=True):
        for modifier, head in enumerate(heads.tolist(), start=1):
            key = int(sentence[head + 1, FINE]), int(sentence[modifier + 1, FINE]), head < modifier
            longest[key] = max(longest.get(key, 0), abs(head - modifier))
    pruned = 0
    for sentence in new:
        allowed = pruner.allowed(sentence)
        for head in range(1, len(sentence) - 2):
            for modifier in range(1, len(sentence) - 2):
                key = int(sentence[head + 1, FINE]), int(sentence[modifier + 1, FINE]), head < modifier
                short = abs(head - modifier) <= longest.get(key, 1000) or modifier == head + 1
                assert allowed[head, modifier] == (short and head != modifier)
                pruned += not short
        assert has_tree(keep(pruner, sentence), (True, True))
        assert not (keep(pruner, sentence) & ~allowed).any()
    assert pruned > 0
    for sentence, heads in zip(tokens, trees, strict=True):
        assert pruner.allowed(sentence)[heads, np.arange(1, len(heads) + 1)].all()


def test_unseen_tags_are_not_bounded():
    sentences = [Sentence.from_columns(["a", "b"], fine_tags=["A", "B"], heads=[0, 1])]
    encoding = Encoding.of(sentences)
    config = CONFIG.override(["length_bounds=true"])
    pruner = train_pruner([encoding.encode(sentences[0])], [np.array([0, 1])], config, (True, True), 1, ignore)
    known = encoding.encode(Sentence.from_columns(list("abb"), fine_tags=["A", "B", "B"]))
    assert not pruner.allowed(known)[1, 3]
    unseen = encoding.encode(Sentence.from_columns(list("abb"), fine_tags=["?", "B", "B"]))
    assert pruner.allowed(unseen)[1, 3]
