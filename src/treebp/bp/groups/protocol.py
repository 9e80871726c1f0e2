"""What inference sees of factors: groups of many of one kind."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from treebp._types import FloatArray, IntArray

STRONGEST = 150.0
"""Log-potentials up to this, of either sign, may be exponentiated: see `Sender.in_ratios`."""

GroupBackprop: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray | None]
"""Maps dJ/d outgoing to dJ/d incoming, None if there is none, and adds to its second argument dJ/d potentials."""


class Sums(NamedTuple):
    """What a group's factors say after the last messages.

    Attributes:
        expectations: (potentials,) the derivative of their log-partitions by the log-potentials.
        log_partition: the sum of their log-partitions, messages to them taken as probabilities.

    """

    expectations: FloatArray
    log_partition: float


class Sender(Protocol):
    """A group with its log-potentials: it answers messages.

    Messages of an edge to a binary variable are one number, log-odds; others one log-probability per state. Where
    `in_ratios` is true all variables are binary, messages are the ratios of ON to OFF themselves, and incoming ones are
    cut off at e^400: no message of the group may exceed e^150 then, so that nothing overflows and what is cut off could
    not have made a difference. A group is `constant` if what it sends does not depend on what it receives.
    """

    @property
    def in_ratios(self) -> bool:
        """Whether messages are ratios."""
        ...

    @property
    def strongest(self) -> float:
        """A bound on the logarithm, of either sign, of any message; infinite unless messages are ratios."""
        ...

    @property
    def constant(self) -> bool:
        """Whether messages are always the same."""
        ...

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """Write the messages to all variables, eq. (5), given those from all; return the backward pass.

        Both are (entries,). NaN says that the messages leave no state. The adjoints are those of logarithms. Without
        `gradient` the backward pass is never called, and nothing need be kept for it.
        """
        ...

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """Expectations and log-partitions. In ratios, the log-partitions of the edges are taken off the latter."""
        ...


class Group(Protocol):
    """Many factors of one kind, in flat arrays.

    Attributes:
        variables: (edges,) the variable of each edge.
        edge_states: the number of states that each edge's variable must have, or an array of them.
        potentials: how many log-potentials the group has; zero for a hard constraint.
        structured: whether a serial schedule should begin and end at one of its factors.

    """

    @property
    def variables(self) -> IntArray:
        """(edges,)."""
        ...

    @property
    def edge_states(self) -> int | IntArray:
        """One for all edges, or (edges,)."""
        ...

    @property
    def potentials(self) -> int:
        """How many."""
        ...

    @property
    def structured(self) -> bool:
        """Whether it is a root."""
        ...

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the factor of each edge, from 0 on."""
        ...

    def start(self, potentials: FloatArray) -> Sender:
        """The group with these (potentials,) log-potentials."""
        ...

    def subset(self, factor: int) -> tuple["Group", IntArray, IntArray]:
        """One of the factors as a group of its own, and where its edges and its potentials are."""
        ...


@runtime_checkable
class GroupedFactor(Protocol):
    """A structured factor that can stand with others of its kind in one group.

    Attributes:
        kind: what such factors have in common; None for one that must stand alone.
        edge_order: its variables in the order of the group's edges; None for their own order.

    """

    @property
    def kind(self) -> tuple[object, ...] | None:
        """Factors of one class and kind make a group."""
        ...

    @property
    def edge_order(self) -> IntArray | None:
        """(variables,) places among its variables."""
        ...

    def group(self, factors: Sequence[Any], variables: IntArray) -> Group:
        """Many factors of this kind; `variables` are theirs, end to end."""
        ...
