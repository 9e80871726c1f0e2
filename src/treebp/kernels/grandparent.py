"""Inside-outside over projective trees with grandparent scores (Koo and Collins 2010, model 0), O(n^4).

`weights[h, m, g]`, of shape (n + 1, n + 1, n + 1), is the weight of the arc from h to m when g is the head of h.
Position 0 is the root, which has no head: the weights of its arcs are at `[0, m, 0]`. A projective tree has g outside
the span from h to m; every other weight must be zero. Then the loops over g, all of them contiguous, may run over every
position: what is summed up for a g within the span meets a zero before it reaches a tree.

The kernels only add and multiply, so they take complex weights as well. That is how they are differentiated: a step
of size e in the imaginary direction leaves e times the derivative in the imaginary part, without cancellation.
"""

from typing import Any

import numpy as np

from treebp._types import AnyArray
from treebp.kernels._jit import kernel


@kernel
def _add_scaled(target: AnyArray, source: AnyArray, factor: complex) -> None:
    for g in range(len(target)):
        target[g] += factor * source[g]


@kernel
def _add_scaled_and_dot(target: AnyArray, source: AnyArray, factor: complex, other: AnyArray) -> complex:
    """Do what `_add_scaled` does and return the inner product of `source` and `other`."""
    total = factor * 0.0
    for g in range(len(target)):
        target[g] += factor * source[g]
        total += other[g] * source[g]
    return total


@kernel
def inside(weights: AnyArray, single_root: bool) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Sum over half-trees, narrow ones first.

    Returns `complete[h, e, g]`, over h and its descendants on one side up to e, below g; `incomplete[h, m, g]`, the
    arc from h to m and all between them; and `live[h, m]`, whether the arc has any weight. The partition function is
    `complete[0, -1, 0]`.
    """
    size = len(weights)
    complete, incomplete = np.zeros_like(weights), np.zeros_like(weights)
    live = np.zeros((size, size), np.bool_)
    for h in range(size):
        complete[h, h] += 1.0
        for m in range(1, size):
            live[h, m] = np.any(weights[h, m] != 0.0)
    for width in range(1, size):
        for i in range(size - width):
            for h, m, step in ((i, i + width, 1), (i + width, i, -1)):
                # A single arc from the root starts from the bare root and ends with the whole sentence.
                only = single_root and h == 0
                if live[h, m]:
                    row = incomplete[h, m]
                    for r in range(h, h + step if only else m, step):
                        _add_scaled(row, complete[h, r], complete[m, r + step, h])
                    row *= weights[h, m]
                if not only or width == size - 1:
                    for k in range(h + step, m + step, step):
                        if live[h, k]:
                            _add_scaled(complete[h, m], incomplete[h, k], complete[k, m, h])
    return complete, incomplete, live


@kernel
def marginals(weights: AnyArray, single_root: bool) -> tuple[AnyArray, Any]:
    """Return the marginals, laid out as the weights are, and the partition function."""
    size = len(weights)
    complete, incomplete, live = inside(weights, single_root)
    # The reverse of `inside`, line by line; outsides are divided by the partition function.
    out_complete, out_incomplete = np.zeros_like(weights), np.zeros_like(weights)
    out_complete[0, size - 1, 0] = 1.0 / complete[0, size - 1, 0]
    for width in range(size - 1, 0, -1):
        for i in range(size - width):
            for h, m, step in ((i, i + width, 1), (i + width, i, -1)):
                only = single_root and h == 0
                if not only or width == size - 1:
                    for k in range(h + step, m + step, step):
                        if live[h, k]:
                            out_complete[k, m, h] += _add_scaled_and_dot(
                                out_incomplete[h, k], out_complete[h, m], complete[k, m, h], incomplete[h, k]
                            )
                if live[h, m]:
                    arcs = out_incomplete[h, m] * weights[h, m]
                    for r in range(h, h + step if only else m, step):
                        out_complete[m, r + step, h] += _add_scaled_and_dot(
                            out_complete[h, r], arcs, complete[m, r + step, h], complete[h, r]
                        )
    return out_incomplete * incomplete, complete[0, size - 1, 0]
