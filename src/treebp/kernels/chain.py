"""Forward-backward on chains, in log space, its derivative, and the best path.

What there is one of per state is laid end to end, position after position and chain after chain, and so is what there
is one of per transition: of each two neighbours, a matrix from and to. Positions may have different states.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.intrinsics import exp, log
from treebp.kernels.log_sums import share


class ChainLayout(NamedTuple):
    """Where everything of the chains begins.

    Attributes:
        first: (chains + 1,) the first position of each chain.
        start: (positions + 1,) the first state of each position.
        into: (positions + 1,) the first transition into each position; into the first one of a chain there is none.

    """

    first: IntArray
    start: IntArray
    into: IntArray


@kernel
def _most_states(layout: ChainLayout) -> int:
    most = 1
    for i in range(len(layout.start) - 1):
        most = max(most, layout.start[i + 1] - layout.start[i])
    return most


@kernel
def chain_sums(
    layout: ChainLayout, incoming: FloatArray, transitions: FloatArray, before: FloatArray, after: FloatArray
) -> None:
    """Sums over everything before, and after, each state of each position; its own message is in neither."""
    first, start, into = layout
    most = _most_states(layout)
    tops, totals = np.empty(most), np.empty(most)
    for c in range(len(first) - 1):
        before[start[first[c]] : start[first[c] + 1]] = 0.0
        after[start[first[c + 1] - 1] : start[first[c + 1]]] = 0.0
        for i in range(first[c] + 1, first[c + 1]):
            _step(
                before[start[i - 1] : start[i]],
                incoming[start[i - 1] : start[i]],
                transitions[into[i] : into[i + 1]],
                tops,
                totals,
                before[start[i] : start[i + 1]],
            )
        for i in range(first[c + 1] - 2, first[c] - 1, -1):
            _step_back(
                after[start[i + 1] : start[i + 2]],
                incoming[start[i + 1] : start[i + 2]],
                transitions[into[i + 1] : into[i + 2]],
                tops,
                totals,
                after[start[i] : start[i + 1]],
            )


@kernel
def _step(
    before: FloatArray,
    incoming: FloatArray,
    transitions: FloatArray,
    tops: FloatArray,
    totals: FloatArray,
    out: FloatArray,
) -> None:
    """From the sums before one position to those before the next."""
    states = len(out)
    tops[:states] = -math.inf
    for other in range(len(before)):
        base, row = before[other] + incoming[other], transitions[other * states : (other + 1) * states]
        for state in range(np.uint64(states)):
            tops[state] = max(tops[state], base + row[state])
    totals[:states] = 0.0
    for other in range(len(before)):
        base, row = before[other] + incoming[other], transitions[other * states : (other + 1) * states]
        for state in range(np.uint64(states)):
            totals[state] += exp(base + row[state] - tops[state])
    for state in range(np.uint64(states)):
        out[state] = tops[state] + log(totals[state]) if tops[state] > -math.inf else -math.inf


@kernel
def _step_back(
    after: FloatArray,
    incoming: FloatArray,
    transitions: FloatArray,
    ahead: FloatArray,
    terms: FloatArray,
    out: FloatArray,
) -> None:
    """From the sums after one position to those after the one before it."""
    others = len(after)
    for other in range(np.uint64(others)):
        ahead[other] = after[other] + incoming[other]
    for state in range(len(out)):
        row = transitions[state * others : (state + 1) * others]
        top = -math.inf
        for other in range(others):
            top = max(top, ahead[other] + row[other])
        if top == -math.inf:
            out[state] = top
            continue
        for other in range(np.uint64(others)):  # many at a time
            terms[other] = exp(ahead[other] + row[other] - top)
        total = 0.0
        for other in range(others):
            total += terms[other]
        out[state] = top + log(total)


@kernel
def chain_sums_backward(
    layout: ChainLayout,
    incoming: FloatArray,
    transitions: FloatArray,
    before: FloatArray,
    after: FloatArray,
    adjoint: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Adjoints of `incoming` and `transitions`, given that of `before + after`."""
    first, start, into = layout
    of_before, of_after = adjoint.copy(), adjoint.copy()
    of_incoming, of_transitions = np.zeros_like(incoming), np.zeros_like(transitions)
    for c in range(len(first) - 1):
        for i in range(first[c + 1] - 1, first[c], -1):
            place = into[i]
            for other in range(start[i - 1], start[i]):
                base, total = before[other] + incoming[other], 0.0
                for state in range(start[i], start[i + 1]):
                    if of_before[state] != 0.0:
                        part = of_before[state] * share(base + transitions[place] - before[state])
                        of_transitions[place] += part
                        total += part
                    place += 1
                of_before[other] += total
                of_incoming[other] += total
        for i in range(first[c], first[c + 1] - 1):
            states = start[i + 2] - start[i + 1]
            for state in range(start[i], start[i + 1]):
                if of_after[state] == 0.0:
                    continue
                place = into[i + 1] + (state - start[i]) * states
                for other in range(start[i + 1], start[i + 2]):
                    term = after[other] + incoming[other] + transitions[place]
                    part = of_after[state] * share(term - after[state])
                    of_after[other] += part
                    of_incoming[other] += part
                    of_transitions[place] += part
                    place += 1
    return of_incoming, of_transitions


@kernel
def chain_argmax(layout: ChainLayout, incoming: FloatArray, transitions: FloatArray) -> IntArray:
    """(positions,) the states, each counted from its position's first, of the best path through each chain."""
    first, start, into = layout
    best, came_from = np.empty(len(incoming)), np.empty(len(incoming), np.int64)
    path = np.empty(len(start) - 1, np.int64)
    for c in range(len(first) - 1):
        best[start[first[c]] : start[first[c] + 1]] = incoming[start[first[c]] : start[first[c] + 1]]
        for i in range(first[c] + 1, first[c + 1]):
            best[start[i] : start[i + 1]] = -math.inf
            came_from[start[i] : start[i + 1]] = 0
            place = into[i]
            for other in range(start[i - 1], start[i]):
                for state in range(start[i], start[i + 1]):
                    score = best[other] + transitions[place]
                    if score > best[state]:
                        best[state] = score
                        came_from[state] = other - start[i - 1]
                    place += 1
            for state in range(start[i], start[i + 1]):
                best[state] += incoming[state]
        last = first[c + 1] - 1
        path[last] = np.argmax(best[start[last] : start[last + 1]])
        for i in range(last, first[c], -1):
            path[i - 1] = came_from[start[i] + path[i]]
    return path
