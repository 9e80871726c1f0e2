"""Compares every CUDA kernel with its twin on the CPU, on a machine with a GPU: ``python benchmarks/gpu.py check``.

Graphs and scores are drawn by hypothesis, with -inf, ties and huge scores among them. Prints what was compared, how
often and the largest difference, and writes that to a file: the tests do the same on small sizes without a GPU.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import treebp as tb
from distribution_contract import draw_scores
from torch_graphs import mixed, second_order
from treebp.benchmarks.gpu import second_order_graph
from treebp.benchmarks.machine import machine_facts
from treebp.benchmarks.run import Run
from treebp.drawing.line_plot import line_plot, stacked
from treebp.torch import DependencyTrees, propagate
from treebp.torch.tree_kernels import tree_kernels

CUDA = torch.device("cuda", 0)
LIMIT = 1e-9
KINDS = [(True, True), (True, False), (False, True), (False, False)]
found: dict[str, list[float]] = defaultdict(list)


def note(what: str, ours: torch.Tensor, theirs: torch.Tensor, scale: float = 1.0) -> None:
    difference = (ours.detach().cpu().double() - theirs.detach().double()).abs()
    difference = torch.where(ours.detach().cpu() == theirs, 0.0, difference)
    largest = float(difference.max()) / scale if difference.numel() else 0.0
    found[what].append(largest)
    assert largest <= LIMIT, f"{what}: {largest}"


def drawn(examples: int):
    checks = list(HealthCheck)
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks, database=None, derandomize=True)


@drawn(150)
@given(st.data(), st.sampled_from(KINDS))
def check_trees(data, kind):
    batch, words = data.draw(st.integers(1, 6)), data.draw(st.sampled_from([1, 2, 3, 5, 9, 17, 31, 33, 60]))
    scores = torch.from_numpy(draw_scores(data.draw, (batch, words + 1, words + 1)))
    direction = torch.from_numpy(np.random.default_rng(0).normal(size=scores.shape))
    lengths = torch.tensor([data.draw(st.integers(1, words)) for _ in range(batch)])
    compare_trees(scores, direction, lengths, kind)


def compare_trees(scores, direction, lengths, kind):
    host, device = tree_kernels(torch.device("cpu")), tree_kernels(CUDA)
    on_device = scores.to(CUDA), lengths.to(CUDA)
    log_partition, marginals, verdicts = device.marginals(*on_device, *kind)
    theirs = host.marginals(scores, lengths, *kind)
    name = ("projective" if kind[0] else "non-projective") + (", one root word" if kind[1] else "")
    assert torch.equal(verdicts.cpu() > 0, theirs[2])
    possible = ~theirs[2]
    largest = max(1.0, float(theirs[0][possible].abs().max())) if possible.any() else 1.0
    note(f"{name}: log-partition, relative", log_partition[possible.to(CUDA)], theirs[0][possible], largest)
    note(f"{name}: marginals", marginals[possible.to(CUDA)], theirs[1][possible])
    product = device.product(on_device[0], direction.to(CUDA), on_device[1], *kind)[possible.to(CUDA)]
    note(f"{name}: backward", product, host.product(scores, direction, lengths, *kind)[possible])
    best, verdicts = device.best(*on_device, *kind)
    assert torch.equal(verdicts.cpu() > 0, theirs[2])
    assert torch.equal(best.cpu()[possible], host.best(scores, lengths, *kind)[0][possible]), f"{name}: best tree"
    found[f"{name}: best tree"].append(0.0)
    heads = torch.from_numpy(
        np.random.default_rng(1).integers(0, scores.shape[1], size=(len(scores), 20, best.shape[1]))
    )
    heads[:, 0] = best.cpu().clamp(min=0)
    legal = device.legal(heads.to(CUDA), on_device[1], *kind)
    assert torch.equal(legal.cpu(), host.legal(heads, lengths, *kind)), f"{name}: legal trees"
    found[f"{name}: legal trees"].append(0.0)


def check_long_sentences():
    rng = np.random.default_rng(1)
    for words in (120, 300):
        for scale in (1.0, 100.0):
            scores, direction = torch.from_numpy(rng.normal(size=(2, 2, words + 1, words + 1)))
            for kind in KINDS:
                compare_trees(scores * scale, direction, torch.tensor([words, words - 7]), kind)


@drawn(60)
@given(st.data())
def check_propagation(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    kind = data.draw(st.sampled_from(KINDS))
    if data.draw(st.booleans()):
        words = data.draw(st.integers(1, 8))
        graph, potentials = second_order(words, projective=kind[0], single_root=kind[1]) if words > 1 else mixed()
        name = "belief propagation"
    else:
        graph, potentials = mixed()
        name = "belief propagation with tables and chains"
    scale = data.draw(st.sampled_from([0.0, 1.0, 30.0]))
    for own in potentials:
        own.copy_(torch.from_numpy(rng.normal(size=own.shape) * scale))
        own[torch.from_numpy(rng.random(own.shape) < data.draw(st.sampled_from([0.0, 0.05])))] = -torch.inf
    damping, iterations = data.draw(st.sampled_from([0.0, 0.4])), data.draw(st.integers(1, 4))
    options = {"iterations": iterations, "damping": damping, "schedule": "parallel"}
    compare_propagation(name, graph, potentials, options)


def compare_propagation(name, graph, potentials, options):
    complaints = []
    beliefs = []
    for device in (torch.device("cpu"), CUDA):
        given_there = [own.to(device).detach().requires_grad_() for own in potentials]
        try:
            beliefs.append((propagate(graph, potentials=given_there, **options), given_there))
            complaints.append("")
        except ValueError as error:
            complaints.append(str(error))
    assert complaints[0] == complaints[1], complaints
    if complaints[0]:
        found[f"{name}: contradictions"].append(0.0)
        return
    adjoint = torch.from_numpy(np.random.default_rng(0).normal(size=graph.slot_count))
    for own, variables in beliefs:
        own._slots.backward(adjoint.to(variables[0].device))
    (theirs, host), (ours, device) = beliefs
    note(f"{name}: beliefs", ours._slots, theirs._slots)
    note(f"{name}: residuals", ours.residuals, theirs.residuals)
    for one, two in zip(device, host, strict=True):
        scale = max(1.0, float(two.grad.abs().max())) if two.numel() else 1.0
        note(f"{name}: gradients, relative", one.grad, two.grad, scale)


def check_gradients():
    for kind in KINDS:
        for words in (1, 4, 60):
            scores = torch.randn(2, words + 1, words + 1, dtype=torch.float64, device=CUDA)
            if words > 1:
                scores[0, 1, 2] = -torch.inf
            lengths = [words, max(1, words - 1)]

            def queries(given, kind=kind, lengths=lengths):
                trees = DependencyTrees(given, projective=kind[0], single_root=kind[1], lengths=lengths)
                return trees.log_partition, trees.marginals, trees.entropy

            assert gradcheck(queries, (scores.requires_grad_(),), fast_mode=words > 4, nondet_tol=1e-12)
            if words <= 4:
                assert gradgradcheck(lambda given: queries(given)[0], (scores,), nondet_tol=1e-12)
            found["gradcheck of trees"].append(0.0)
            whole = queries(scores)[1]
            for b, n in enumerate(lengths):
                own = DependencyTrees(scores[b, : n + 1, : n + 1], projective=kind[0], single_root=kind[1]).marginals
                note("batched and one by one", own, whole[b, : n + 1, : n + 1].detach().cpu())
    for build in (second_order, mixed):
        graph, potentials = build()
        tensors = tuple(own.to(CUDA).requires_grad_() for own in potentials)

        def beliefs(*given, graph=graph):
            return propagate(graph, iterations=3, schedule="parallel", potentials=given)._slots

        assert gradcheck(beliefs, tensors, nondet_tol=1e-12)
        found["gradcheck of belief propagation"].append(0.0)


def check_samples():
    draws = 4000
    for single_root in (True, False):
        scores = torch.randn(3, 9, 9, dtype=torch.float64, device=CUDA)
        trees = DependencyTrees(scores, projective=True, single_root=single_root, lengths=[8, 5, 1])
        heads = trees.sample(draws)
        assert torch.isfinite(trees.log_prob(heads)).all()
        frequencies = (heads[:, :, None, :] == torch.arange(9, device=CUDA)[:, None]).double().mean(dim=1)
        marginals = trees.marginals[:, :, 1:]
        deviation = (marginals * (1.0 - marginals) / draws).sqrt()
        assert ((frequencies - marginals).abs() <= 6.0 * deviation + 1e-9).all(), "frequencies of samples"
        found["frequencies of samples"].append(0.0)


def check_nothing_is_copied():
    """Any wait for the device is an error here."""
    graph, potentials = second_order_graph(4, 12)
    tensors = [torch.from_numpy(own).to(CUDA).requires_grad_() for own in potentials]
    scores = torch.randn(4, 13, 13, device=CUDA, dtype=torch.float64, requires_grad=True)
    for _ in range(2):  # the first time, the graph is copied to the device
        beliefs = propagate(graph, iterations=4, potentials=tensors, watch=False, validate=False)
        torch.cuda.set_sync_debug_mode("error")
        try:
            beliefs = propagate(graph, iterations=4, potentials=tensors, watch=False, validate=False)
            beliefs.on.square().sum().backward()
            trees = DependencyTrees(scores, projective=True, single_root=False, validate=False)
            (trees.marginals.square().sum() + trees.log_partition.sum()).backward()
            trees.log_prob(trees.argmax()).sum().backward()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    found["no copy to the host"].append(0.0)


def plot(results: Path, target: Path) -> None:
    """Draw how time and memory grow with the length, from `treebp bench gpu`, beside one core of this machine."""
    figures = {one.name: one.median for one in Run.load(results).measurements}
    lengths, kinds = (20, 40, 80, 160, 300), ("projective", "non-projective")
    plots = []
    for kind in kinds:
        on_gpu = [figures[f"growth, {kind}, 16 x {words} words, with backward"] for words in lengths]
        series = {"GPU": np.log10(on_gpu), "CPU": np.log10([host_milliseconds(words, kind) for words in lengths])}
        title = f"16 sentences, {kind}, marginals with backward"
        plots.append(line_plot(lengths, series, across="words", up="log10 of ms", title=title))
    series = {
        kind: np.log10([figures[f"growth, {kind}, 16 x {words} words, memory"] for words in lengths]) for kind in kinds
    }
    plots.append(line_plot(lengths, series, across="words", up="log10 of MiB", title="16 sentences, memory of the GPU"))
    target.write_text(stacked(plots), encoding="utf-8")


def host_milliseconds(words: int, kind: str) -> float:
    """One core's, for the same 16 sentences: the least of three."""
    scores, adjoint = np.random.default_rng(0).normal(size=(2, 16, words + 1, words + 1))
    taken = []
    for _ in range(4):  # the first loads kernels
        began = time.process_time()
        trees = tb.DependencyTrees(scores, projective=kind == "projective", single_root=True)
        trees.backward(adjoint * trees.marginals)
        taken.append(1e3 * (time.process_time() - began))
    return min(taken[1:])


CHECKS = [check_gradients, check_samples, check_nothing_is_copied, check_trees, check_long_sentences, check_propagation]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["check", "plot"])
    parser.add_argument("results", nargs="?", type=Path, help="of `treebp bench gpu`, for a plot")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    if options.command == "plot":
        plot(options.results, options.output)
        return
    failed = False
    for check in CHECKS:
        began = time.perf_counter()
        try:
            check()
        except Exception as error:
            failed = True
            print(f"{check.__name__} FAILED: {error}", flush=True)
            if not isinstance(error, AssertionError):
                import traceback

                traceback.print_exc()
        print(f"{check.__name__}: {time.perf_counter() - began:.1f} s", flush=True)
    rows = [{"what": what, "cases": len(own), "largest difference": max(own)} for what, own in sorted(found.items())]
    for row in rows:
        print(f"{row['what']:60} {row['cases']:6} {row['largest difference']:10.2e}")
    if options.output:
        facts = {**machine_facts(), "gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        report = {"treebp": getattr(tb, "__version__", ""), "machine": facts, "failed": failed, "checks": rows}
        options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    main()
