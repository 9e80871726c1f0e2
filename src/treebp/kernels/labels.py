"""Log-linear distributions over the labels of a tree's arcs: hashed features, softmax, and training by AdaGrad.

Tokens and hashes are as in ``treebp.kernels.features``, but the whole tree is known, so there are more tokens to name:
``LABEL_TOKENS``, of which the last two stand for many. Templates come as three arrays: those that name neither, those
with ``c`` and those with ``s``, which make a feature for every child, or sibling, of the modifier. Each array is
(templates, slots, 2): the tokens' and the attributes' numbers, -1 where a template has fewer slots. Weights are a table
(2**bits, labels): a feature is a row of it, and AdaGrad is that of ``treebp.kernels.adagrad``, row by row.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.adagrad import decayed, keep_and_move
from treebp.kernels.features import ARC, GRANDPARENT, SIBLING, mix, order_code
from treebp.kernels.intrinsics import prefetch

# Head, modifier and their neighbours in the sentence; the head's head; the modifier's nearest siblings on either side
# and its outermost children; any child of the modifier; any sibling. A token that is not there is the boundary.
LABEL_TOKENS = ("h", "m", "h-", "h+", "m-", "m+", "g", "s-", "s+", "c-", "c+", "c", "s")
_CHILD, _SIBLING = LABEL_TOKENS.index("c"), LABEL_TOKENS.index("s")

_NOWHERE = -1  # a position whose row is the boundary at the front
_FIRST, _LAST, _PREVIOUS, _NEXT = range(4)
_CERTAIN = 1e-8  # squared gradients below this teach nothing
_LINE = 16  # weights in a line of the processor's caches
_BITS = 31  # of the number of steps of decay that a row may miss


class LabelTemplates(NamedTuple):
    """Templates of the arc, of each child and of each sibling: arrays (templates, slots, 2)."""

    of_arc: IntArray
    of_child: IntArray
    of_sibling: IntArray


class LabelHashing(NamedTuple):
    """What makes features of an arc, and numbers below ``2**bits`` of these."""

    templates: LabelTemplates
    bits: int


class LabelTrees(NamedTuple):
    """Sentences with their trees, one after the other.

    The words of sentence i are ``starts[i]`` to ``starts[i + 1] - 1``, its tokens stand three rows further on per
    sentence before it.
    """

    tokens: IntArray
    heads: IntArray
    starts: IntArray


class LabelWeights(NamedTuple):
    """Weights (rows, labels) in training; of each row the sum of |g|^2, and the step up to which it has decayed."""

    weights: AnyArray
    squares: AnyArray
    last: IntArray


@kernel
def label_probabilities(
    trees: LabelTrees, hashing: LabelHashing, root_label: int, weights: AnyArray, out: FloatArray
) -> None:
    """Write p(label | arc) of each word's arc to ``out`` (words, labels).

    ``root_label``, unless -1, is the label of the root's arcs and of no other.
    """
    for i in range(len(trees.starts) - 1):
        begin, sentence, tree = _sentence(trees, i)
        links = _links(tree)
        rows, features = _scratch(hashing.templates, len(tree))
        for modifier in range(1, len(tree) + 1):
            own = out[begin + modifier - 1]
            if root_label >= 0 and tree[modifier - 1] == 0:
                own[:] = 0.0
                own[root_label] = 1.0
            else:
                count = _features(sentence, tree, modifier, links, hashing, rows, features)
                _softmax(weights, features[:count], root_label, own)


@inlined
def _sentence(trees: LabelTrees, i: int) -> tuple[int, IntArray, IntArray]:
    """Where a sentence begins, its tokens and its heads."""
    begin, end = trees.starts[i], trees.starts[i + 1]
    return begin, trees.tokens[begin + 3 * i : end + 3 * i + 3], trees.heads[begin:end]


@kernel
def train_epoch(
    trees: LabelTrees,
    labels: IntArray,
    order: IntArray,
    hashing: LabelHashing,
    root_label: int,
    rate: float,
    decay: float,
    learnt: LabelWeights,
    step: int,
) -> int:
    """One step for the arc of each word of the sentences in ``order``; return the number of steps made so far.

    A step is x <- (H x - rate g) / (H + rate decay), as in ``treebp.kernels.adagrad``, but with one H = delta +
    sqrt(sum of |g|^2) per row. A row's decay is made up for when it is next used, and at the end.
    """
    weights, squares, last = learnt
    gradient = np.empty(weights.shape[1])
    for i in order:
        begin, sentence, tree = _sentence(trees, i)
        links = _links(tree)
        rows, features = _scratch(hashing.templates, len(tree))
        for modifier in range(1, len(tree) + 1):
            if root_label >= 0 and tree[modifier - 1] == 0:
                continue
            count = _features(sentence, tree, modifier, links, hashing, rows, features)
            for row in features[:count]:
                _catch_up(learnt, row, rate * decay, step)
            _softmax(weights, features[:count], root_label, gradient)
            gradient[labels[begin + modifier - 1]] -= 1.0
            square = (gradient * gradient).sum()
            if square > _CERTAIN:
                for row in features[:count]:
                    squares[row] += square
                    keep, move = keep_and_move(squares[row], rate, decay)
                    for label in range(len(gradient)):
                        weights[row, label] = keep * weights[row, label] - move * gradient[label]
                    last[row] = step + 1
            step += 1
    for row in range(len(weights)):
        _catch_up(learnt, row, rate * decay, step)
    return step


@kernel
def _catch_up(learnt: LabelWeights, row: int, decay: float, step: int) -> None:
    """Apply the decay that is still due to a row."""
    weights, squares, last = learnt
    if squares[row] > 0.0 and last[row] < step:
        own = weights[row]
        own *= decayed(1.0, squares[row], step - last[row], decay, _BITS)
        last[row] = step


@kernel
def _links(heads: IntArray) -> IntArray:
    """First and last child of each position, and its previous and next sibling, from left to right."""
    links = np.full((4, len(heads) + 1), _NOWHERE)
    for modifier in range(1, len(heads) + 1):
        head = heads[modifier - 1]
        previous = links[_LAST, head]
        if previous == _NOWHERE:
            links[_FIRST, head] = modifier
        else:
            links[_NEXT, previous] = modifier
        links[_PREVIOUS, modifier] = previous
        links[_LAST, head] = modifier
    return links


@kernel
def _scratch(templates: LabelTemplates, words: int) -> tuple[IntArray, IntArray]:
    """Memory for the rows of an arc's tokens and for its features."""
    of_arc, of_child, of_sibling = templates
    most = len(of_arc) + (len(of_child) + len(of_sibling)) * words
    return np.empty(len(LABEL_TOKENS), np.int64), np.empty(most, np.int64)


