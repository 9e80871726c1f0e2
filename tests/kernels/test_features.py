from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treebp.kernels.candidates import list_arcs
from treebp.kernels.features import (
    CODES,
    GRANDPARENT,
    ORDERS,
    SIBLING,
    SLOTS,
    distance_code,
    order_code,
    position_keys,
    score_arcs,
    score_pairs,
)
from treebp.kernels.sentence import list_gradient, score
from treebp.parsing.arc_model import ArcModel
from treebp.parsing.arcs import Arcs
from treebp.parsing.templates import ATTRIBUTES

ALL = ("words", "tags", "coarse", "between", "prefixes", "lemmas", "morphology")
BOTH = ("grandparent", "sibling")
BITS = 12  # few weights, so that features share them


def random_tokens(words, rng, values=7):
    tokens = rng.integers(3, 3 + values, (words + 3, len(ATTRIBUTES)))
    tokens[[0, -1]], tokens[1] = 1, 2
    return tokens


def random_arcs(words, rng, heads=4):
    keep = rng.random((words + 1, words + 1)) < heads / words
    keep[np.arange(words), np.arange(1, words + 1)] = True
    keep[:, 0] = False
    np.fill_diagonal(keep, False)
    return Arcs(*list_arcs(keep))


def random_model(rng, groups=ALL, factors=BOTH):
    model = ArcModel(groups, factors, BITS, projective=False, single_root=True)
    model.weights[:] = rng.normal(size=len(model.weights))
    return model


def arc_scores(model, tokens, arcs):
    return model.score(tokens, arcs)[0]


@pytest.mark.parametrize("factors", [(), ("sibling",), ("grandparent",), BOTH])
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 12))
def test_gradient_by_weights_is_the_transpose_of_scoring(factors, seed, words):
    rng = np.random.default_rng(seed)
    model, tokens, arcs = random_model(rng, factors=factors), random_tokens(words, rng), random_arcs(words, rng)
    direction = model.weights
    scores, pair_scores, _, _, triples, siblings = score(
        tokens, arcs.heads, arcs.modifiers, arcs.starts, model.features, model.structure, direction
    )
    of_scores, of_pairs = rng.normal(size=len(scores)), rng.normal(size=len(pair_scores))
    indices, values = list_gradient(
        tokens, arcs.heads, arcs.modifiers, of_scores, of_pairs, triples, siblings, model.features
    )
    expected = of_scores @ scores + of_pairs @ pair_scores
    terms = values * direction[indices].astype(np.float64)
    assert terms.sum() == pytest.approx(expected, abs=1e-6 * np.abs(terms).sum())


def test_long_sentences_are_scored_and_have_a_gradient():
    rng = np.random.default_rng(1)
    model, tokens, arcs = random_model(rng), random_tokens(120, rng), random_arcs(120, rng)
    scores, pair_scores, _, _, triples, siblings = score(
        tokens, arcs.heads, arcs.modifiers, arcs.starts, model.features, model.structure, model.weights
    )
    of_scores, of_pairs = np.ones(len(scores)), np.ones(len(pair_scores))
    indices, values = list_gradient(
        tokens, arcs.heads, arcs.modifiers, of_scores, of_pairs, triples, siblings, model.features
    )
    assert indices.min() >= 0
    assert indices.max() < 1 << BITS
    expected = scores.sum() + pair_scores.sum()
    found = (values * model.weights[indices].astype(np.float64)).sum()
    assert found == pytest.approx(expected, rel=1e-4)


def test_what_is_shared_between_arcs_and_pairs_changes_no_score():
    rng = np.random.default_rng(2)
    model, tokens, arcs = random_model(rng), random_tokens(9, rng), random_arcs(9, rng)
    of_arcs, of_pairs, _, bits = model.features
    scores, pair_scores, triples, siblings = model.score(tokens, arcs)
    for a in range(len(scores)):
        alone = np.empty(1)
        starts = (np.arange(10) >= arcs.modifiers[a]).astype(np.int64)
        score_arcs(tokens, arcs.heads[a : a + 1], starts, of_arcs, bits, model.weights, alone)
        assert alone[0] == pytest.approx(scores[a])
    assert 0 < siblings < len(triples)
    keys = position_keys(tokens, of_pairs, bits)
    for p in range(len(triples)):
        alone = np.empty(1)
        family = SIBLING if p < siblings else GRANDPARENT
        score_pairs(keys, of_pairs[2], triples[p : p + 1], family, bits, model.weights, alone)
        assert alone[0] == pytest.approx(pair_scores[p])


def test_scores_follow_from_tokens_and_distance_not_from_position():
    rng = np.random.default_rng(3)
    model = random_model(rng)
    tokens = random_tokens(8, rng)
    tokens[6:10] = tokens[2:6]  # words 5 to 8 repeat words 1 to 4
    arcs = random_arcs(8, rng, heads=8)
    scores = arcs.matrix(arc_scores(model, tokens, arcs), np.nan)
    assert scores[2, 3] == pytest.approx(scores[6, 7])
    assert scores[3, 2] == pytest.approx(scores[7, 6])
    assert scores[2, 3] != pytest.approx(scores[3, 2])
    assert scores[2, 3] != pytest.approx(scores[2, 7])


