"""What belief propagation ends with: module (D) of the paper's circuit, forward and backward."""

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import FloatArray
from treebp.bp.compiled import CompiledGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.messages import Messages, structured_messages
from treebp.bp.variables import Variable
from treebp.kernels.messages import send_sums


class Beliefs:
    """Approximate marginals, exact if the graph is acyclic and the messages have converged.

    Made by `treebp.propagate`.

    Attributes:
        graph: the compiled graph; `graph.variables` and `graph.factors` list what there are beliefs about.
        residuals: (iterations,) the largest change of an entry of a message, as a probability, in each.
        converged: whether the last residual is below the tolerance; False if none was given.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> a, b = graph.variables(2)
        >>> pair = graph.factor([a, b], np.log([[4.0, 1.0], [2.0, 3.0]]))
        >>> beliefs = propagate(graph, iterations=1)
        >>> beliefs[a].round(3), round(beliefs.log_partition, 3)
        (array([0.5, 0.5]), 2.303)
        >>> beliefs.factor(pair).round(3)
        array([[0.4, 0.1],
               [0.2, 0.3]])

    """

    def __init__(
        self,
        graph: CompiledGraph,
        potentials: FloatArray,
        messages: Messages,
        backprop: Callable[[Messages], FloatArray],
        residuals: FloatArray,
        converged: bool,
    ) -> None:
        self.graph = graph
        self.residuals = residuals
        self.converged = converged
        self._potentials = potentials
        self._messages = messages
        self._backprop = backprop
        scores = np.bincount(graph.message_state, messages.to_variables, minlength=graph.first_state[-1])
        self._log_normalisers = np.logaddexp.reduceat(scores, graph.first_state[:-1])
        for index in np.flatnonzero(self._log_normalisers == -np.inf)[:1]:
            raise ValueError(f"variable {graph.variables[index].name}: its factors together forbid every state")
        self._beliefs: FloatArray = np.exp(scores - np.repeat(self._log_normalisers, np.diff(graph.first_state)))

    @property
    def iterations(self) -> int:
        """How often each message was sent."""
        return len(self.residuals)

    def __getitem__(self, variable: Variable) -> FloatArray:
        """The belief about a variable, eq. (6): a (states,) array that sums to one."""
        return self._beliefs[self._state_slice(variable)].copy()

    def potentials(self, factor: Factor) -> FloatArray:
        """The log-potentials of a factor in this run."""
        flat = self._potentials[self.graph.potential_slice(self.graph.factor_index(factor))]
        return flat.reshape(factor.potentials.shape).copy()

    def factor(self, factor: Factor) -> FloatArray | list[FloatArray]:
        """The belief about a factor, eq. (7), normalised.

        A table's belief has its shape: an axis per variable. A structured factor's is a list of the marginals
        of its variables, as it sees them.
        """
        if factor.structured is None:
            return self._table(factor)
        return self._structured(factor)[0]

    def expectations(self, factor: Factor) -> FloatArray:
        """Gradient of the factor's log-partition, given its messages, with respect to its log-potentials.

        Of a table, this is its belief; of a structured factor, the expected number of times that it uses each
        of its log-potentials.
        """
        if factor.structured is None:
            return self._table(factor)
        marginals, outgoing, backprop = self._structured(factor)
        adjoint = np.zeros_like(outgoing)
        adjoint[: len(marginals[0])] = marginals[0]
        return backprop(adjoint)[1]

    @cached_property
    def log_partition(self) -> float:
        """Bethe approximation of the log-partition; exact under the same conditions as the beliefs."""
        graph, messages = self.graph, self._messages
        # A factor's own log-partition can be read off any of its edges: the first will do.
        first_edges = graph.first_edge[:-1]
        sent = np.zeros_like(messages.to_factors)
        send_sums(first_edges[~graph.is_structured], *graph.table_arrays, self._potentials, messages.to_factors, sent)
        for index in np.flatnonzero(graph.is_structured).tolist():
            outgoing, _ = structured_messages(graph, index, self._potentials, messages.to_factors)
            sent[graph.message_slice(index)] = outgoing
        of_factors = np.logaddexp.reduceat(messages.to_factors + sent, graph.first_message[:-1])[first_edges]
        of_edges = np.logaddexp.reduceat(messages.to_factors + messages.to_variables, graph.first_message[:-1])
        contradictory = (of_factors == -np.inf)[graph.edge_factor] | (of_edges == -np.inf)
        for edge in np.flatnonzero(contradictory)[:1]:
            _possible(-np.inf, graph.factors[graph.edge_factor[edge]])
        return float(of_factors.sum() + self._log_normalisers.sum() - of_edges.sum())

    def backward(
        self,
        adjoints: Mapping[Variable, ArrayLike] | Mapping[Factor, ArrayLike] | Mapping[Variable | Factor, ArrayLike],
    ) -> dict[Factor, FloatArray]:
        """Gradient of any function J of the beliefs with respect to every log-potential.

        Exact through all iterations, damping and early stopping.

        Args:
            adjoints: {variable or table factor: dJ/d belief}, in the shape of that belief; zero where left out.

        Returns:
            {factor: dJ/d log-potentials}, in the shape of those; zero where they are -inf.

        """
        graph = self.graph
        adjoint_states = np.zeros_like(self._beliefs)
        adjoint_to_factors = np.zeros_like(self._messages.to_factors)
        adjoint_tables = np.zeros_like(self._potentials)
        for owner, adjoint in adjoints.items():
            if isinstance(owner, Variable):
                states = self._state_slice(owner)
                adjoint_states[states] = _score_adjoint(self._beliefs[states], adjoint, owner.name)
                continue
            if owner.structured is not None:
                raise ValueError(f"{owner.name}: give adjoints of its variables; it has no belief of its own")
            index = graph.factor_index(owner)
            score_adjoint = _score_adjoint(self._table(owner), adjoint, owner.name)
            adjoint_tables[graph.potential_slice(index)] = score_adjoint.ravel()
            axes = range(score_adjoint.ndim)
            adjoint_to_factors[graph.message_slice(index)] = np.concatenate(
                [score_adjoint.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
            )
        flat = adjoint_tables + self._backprop(Messages(adjoint_to_factors, adjoint_states[graph.message_state]))
        return {
            factor: flat[graph.potential_slice(index)].reshape(factor.potentials.shape)
            for index, factor in enumerate(graph.factors)
        }

    def _state_slice(self, variable: Variable) -> slice:
        first, last = self.graph.first_state[self.graph.variable_index(variable) :][:2].tolist()
        return slice(first, last)

    def _table(self, factor: Factor) -> FloatArray:
        """The joint belief of a table factor."""
        score = self.potentials(factor)
        incoming = self._messages.to_factors[self.graph.message_slice(self.graph.factor_index(factor))]
        for axis, message in enumerate(_split(incoming, factor)):
            score += message.reshape([-1 if other == axis else 1 for other in range(score.ndim)])
        return np.asarray(np.exp(score - _possible(np.logaddexp.reduce(score, axis=None), factor)))

    def _structured(self, factor: Factor) -> tuple[list[FloatArray], FloatArray, FactorBackprop]:
        """Marginals, outgoing messages and the function that differentiates these, of a structured factor."""
        index = self.graph.factor_index(factor)
        outgoing, backprop = structured_messages(self.graph, index, self._potentials, self._messages.to_factors)
        scores = _split(self._messages.to_factors[self.graph.message_slice(index)] + outgoing, factor)
        marginals = [np.exp(score - _possible(np.logaddexp.reduce(score), factor)) for score in scores]
        return marginals, outgoing, backprop


def _split(messages: FloatArray, factor: Factor) -> list[FloatArray]:
    return np.split(messages, np.cumsum([variable.states for variable in factor.variables])[:-1])


def _possible(log_normaliser: float, factor: Factor) -> float:
    if log_normaliser == -np.inf:
        raise ValueError(f"{factor.name}: the other factors leave it no joint state")
    return log_normaliser


def _score_adjoint(belief: FloatArray, adjoint: ArrayLike, name: str) -> FloatArray:
    """Adjoint of the log-scores that were normalised to a belief."""
    array = np.asarray(adjoint, dtype=np.float64)
    if array.shape != belief.shape or not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: the adjoint must be finite and of shape {belief.shape}, got {array}")
    return np.asarray(belief * (array - np.sum(belief * array)))
