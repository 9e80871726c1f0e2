import numpy as np
import pytest

from treebp.data.embedded import embedded_treebank
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.encoding import Encoding
from treebp.parsing.preparation import PruningReport
from treebp.parsing.pruner import Pruner, cross_fitted, train_pruner
from treebp.parsing.templates import ATTRIBUTES
from treebp.trees.dependency_trees import DependencyTrees

CONFIG = Config(pruner_weight_bits=16, pruner_epochs=1, pruner_folds=3)
FINE = ATTRIBUTES.index("fine")
STRUCTURES = [(True, True), (True, False), (False, True), (False, False)]


def ignore(words):
    pass


@pytest.fixture(scope="module")
def train():
    sentences = embedded_treebank("train")[:120]
    encoding = Encoding.of(sentences)
    return (
        [encoding.encode(sentence) for sentence in sentences],
        [np.array(sentence.heads) for sentence in sentences],
        [encoding.encode(sentence) for sentence in embedded_treebank("dev")[:40]],
    )


def fit(train, structure=(True, True), **settings) -> Pruner:
    tokens, trees, _ = train
    return train_pruner(tokens, trees, CONFIG.override([f"{k}={v}" for k, v in settings.items()]), structure, 1, ignore)


def keep(pruner, tokens):
    return pruner.keep([tokens])[0].mask()


def has_tree(kept, structure):
    projective, single_root = structure
    scores = np.where(kept, 0.0, -np.inf)
    return np.isfinite(DependencyTrees(scores, projective=projective, single_root=single_root).log_partition)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("heads", [1, 3])
def test_few_heads_and_always_a_tree(train, structure, heads):
    pruner = fit(train, structure, prune_heads=heads)
    for tokens in train[2]:
        kept = keep(pruner, tokens)
        assert kept.shape == (len(tokens) - 2, len(tokens) - 2)
        assert not kept[:, 0].any()
        assert not kept.diagonal().any()
        assert (kept.sum(axis=0)[1:] >= 1).all()
        assert (kept.sum(axis=0)[1:] <= heads).all()
        assert has_tree(kept, structure)


def test_a_higher_ratio_keeps_less(train):
    pruners = [fit(train, prune_ratio=ratio) for ratio in (0.0, 0.01, 1.0)]
    kept = [sum(int(keep(pruner, tokens).sum()) for tokens in train[2]) for pruner in pruners]
    words = sum(len(tokens) - 3 for tokens in train[2])
    assert kept[0] > kept[1] > kept[2]
    assert words <= kept[2] < 1.2 * words  # little beside the best heads and the tree


def test_the_ratio_is_of_the_words_best_marginal(train):
    pruner = fit(train, prune_ratio=0.01, prune_heads=1000)
    tokens = train[2][0]
    everything = keep(fit(train, prune_ratio=0.0, prune_heads=1000), tokens)
    arcs = Arcs.of(everything)
    marginals = arcs.matrix(pruner.model.infer(Batch.of([tokens], [arcs]))[0], 0.0)
    tree = DependencyTrees(marginals, projective=True, single_root=True).argmax()
    expected = (marginals >= 0.01 * marginals.max(axis=0)) & everything
    expected[tree, np.arange(1, len(marginals))] = True
    assert np.array_equal(keep(pruner, tokens), expected)


def test_good_heads_survive(train):
    tokens, trees, _ = train
    pruner = fit(train)
    report = PruningReport.of([keep(pruner, sentence) for sentence in tokens], trees)
    assert report.oracle > 0.99
    assert 2.0 < report.heads <= CONFIG.prune_heads


def test_cross_fitting_keeps_more_than_a_pruner_that_has_seen_the_sentence(train):
    tokens, trees, _ = train
    kept = cross_fitted(tokens, trees, CONFIG, (True, True), 1, ignore)
    assert len(kept) == len(tokens)
    assert all(len(keep) == len(sentence) - 2 for keep, sentence in zip(kept, tokens, strict=True))
    one_fold = CONFIG.override(["pruner_folds=1"])
    seen = cross_fitted(tokens, trees, one_fold, (True, True), 1, ignore)
    fresh, stale = (PruningReport.of(keep, trees) for keep in (kept, seen))
    assert fresh.heads > stale.heads
    full = fit(train)
    assert all(np.array_equal(a, keep(full, b)) for a, b in zip(seen, tokens, strict=True))


def test_there_may_be_fewer_sentences_than_folds(train):
    tokens, trees, _ = train
    assert len(cross_fitted(tokens[:2], trees[:2], CONFIG, (True, True), 1, ignore)) == 2
    assert len(cross_fitted(tokens[:1], trees[:1], CONFIG, (True, True), 1, ignore)) == 1


def test_length_bounds_are_the_longest_arcs_of_training(train):
    tokens, trees, new = train
    pruner = fit(train, length_bounds="true")
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


def test_without_bounds_every_arc_is_allowed(train):
    pruner = fit(train)
    allowed = pruner.allowed(train[2][0])
    size = len(allowed)
    assert allowed.sum() == (size - 1) ** 2


@pytest.mark.parametrize("structure", STRUCTURES)
def test_allowed_arcs_without_a_tree_are_refused(train, structure):
    pruner = fit(train, structure)
    tokens = train[2][0]
    allowed = np.zeros((len(tokens) - 2,) * 2, np.bool_)
    with pytest.raises(ValueError, match="no tree"):
        pruner.keep_among(tokens, allowed)  # words without any head
    allowed[2, 1:] = True
    allowed[1, 2] = True
    allowed[2, 2] = False
    with pytest.raises(ValueError, match="no tree"):
        pruner.keep_among(tokens, allowed)  # a cycle


def test_pruning_report():
    keep = np.zeros((3, 3), np.bool_)
    keep[0, 1] = keep[2, 1] = keep[0, 2] = True
    report = PruningReport.of([keep, keep], [np.array([0, 1]), np.array([2, 0])])
    assert report == PruningReport(oracle=0.75, heads=1.5)
