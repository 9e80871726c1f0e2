"""Scores against sums over features that are hashed by definition, and their gradient."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treebp.features.templates import ATTRIBUTES, chosen
from treebp.kernels.features import ARC, BETWEEN, HEAD, MODIFIER, ROLE, SLOTS, distance_code
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.parts import PARTS
from treebp.parsing.parts.arc import ARC_TEMPLATES
from treebp.parsing.scorer import HashedScorer

ALL = ("words", "tags", "coarse", "between", "prefixes", "lemmas", "morphology", "clusters")
BITS = 12  # few weights, so that features share them
WORD = (1 << 64) - 1


def random_batch(rng, lengths):
    tokens, arcs = [], []
    for words in lengths:
        rows = rng.integers(3, 40, (words + 3, len(ATTRIBUTES)))
        rows[[0, -1]], rows[1] = 1, 2
        keep = rng.random((words + 1, words + 1)) < 0.6
        keep[:, 0] = False
        np.fill_diagonal(keep, False)
        tokens.append(rows)
        arcs.append(Arcs.of(keep))
    return Batch.of(tokens, arcs)


def random_scorer(rng, *kinds, groups=ALL):
    scorer = HashedScorer(groups, [PARTS[kind] for kind in kinds], BITS)
    scorer.weights[:] = rng.normal(size=len(scorer.weights))
    return scorer


def listed(scorer, batch, projective=True):
    return {part.name: part.list(batch, projective) for part in scorer.parts}


def key(hash_):
    """The index of a weight: the upper bits choose a line, the lowest four a place in it."""
    return (hash_ >> (68 - BITS) << 4) | hash_ & 15


def start(seed):
    return seed * 0x9E3779B97F4A7C15 & WORD


def finish(hash_):
    hash_ = (hash_ ^ hash_ >> 32) * 0xD6E8FEB86659FD93 & WORD
    return hash_ ^ hash_ >> 32


def position_key(tokens, position, slots, seed):
    """The hash of what a template looks at around one position."""
    hash_, place = start(seed), 0
    for slot in [*slots, *[None] * (SLOTS - len(slots))]:
        value = 0
        if slot:
            where, _, attribute = slot.partition(".")
            row = position + 1 + {"-": -1, "+": 1}.get(where[1:], 0)
            value = int(tokens[row, ATTRIBUTES.index(attribute.removesuffix("*"))])
            if attribute.endswith("*"):
                value, place = value >> 4, value & 15
        hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15 & WORD
        hash_ ^= hash_ >> 29
    return key(finish(hash_) ^ place)


def template_keys(tokens, positions, templates, view):
    """The exclusive or of the hashes of all positions of a view, for each template of the view."""
    own = [""] if view.letters == templates.always else []
    for template in chosen(templates.sections, ALL):
        if {slot[0] for slot in template.split()} == set(view.letters):
            own.append(template)
    for number, template in enumerate(own):
        result = 0
        for role, letter in enumerate(view.letters):
            slots = [slot for slot in template.split() if slot[0] == letter]
            result ^= position_key(tokens, positions[letter], slots, view.seed + role * ROLE + number)
        yield template, result


def order_number(positions):
    a, b, c = positions[:3]
    if len(positions) == 4:
        return (b < c) + 2 * sum(other < a for other in positions[1:])
    if len(set(positions)) < 3:  # a first or a last child, on the right or on the left
        return {(True, True): 6, (True, False): 4, (False, True): 1, (False, False): 2}[a == b, max(b, c) > a]
    return (a < b) + 2 * (b < c) + 4 * (a < c)


def part_features(tokens, positions, part):
    order = order_number(positions)
    where = dict(zip("abcd", positions, strict=False))
    for view in part.templates.views:
        of_all = len(view.letters) == len(positions)
        turn = key(finish(start(part.family + order))) if of_all else key(start(part.family) ^ order)
        yield from (found ^ turn for _, found in template_keys(tokens, where, part.templates, view))


def arc_features(tokens, head, modifier):
    code = int(distance_code(head, modifier))
    views = {view.seed: view for view in ARC_TEMPLATES.views}
    where = {"h": head, "m": modifier}
    for seed in (HEAD, MODIFIER, ARC):
        for _, found in template_keys(tokens, where, ARC_TEMPLATES, views[seed]):
            yield from (found, found ^ code)
    direction = key(start(BETWEEN)) if head < modifier else 0
    seen = set()
    for between in range(min(head, modifier) + 1, max(head, modifier)):
        for template, found in template_keys(tokens, {**where, "b": between}, ARC_TEMPLATES, views[BETWEEN]):
            attribute = template.rpartition(".")[2].removesuffix("*")
            tag = attribute, int(tokens[between + 1, ATTRIBUTES.index(attribute)])
            if tag not in seen:
                seen.add(tag)
                yield found ^ direction


@pytest.mark.parametrize("kind", PARTS)
def test_scores_of_parts_are_those_of_the_definition(kind):
    rng = np.random.default_rng(1)
    scorer, batch = random_scorer(rng, kind), random_batch(rng, [4, 0, 6])
    tuples = listed(scorer, batch)
    own = tuples[kind]
    scores, *_ = scorer(batch, tuples)
    assert len(scores[kind]) == len(own.arcs) > 15
    for sentence, (tokens, _) in enumerate(batch):
        for p in range(own.first[sentence], own.first[sentence + 1]):
            features = list(part_features(tokens, own.positions[p].tolist(), PARTS[kind]))
            assert scores[kind][p] == pytest.approx(scorer.weights[features].astype(np.float64).sum(), abs=1e-12)


def test_scores_of_arcs_are_those_of_the_definition():
    rng = np.random.default_rng(2)
    scorer, batch = random_scorer(rng), random_batch(rng, [5, 0, 7])
    scores, *_ = scorer(batch, {})
    for (tokens, arcs), own in zip(batch, batch.split(scores["arc"]), strict=True):
        for head, modifier, found in zip(arcs.heads.tolist(), arcs.modifiers.tolist(), own, strict=True):
            expected = scorer.weights[list(arc_features(tokens, head, modifier))].astype(np.float64).sum()
            assert found == pytest.approx(expected, abs=1e-5)  # weights with and without length are added as float32


def test_first_and_last_children_differ_from_siblings_that_look_like_their_head():
    orders = [(3, 3, 1), (3, 3, 5), (3, 1, 3), (3, 5, 3), (3, 2, 1), (3, 4, 5)]
    assert len(set(map(order_number, orders))) == len(orders)


@pytest.mark.parametrize("kinds", [(), *((kind,) for kind in PARTS), tuple(PARTS)], ids="+".join)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), lengths=st.lists(st.integers(0, 12), min_size=1, max_size=4))
def test_the_gradient_is_the_transpose_of_scoring(kinds, seed, lengths):
    rng = np.random.default_rng(seed)
    scorer, batch = random_scorer(rng, *kinds), random_batch(rng, lengths)
    scores, backprop, _ = scorer(batch, listed(scorer, batch, projective=False))
    assert list(scores) == ["arc", *kinds]
    adjoints = {name: rng.normal(size=len(own)) for name, own in scores.items()}
    indices, values = backprop(adjoints)
    assert (indices.dtype, values.dtype) == (np.int32, np.float32)
    terms = values * scorer.weights[indices].astype(np.float64)
    expected = sum(adjoints[name] @ scores[name] for name in scores)
    assert terms.sum() == pytest.approx(expected, abs=1e-6 * np.abs(terms).sum())


def test_a_batch_gives_what_its_sentences_give_alone():
    rng = np.random.default_rng(3)
    scorer, batch = random_scorer(rng, *PARTS), random_batch(rng, [6, 1, 0, 12, 5])
    tuples = listed(scorer, batch)
    together, *_ = scorer(batch, tuples)
    for sentence, (tokens, arcs) in enumerate(batch):
        one = Batch.of([tokens], [arcs])
        alone, *_ = scorer(one, listed(scorer, one))
        assert np.array_equal(alone["arc"], batch.split(together["arc"])[sentence])
        for kind in PARTS:
            begin, end = tuples[kind].first[sentence : sentence + 2]
            assert np.array_equal(alone[kind], together[kind][begin:end])


def test_adjoints_of_next_to_nothing_are_left_out():
    rng = np.random.default_rng(4)
    scorer, batch = random_scorer(rng, *PARTS), random_batch(rng, [7])
    scores, backprop, _ = scorer(batch, listed(scorer, batch))
    assert len(backprop({name: np.full(len(own), 1e-9) for name, own in scores.items()}).indices) == 0
