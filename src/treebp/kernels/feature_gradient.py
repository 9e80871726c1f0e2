"""From the gradient by scores of arcs and pairs to the gradient by the weights of their features.

The mirror image of the scoring in ``features``: adjoints of what was looked up once are added up first. The result is a
list of features and of what to add to their gradients; memory is touched only afterwards, all at once.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.features import (
    CODES,
    ORDERS,
    Templates,
    between_features,
    distance_code,
    order_code,
    order_keys,
    position_keys,
    previous_alike,
)

# Adjoints below this are not worth a look-up.
NEGLIGIBLE = 1e-5


@kernel
def list_arcs_gradient(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    templates: Templates,
    bits: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
    count: int,
) -> int:
    """Append the features of arcs, each with its arc's adjoint; return the new count."""
    size, begin = len(tokens) - 2, templates[2]
    keys = position_keys(tokens, templates, bits)
    previous = previous_alike(tokens, templates)
    between = np.empty(len(previous) * size + 1, np.uint32)
    sums = np.zeros((2, size, CODES))
    for a in range(len(heads)):
        adjoint = adjoints[a]
        if abs(adjoint) < NEGLIGIBLE:
            continue
        head, modifier = heads[a], modifiers[a]
        code = distance_code(head, modifier)
        sums[0, head, 0] += adjoint
        sums[0, head, code] += adjoint
        sums[1, modifier, 0] += adjoint
        sums[1, modifier, code] += adjoint
        for t in range(begin[3] - begin[2]):
            key = keys[head, begin[2] + t] ^ keys[modifier, begin[3] + t]
            indices[count], values[count] = key, adjoint
            indices[count + 1], values[count + 1] = key ^ code, adjoint
            count += 2
        for k in range(between_features(head, modifier, keys, begin, previous, bits, between)):
            indices[count], values[count] = between[k], adjoint
            count += 1
    for role in range(2):
        for position in range(size):
            for code_ in range(CODES):
                adjoint = sums[role, position, code_]
                if adjoint != 0.0:
                    for part in range(begin[role], begin[role + 1]):
                        indices[count], values[count] = keys[position, part] ^ np.uint32(code_), adjoint
                        count += 1
    return count


@kernel
def list_pairs_gradient(
    keys: AnyArray,
    begin: AnyArray,
    triples: IntArray,
    family: int,
    bits: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
    count: int,
) -> int:
    """Append the features of pairs of arcs likewise."""
    size = len(keys)
    of_three, of_two = order_keys(family, bits)
    sums = np.zeros((2, size, size, ORDERS))
    for p in range(len(triples)):
        adjoint = adjoints[p]
        if abs(adjoint) < NEGLIGIBLE:
            continue
        a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
        order = order_code(a, b, c)
        for t in range(begin[1]):
            indices[count] = keys[a, t] ^ keys[b, begin[1] + t] ^ keys[c, begin[2] + t] ^ of_three[order]
            values[count] = adjoint
            count += 1
        sums[0, b, c, order] += adjoint
        sums[1, a, c, order] += adjoint
    for which in range(2):
        first, second = begin[3 + 2 * which], begin[4 + 2 * which]
        for x in range(size):
            for c in range(size):
                for order in range(ORDERS):
                    adjoint = sums[which, x, c, order]
                    if adjoint != 0.0:
                        for t in range(second - first):
                            indices[count] = keys[x, first + t] ^ keys[c, second + t] ^ of_two[order]
                            values[count] = adjoint
                            count += 1
    return count
