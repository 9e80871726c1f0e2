"""Trees and belief propagation on a GPU, beside SuPar and torch-struct where these are installed.

Times are those of a GPU's own clock around one call of the public functions, after warming up: what Python does before
the first kernel counts.
"""

from collections.abc import Callable, Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np

from treebp.benchmarks.measurement import Measurement
from treebp.benchmarks.workload import Workload
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.propagation import propagate
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.parts import PARTS

Query = Callable[[Any, bool, bool], Callable[[], object]]
"""Of scores, whether trees are projective, and whether to go backward: what is to be timed."""

_WARM_UP = 1.0  # seconds, until clocks are up
_HEADS = 10
_ITERATIONS = 4
_BESIDE_PEERS = ((32, 40), (256, 80), (2, 3))


def gpu(workload: Workload) -> Iterator[Measurement]:
    """Milliseconds per batch, and words per second of belief propagation; nothing where there is no GPU."""
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    sizes = workload.sizes
    full = sizes.batch > 2
    repeats = 4 * sizes.repeats
    for batch, words in ((32, 20), (32, 40), (256, 40), (256, 80), (2048, 25)) if full else ((2, 3),):
        yield from _trees(batch, words, repeats)
    for words in (20, 40, 80, 160, 300) if full else (3, 6):
        yield from _growth(words, repeats)
    yield from _propagation(*((2048, 25) if full else (2, 12)), repeats)


