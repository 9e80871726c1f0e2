"""A tree factor in logarithms: slower than ``treebp.kernels.tree_group``, and always right."""

from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop
from treebp.kernels import log_eisner, log_matrix_tree
from treebp.kernels.tree_messages import other_heads, other_heads_backward

# An adjoint divided by its arc's marginal may grow by this much before digits are lost.
_STEEPEST = 1e5


class LogTree(NamedTuple):
    """Sums over the trees that can be made of some arcs, by inside-outside on the messages' ratios (section 3.4).

    Z is linear in each arc's weight, and its derivative, the arc's gain, sums over the trees with that arc. So the
    message to ON is the gain, and the message to OFF the sum over the modifier's other heads of ratio times gain:
    nothing is divided by an incoming message, and nothing subtracted from one.
    """

    heads: IntArray
    modifiers: IntArray
    size: int
    projective: bool
    single_root: bool

    @property
    def possible(self) -> bool:
        """Whether the arcs make a tree at all."""
        nothing = self._matrix(np.zeros(len(self.heads)))
        return self._gains(nothing, nothing)[0] > -np.inf

    def messages(self, incoming: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        """Sum over all trees; O(n^3)."""
        off, on = incoming.reshape(-1, 2).T
        forced = off == -np.inf
        if forced.any() and np.bincount(self.modifiers[forced]).max() > 1:  # a word cannot have two heads
            return np.full_like(incoming, -np.inf), lambda adjoint: (np.zeros_like(adjoint), np.zeros(0))
        # A forced arc's weight goes in front of the sum, and its modifier has no other head.
        constant = np.where(forced, on, off)
        ratios = on - constant
        rivals = ~forced & np.isin(self.modifiers, self.modifiers[forced])
        weights = self._matrix(np.where(rivals, -np.inf, ratios))
        log_z, _, gains, _ = self._gains(weights, np.zeros_like(weights))
        terms = self._matrix(ratios) + gains
        others = other_heads(terms)
        arcs = self.heads, self.modifiers
        rest = constant.sum() - constant
        to_off = rest + np.where(rivals, log_z, others[arcs])
        to_on = rest + np.where(rivals, -np.inf, gains[arcs])

        def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
            adjoint_off, adjoint_on = adjoint.reshape(-1, 2).T
            adjoint_off = np.where(to_off > -np.inf, adjoint_off, 0.0)
            adjoint_on = np.where(to_on > -np.inf, adjoint_on, 0.0)
            through_others = other_heads_backward(terms, others, self._matrix(np.where(rivals, 0.0, adjoint_off), 0.0))
            adjoint_gains = self._matrix(adjoint_on, 0.0) + through_others
            adjoint_log_z = adjoint_off[rivals].sum()
            adjoint_ratios = through_others[arcs] + self._through_gains(
                weights, gains, log_z, adjoint_gains, adjoint_log_z
            )
            adjoint_ratios = np.where(forced, 0.0, adjoint_ratios)
            both = adjoint_off + adjoint_on
            adjoint_constant = both.sum() - both - adjoint_ratios
            incoming_off = np.where(forced, 0.0, adjoint_constant)
            incoming_on = np.where(forced, adjoint_constant, adjoint_ratios)
            rows = np.stack([incoming_off, np.where(on > -np.inf, incoming_on, 0.0)], axis=1)
            return rows.ravel(), np.zeros(0)

        return np.stack([to_off, to_on], axis=1).ravel(), backprop

    def _matrix(self, values: FloatArray, elsewhere: float = -np.inf) -> FloatArray:
        matrix = np.full((self.size, self.size), elsewhere)
        matrix[self.heads, self.modifiers] = values
        return matrix

    def _gains(self, weights: FloatArray, direction: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        """log Z, log(dZ / d weight), and the derivatives of both along `direction`."""
        gains, slopes = np.empty_like(weights), np.empty_like(weights)
        log_gains = log_eisner.log_gains if self.projective else log_matrix_tree.log_gains
        log_z, slope = log_gains(weights, direction, self.size, self.single_root, gains, slopes)
        return log_z, slope, gains, slopes

    def _through_gains(
        self, weights: FloatArray, gains: FloatArray, log_z: float, adjoint: FloatArray, adjoint_log_z: float
    ) -> FloatArray:
        """dJ/d ratios, given those of the log gains and of log Z.

        The Jacobian of the log gains is p(other arc | arc), which is symmetric once its rows are multiplied by p(arc).
        Where p(arc) is too small to divide by, use that a gain does not depend on the weights of its own modifier's
        arcs: such a modifier is done by itself, with weights that make its arcs equally probable.
        """
        marginals = np.exp(weights + gains - log_z)
        steep = np.abs(adjoint) > _STEEPEST * np.abs(adjoint).max() * marginals
        apart = np.flatnonzero(steep.any(axis=0))
        together = np.where(np.isin(np.arange(self.size), apart), 0.0, adjoint)
        total = adjoint_log_z * marginals + self._conditional(weights, marginals, together)
        for modifier in apart:
            equal = weights.copy()
            equal[:, modifier] = np.where(gains[:, modifier] > -np.inf, -gains[:, modifier], -np.inf)
            alone = np.zeros_like(adjoint)
            alone[:, modifier] = adjoint[:, modifier]
            log_z, _, new_gains, _ = self._gains(equal, np.zeros_like(equal))
            change = self._conditional(equal, np.exp(equal + new_gains - log_z), alone)
            change[:, modifier] = 0.0
            total += change
        return np.asarray(total[self.heads, self.modifiers])

    def _conditional(self, weights: FloatArray, marginals: FloatArray, adjoint: FloatArray) -> FloatArray:
        """Sum over arcs of their adjoint times p(each other arc | arc)."""
        if not adjoint.any():
            return np.zeros_like(adjoint)
        direction = np.where(adjoint != 0.0, adjoint / np.where(marginals > 0.0, marginals, 1.0), 0.0)
        return marginals * self._gains(weights, direction)[3]