@pytest.mark.parametrize(
    ("group", "attribute"),
    [
        ("words", "word"),
        ("tags", "fine"),
        ("coarse", "coarse"),
        ("prefixes", "prefix"),
        ("lemmas", "lemma"),
        ("morphology", "morphology"),
    ],
)
def test_a_template_group_looks_at_its_own_attribute(group, attribute):
    rng = np.random.default_rng(4)
    tokens, arcs = random_tokens(6, rng), random_arcs(6, rng)
    other = tokens.copy()
    other[2:-1, ATTRIBUTES.index(attribute)] += 20
    model = random_model(rng, groups=ALL)
    assert not np.isclose(arc_scores(model, tokens, arcs), arc_scores(model, other, arcs)).any()
    # Groups come with joins of their own: words with tags, morphology with words and tags.
    joined = {"words": {"words", "morphology"}, "tags": set(ALL) - {"coarse"}}.get(group, {group})
    model = random_model(rng, groups=[g for g in ALL if g not in joined])
    for before, after in zip(model.score(tokens, arcs)[:2], model.score(other, arcs)[:2], strict=True):
        np.testing.assert_allclose(before, after)


def test_features_between_are_one_per_tag_that_occurs():
    rng = np.random.default_rng(5)
    tokens = random_tokens(15, rng, values=4)
    head, modifier = np.array([12]), np.array([3])
    nothing = np.zeros((0, 3), np.int64)

    def listed(groups):
        features = ArcModel(groups, (), 20, projective=True, single_root=True).features
        return list_gradient(tokens, head, modifier, np.ones(1), np.zeros(0), nothing, 0, features)[0]

    between = set(tokens[5:13, ATTRIBUTES.index("fine")].tolist())  # words 4 to 11
    assert len(listed(("tags", "between"))) - len(listed(("tags",))) == len(between)


def test_adjoints_of_next_to_nothing_are_left_out():
    rng = np.random.default_rng(6)
    model, tokens, arcs = random_model(rng), random_tokens(5, rng), random_arcs(5, rng)
    _, pair_scores, triples, siblings = model.score(tokens, arcs)
    tiny = np.full(len(arcs.heads), 1e-9), np.full(len(pair_scores), 1e-9)
    indices, _ = list_gradient(tokens, arcs.heads, arcs.modifiers, *tiny, triples, siblings, model.features)
    assert len(indices) == 0


def test_different_features_have_different_keys():
    rng = np.random.default_rng(7)
    tokens = rng.integers(0, 40, (300, len(ATTRIBUTES)))
    model = ArcModel(ALL, BOTH, BITS, projective=True, single_root=True)
    keys: dict[int, tuple[int, ...]] = {}
    for templates in model.features[:2]:
        rows, seeds, _ = templates
        for position, of_parts in enumerate(position_keys(tokens, templates, 32)):
            before, here, after = tokens[position], tokens[position + 1], tokens[position + 2]
            atoms = [*here, *before, *after, *(here >> 4), 0]
            for row, seed, key in zip(rows, seeds, of_parts, strict=True):
                values = (int(seed), *(int(atoms[slot]) for slot in row[:SLOTS]), int(atoms[row[SLOTS]]) & 15)
                assert keys.setdefault(int(key), values) == values
    assert len(keys) > 10_000


def test_the_starred_slot_moves_within_a_line():
    tokens = np.zeros((19, len(ATTRIBUTES)), np.int64)
    tokens[1:-1, ATTRIBUTES.index("fine")] = np.arange(17)
    templates = ArcModel(("tags", "between"), (), BITS, projective=True, single_root=True).features[0]
    keys = position_keys(tokens, templates, 20)[:, templates[2][6]].tolist()
    lines = [key >> 4 for key in keys]
    assert len(set(lines[:16])) == 1
    assert len(set(keys[:16])) == 16
    assert lines[16] != lines[0]


def test_features_spread_evenly_over_the_weights():
    rng = np.random.default_rng(8)
    tokens, arcs = random_tokens(60, rng, values=1000), random_arcs(60, rng)
    model = ArcModel(ALL, BOTH, 24, projective=False, single_root=True)
    _, pair_scores, triples, siblings = model.score(tokens, arcs)
    ones = np.ones(len(arcs.heads)), np.ones(len(pair_scores))
    used = np.unique(list_gradient(tokens, arcs.heads, arcs.modifiers, *ones, triples, siblings, model.features)[0])
    assert len(used) > 10_000
    for cells in (used >> 16, used & 15):  # parts of the table, and places in a cache line
        counts = np.bincount(cells)
        expected = len(used) / len(counts)
        freedom = len(counts) - 1
        assert len(counts) in (16, 256)
        assert np.square(counts - expected).sum() / expected < 2.0 * freedom + 6.0 * np.sqrt(2.0 * freedom)


def test_codes_tell_direction_length_and_order():
    codes = {(h, m): distance_code(h, m) for h in range(60) for m in range(60) if h != m}
    assert min(codes.values()) > 0  # 0 stands for no distance
    assert max(codes.values()) < CODES
    right, left = [codes[0, m] for m in range(1, 60)], [codes[m, 0] for m in range(1, 60)]
    assert not set(right) & set(left)
    assert right == sorted(right)
    assert left == sorted(left)
    assert len(set(right)) == len(set(left)) > 5
    orders = {order_code(*p) for p in permutations(range(3))}
    assert len(orders) == 6
    assert max(orders) < ORDERS
