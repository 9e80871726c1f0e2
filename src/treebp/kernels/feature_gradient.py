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
    ArcTemplates,
    Keys,
    arc_keys,
    between_features,
    distance_code,
    order_code,
    order_keys,
    previous_alike,
)

# Adjoints below this are not worth a look-up.
NEGLIGIBLE = 1e-5


@kernel
def list_arcs_gradient(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    templates: ArcTemplates,
    bits: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
    count: int,
) -> int:
    """Append the features of arcs, each with its arc's adjoint; return the new count."""
    size = len(tokens) - 2
    keys = arc_keys(tokens, templates, bits)
    both_head, both_modifier = keys[2], keys[3]
    previous = previous_alike(tokens, templates[6])
    features = np.empty(len(previous) * size + 1, np.uint32)
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
        for t in range(both_head.shape[1]):
            key = both_head[head, t] ^ both_modifier[modifier, t]
            indices[count], values[count] = key, adjoint
            indices[count + 1], values[count + 1] = key ^ code, adjoint
            count += 2
        for k in range(between_features(head, modifier, keys, previous, bits, features)):
            indices[count], values[count] = features[k], adjoint
            count += 1
    for role in range(2):
        of_position = keys[role]
        for position in range(size):
            for which in range(CODES):
                adjoint = sums[role, position, which]
                if adjoint != 0.0:
                    for t in range(of_position.shape[1]):
                        indices[count] = of_position[position, t] ^ np.uint32(which)
                        values[count] = adjoint
                        count += 1
    return count


@kernel
def list_pairs_gradient(
    keys: Keys,
    triples: IntArray,
    family: int,
    bits: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
    count: int,
) -> int:
    """Append the features of pairs of arcs likewise."""
    of_a, of_b, of_c, bc_b, bc_c, ac_a, ac_c = keys
    size = len(of_a)
    of_three, of_two = order_keys(family, bits)
    prefixes = np.empty(of_a.shape[1], np.uint32)
    sums = np.zeros((2, size, size, ORDERS))
    last_a, last_b = -1, -1
    for p in range(len(triples)):
        adjoint = adjoints[p]
        if abs(adjoint) < NEGLIGIBLE:
            continue
        a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
        order = order_code(a, b, c)
        if a != last_a or b != last_b:
            for t in range(len(prefixes)):
                prefixes[t] = of_a[a, t] ^ of_b[b, t]
            last_a, last_b = a, b
        for t in range(len(prefixes)):
            indices[count + t] = prefixes[t] ^ of_c[c, t] ^ of_three[order]
            values[count + t] = adjoint
        count += len(prefixes)
        sums[0, b, c, order] += adjoint
        sums[1, a, c, order] += adjoint
    count = _list_two_tokens(bc_b, bc_c, sums[0], of_two, indices, values, count)
    return _list_two_tokens(ac_a, ac_c, sums[1], of_two, indices, values, count)


@kernel
def _list_two_tokens(
    first: AnyArray,
    second: AnyArray,
    sums: FloatArray,
    of_two: AnyArray,
    indices: AnyArray,
    values: AnyArray,
    count: int,
) -> int:
    for x in range(len(first)):
        for c in range(len(second)):
            for order in range(ORDERS):
                if sums[x, c, order] != 0.0:
                    for t in range(first.shape[1]):
                        indices[count] = first[x, t] ^ second[c, t] ^ of_two[order]
                        values[count] = sums[x, c, order]
                        count += 1
    return count
