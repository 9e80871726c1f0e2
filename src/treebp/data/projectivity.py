"""Projectivity: the test, the arcs that break it, and the closest projective tree."""

from collections.abc import Sequence

import numpy as np

from treebp._types import BoolArray, IntArray


def is_projective(heads: Sequence[int] | IntArray) -> bool:
    """Whether a tree is projective: every head dominates all the words between it and each of its modifiers.

    Args:
        heads: for each word its head, shape (n,): 0 is the root, which stands left of all words.

    Raises:
        ValueError: if a head is out of range or the heads form a cycle.

    Example:
        >>> is_projective([2, 0, 2])
        True
        >>> is_projective([3, 4, 0, 3])
        False

    """
    return not nonprojective_arcs(heads).any()


def nonprojective_arcs(heads: Sequence[int] | IntArray) -> BoolArray:
    """Which words hang on their head by a non-projective arc, shape (n,).

    An arc is non-projective when a word strictly between its ends is not a descendant of its head. Arcs from the
    root never are; an arc that crosses one is.

    Args:
        heads: for each word its head, shape (n,): 0 is the root, which stands left of all words.

    Raises:
        ValueError: if a head is out of range or the heads form a cycle.

    Example:
        >>> nonprojective_arcs([3, 4, 0, 3])
        array([False,  True, False, False])

    """
    heads = _checked(heads)
    # In preorder the descendants of a word are the `size` positions from its own.
    order = _preorder(heads)
    first = [0] * len(order)
    for position, word in enumerate(order):
        first[word] = position
    size = [1] * len(order)
    for word in reversed(order[1:]):
        size[heads[word - 1]] += size[word]

    crossing = np.zeros(len(heads), dtype=np.bool_)
    for modifier, head in enumerate(heads, start=1):
        between = first[min(head, modifier) + 1 : max(head, modifier)]
        if between and not first[head] < min(between) <= max(between) < first[head] + size[head]:
            crossing[modifier - 1] = True
    return crossing


def projectivise(heads: Sequence[int] | IntArray, *, single_root: bool) -> IntArray:
    """Find the projective tree that keeps the most arcs of a tree, shape (n,).

    This is the maximum projective tree under a score of 1 for the given arcs and 0 for the others, as the paper's
    section on conditional log-likelihood training prescribes. Among trees that keep equally many arcs, one in which
    the displaced words move to an ancestor of their old head is preferred, the nearer the better ("lifting").
    A tree that is already projective comes back unchanged.

    Args:
        heads: for each word its head, shape (n,): 0 is the root.
        single_root: allow only one word to hang on the root; further ones are moved.

    Raises:
        ValueError: if a head is out of range or the heads form a cycle.

    Example:
        >>> projectivise([3, 4, 0, 3], single_root=True)
        array([3, 3, 0, 3])

    """
    heads = _checked(heads)
    if is_projective(heads) and not (single_root and heads.count(0) > 1):
        return np.array(heads, dtype=np.int64)

    from treebp.trees.dependency_trees import DependencyTrees  # here, so that only this function needs compiled kernels

    n = len(heads)
    scores = np.zeros((n + 1, n + 1))
    for modifier, head in enumerate(heads, start=1):
        scores[head, modifier] = 1.0
        ancestor, lifts = head, 1
        while ancestor != 0:
            ancestor, lifts = heads[ancestor - 1], lifts + 1
            # All these bonuses of a tree together stay below 1, the worth of a single arc kept.
            scores[ancestor, modifier] = 1.0 / (lifts * (n + 1))
    return DependencyTrees(scores, projective=True, single_root=single_root).argmax()


def _checked(heads: Sequence[int] | IntArray) -> list[int]:
    """Return the heads as a list of plain ints, each within the sentence."""
    checked = [int(head) for head in heads]
    for modifier, head in enumerate(checked, start=1):
        if not 0 <= head <= len(checked):
            raise ValueError(f"word {modifier} has head {head}; expected 0 to {len(checked)}")
    return checked


def _preorder(heads: list[int]) -> list[int]:
    """Root and words in depth-first order, every head before its modifiers."""
    modifiers: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for modifier, head in enumerate(heads, start=1):
        modifiers[head].append(modifier)
    order, pending = [], [0]
    while pending:
        word = pending.pop()
        order.append(word)
        pending += modifiers[word]
    if len(order) <= len(heads):
        stray = min(set(range(1, len(heads) + 1)).difference(order))
        raise ValueError(f"word {stray} does not reach the root: its heads form a cycle")
    return order
