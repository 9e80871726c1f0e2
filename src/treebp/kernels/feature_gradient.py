"""From the gradient by scores of arcs and pairs to the gradient by the weights of their features.

The mirror image of the scoring in ``features``: adjoints of what was looked up once are added up first. The result is a
list of features and of what to add to their gradients; memory is touched only afterwards, all at once.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.features import (
    CODES,
    HEAD,
    MODIFIER,
    OF_AC,
    OF_BC,
    ORDERS,
    ArcTemplates,
    PairTemplates,
    arc_keys,
    between_features,
    distance_code,
    index,
    mix,
    order_code,
    position_keys,
    prefix_keys,
    stamps_for,
    triple_value,
    two_token_keys,
)

# Adjoints below this are not worth a look-up.
NEGLIGIBLE = 1e-5


@kernel
def _list_coded(
    keys: AnyArray, code: int, bits: int, adjoint: float, indices: AnyArray, values: AnyArray, count: int
) -> int:
    for t in range(len(keys)):
        indices[count + t] = index(keys[t], code, bits)
        values[count + t] = adjoint
    return count + len(keys)


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
    of_head, of_modifier, of_both, between = templates
    size = len(tokens) - 2
    atoms = np.empty(6 * tokens.shape[1] + 1, np.int64)
    keys = np.empty(len(of_both), np.uint64)
    head_keys, modifier_keys = position_keys(tokens, of_head, HEAD), position_keys(tokens, of_modifier, MODIFIER)
    stamps = stamps_for(tokens, between)
    features = np.empty(len(between) * size, np.int64)
    sums = np.zeros((2, size, CODES))
    for a in range(len(heads)):
        adjoint = adjoints[a]
        if abs(adjoint) < NEGLIGIBLE:
            continue
        head, modifier = heads[a], modifiers[a]
        code = distance_code(head, modifier)
        for which in (0, code):
            sums[0, head, which] += adjoint
            sums[1, modifier, which] += adjoint
        arc_keys(tokens, head, modifier, of_both, atoms, keys)
        count = _list_coded(keys, 0, bits, adjoint, indices, values, count)
        count = _list_coded(keys, code, bits, adjoint, indices, values, count)
        for k in range(between_features(tokens, head, modifier, between, bits, stamps, features)):
            indices[count] = features[k]
            values[count] = adjoint
            count += 1
    for position in range(size):
        for code in range(CODES):
            if sums[0, position, code] != 0.0:
                adjoint = sums[0, position, code]
                count = _list_coded(head_keys[position], code, bits, adjoint, indices, values, count)
            if sums[1, position, code] != 0.0:
                adjoint = sums[1, position, code]
                count = _list_coded(modifier_keys[position], code, bits, adjoint, indices, values, count)
    return count


@kernel
def list_pairs_gradient(
    tokens: IntArray,
    triples: IntArray,
    templates: PairTemplates,
    seed: int,
    bits: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
    count: int,
) -> int:
    """Append the features of pairs of arcs likewise."""
    of_ab, completing, of_bc, of_ac = templates
    size = len(tokens) - 2
    atoms = np.empty(2 * tokens.shape[1] + 1, np.int64)
    prefixes = np.empty(len(of_ab), np.uint64)
    keys_bc, keys_ac = np.empty(len(of_bc), np.uint64), np.empty(len(of_ac), np.uint64)
    sums = np.zeros((2, ORDERS, size, size))
    last_a, last_b = -1, -1
    for p in range(len(triples)):
        adjoint = adjoints[p]
        if abs(adjoint) < NEGLIGIBLE:
            continue
        a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
        order = order_code(a, b, c)
        if a != last_a or b != last_b:
            prefix_keys(tokens, a, b, of_ab, seed, atoms, prefixes)
            last_a, last_b = a, b
        for t in range(len(prefixes)):
            indices[count + t] = index(mix(prefixes[t], triple_value(tokens, c, completing[t], order)), 0, bits)
            values[count + t] = adjoint
        count += len(prefixes)
        sums[0, order, b, c] += adjoint
        sums[1, order, a, c] += adjoint
    for order in range(ORDERS):
        for x in range(size):
            for c in range(size):
                if sums[0, order, x, c] != 0.0:
                    two_token_keys(tokens, x, c, order, of_bc, seed + OF_BC, atoms, keys_bc)
                    count = _list_coded(keys_bc, 0, bits, sums[0, order, x, c], indices, values, count)
                if sums[1, order, x, c] != 0.0:
                    two_token_keys(tokens, x, c, order, of_ac, seed + OF_AC, atoms, keys_ac)
                    count = _list_coded(keys_ac, 0, bits, sums[1, order, x, c], indices, values, count)
    return count
