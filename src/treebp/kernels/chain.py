"""Forward-backward on chains, in log space, and its derivative.

Chain c has the rows ``first[c]`` to ``first[c + 1] - 1`` of (positions, states) arrays. Its transitions, from and to,
are as many less one, and begin at row ``first[c] - c`` of a (transitions, states, states) array.
"""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_sum


@kernel
def chain_sums(
    first: IntArray, incoming: FloatArray, transitions: FloatArray, before: FloatArray, after: FloatArray
) -> None:
    """Sums over everything before, and after, each state of each position; its own message is in neither."""
    states = incoming.shape[1]
    terms = np.empty(states)
    before[:] = 0.0
    after[:] = 0.0
    for c in range(len(first) - 1):
        for i in range(first[c] + 1, first[c + 1]):
            for state in range(states):
                for other in range(states):
                    terms[other] = before[i - 1, other] + incoming[i - 1, other] + transitions[i - 1 - c, other, state]
                before[i, state] = log_sum(terms)
        for i in range(first[c + 1] - 2, first[c] - 1, -1):
            for state in range(states):
                for other in range(states):
                    terms[other] = after[i + 1, other] + incoming[i + 1, other] + transitions[i - c, state, other]
                after[i, state] = log_sum(terms)


@kernel
def chain_sums_backward(
    first: IntArray,
    incoming: FloatArray,
    transitions: FloatArray,
    before: FloatArray,
    after: FloatArray,
    adjoint: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Adjoints of `incoming` and `transitions`, given that of `before + after`."""
    states = incoming.shape[1]
    adjoint_before, adjoint_after = adjoint.copy(), adjoint.copy()
    adjoint_incoming, adjoint_transitions = np.zeros_like(incoming), np.zeros_like(transitions)
    for c in range(len(first) - 1):
        for i in range(first[c + 1] - 1, first[c], -1):
            for state in range(states):
                if before[i, state] > -np.inf:
                    for other in range(states):
                        term = before[i - 1, other] + incoming[i - 1, other] + transitions[i - 1 - c, other, state]
                        part = adjoint_before[i, state] * math.exp(term - before[i, state])
                        adjoint_before[i - 1, other] += part
                        adjoint_incoming[i - 1, other] += part
                        adjoint_transitions[i - 1 - c, other, state] += part
        for i in range(first[c], first[c + 1] - 1):
            for state in range(states):
                if after[i, state] > -np.inf:
                    for other in range(states):
                        term = after[i + 1, other] + incoming[i + 1, other] + transitions[i - c, state, other]
                        part = adjoint_after[i, state] * math.exp(term - after[i, state])
                        adjoint_after[i + 1, other] += part
                        adjoint_incoming[i + 1, other] += part
                        adjoint_transitions[i - c, state, other] += part
    return adjoint_incoming, adjoint_transitions
