"""The gradient of scores by the weights of features: the mirror image of ``treebp.kernels.feature_scores``.

Features are listed, each with the adjoint of its arc or part; adjoints of what was looked up once are added up first.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.feature_scores import BOTH, BOTH_TOO, HEADS, Roles, feature_of, list_between, order_of, places_of
from treebp.kernels.features import CODES, ORDERS, Hashes, distance_code, order_keys

# Adjoints below this are not worth a look-up.
NEGLIGIBLE = 1e-5


@kernel
def list_arc_gradient(
    sizes: IntArray,
    heads: IntArray,
    starts: IntArray,
    hashes: Hashes,
    previous: IntArray,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
) -> int:
    """Write the arcs' features to a list, each with its arc's adjoint; return how many."""
    keys, begin, bits = hashes
    count = 0
    row, position, arc = 0, 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        between = np.empty(len(previous) * size + 1, np.uint32)
        sums = np.zeros((2, size, CODES))
        for m in range(1, size):
            for a in range(arc + starts[position + m - 1], arc + starts[position + m]):
                adjoint = adjoints[a]
                if abs(adjoint) < NEGLIGIBLE:
                    continue
                head, code = heads[a], distance_code(heads[a], m)
                sums[0, head, 0] += adjoint
                sums[0, head, code] += adjoint
                sums[1, m, 0] += adjoint
                sums[1, m, code] += adjoint
                for t in range(begin[BOTH_TOO] - begin[BOTH]):
                    key = keys[row + head, begin[BOTH] + t] ^ keys[row + m, begin[BOTH_TOO] + t]
                    indices[count], values[count] = key, adjoint
                    indices[count + 1], values[count + 1] = key ^ code, adjoint
                    count += 2
                for k in range(list_between(row + head, row + m, keys, begin, previous, bits, between)):
                    indices[count], values[count] = between[k], adjoint
                    count += 1
        for role in range(2):
            for own in range(size):
                for code_ in range(CODES):
                    adjoint = sums[role, own, code_]
                    if adjoint != 0.0:
                        for part in range(begin[HEADS + role], begin[HEADS + role + 1]):
                            indices[count], values[count] = keys[row + own, part] ^ np.uint32(code_), adjoint
                            count += 1
        row, position, arc = row + size + 2, position + size, arc + starts[position + size - 1]
    return count


@kernel
def list_tuple_gradient(
    sizes: IntArray,
    positions: IntArray,
    first: IntArray,
    roles: Roles,
    hashes: Hashes,
    family: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
) -> int:
    """Write the features of parts of a family to a list, each with its part's adjoint; return how many."""
    keys, begin, bits = hashes
    arity, views, of_all = len(roles), len(roles) - 1, begin[1]
    all_orders, two_orders = order_keys(family, bits)
    count, row = 0, np.uint64(0)
    for sentence in range(len(sizes)):
        size = np.uint64(sizes[sentence])
        sums = np.zeros((views, size, size, ORDERS))
        for p in range(first[sentence], first[sentence + 1]):
            adjoint = adjoints[p]
            if abs(adjoint) < NEGLIGIBLE:
                continue
            order = order_of(positions, p, roles)
            a, b, c, d = places_of(positions, p, roles, row)
            for t in range(of_all):
                indices[count] = feature_of(keys, a, b, c, d, roles, begin, t) ^ all_orders[order]
                values[count] = adjoint
                count += 1
            for view in range(views):
                sums[view, positions[p, views - 1 - view], positions[p, arity - 1], order] += adjoint
        for view in range(views):
            one, other = begin[arity + 2 * view], begin[arity + 2 * view + 1]
            for x in range(size):
                for y in range(size):
                    for order in range(ORDERS):
                        adjoint = sums[view, x, y, order]
                        if adjoint != 0.0:
                            for t in range(other - one):
                                indices[count] = keys[row + x, one + t] ^ keys[row + y, other + t] ^ two_orders[order]
                                values[count] = adjoint
                                count += 1
        row += size + np.uint64(2)
    return count
