import numpy as np
import pytest

from small_pruner import CONFIG, encoded_treebank, has_tree, keep, small_pruner
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.reports import PruningReport
from treebp.trees.dependency_trees import DependencyTrees

STRUCTURES = [(True, True), (True, False), (False, True), (False, False)]


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("heads", [1, 3])
def test_few_heads_and_always_a_tree(structure, heads):
    pruner = small_pruner(structure, prune_heads=heads)
    for tokens in encoded_treebank()[2]:
        kept = keep(pruner, tokens)
        assert kept.shape == (len(tokens) - 2, len(tokens) - 2)
        assert not kept[:, 0].any()
        assert not kept.diagonal().any()
        assert (kept.sum(axis=0)[1:] >= 1).all()
        assert (kept.sum(axis=0)[1:] <= heads).all()
        assert has_tree(kept, structure)


def test_a_higher_ratio_keeps_less():
    pruners = [small_pruner(prune_ratio=ratio) for ratio in (0.0, 0.01, 1.0)]
    kept = [sum(int(keep(pruner, tokens).sum()) for tokens in encoded_treebank()[2]) for pruner in pruners]
    words = sum(len(tokens) - 3 for tokens in encoded_treebank()[2])
    assert kept[0] > kept[1] > kept[2]
    assert words <= kept[2] < 1.2 * words  # little beside the best heads and the tree


def test_the_ratio_is_of_the_words_best_marginal():
    pruner = small_pruner(prune_ratio=0.01, prune_heads=1000)
    tokens = encoded_treebank()[2][0]
    everything = keep(small_pruner(prune_ratio=0.0, prune_heads=1000), tokens)
    arcs = Arcs.of(everything)
    marginals = arcs.matrix(pruner.model(Batch.of([tokens], [arcs])).inferred.beliefs, 0.0)
    tree = DependencyTrees(marginals, projective=True, single_root=True).argmax()
    expected = (marginals >= 0.01 * marginals.max(axis=0)) & everything
    expected[tree, np.arange(1, len(marginals))] = True
    assert np.array_equal(keep(pruner, tokens), expected)


def test_good_heads_survive():
    tokens, trees, _ = encoded_treebank()
    pruner = small_pruner()
    report = PruningReport.of([keep(pruner, sentence) for sentence in tokens], trees)
    assert report.oracle > 0.99
    assert 2.0 < report.heads <= CONFIG.prune_heads


def test_without_bounds_every_arc_is_allowed():
    pruner = small_pruner()
    allowed = pruner.allowed(encoded_treebank()[2][0])
    size = len(allowed)
    assert allowed.sum() == (size - 1) ** 2


@pytest.mark.parametrize("structure", STRUCTURES)
def test_allowed_arcs_without_a_tree_are_refused(structure):
    pruner = small_pruner(structure)
    tokens = encoded_treebank()[2][0]
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
