"""Belief propagation: modules (B) and (C) of the paper's circuit."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, is_score, whole_number
from treebp._types import FloatArray
from treebp.bp.beliefs import Beliefs
from treebp.bp.edge_run import EdgeRun
from treebp.bp.factor_graph import CompiledGraph, FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.graph import Graph
from treebp.bp.group_run import GroupRun
from treebp.bp.outcome import Options
from treebp.bp.projective_run import run_projective
from treebp.bp.schedule import GroupPlan, Schedule, plan


def propagate(
    graph: FactorGraph | CompiledGraph | Graph,
    *,
    iterations: int,
    schedule: Schedule = "serial",
    damping: float = 0.0,
    tolerance: float | None = None,
    potentials: Mapping[Factor, ArrayLike] | Sequence[ArrayLike] | None = None,
    gradient: bool = True,
    watch: bool = True,
) -> Beliefs:
    """Send messages (eq. 4 and 5) and return the beliefs (eq. 6 and 7) that follow from the last ones.

    Args:
        graph: variables and factors. A `FactorGraph` is compiled on the first run, and again only after it has changed;
            what is added while a run goes on is not in it. `Beliefs.graph` is a graph as it was.
        iterations: how often each message is sent, at most.
        schedule: "serial" sends from the leaves of a spanning tree to its root and back; the root is the
            structured factor with most variables. One iteration is exact on an acyclic graph. "parallel"
            sends all messages of the variables, then all of the factors.
        damping: the share of the old log-message that stays in a new one; from 0 to below 1.
        tolerance: stop after an iteration in which no entry of a message, as a probability, changed by as
            much as this.
        potentials: of a `FactorGraph`, {factor: log-potentials} to use in place of those given when it was built; or a
            flat array of log-potentials for each group, which a `Graph` needs.
        gradient: whether `Beliefs.backward` will be called: without, nothing is kept for it.
        watch: whether to measure the residuals; implied by a tolerance.

    Raises:
        ValueError: constraints that contradict each other, so that a variable or a factor, which it names, is
            left without a state; an option out of range; misshapen potentials.

    Example:
        >>> graph = FactorGraph()
        >>> a, b = graph.variables(2)
        >>> unary = graph.factor([a], [0.0, 1.0])
        >>> pair = graph.factor([a, b], [[1.0, 0.0], [0.0, 1.0]])
        >>> beliefs = propagate(graph, iterations=1)
        >>> beliefs[b].round(3)
        array([0.393, 0.607])
        >>> beliefs.backward({b: [0.0, 1.0]})[unary].round(3)
        array([-0.091,  0.091])

    """
    iterations = check_options(iterations, damping, tolerance)
    fixed = graph.compile() if isinstance(graph, FactorGraph) else graph
    compiled, groups = (None, fixed) if isinstance(fixed, Graph) else (fixed, fixed.graph)
    if compiled is not None and (potentials is None or isinstance(potentials, Mapping)):
        flat = compiled.potentials(potentials)
    else:
        flat = _flat(groups, potentials)
    options = Options(damping, tolerance, gradient, watch or tolerance is not None)
    senders = [group.start(own) for group, own in zip(groups.groups, flat, strict=True)]
    outcome = run_projective(groups, senders, options, iterations) if schedule == "serial" else None
    if outcome is None:
        steps = plan(groups, schedule)
        if isinstance(steps, GroupPlan):
            outcome = GroupRun(groups, senders, options).run(steps, iterations)
        else:
            outcome = EdgeRun(groups, flat, senders, options).run(steps, iterations)
    converged = tolerance is not None and bool(outcome.residuals[-1] < tolerance)
    again = partial(
        propagate,
        fixed,
        iterations=iterations,
        schedule=schedule,
        damping=damping,
        tolerance=tolerance,
        potentials=flat,
        gradient=gradient,
        watch=watch,
    )
    return Beliefs(outcome, flat, compiled, converged, again)


def check_options(iterations: int, damping: float, tolerance: float | None) -> int:
    """The number of iterations; ValueError for an option out of range."""
    iterations = whole_number(iterations, "iterations", 1)
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping = {damping}: at least 0 and less than 1 expected")
    if tolerance is not None and not tolerance >= 0.0:
        raise ValueError(f"tolerance = {tolerance}: at least 0 expected")
    return iterations


def _flat(graph: Graph, potentials: Mapping[Factor, ArrayLike] | Sequence[ArrayLike] | None) -> list[FloatArray]:
    """The log-potentials of each group; ValueError unless of the right number, each a number or -inf."""
    if potentials is None or isinstance(potentials, Mapping) or len(potentials) != len(graph.groups):
        raise ValueError(f"potentials: an array for each of {len(graph.groups)} groups expected")
    flat = []
    for number, (group, given) in enumerate(zip(graph.groups, potentials, strict=True)):
        if graph.trusted:
            flat.append(np.asarray(given, dtype=np.float64))
            continue
        own = float_array(given, f"group {number}")
        if own.shape != (group.potentials,):
            raise ValueError(f"group {number}: log-potentials of shape {own.shape}, expected ({group.potentials},)")
        if len(own) and not -np.inf < own.min() + own.max() < np.inf and not is_score(own).all():
            raise ValueError(f"group {number}: a log-potential that is neither -inf nor a number up to 1e300")
        flat.append(own)
    return flat