@kernel
def _features(
    tokens: IntArray,
    heads: IntArray,
    modifier: int,
    links: IntArray,
    hashing: LabelHashing,
    rows: IntArray,
    out: IntArray,
) -> int:
    """Write the features of the modifier's arc, and return how many."""
    (of_arc, of_child, of_sibling), bits = hashing.templates, hashing.bits
    head = heads[modifier - 1]
    rows[0], rows[1] = head + 1, modifier + 1
    rows[2], rows[3] = head, head + 2
    rows[4], rows[5] = modifier, modifier + 2
    rows[6] = heads[head - 1] + 1 if head > 0 else _NOWHERE + 1
    rows[7], rows[8] = links[_PREVIOUS, modifier] + 1, links[_NEXT, modifier] + 1
    rows[9], rows[10] = links[_FIRST, modifier] + 1, links[_LAST, modifier] + 1
    count = _write(tokens, rows, of_arc, ARC + ((head < modifier) << 8), bits, out)
    other = links[_FIRST, modifier] if len(of_child) else _NOWHERE
    while other != _NOWHERE:
        rows[_CHILD] = other + 1
        seed = GRANDPARENT + (order_code(head, modifier, other) << 8)
        count += _write(tokens, rows, of_child, seed, bits, out[count:])
        other = links[_NEXT, other]
    other = links[_FIRST, head] if len(of_sibling) else _NOWHERE
    while other != _NOWHERE:
        if other != modifier:
            rows[_SIBLING] = other + 1
            seed = SIBLING + (order_code(head, modifier, other) << 8)
            count += _write(tokens, rows, of_sibling, seed, bits, out[count:])
        other = links[_NEXT, other]
    return count


@kernel
def _write(tokens: IntArray, rows: IntArray, templates: IntArray, seed: int, bits: int, out: IntArray) -> int:
    """Write each template's feature, and return how many."""
    for t in range(len(templates)):
        # Seeds differ in few bits: unless mixed first, they would cancel against equally small values.
        key = mix(np.uint64(0), seed + t)
        for s in range(templates.shape[1]):
            token, attribute = templates[t, s, 0], templates[t, s, 1]
            if token < 0:
                break
            key = mix(key, tokens[rows[token], attribute])
        out[t] = np.int64(key >> np.uint64(64 - bits))
    return len(templates)


@kernel
def _softmax(weights: AnyArray, features: IntArray, root_label: int, out: FloatArray) -> None:
    """Write the probabilities of the labels of one arc."""
    out[:] = 0.0
    for row in features:
        for label in range(0, len(out), _LINE):
            prefetch(weights, np.uint64(row * len(out) + label))
    for row in features:
        for label in range(len(out)):
            out[label] += weights[row, label]
    if root_label >= 0:
        out[root_label] = -np.inf
    top = out.max()
    total = 0.0
    for label in range(len(out)):
        out[label] = math.exp(out[label] - top)
        total += out[label]
    out /= total
