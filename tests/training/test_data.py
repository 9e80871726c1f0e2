"""What training makes of a treebank, and what it refuses."""

from dataclasses import fields, replace

import numpy as np
import pytest

from small_parser import TINY, fit, same_model
from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.training import prepare
from treebp.training.data import legal_tree, split_off, tree_structure


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


def test_the_treebanks_habit_of_crossing_arcs_is_followed(train):
    crossing = Sentence.from_columns(["a", "b", "c", "d"], heads=[3, 4, 0, 3])
    words = sum(map(len, train[:50]))
    assert tree_structure(Config(), [crossing] * (words // 200) + train[:50]) == (True, True)
    assert tree_structure(Config(), [crossing] * (words // 50) + train[:50]) == (False, True)
    assert tree_structure(Config(tree="projective"), [crossing]) == (True, True)
    assert tree_structure(Config(inference="exact", factors=("grandparent",)), [crossing]) == (True, True)


def test_what_was_left_to_training_is_resolved_and_gives_the_same_parser(train, dev):
    config = replace(TINY, epochs=1, rate=0.0)
    parser = fit(train[:40], dev[:5], config=config)
    assert (parser.config.tree, parser.config.root) == ("projective", "single")
    assert parser.config.rate == parser.reports[0].rate > 0.0
    assert same_model(parser, fit(train[:40], dev[:5], config=parser.config))
    both = fit(train[:40], dev[:5], config=replace(config, objective="l2+ar"))
    assert both.config.rate == (0.0 if len({report.rate for report in both.reports}) > 1 else both.reports[0].rate)


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


def test_labels_may_be_left_out(train, dev):
    parser = fit(train[:20], dev[:3], config=replace(TINY, labels=False, epochs=1))
    assert set(next(parser.parse(dev[:1], threads=1)).labels) == {"_"}


def test_a_treebank_with_a_single_label(train, dev):
    plain = [replace(sentence, labels=["dep"] * len(sentence)) for sentence in train[:20]]
    parser = fit(plain, dev[:3], config=replace(TINY, epochs=1))
    parse = next(parser.parse(dev[:1], threads=1))
    assert set(parse.labels) == {"dep"}
    assert (parse.label_probabilities == 1.0).all()


@pytest.fixture(scope="module")
def prepared(train, dev):
    return prepare(train[:60], dev[:10], TINY)


@pytest.mark.parametrize("objective", ["cll", "l2"])
def test_parsers_fitted_to_prepared_data_are_those_fitted_to_the_data(train, dev, prepared, objective):
    config = replace(TINY, epochs=1, iterations=2, objective=objective)
    shared, alone = fit((), None, config=config, prepared=prepared), fit(train[:60], dev[:10], config=config)
    assert [(r.dev_uas, r.value) for r in shared.reports] == [(r.dev_uas, r.value) for r in alone.reports]
    assert shared.pruning == alone.pruning
    for a, b in zip(shared.parse(dev[:10], threads=1), alone.parse(dev[:10], threads=1), strict=True):
        np.testing.assert_array_equal(a.beliefs, b.beliefs)


def test_preparation_is_for_one_pruner_only(prepared):
    with pytest.raises(ValueError, match=r"prepared with prune_heads = 10, not 3"):
        fit((), None, config=replace(TINY, prune_heads=3), prepared=prepared)


LATER = {
    "scorer": "sum",
    "inputs": ("words",),
    "encoder": "transformer",
    "encoder_layers": 1,
    "encoder_size": 8,
    "embedding_size": 5,
    "arc_size": 5,
    "label_size": 5,
    "part_rank": 5,
    "dropout": 0.1,
    "hidden": 0.1,
    "bf16": True,
    "network_objective": "l2",
    "network_epochs": 3,
    "network_rate": 0.1,
    "pretrained_rate": 0.1,
    "network_warmup": 0.1,
    "network_decay": 0.1,
    "network_batch": 7,
    "network_clip": 1.0,
    "tokeniser": False,  # true only beside predicted tags
    "size": 5.0,
    "objective": "ar",
    "factors": (),
    "inference": "exact",
    "iterations": 2,
    "schedule": "parallel",
    "damping": 0.5,
    "tolerance": 0.1,
    "decoder": "map",
    "weight_bits": 10,
    "epochs": 5,
    "rate": 0.5,
    "temperature_start": 0.2,
    "temperature_end": 0.2,
}
OTHER = {
    "word_clusters": "paths",
    "tree": "nonprojective",
    "root": "multiple",
    "templates": (),
    "tags": "predicted",
    "tagger_weight_bits": 11,
    "tagger_epochs": 3,
    "tagger_folds": 2,
    "labels": False,
    "label_weight_bits": 9,
    "label_epochs": 1,
    "label_rate": 0.1,
    "pruner_weight_bits": 11,
    "pruner_epochs": 5,
    "pruner_rate": 0.1,
    "pruner_folds": 7,
    "prune_ratio": 0.1,
    "prune_heads": 2,
    "length_bounds": True,
    "trainings": 2,
    "minibatch": 3,
    "regularisation": 1.0,
    "held_out": 0.2,
    "seed": 5,
}


def test_preparation_serves_all_settings_that_come_later_and_no_others(prepared):
    assert sorted([*LATER, *OTHER]) == sorted(field.name for field in fields(Config))
    for key, value in LATER.items():
        prepared.check(replace(TINY, **({"factors": ()} if key == "inference" else {}), **{key: value}))
    for key, value in OTHER.items():
        with pytest.raises(ValueError, match=f"the data were prepared with {key} = "):
            prepared.check(replace(TINY, **{key: value}))
