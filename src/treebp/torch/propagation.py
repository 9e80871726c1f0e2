"""Belief propagation with log-potentials that are tensors."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import torch
from torch import Tensor

from treebp.bp import propagation
from treebp.bp.beliefs import Beliefs as NumPyBeliefs
from treebp.bp.factor_graph import CompiledGraph, FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.graph import Graph
from treebp.bp.outcome import Options
from treebp.bp.schedule import GroupPlan, Schedule, plan
from treebp.torch.beliefs import Beliefs
from treebp.torch.device_run import DeviceGraph, DeviceRun


def propagate(
    graph: FactorGraph | Graph,
    *,
    iterations: int,
    schedule: Schedule = "serial",
    damping: float = 0.0,
    tolerance: float | None = None,
    potentials: Mapping[Factor, Tensor] | Sequence[Tensor],
    watch: bool = True,
    validate: bool = True,
) -> Beliefs:
    """Send messages (eq. 4 and 5) and return the beliefs (eq. 6 and 7) that follow from the last ones.

    As `treebp.propagate`: where the log-potentials are decides who computes. The graph says how things hang together,
    and stays where it is.

    Args:
        graph: variables and factors. A `FactorGraph` is compiled on the first run, and again only after it has changed.
        iterations: how often each message is sent, at most.
        schedule: "serial" or "parallel".
        damping: the share of the old log-message that stays in a new one; from 0 to below 1.
        tolerance: stop after an iteration in which no entry of a message, as a probability, changed by as much as this.
        potentials: a flat tensor of log-potentials for each group; or, of a `FactorGraph`, {factor: log-potentials} to
            use in place of those given when it was built.
        watch: whether to measure the residuals; implied by a tolerance.
        validate: whether contradictions are errors on a GPU, which waits for an answer once at the end; without it,
            beliefs are NaN then. A tolerance waits for one after every iteration.

    Raises:
        ValueError: constraints that contradict each other, so that a variable or a factor, which it names, is
            left without a state; an option out of range; misshapen potentials.

    Example:
        >>> import treebp as tb
        >>> graph = tb.Graph(3, [tb.AllOn([[0], [1], [2]]), tb.AllOn([[0, 1], [1, 2]])])
        >>> fields, pairs = torch.tensor([1.0, 0.0, -1.0], requires_grad=True), torch.tensor([0.5, 0.5])
        >>> beliefs = propagate(graph, iterations=1, potentials=[fields, pairs])
        >>> beliefs.on[1].backward()
        >>> fields.grad.numpy().round(3)
        array([0.02 , 0.232, 0.025], dtype=float32)

    """
    compiled = graph.compile() if isinstance(graph, FactorGraph) else None
    groups = graph if isinstance(graph, Graph) else graph.compile().graph
    if compiled is not None and isinstance(potentials, Mapping):
        flat = _by_group(compiled, potentials)
    elif isinstance(potentials, Mapping):
        raise ValueError(f"potentials: a tensor for each of {len(groups.groups)} groups expected")
    else:
        flat = list(potentials)
    device = flat[0].device if flat else torch.device("cpu")
    if any(own.device != device for own in flat):
        raise ValueError("potentials: all tensors must be on one device")
    gradient = torch.is_grad_enabled() and any(own.requires_grad for own in flat)
    if device.type == "cuda":
        options = Options(damping, tolerance, gradient, watch or tolerance is not None)
        outcome = run_on_device(groups, flat, device, iterations, schedule, options, validate)
        converged = tolerance is not None and bool(outcome.residuals[-1] < tolerance)
        return Beliefs(outcome, groups, compiled, flat, converged)
    if device.type != "cpu":
        raise ValueError(f"treebp.torch has no kernels for tensors on {device}: move them to the CPU")
    found = propagation.propagate(
        groups,
        iterations=iterations,
        schedule=schedule,
        damping=damping,
        tolerance=tolerance,
        potentials=[own.detach().to(torch.float64).numpy() for own in flat],
        gradient=gradient,
        watch=watch,
    )
    return Beliefs(_OnHost(found), groups, compiled, flat, found.converged)


def run_on_device(
    graph: Graph,
    potentials: list[Tensor],
    device: torch.device,
    iterations: int,
    schedule: Schedule,
    options: Options,
    validate: bool,
) -> DeviceRun:
    """The same by the kernels of a device."""
    propagation.check_options(iterations, options.damping, options.tolerance)
    steps = plan(graph, schedule)
    if not isinstance(steps, GroupPlan):
        raise ValueError(
            "this graph's serial schedule goes edge by edge, which is for the CPU: ask for schedule='parallel'"
        )
    if len(potentials) != len(graph.groups):
        raise ValueError(f"potentials: an array for each of {len(graph.groups)} groups expected")
    for number, (group, own) in enumerate(zip(graph.groups, potentials, strict=True)):
        if own.shape != (group.potentials,):
            shape = tuple(own.shape)
            raise ValueError(f"group {number}: log-potentials of shape {shape}, expected ({group.potentials},)")
    flat = [own.detach().to(torch.float64).contiguous() for own in potentials]
    run = DeviceRun(DeviceGraph.of(graph, device), flat, options)
    run.run(steps, iterations)
    if validate:
        run.check()
    return run


def _by_group(compiled: CompiledGraph, replaced: Mapping[Factor, Tensor]) -> list[Tensor]:
    """The log-potentials of each group, with those of some factors replaced."""
    for factor in replaced:
        compiled.place(factor)
    given = next(iter(replaced.values()), torch.zeros(0, dtype=torch.float64))
    parts: list[list[Tensor]] = [[given.new_zeros(0)] for _ in compiled.graph.groups]
    for factor in compiled.factors:
        own = replaced.get(factor)
        if own is None:
            own = given.new_tensor(factor.potentials)
        elif tuple(own.shape) != factor.potentials.shape:
            factor.checked(own.detach().cpu().numpy())
        parts[compiled.place(factor).group].append(own.reshape(-1))
    return [torch.cat(own) for own in parts]


class _OnHost:
    """A run by Numba's kernels."""

    def __init__(self, beliefs: NumPyBeliefs) -> None:
        self._beliefs = beliefs
        self.slots = torch.from_numpy(beliefs.slots)
        self.residuals = torch.tensor(beliefs.residuals)  # what NumPy hands out is read-only

    @cached_property
    def log_partition(self) -> Tensor:
        return torch.tensor(self._beliefs.log_partition, dtype=torch.float64)

    @property
    def expectations(self) -> list[Tensor]:
        return [torch.tensor(own) for own in self._beliefs.group_expectations]

    def backward(self, adjoint: Tensor) -> list[Tensor]:
        return [torch.from_numpy(own) for own in self._beliefs.backward_slots(adjoint.contiguous().numpy())]
