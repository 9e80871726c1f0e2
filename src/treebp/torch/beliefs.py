"""What belief propagation on tensors ends with."""

from typing import Any, Protocol

import torch
from torch import Tensor

from treebp.bp.beliefs import require_handles
from treebp.bp.factor_graph import CompiledGraph
from treebp.bp.graph import Graph
from treebp.bp.variables import Variable


class TensorOutcome(Protocol):
    """A run of belief propagation on some device, and its derivatives; all tensors are float64."""

    @property
    def slots(self) -> Tensor:
        """The beliefs of all variables, one after the other: in ON of a binary one, in each state of another."""
        ...

    @property
    def residuals(self) -> Tensor:
        """(iterations,) the largest change of an entry of a message, as a probability, in each."""
        ...

    @property
    def log_partition(self) -> Tensor:
        """() Bethe's approximation."""
        ...

    @property
    def expectations(self) -> list[Tensor]:
        """The derivatives, at a fixed point, of the log-partition by the log-potentials of each group."""
        ...

    def backward(self, adjoint: Tensor) -> list[Tensor]:
        """From dJ/d slots to dJ/d log-potentials."""
        ...


class Beliefs:
    """Approximate marginals as tensors, exact if the graph is acyclic and the messages have converged.

    Made by `treebp.torch.propagate`. Beliefs can be differentiated once, exactly, through every iteration.

    Attributes:
        residuals: (iterations,) the largest change of an entry of a message, as a probability, in each.
        converged: whether the last residual is below the tolerance; False if none was given.

    Example:
        >>> import treebp as tb
        >>> from treebp.torch import propagate
        >>> graph = tb.Graph([3, 3], [tb.Tables([[0], [1]], (3,)), tb.Chains([0, 1], [2], states=3)])
        >>> scores, transitions = torch.zeros(6), torch.eye(3).ravel()
        >>> beliefs = propagate(graph, iterations=1, potentials=[scores, transitions])
        >>> beliefs.states(0)
        tensor([0.3333, 0.3333, 0.3333])
        >>> round(beliefs.log_partition.item(), 4)
        2.6501

    """

    def __init__(
        self,
        outcome: TensorOutcome,
        graph: Graph,
        compiled: CompiledGraph | None,
        potentials: list[Tensor],
        converged: bool,
    ) -> None:
        self.converged = converged
        self.residuals = outcome.residuals
        self._outcome, self._graph, self._compiled = outcome, graph, compiled
        self._potentials = potentials
        self._dtype = potentials[0].dtype if potentials else torch.float64
        for own in potentials:
            self._dtype = torch.promote_types(self._dtype, own.dtype)

    @property
    def iterations(self) -> int:
        """How often each message was sent."""
        return len(self.residuals)

    @property
    def _slots(self) -> Tensor:
        return _Slots.apply(self._outcome, *self._potentials).to(self._dtype)

    @property
    def on(self) -> Tensor:
        """(variables,) the belief in state 1 of each variable, all of which must be binary."""
        if not self._graph.binary:
            raise ValueError("on: not all variables are binary; ask for table or states")
        return self._slots

    @property
    def table(self) -> Tensor:
        """(variables, states) all beliefs, if all variables have as many states."""
        states = set(self._graph.states.tolist())
        if len(states) > 1:
            raise ValueError("table: not all variables have as many states; ask for states of each")
        slots = self._slots
        if states == {2}:
            return torch.stack([1.0 - slots, slots], dim=1)
        return slots.reshape(len(self._graph.states), -1)

    def states(self, variable: int) -> Tensor:
        """The belief about the variable with a number: a (states,) tensor that sums to one."""
        begin, end = self._graph.first_slot[variable : variable + 2].tolist()
        own = self._slots[begin:end]
        return torch.cat([1.0 - own, own]) if self._graph.states[variable] == 2 else own

    def __getitem__(self, variable: Variable) -> Tensor:
        """The belief about a variable, eq. (6): a (states,) tensor that sums to one."""
        return self.states(self.graph.variable_index(variable))

    @property
    def graph(self) -> CompiledGraph:
        """The compiled graph; `graph.variables` and `graph.factors` list what there are beliefs about."""
        return require_handles(self._compiled)

    @property
    def potentials(self) -> list[Tensor]:
        """The log-potentials of each group in this run."""
        return self._potentials

    @property
    def group_expectations(self) -> list[Tensor]:
        """How often each group is expected to use each of its log-potentials; of tables, their beliefs."""
        return [own.to(self._dtype) for own in self._outcome.expectations]

    @property
    def log_partition(self) -> Tensor:
        """Bethe approximation of the log-partition, shape (); exact under the same conditions as the beliefs.

        Its gradient is what it would be at a fixed point: the factors' beliefs.
        """
        return _LogPartition.apply(self._outcome, *self._potentials).to(self._dtype)


class _Slots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, outcome: TensorOutcome, *potentials: Tensor) -> Tensor:
        ctx.outcome, ctx.dtypes = outcome, [own.dtype for own in potentials]
        return outcome.slots.detach()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, adjoint: Tensor) -> Any:
        found = ctx.outcome.backward(adjoint)
        return None, *(own.to(dtype) for own, dtype in zip(found, ctx.dtypes, strict=True))


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, outcome: TensorOutcome, *potentials: Tensor) -> Tensor:
        ctx.outcome, ctx.dtypes = outcome, [own.dtype for own in potentials]
        return outcome.log_partition.detach()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, adjoint: Tensor) -> Any:
        found = ctx.outcome.expectations
        return None, *((adjoint * own).to(dtype) for own, dtype in zip(found, ctx.dtypes, strict=True))
