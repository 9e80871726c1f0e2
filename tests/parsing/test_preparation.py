"""What training makes of a treebank, and what it refuses."""

from dataclasses import replace

import pytest
from small_parser import TINY, fit, same_model

from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.parsing.preparation import legal_tree, split_off, tree_structure


def test_without_development_data_the_last_sentences_are_held_out(train):
    parser = fit(train[:40], None, config=replace(TINY, epochs=1))
    given = fit(train[:36], train[36:40], config=replace(TINY, epochs=1))
    assert same_model(parser, given)
    assert parser.reports[0].dev_uas == given.reports[0].dev_uas


def test_empty_sentences_are_passed_over(train, dev):
    nothing = replace(train[0], forms=[], lemmas=[], coarse_tags=[], fine_tags=[], feats=[], heads=[], labels=[])
    config = replace(TINY, epochs=1)
    assert same_model(
        fit([nothing, *train[:20], nothing], [nothing, *dev[:3]], config=config),
        fit(train[:20], dev[:3], config=config),
    )


def test_the_treebanks_habit_of_roots_is_followed(train):
    two_roots = Sentence.from_columns(["a", "b"], heads=[0, 0])
    assert tree_structure(Config(), train[:200]) == (True, True)
    assert tree_structure(Config(), [two_roots, *train[:200]]) == (True, True)  # a slip
    assert tree_structure(Config(), [two_roots] * 3 + train[:200]) == (True, False)
    assert tree_structure(Config(root="multiple", tree="nonprojective"), train[:200]) == (False, False)
    assert tree_structure(Config(root="single"), [two_roots]) == (True, True)


def test_a_treebank_with_several_roots_is_learnt():
    words = [Sentence.from_columns(["go", "!", "stop", "!"], coarse_tags=list("VPVP"), heads=[0, 1, 0, 3])] * 12
    parser = fit(words, words[:2], config=replace(TINY, epochs=4))
    assert next(parser.parse(words[:1], threads=1)).heads.tolist() == [0, 1, 0, 3]
    single = fit(words, words[:2], config=replace(TINY, root="single"))
    assert (next(single.parse(words[:1], threads=1)).heads == 0).sum() == 1


@pytest.mark.parametrize(
    ("heads", "structure", "expected"),
    [
        ([2, 0, 2], (True, True), [2, 0, 2]),
        ([0, 0, 2], (True, False), [0, 0, 2]),
        ([3, 0, 2, 1], (False, True), [3, 0, 2, 1]),
    ],
)
def test_legal_trees_stay_as_they_are(heads, structure, expected):
    assert legal_tree(heads, structure).tolist() == expected


@pytest.mark.parametrize("projective", [True, False])
def test_trees_are_made_legal_with_few_changes(projective):
    heads = [0, 0, 2, 0]
    legal = legal_tree(heads, (projective, True))
    assert (legal == 0).sum() == 1
    assert (legal == heads).sum() == 2
    crossing = legal_tree([3, 4, 0, 3], (True, True))
    assert (crossing == [3, 4, 0, 3]).sum() == 3


def test_nonprojective_trees_are_learnt_by_the_nonprojective_model_only():
    crossing = [Sentence.from_columns(list("abcd"), coarse_tags=list("ABCD"), heads=[3, 4, 0, 3])] * 20
    for tree, learnt in (("nonprojective", True), ("projective", False)):
        for objective in ("cll", "l2"):
            parser = fit(crossing, crossing[:2], config=replace(TINY, tree=tree, objective=objective, epochs=4))
            assert (next(parser.parse(crossing[:1], threads=1)).heads.tolist() == [3, 4, 0, 3]) == learnt


def test_sentences_without_heads_are_refused_by_file_and_line(train):
    bare = Sentence.from_columns(["Trees", "grow"], comments=["# one"], heads=[2, -1])
    bare = replace(bare, source="dev.conllu", line=7)
    with pytest.raises(ValueError, match=r"dev\.conllu:9: word 2 has no head.* development data"):
        fit(train[:10], [*train[10:12], bare])
    with pytest.raises(ValueError, match=r"dev\.conllu:9: word 2 has no head.* training data"):
        fit([bare], train[:2])


@pytest.mark.parametrize(("count", "message"), [(0, "training data have no sentence"), (1, "at least two sentences")])
def test_too_few_sentences_are_refused(train, count, message):
    with pytest.raises(ValueError, match=message):
        fit(train[:count], None)


def test_no_development_sentence_is_refused(train):
    with pytest.raises(ValueError, match="development data have no sentence"):
        fit(train[:2], [])


def test_a_share_is_split_off_the_end(train):
    first, last = split_off(train[:25], 0.1)
    assert first + last == train[:25]
    assert len(last) == 2
    assert [len(part) for part in split_off(train[:2], 0.01)] == [1, 1]


def contradiction():
    """Two sentences that tell a pruner, fitted to one of them, all the wrong things about the other."""
    return [
        Sentence.from_columns(["a", "b"], coarse_tags=["A", "B"], heads=heads, labels=["x", "y"])
        for heads in ([0, 1], [2, 0])
    ]


@pytest.mark.parametrize("objective", ["l2", "ar"])
def test_training_with_all_right_arcs_pruned_away_is_refused(objective):
    with pytest.raises(ValueError, match="no right arc at all: raise prune_heads or lower prune_ratio"):
        fit(contradiction(), contradiction(), config=replace(TINY, objective=objective, prune_heads=1))


def test_likelihood_brings_right_arcs_back():
    parser = fit(contradiction(), contradiction(), config=replace(TINY, objective="cll", prune_heads=1))
    assert parser.pruning["train"].oracle == 0.0


def test_a_failed_training_leaves_the_parser_as_it_was(train, dev):
    parser = fit(train[:30], dev[:5], config=replace(TINY, prune_heads=1))
    before = [parse.heads.tolist() for parse in parser.parse(dev[:5], threads=1)]
    with pytest.raises(ValueError, match="no right arc"):
        parser.fit(contradiction(), contradiction(), threads=1)
    assert [parse.heads.tolist() for parse in parser.parse(dev[:5], threads=1)] == before


def test_a_parser_whose_training_failed_is_untrained(train):
    parser = Parser(replace(TINY, prune_heads=1))
    with pytest.raises(ValueError, match="no right arc"):
        parser.fit(contradiction(), contradiction(), threads=1)
    with pytest.raises(ValueError, match="has not been trained"):
        list(parser.parse(train[:1]))


def test_labels_may_be_left_out(train, dev):
    parser = fit(train[:20], dev[:3], config=replace(TINY, labels=False, epochs=1))
    assert set(next(parser.parse(dev[:1], threads=1)).labels) == {"_"}


def test_a_treebank_with_a_single_label(train, dev):
    plain = [replace(sentence, labels=["dep"] * len(sentence)) for sentence in train[:20]]
    parser = fit(plain, dev[:3], config=replace(TINY, epochs=1))
    parse = next(parser.parse(dev[:1], threads=1))
    assert set(parse.labels) == {"dep"}
    assert (parse.label_probabilities == 1.0).all()
