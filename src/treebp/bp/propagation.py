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
from treebp.bp.groups.all_on import Ratios, Single
from treebp.bp.groups.protocol import Sender
from treebp.bp.groups.trees import TreeSender
from treebp.bp.outcome import Options, Outcome
from treebp.bp.schedule import GroupPlan, Schedule, plan
from treebp.kernels.projective_group import CHARTS, ArcGraph, send_all
from treebp.kernels.ratios import divide, totals
from treebp.kernels.tree_gradient import send_all_backward


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
    fixed = graph.compile() if isinstance(graph, FactorGraph) else graph
    compiled, groups = (None, fixed) if isinstance(fixed, Graph) else (fixed, fixed.graph)
    if not groups.trusted:
        iterations = check_options(iterations, damping, tolerance)
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


def run_projective(graph: Graph, senders: Sequence[Sender], options: Options, iterations: int) -> Outcome | None:
    """What `GroupRun` gives for a projective parser's graph with the serial schedule, sooner: all of it is one kernel.

    None if the groups are not the log-odds of all variables, pairs of them, and projective trees over all of them, in
    this order, if messages are damped or watched, or if plain real arithmetic will not do for a tree.
    """
    if len(senders) < 3 or options.damping > 0.0 or options.watch:
        return None
    single, *between, trees = senders
    pairs = [sender for sender in between if isinstance(sender, Ratios) and sender.arity == 2]
    if not (isinstance(single, Single) and isinstance(trees, TreeSender) and trees.group.projective):
        return None
    if len(pairs) < len(between) or not (graph.one_to_one[0] and graph.one_to_one[-1]):
        return None
    arc_graph = ArcGraph(
        np.array([0, *(own.stop for own in graph.ranges)]),
        graph.entry_slots,
        np.concatenate([sender.weights for sender in pairs]),
        np.array([sender.strongest for sender in senders]),
        trees.group.arcs,
        trees.group.single_root,
    )
    kept, (room, largest) = options.gradient, trees.group.room
    rows = iterations if kept else 1
    width = graph.entry_count + graph.slot_count + 2 * room + CHARTS * (room if kept else largest)
    memory, sent = np.empty((rows, width)), np.empty(graph.entry_count)
    gathered, results = np.zeros((len(senders), graph.slot_count)), np.zeros((2, graph.slot_count))
    gathered[0] = single.potentials
    log_partitions = np.empty(len(trees.group.arcs.sizes))
    if not send_all(arc_graph, iterations, kept, memory, sent, gathered, results, log_partitions):
        return None
    outgoing = [single.potentials, *(sent[own] for own in graph.ranges[1:-1]), gathered[-1]]
    to_trees = memory[-1, graph.ranges[-1]]
    trees.remember(to_trees, log_partitions)

    def incoming() -> list[FloatArray]:
        """The last messages to all groups; those to pairs are rarely asked for, and not sent before they are."""
        to_single, scratch, received = (
            np.empty(graph.slot_count),
            np.empty(graph.slot_count),
            np.empty(graph.entry_count),
        )
        totals(gathered, 0, to_single)
        at_pairs = slice(graph.ranges[1].start, graph.ranges[-1].start)
        divide(gathered, graph.entry_slots[at_pairs], sent[at_pairs], scratch, received[at_pairs])
        return [to_single, *(received[own] for own in graph.ranges[1:-1]), to_trees]

    def backward(of_slots: FloatArray, of_incoming: list[FloatArray | None], of_potentials: list[FloatArray]) -> None:
        """See ``GroupRun.backward``; nobody has adjoints of messages to groups like these."""
        of_weights = np.zeros(len(arc_graph.weights))
        send_all_backward(arc_graph, memory, of_slots, of_potentials[0], of_weights)
        begin = 0
        for own in of_potentials[1:-1]:
            own += of_weights[begin : begin + len(own)]
            begin += len(own)

    return Outcome(graph, senders, incoming, outgoing, results[0], results[1], np.zeros(iterations), backward)
