"""Arcs that are known or forbidden in advance."""

from dataclasses import replace

import numpy as np
import pytest

from small_parser import CONFIG, fit, is_tree, parse
from treebp.data.embedded import embedded_treebank
from treebp.data.sentence import Sentence


def test_an_error_in_a_thread_reaches_the_caller(parser, test_set):
    known = [{}] * 20 + [{1: 2, 2: 1}] + [{}] * 20
    with pytest.raises(ValueError, match="leave no tree"):
        list(parser.parse(test_set[:41], threads=2, known=known))


def test_known_heads_are_honoured(parser, test_set):
    rng = np.random.default_rng(0)
    for sentence in test_set[:20]:
        free = parse(parser, sentence)
        chosen = int(rng.integers(1, len(sentence) + 1))
        candidates = [h for h in range(len(sentence) + 1) if h not in (chosen, free.heads[chosen - 1])]
        head = int(rng.choice(candidates))
        result = parse(parser, sentence, known={chosen: head})
        assert result.heads[chosen - 1] == head
        assert result.head_probabilities[chosen - 1] == pytest.approx(1.0)
        assert is_tree(result.heads, projective=True, single_root=True)


def test_all_heads_may_be_known(parser, test_set):
    for sentence in test_set[:5]:
        known = dict(enumerate(sentence.heads, start=1))
        result = parse(parser, sentence, known=known, kbest=3)
        assert result.heads.tolist() == sentence.heads
        assert result.expected_accuracy == pytest.approx(1.0)
        assert len(result.alternatives) == 1


def test_forbidden_arcs_are_avoided(parser, test_set):
    for sentence in test_set[:10]:
        forbidden = set()
        for _ in range(3):
            heads = parse(parser, sentence, forbidden=forbidden).heads
            arcs = {(int(head), modifier) for modifier, head in enumerate(heads, start=1)}
            assert not arcs & forbidden
            forbidden.add((int(heads[2]), 3))


def test_constraints_reach_beyond_the_pruner_and_length_bounds(test_set):
    config = replace(CONFIG, prune_heads=1, length_bounds=True, epochs=1)
    strict = fit(embedded_treebank("train")[:40], embedded_treebank("dev")[:5], config=config)
    sentence = test_set[0]
    head = next(h for h in range(len(sentence), 0, -1) if h not in (1, parse(strict, sentence).heads[0]))
    assert parse(strict, sentence, known={1: head}).heads[0] == head


@pytest.mark.parametrize(
    ("known", "forbidden"),
    [
        ({1: 2, 2: 1}, []),
        ({1: 2, 2: 3, 3: 1}, []),
        ({1: 0, 2: 0}, []),  # two roots in a treebank with one
        ({1: 3, 2: 4}, [(0, 2), (0, 4)]),  # crossing
        ({2: 1}, [(1, 2)]),
        ({}, [(0, 1), (2, 1), (3, 1), (4, 1)]),
    ],
)
def test_constraints_that_leave_no_tree_are_refused(parser, known, forbidden):
    sentence = replace(Sentence.from_columns(["a", "dog", "saw", "him"]), source="in.conllu", line=12)
    with pytest.raises(ValueError, match=r"^in\.conllu:12: known and forbidden arcs leave no tree"):
        parse(parser, sentence, known=known, forbidden=forbidden)


def test_cycles_and_crossings_in_nonprojective_trees(nonprojective):
    sentence = Sentence.from_columns(["a", "dog", "saw", "him"])
    assert parse(nonprojective, sentence, known={1: 3, 2: 4, 4: 0}).heads[[0, 1, 3]].tolist() == [3, 4, 0]
    assert parse(nonprojective, sentence, known={1: 0, 2: 0}).heads[:2].tolist() == [0, 0]
    with pytest.raises(ValueError, match="leave no tree"):
        parse(nonprojective, sentence, known={1: 2, 2: 1})


@pytest.mark.parametrize(
    ("known", "forbidden", "arc"),
    [
        ({5: 1}, [], "1 -> 5"),
        ({1: 5}, [], "5 -> 1"),
        ({1: 1}, [], "1 -> 1"),
        ({1: -1}, [], "-1 -> 1"),
        ({}, [(1, 0)], "1 -> 0"),
    ],
)
def test_arcs_that_cannot_be_are_refused(parser, known, forbidden, arc):
    with pytest.raises(ValueError, match=f"arc {arc} is not between the root 0 and 4 words"):
        parse(parser, Sentence.from_columns(["a", "dog", "saw", "him"]), known=known, forbidden=forbidden)


@pytest.mark.parametrize("option", ["known", "forbidden"])
def test_constraints_for_too_few_sentences_are_refused(parser, test_set, option):
    with pytest.raises(ValueError):  # noqa: PT011
        list(parser.parse(test_set[:3], threads=1, **{option: [{}]}))