def _trees(batch: int, words: int, repeats: int) -> Iterator[Measurement]:
    import torch

    scores = torch.randn(batch, words + 1, words + 1, dtype=torch.float64, device="cuda")
    for projective in (True, False):
        kind = "projective" if projective else "non-projective"
        for backward in (False, True):
            query = "with backward" if backward else "marginals"
            for name, prepare in _SYSTEMS.items():
                if name != "treebp" and (batch, words) not in _BESIDE_PEERS:
                    continue
                try:
                    run = prepare(scores, projective, backward)
                except ImportError:
                    continue
                values = _milliseconds(run, repeats if name == "treebp" else max(2, repeats // 4))
                yield Measurement("gpu", f"{kind}, {batch} x {words} words, {query}, {name}", "ms", values)


def _growth(words: int, repeats: int, batch: int = 16) -> Iterator[Measurement]:
    """Time and memory of marginals with backward, for longer and longer sentences."""
    import torch

    for projective in (True, False):
        kind = "projective" if projective else "non-projective"
        scores = torch.randn(batch, words + 1, words + 1, dtype=torch.float64, device="cuda")
        run = _treebp(scores, projective, True)
        name = f"growth, {kind}, {batch} x {words} words"
        yield Measurement("gpu", f"{name}, with backward", "ms", _milliseconds(run, repeats))
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        yield Measurement("gpu", f"{name}, memory", "MiB", ((torch.cuda.max_memory_allocated() - before) / 2**20,))


def _propagation(batch: int, words: int, repeats: int) -> Iterator[Measurement]:
    """Words per second of belief propagation with grandparents and siblings, and of one CPU core with the same."""
    import torch

    from treebp.torch import propagate as propagate_tensors

    graph, potentials = second_order_graph(batch, words)
    tensors = [torch.from_numpy(own).to("cuda").requires_grad_() for own in potentials]
    adjoint = torch.randn(len(graph.states), dtype=torch.float64, device="cuda")

    def inference() -> None:
        with torch.no_grad():
            propagate_tensors(graph, iterations=_ITERATIONS, potentials=tensors, watch=False)

    def with_backward() -> None:
        beliefs = propagate_tensors(graph, iterations=_ITERATIONS, potentials=tensors, watch=False)
        torch.autograd.grad(beliefs.on, tensors, adjoint)

    def inference_on_host() -> None:
        propagate(graph, iterations=_ITERATIONS, potentials=potentials, gradient=False, watch=False)

    def with_backward_on_host() -> None:
        propagate(graph, iterations=_ITERATIONS, potentials=potentials, watch=False).backward(adjoint.cpu().numpy())

    name = f"belief propagation, {batch} x {words} words"
    total = batch * words
    for query, run, on_host in (
        ("inference", inference, inference_on_host),
        ("with backward", with_backward, with_backward_on_host),
    ):
        rates = tuple(1e3 * total / value for value in _milliseconds(run, repeats))
        yield Measurement("gpu", f"{name}, {query}, treebp", "words/s", rates, higher_is_better=True)
        on_host()
        rates = tuple(total / _cpu_seconds(on_host) for _ in range(3))
        yield Measurement("gpu", f"{name}, {query}, one CPU core", "words/s", rates, higher_is_better=True)


def second_order_graph(batch: int, words: int) -> tuple[Graph, list[Any]]:
    """Sentences with up to ten heads for each word, grandparents and siblings, and random log-potentials.

    >>> graph, potentials = second_order_graph(2, 5)
    >>> [type(group).__name__ for group in graph.groups]
    ['AllOn', 'AllOn', 'AllOn', 'Trees']
    """
    rng = np.random.default_rng(0)
    arcs = []
    for _ in range(batch):
        keep = np.zeros((words + 1, words + 1), np.bool_)
        for modifier in range(1, words + 1):
            others = np.delete(np.arange(words + 1), modifier)
            keep[rng.permutation(others)[: _HEADS - 1], modifier] = True
            keep[modifier - 1, modifier] = True  # so that there is a tree
        arcs.append(Arcs.of(keep))
    laid = Batch.of([np.zeros((words + 3, 1), np.int64)] * batch, arcs)
    pairs = [PARTS[name].list(laid, True).arcs for name in ("grandparent", "sibling")]
    trees = laid.trees(projective=True, single_root=False)
    count = len(laid.heads)
    graph = Graph(count, [AllOn(np.arange(count)[:, None]), *(AllOn(own) for own in pairs), trees])
    return graph, [rng.normal(size=group.potentials) for group in graph.groups]


def _treebp(scores: Any, projective: bool, backward: bool) -> Callable[[], object]:
    import torch

    from treebp.torch import DependencyTrees

    given = scores.clone().requires_grad_(backward)
    adjoint = torch.randn_like(scores)

    def run() -> object:
        marginals = DependencyTrees(given, projective=projective, single_root=True).marginals
        return torch.autograd.grad(marginals, given, adjoint) if backward else marginals

    return run


def _supar(scores: Any, projective: bool, backward: bool) -> Callable[[], object]:
    from supar.structs import DependencyCRF, MatrixTree

    # SuPar's order is modifier, head.
    return _peer(DependencyCRF if projective else MatrixTree, scores.transpose(1, 2), backward)


def _torch_struct(scores: Any, projective: bool, backward: bool) -> Callable[[], object]:
    from torch_struct import DependencyCRF, NonProjectiveDependencyCRF

    return _peer(DependencyCRF if projective else NonProjectiveDependencyCRF, scores[:, 1:, 1:], backward)


def _peer(family: Any, scores: Any, backward: bool) -> Callable[[], object]:
    """In float32, as these are used; both want a gradient of the scores even for projective marginals alone."""
    import torch

    given = scores.float().contiguous().requires_grad_()
    adjoint = torch.randn_like(given)

    def run() -> object:
        marginals = family(given, multiroot=False).marginals
        return torch.autograd.grad(marginals, given, adjoint) if backward else marginals

    return run


_SYSTEMS: dict[str, Query] = {"treebp": _treebp, "SuPar": _supar, "torch-struct": _torch_struct}


def _milliseconds(run: Callable[[], object], repeats: int) -> tuple[float, ...]:
    import torch

    began = perf_counter()
    while perf_counter() - began < _WARM_UP:
        run()
    values = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        run()
        end.record()
        end.synchronize()
        values.append(begin.elapsed_time(end))
    return tuple(values)


def _cpu_seconds(run: Callable[[], object]) -> float:
    began = process_time()
    run()
    return process_time() - began
