"""Belief propagation with a tree and pairs of arcs, and its gradients, in numbers of fifty digits: the right twin.

Messages are ratios, ON over OFF, and no exponent overflows. No value is ever a difference, so that all digits count.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray

_DIGITS = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LIGHT = Decimal("1e-100000")  # a weight for arcs from the root so small that a second one would not count


class Number:
    """A value and what it was made from: the other numbers, each with the derivative by it, a number too."""

    __slots__ = ("adjoint", "sources", "value")
    tape: list["Number"] = []  # noqa: RUF012

    def __init__(self, value: Decimal | int, *sources: tuple["Number", "Number"]) -> None:
        self.value, self.sources = Decimal(value), sources
        self.adjoint = Decimal(0)
        if sources:
            Number.tape.append(self)

    def __add__(self, other: "Number") -> "Number":
        if self is ZERO or other is ZERO:
            return other if self is ZERO else self
        return Number(self.value + other.value, (self, ONE), (other, ONE))

    def __mul__(self, other: "Number") -> "Number":
        if self is ZERO or other is ZERO:
            return ZERO
        if self is ONE or other is ONE:
            return other if self is ONE else self
        return Number(self.value * other.value, (self, other), (other, self))

    def __truediv__(self, other: "Number") -> "Number":
        if self is ZERO:
            return ZERO
        ratio = self.value / other.value
        return Number(ratio, (self, Number(1 / other.value)), (other, Number(-ratio / other.value)))


ZERO, ONE = Number(0), Number(1)


def total(numbers: list[Number]) -> Number:
    out = ZERO
    for number in numbers:
        out = out + number
    return out


def product(numbers: list[Number]) -> Number:
    out = ONE
    for number in numbers:
        out = out * number
    return out


def spanning_gains(weights: list[list[Number]]) -> list[list[Number]]:
    """Derivatives of the sum over all spanning trees: see ``treebp.kernels.log_matrix_tree`` for the idea."""
    size = len(weights)
    gains = [[ZERO] * size for _ in range(size)]

    def solve(matrix: list[list[Number]], inside: list[int], pivots: Number) -> None:
        if len(inside) == 1:
            modifier = inside[0]
            for head in range(size):
                if head != modifier:
                    gains[head][modifier] = pivots * (matrix[0][head] if head else ONE)
            return
        middle = len(inside) // 2
        for kept, out in ((inside[:middle], inside[middle:]), (inside[middle:], inside[:middle])):
            rows, left, own = [row[:] for row in matrix], set(inside), pivots
            for pivot in out:
                left.remove(pivot)
                degree = total([rows[head][pivot] for head in (0, *left)])
                own = own * degree
                for head in (0, *left):
                    rows[head][pivot] = factor = rows[head][pivot] / degree
                    for word in range(1, size):
                        if word not in (pivot, head):
                            rows[head][word] = rows[head][word] + factor * rows[pivot][word]
            solve(rows, kept, own)

    solve(weights, list(range(1, size)), ONE)
    return gains


def projective_sum(weights: list[list[Number]], single_root: bool) -> Number:
    """Eisner's algorithm, upwards."""
    size = len(weights)
    first = 1 if single_root else 0
    right = {(i, i): ONE for i in range(size)}
    left = {(i, i): ONE for i in range(size)}
    arc_right: dict[tuple[int, int], Number] = {}
    arc_left: dict[tuple[int, int], Number] = {}
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            both = total([right[i, k] * left[k + 1, j] for k in range(i, j)])
            arc_right[i, j], arc_left[i, j] = both * weights[i][j], both * weights[j][i]
            right[i, j] = total([arc_right[i, k] * right[k, j] for k in range(i + 1, j + 1)])
            left[i, j] = total([left[i, k] * arc_left[k, j] for k in range(i, j)])
    last = size - 1
    if not single_root:
        return right[0, last]
    return total([weights[0][k] * left[1, k] * right[k, last] for k in range(1, size)])


