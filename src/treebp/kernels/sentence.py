"""From the features of one sentence to scores of arcs and pairs, and back to the gradient by the weights.

Learning stands between these, in ``objective``. They are separate kernels because whatever a kernel calls is compiled
once more with it.

``features`` bundles what turns tokens into weights: templates of arcs and of pairs, whether there are factors on
siblings and on grandparents, and the number of bits of a feature's index.
``structure`` says which trees there are: whether projective, and whether with a single root word.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.candidates import list_pairs
from treebp.kernels.feature_gradient import list_arcs_gradient, list_pairs_gradient
from treebp.kernels.features import GRANDPARENT, SIBLING, Templates, position_keys, score_arcs, score_pairs

Features = tuple[Templates, Templates, tuple[bool, bool], int]
Structure = tuple[bool, bool]


@kernel
def score(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    features: Features,
    structure: Structure,
    weights: AnyArray,
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, int]:
    """Scores of arcs and of pairs, and the pairs as ``list_pairs`` gives them."""
    of_arcs, of_pairs, (siblings, grandparents), bits = features
    scores = np.empty(len(heads))
    score_arcs(tokens, heads, starts, of_arcs, bits, weights, scores)
    first, second, triples, split = list_pairs(heads, modifiers, starts, siblings, grandparents, structure[0])
    pair_scores = np.empty(len(first))
    if len(first) > 0:
        keys, begin = position_keys(tokens, of_pairs, bits), of_pairs[2]
        score_pairs(keys, begin, triples[:split], SIBLING, bits, weights, pair_scores[:split])
        score_pairs(keys, begin, triples[split:], GRANDPARENT, bits, weights, pair_scores[split:])
    return scores, pair_scores, first, second, triples, split


@kernel
def list_gradient(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    of_scores: FloatArray,
    of_pairs: FloatArray,
    triples: IntArray,
    split: int,
    features: Features,
) -> tuple[AnyArray, AnyArray]:
    """The gradient by weights, as a list, from that by scores; ``split`` is the number of sibling pairs."""
    arc_templates, pair_templates, _, bits = features
    parts, of_three = arc_templates[2], pair_templates[2]
    per_arc = 2 * (parts[3] - parts[0]) + (parts[5] - parts[4]) * len(tokens)
    per_pair = of_three[1] + (of_three[4] - of_three[3]) + (of_three[6] - of_three[5])
    most = len(heads) * per_arc + len(triples) * per_pair
    indices, values = np.empty(most, np.int32), np.empty(most, np.float32)
    count = list_arcs_gradient(tokens, heads, modifiers, arc_templates, bits, of_scores, indices, values, 0)
    if len(triples) > 0:
        keys, begin = position_keys(tokens, pair_templates, bits), pair_templates[2]
        count = list_pairs_gradient(
            keys, begin, triples[:split], SIBLING, bits, of_pairs[:split], indices, values, count
        )
        count = list_pairs_gradient(
            keys, begin, triples[split:], GRANDPARENT, bits, of_pairs[split:], indices, values, count
        )
    return indices[:count], values[:count]
