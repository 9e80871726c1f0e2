"""The handle of a factor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, is_score
from treebp._types import FloatArray
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.variables import Variable


@dataclass(frozen=True, eq=False, slots=True)
class Factor:
    """Handle of a factor, to ask for its beliefs and its gradient; made by `FactorGraph`.

    `potentials` are the log-potentials that a run uses unless it is given others. `structured` is the
    object that answers messages, or None for a table.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> graph = FactorGraph()
        >>> rain = graph.variable(name="rain")
        >>> prior = graph.factor([rain], [0.0, -1.0])
        >>> prior, prior.potentials
        (Factor('factor (rain)'), array([ 0., -1.]))

    """

    name: str
    variables: tuple[Variable, ...]
    potentials: FloatArray
    structured: StructuredFactor | None

    def checked(self, log_potentials: ArrayLike) -> FloatArray:
        """Own copy of new log-potentials; ValueError unless of this factor's shape, each a number or -inf."""
        return checked_potentials(log_potentials, self.potentials.shape, self.name)

    def __repr__(self) -> str:
        return f"Factor({self.name!r})"


def checked_potentials(log_potentials: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Own copy of log-potentials; ValueError on another shape, NaN, +inf, or numbers too large to add up."""
    potentials = float_array(log_potentials, name)
    if potentials.shape != shape:
        raise ValueError(f"{name}: log-potentials of shape {potentials.shape}, expected {shape}")
    for index in np.argwhere(~is_score(potentials))[:1]:
        entry = tuple(index.tolist())
        raise ValueError(f"{name}: log-potential {potentials[entry]} at {entry}; -inf or up to 1e300 expected")
    return potentials
