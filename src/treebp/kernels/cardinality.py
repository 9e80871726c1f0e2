"""Messages of a factor that depends on how many binary variables are ON."""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_add


@kernel
def count_messages(incoming: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Messages to the variables, and the sums from which they were computed.

    `incoming` is (variables, 2), OFF and ON; `counts` the log-potential of 0, 1, ... ON variables, as many
    as are allowed. `before[i, c]` sums over the variables before i, c of which are ON; `after[i, c]` over
    variable i and those behind it, times the log-potential, if c were ON before.
    """
    variables, limit = len(incoming), len(counts)
    before = np.full((variables + 1, limit), -np.inf)
    after = np.full((variables + 1, limit), -np.inf)
    outgoing = np.full((variables, 2), -np.inf)
    before[0, 0] = 0.0
    for i in range(variables):
        for count in range(limit):
            before[i + 1, count] = before[i, count] + incoming[i, 0]
            if count > 0:
                on = before[i, count - 1] + incoming[i, 1]
                before[i + 1, count] = log_add(before[i + 1, count], on)
    for count in range(limit):
        after[variables, count] = counts[count]
    for i in range(variables - 1, -1, -1):
        for count in range(limit):
            after[i, count] = after[i + 1, count] + incoming[i, 0]
            outgoing[i, 0] = log_add(outgoing[i, 0], before[i, count] + after[i + 1, count])
            if count + 1 < limit:
                after[i, count] = log_add(after[i, count], after[i + 1, count + 1] + incoming[i, 1])
                outgoing[i, 1] = log_add(outgoing[i, 1], before[i, count] + after[i + 1, count + 1])
    return outgoing, before, after


@kernel
def _share(term: float, total: float) -> float:
    return math.exp(term - total) if total > -np.inf else 0.0


@kernel
def count_messages_backward(
    incoming: FloatArray,
    outgoing: FloatArray,
    before: FloatArray,
    after: FloatArray,
    adjoint_outgoing: FloatArray,
) -> FloatArray:
    """Adjoint of `incoming`, given that of `outgoing`."""
    variables, limit = len(incoming), before.shape[1]
    adjoint_before, adjoint_after = np.zeros_like(before), np.zeros_like(after)
    adjoint_incoming = np.zeros_like(incoming)
    for i in range(variables):
        for on in range(2):
            for count in range(limit - on):
                term = before[i, count] + after[i + 1, count + on]
                part = adjoint_outgoing[i, on] * _share(term, outgoing[i, on])
                adjoint_before[i, count] += part
                adjoint_after[i + 1, count + on] += part
    for i in range(variables):
        for on in range(2):
            for count in range(limit - on):
                term = after[i + 1, count + on] + incoming[i, on]
                part = adjoint_after[i, count] * _share(term, after[i, count])
                adjoint_after[i + 1, count + on] += part
                adjoint_incoming[i, on] += part
    for i in range(variables - 1, -1, -1):
        for on in range(2):
            for count in range(limit - on):
                term = before[i, count] + incoming[i, on]
                part = adjoint_before[i + 1, count + on] * _share(term, before[i + 1, count + on])
                adjoint_before[i, count] += part
                adjoint_incoming[i, on] += part
    return adjoint_incoming
