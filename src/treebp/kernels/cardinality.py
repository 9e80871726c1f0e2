"""Messages of factors that depend on how many binary variables are ON.

Factor f has the rows ``first[f]`` to ``first[f + 1] - 1`` of (variables, 2) arrays, OFF and ON, and one row more of the
sums that are kept, from ``first[f] + f`` on.
"""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_add, share


@kernel
def count_messages(
    first: IntArray, incoming: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Messages to the variables, and the sums from which they were computed.

    `weights` are the log-weights of 0, 1, ... ON variables, as many as are allowed. `before[i, c]` sums over the
    variables before i, c of which are ON; `after[i, c]` over variable i and those behind it, times the weight, if c
    were ON before.
    """
    limit, rows = len(weights), len(incoming) + len(first) - 1
    before, after = np.full((rows, limit), -np.inf), np.full((rows, limit), -np.inf)
    outgoing = np.full((len(incoming), 2), -np.inf)
    for f in range(len(first) - 1):
        begin, end = first[f], first[f + 1]
        before[begin + f, 0] = 0.0
        for i in range(begin, end):
            for count in range(limit):
                before[i + f + 1, count] = before[i + f, count] + incoming[i, 0]
                if count > 0:
                    on = before[i + f, count - 1] + incoming[i, 1]
                    before[i + f + 1, count] = log_add(before[i + f + 1, count], on)
        for count in range(limit):
            after[end + f, count] = weights[count]
        for i in range(end - 1, begin - 1, -1):
            for count in range(limit):
                after[i + f, count] = after[i + f + 1, count] + incoming[i, 0]
                outgoing[i, 0] = log_add(outgoing[i, 0], before[i + f, count] + after[i + f + 1, count])
                if count + 1 < limit:
                    after[i + f, count] = log_add(after[i + f, count], after[i + f + 1, count + 1] + incoming[i, 1])
                    outgoing[i, 1] = log_add(outgoing[i, 1], before[i + f, count] + after[i + f + 1, count + 1])
    return outgoing, before, after


@kernel
def count_messages_backward(
    first: IntArray,
    incoming: FloatArray,
    outgoing: FloatArray,
    before: FloatArray,
    after: FloatArray,
    adjoint_outgoing: FloatArray,
) -> FloatArray:
    """Adjoint of `incoming`, given that of `outgoing`."""
    limit = before.shape[1]
    adjoint_before, adjoint_after = np.zeros_like(before), np.zeros_like(after)
    adjoint_incoming = np.zeros_like(incoming)
    for f in range(len(first) - 1):
        begin, end = first[f], first[f + 1]
        for i in range(begin, end):
            for on in range(2):
                for count in range(limit - on):
                    term = before[i + f, count] + after[i + f + 1, count + on]
                    part = adjoint_outgoing[i, on] * share(term - outgoing[i, on])
                    adjoint_before[i + f, count] += part
                    adjoint_after[i + f + 1, count + on] += part
        for i in range(begin, end):
            for on in range(2):
                for count in range(limit - on):
                    term = after[i + f + 1, count + on] + incoming[i, on]
                    part = adjoint_after[i + f, count] * share(term - after[i + f, count])
                    adjoint_after[i + f + 1, count + on] += part
                    adjoint_incoming[i, on] += part
        for i in range(end - 1, begin - 1, -1):
            for on in range(2):
                for count in range(limit - on):
                    term = before[i + f, count] + incoming[i, on]
                    part = adjoint_before[i + f + 1, count + on] * share(term - before[i + f + 1, count + on])
                    adjoint_before[i + f, count] += part
                    adjoint_incoming[i, on] += part
    return adjoint_incoming
