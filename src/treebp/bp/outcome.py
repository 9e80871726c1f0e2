"""What runs of belief propagation have in common: options, errors, and what they end with."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from treebp._types import FloatArray
from treebp.bp.graph import Graph
from treebp.bp.groups.protocol import Sender
from treebp.kernels.ratios import CERTAIN

Backward: TypeAlias = Callable[[FloatArray, list[FloatArray | None], list[FloatArray]], None]


class Options(NamedTuple):
    """How messages are sent: see `treebp.propagate`."""

    damping: float
    tolerance: float | None
    gradient: bool
    watch: bool


class Outcome(NamedTuple):
    """The last messages, and the way back.

    Attributes:
        graph, senders: what sent them.
        incoming: (of no argument) the messages to each group, as ratios where the sender has them so.
        outgoing: those from each group.
        totals: (slots,) all log-messages to the variables added up.
        before: (slots,) the same, an iteration earlier.
        residuals: (iterations,) the largest change of a message, as a probability, in each.
        backward: maps the adjoints of totals and incoming, and adds to those of log-potentials.

    """

    graph: Graph
    senders: Sequence[Sender]
    incoming: Callable[[], list[FloatArray]]
    outgoing: list[FloatArray]
    totals: FloatArray
    before: FloatArray
    residuals: FloatArray
    backward: Backward


def to_logs(sender: Sender, messages: FloatArray) -> FloatArray:
    """Messages of a group as logarithms."""
    return np.log(messages) if sender.in_ratios else messages


def from_logs(sender: Sender, messages: FloatArray) -> FloatArray:
    """Log-messages as a group has them."""
    return np.exp(np.clip(messages, -CERTAIN, CERTAIN)) if sender.in_ratios else messages


def impossible_variable(graph: Graph, group: int, edge: int) -> ValueError:
    """The error that an edge's variable has no state left."""
    name = graph.variable_name(int(graph.groups[group].variables[edge]))
    return ValueError(f"variable {name}: its factors together forbid every state")


def impossible_factor(graph: Graph, group: int, edge: int) -> ValueError:
    """The error that an edge's factor has no state of the variable left."""
    variable = graph.variable_name(int(graph.groups[group].variables[edge]))
    name = graph.factor_name(group, int(graph.groups[group].edge_factor[edge]))
    return ValueError(f"{name}: the other factors leave it no state of variable {variable}")
