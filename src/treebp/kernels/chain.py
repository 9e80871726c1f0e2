"""Forward-backward on a chain, in log space, and its derivative."""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_sum


@kernel
def chain_sums(incoming: FloatArray, transitions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums over everything before, and after, each state of each position; its own message is in neither.

    `incoming` is (positions, states), `transitions` (positions - 1, states, states), from and to.
    """
    positions, states = incoming.shape
    before, after = np.zeros((positions, states)), np.zeros((positions, states))
    terms = np.empty(states)
    for i in range(1, positions):
        for state in range(states):
            for other in range(states):
                terms[other] = before[i - 1, other] + incoming[i - 1, other] + transitions[i - 1, other, state]
            before[i, state] = log_sum(terms)
    for i in range(positions - 2, -1, -1):
        for state in range(states):
            for other in range(states):
                terms[other] = after[i + 1, other] + incoming[i + 1, other] + transitions[i, state, other]
            after[i, state] = log_sum(terms)
    return before, after


@kernel
def chain_sums_backward(
    incoming: FloatArray, transitions: FloatArray, before: FloatArray, after: FloatArray, adjoint: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Adjoints of `incoming` and `transitions`, given that of `before + after`."""
    positions, states = incoming.shape
    adjoint_before, adjoint_after = adjoint.copy(), adjoint.copy()
    adjoint_incoming, adjoint_transitions = np.zeros_like(incoming), np.zeros_like(transitions)
    for i in range(positions - 1, 0, -1):
        for state in range(states):
            if before[i, state] > -np.inf:
                for other in range(states):
                    term = before[i - 1, other] + incoming[i - 1, other] + transitions[i - 1, other, state]
                    part = adjoint_before[i, state] * math.exp(term - before[i, state])
                    adjoint_before[i - 1, other] += part
                    adjoint_incoming[i - 1, other] += part
                    adjoint_transitions[i - 1, other, state] += part
    for i in range(positions - 1):
        for state in range(states):
            if after[i, state] > -np.inf:
                for other in range(states):
                    term = after[i + 1, other] + incoming[i + 1, other] + transitions[i, state, other]
                    part = adjoint_after[i, state] * math.exp(term - after[i, state])
                    adjoint_after[i + 1, other] += part
                    adjoint_incoming[i + 1, other] += part
                    adjoint_transitions[i, state, other] += part
    return adjoint_incoming, adjoint_transitions
