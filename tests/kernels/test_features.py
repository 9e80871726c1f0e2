"""Hashed features: what they depend on, and how they spread."""

from itertools import permutations

import numpy as np
import pytest

from treebp.features.templates import ATTRIBUTES
from treebp.kernels.candidates import list_arcs
from treebp.kernels.features import CODES, ORDERS, SLOTS, distance_code, order_code, position_keys
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.parts import PARTS, Tuples
from treebp.parsing.parts.arc import ARC_TEMPLATES
from treebp.parsing.parts.positions import OF_FOUR, OF_THREE
from treebp.parsing.scorer import HashedScorer

ALL = ("words", "tags", "coarse", "between", "prefixes", "lemmas", "morphology", "clusters")
BOTH = ("sibling", "grandparent")
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


def random_scorer(rng, groups=ALL, kinds=BOTH, bits=BITS):
    scorer = HashedScorer(groups, [PARTS[kind] for kind in kinds], bits)
    scorer.weights[:] = rng.normal(size=len(scorer.weights))
    return scorer


def score(scorer, tokens, arcs):
    """Scores of arcs and parts, their backward pass, and the parts."""
    batch = Batch.of([tokens], [arcs])
    tuples = {part.name: part.list(batch, projective=False) for part in scorer.parts}
    return *scorer(batch, tuples)[:2], tuples


def used(scorer, tokens, arcs):
    """The weights that arcs and parts use."""
    scores, backprop, _ = score(scorer, tokens, arcs)
    return backprop({name: np.ones(len(own)) for name, own in scores.items()}).indices


def test_long_sentences_are_scored_and_have_a_gradient():
    rng = np.random.default_rng(1)
    scorer, tokens, arcs = random_scorer(rng), random_tokens(120, rng), random_arcs(120, rng)
    scores, backprop, _ = score(scorer, tokens, arcs)
    indices, values = backprop({name: np.ones(len(own)) for name, own in scores.items()})
    assert indices.min() >= 0
    assert indices.max() < 1 << BITS
    expected = sum(own.sum() for own in scores.values())
    found = (values * scorer.weights[indices].astype(np.float64)).sum()
    assert found == pytest.approx(expected, rel=1e-4)


def test_what_is_shared_between_arcs_and_parts_changes_no_score():
    rng = np.random.default_rng(2)
    scorer, tokens, arcs = random_scorer(rng, kinds=PARTS), random_tokens(9, rng), random_arcs(9, rng)
    scores, _, tuples = score(scorer, tokens, arcs)
    nothing = {
        part.name: Tuples(own.arcs[:0], own.positions[:0], np.zeros(2, np.int64))
        for part, own in zip(scorer.parts, tuples.values(), strict=True)
    }
    for a, expected in enumerate(scores["arc"]):
        keep = np.zeros((10, 10), np.bool_)
        keep[arcs.heads[a], arcs.modifiers[a]] = True
        alone, *_ = scorer(Batch.of([tokens], [Arcs.of(keep)]), nothing)
        assert alone["arc"] == pytest.approx([expected])
    for kind, own in tuples.items():
        assert len(own.arcs) > 0
        for p, expected in enumerate(scores[kind]):
            one = Tuples(own.arcs[p : p + 1], own.positions[p : p + 1], np.array([0, 1]))
            alone, *_ = scorer(Batch.of([tokens], [arcs]), {**nothing, kind: one})
            assert alone[kind] == pytest.approx([expected])


def test_scores_follow_from_tokens_and_distance_not_from_position():
    rng = np.random.default_rng(3)
    scorer = random_scorer(rng, kinds=())
    tokens = random_tokens(8, rng)
    tokens[6:10] = tokens[2:6]  # words 5 to 8 repeat words 1 to 4
    arcs = random_arcs(8, rng, heads=8)
    scores = arcs.matrix(score(scorer, tokens, arcs)[0]["arc"], np.nan)
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
    scorer = random_scorer(rng, groups=ALL)
    assert not np.isclose(score(scorer, tokens, arcs)[0]["arc"], score(scorer, other, arcs)[0]["arc"]).any()
    # Groups come with joins of their own: words with tags, morphology with words and tags.
    joined = {"words": {"words", "morphology"}, "tags": set(ALL) - {"coarse"}}.get(group, {group})
    scorer = random_scorer(rng, groups=[g for g in ALL if g not in joined])
    before, after = score(scorer, tokens, arcs)[0], score(scorer, other, arcs)[0]
    for name in ("arc", *BOTH):
        np.testing.assert_allclose(before[name], after[name])


def test_features_between_are_one_per_tag_that_occurs():
    rng = np.random.default_rng(5)
    tokens = random_tokens(15, rng, values=4)
    keep = np.zeros((16, 16), np.bool_)
    keep[12, 3] = True

    def listed(groups):
        return used(random_scorer(rng, groups, (), bits=20), tokens, Arcs.of(keep))

    between = set(tokens[5:13, ATTRIBUTES.index("fine")].tolist())  # words 4 to 11
    assert len(listed(("tags", "between"))) - len(listed(("tags",))) == len(between)


def test_different_features_have_different_keys():
    rng = np.random.default_rng(7)
    tokens = rng.integers(0, 40, (300, len(ATTRIBUTES)))
    keys: dict[int, tuple[int, ...]] = {}
    for templates in (ARC_TEMPLATES, OF_THREE, OF_FOUR):
        compiled = templates.compile(ALL)
        for position, of_parts in enumerate(position_keys(tokens, compiled, 32)):
            before, here, after = tokens[position], tokens[position + 1], tokens[position + 2]
            atoms = [*here, *before, *after, *(here >> 4), 0]
            for row, seed, key in zip(compiled.rows, compiled.seeds, of_parts, strict=True):
                values = (int(seed), *(int(atoms[slot]) for slot in row[:SLOTS]), int(atoms[row[SLOTS]]) & 15)
                assert keys.setdefault(int(key), values) == values
    assert len(keys) > 10_000


def test_the_starred_slot_moves_within_a_line():
    tokens = np.zeros((19, len(ATTRIBUTES)), np.int64)
    tokens[1:-1, ATTRIBUTES.index("fine")] = np.arange(17)
    templates = ARC_TEMPLATES.compile(("tags", "between"))
    keys = position_keys(tokens, templates, 20)[:, templates.begin[6]].tolist()
    lines = [key >> 4 for key in keys]
    assert len(set(lines[:16])) == 1
    assert len(set(keys[:16])) == 16
    assert lines[16] != lines[0]


@pytest.mark.parametrize("kinds", [BOTH, tuple(PARTS)], ids="+".join)
def test_features_spread_evenly_over_the_weights(kinds):
    rng = np.random.default_rng(8)
    tokens, arcs = random_tokens(60, rng, values=1000), random_arcs(60, rng)
    found = np.unique(used(HashedScorer(ALL, [PARTS[kind] for kind in kinds], 24), tokens, arcs))
    assert len(found) > 10_000
    for cells in (found >> 16, found & 15):  # parts of the table, and places in a cache line
        counts = np.bincount(cells)
        expected = len(found) / len(counts)
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