def projective_gains(weights: list[list[Number]], single_root: bool) -> list[list[Number]]:
    """The derivatives of `projective_sum`, themselves with a derivative."""
    begin = len(Number.tape)
    whole = projective_sum(weights, single_root)
    found = {id(whole): ONE}
    for number in reversed(Number.tape[begin:]):
        adjoint = found.pop(id(number), ZERO)
        for source, slope in number.sources if adjoint is not ZERO else ():
            found[id(source)] = found.get(id(source), ZERO) + adjoint * slope
    return [[found.get(id(weight), ZERO) if weight is not ZERO else ZERO for weight in row] for row in weights]


class Problem(NamedTuple):
    """A tree, a score for each arc and for some pairs of arcs, and the arcs of the right tree."""

    size: int
    heads: IntArray
    modifiers: IntArray
    projective: bool
    single_root: bool
    pairs: IntArray
    arc_scores: FloatArray
    pair_scores: FloatArray
    gold: FloatArray


class Answer(NamedTuple):
    """Beliefs in ON and OFF, and the gradient of the squared distance to the right tree by both kinds of scores."""

    on: FloatArray
    off: FloatArray
    of_arcs: FloatArray
    of_pairs: FloatArray


def tree_messages(problem: Problem, odds: list[Number]) -> list[Number]:
    size, arcs = problem.size, list(zip(problem.heads.tolist(), problem.modifiers.tolist(), strict=True))
    weights = [[ZERO] * size for _ in range(size)]
    for (head, modifier), weight in zip(arcs, odds, strict=True):
        light = problem.single_root and not problem.projective and head == 0
        weights[head][modifier] = weight * Number(_LIGHT) if light else weight * Number(Decimal(1))
    if problem.projective:
        gains = projective_gains(weights, problem.single_root)
    else:
        gains = spanning_gains(weights)
        for modifier in range(1, size):
            gains[0][modifier] = gains[0][modifier] * Number(_LIGHT) if problem.single_root else gains[0][modifier]
    out = []
    for head, modifier in arcs:
        others = [odds[a] * gains[h][m] for a, (h, m) in enumerate(arcs) if m == modifier and h != head]
        out.append(gains[head][modifier] / total(others))
    return out


def propagate_slowly(problem: Problem, iterations: int) -> Answer:
    """As `treebp.propagate` does, with the serial schedule."""
    with localcontext(_DIGITS):
        Number.tape.clear()
        arc_weights = [Number(Decimal(score).exp()) for score in problem.arc_scores.tolist()]
        pair_weights = [Number(Decimal(score).exp()) for score in problem.pair_scores.tolist()]
        pairs = problem.pairs.tolist()
        of_arc: list[list[tuple[int, int]]] = [[] for _ in arc_weights]
        for pair, ends in enumerate(pairs):
            for end, arc in enumerate(ends):
                of_arc[arc].append((pair, end))
        to_pairs = [[ONE, ONE] for _ in pairs]
        for _ in range(iterations):
            from_pairs = [
                [(ONE + e * b) / (ONE + b), (ONE + e * a) / (ONE + a)]
                for e, (a, b) in zip(pair_weights, to_pairs, strict=True)
            ]
            odds = [
                weight * product([from_pairs[pair][end] for pair, end in own])
                for weight, own in zip(arc_weights, of_arc, strict=True)
            ]
            totals = [one * two for one, two in zip(odds, tree_messages(problem, odds), strict=True)]
            for arc, own in enumerate(of_arc):
                for pair, end in own:
                    to_pairs[pair][end] = totals[arc] / from_pairs[pair][end]
        off = [ONE / (ONE + odd) for odd in totals]
        on = [odd * rest for odd, rest in zip(totals, off, strict=True)]
        for belief, rest, right in zip(on, off, problem.gold.tolist(), strict=True):
            belief.adjoint = 2 * belief.value if not right else -2 * rest.value
        for number in reversed(Number.tape):
            if number.adjoint:
                for source, slope in number.sources:
                    source.adjoint += number.adjoint * slope.value
        answer = Answer(
            np.array([float(belief.value) for belief in on]),
            np.array([float(rest.value) for rest in off]),
            np.array([float(weight.adjoint * weight.value) for weight in arc_weights]),
            np.array([float(weight.adjoint * weight.value) for weight in pair_weights]),
        )
        Number.tape.clear()
        return answer
