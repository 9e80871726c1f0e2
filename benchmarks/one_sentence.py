"""Belief propagation on a sentence of 25 words, 205 arcs and 1,889 pairs, beside version 0.1.0's own kernel.

    python benchmarks/one_sentence.py OTHER/src

OTHER is a checkout of version 0.1.0, commit fd8777f. The systems take turns, each in processes of its own: microseconds
of CPU time for each sentence, median and best of all rounds, and how many times that is what the kernel takes. Beliefs
and gradients must be the same. With a batch, sentences are side by side in one graph.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).parents[1] / "src"
WORDS, ARCS, SEED, ITERATIONS = 25, 205, 7, 4
_AT_ONCE = 10  # the clock is not fine
Work = Callable[[], Any]  # gives beliefs, or the gradient of their squares' sum by all log-potentials


def candidates() -> Any:
    """Each word from the one before it, so that there are trees, and other arcs at random."""
    rng, size = np.random.default_rng(SEED), WORDS + 1
    keep = np.eye(size, k=1, dtype=bool)
    others = np.argwhere(~keep & ~np.eye(size, dtype=bool) & (np.arange(size) > 0))
    keep[tuple(rng.permutation(others)[: ARCS - WORDS].T)] = True
    return keep


def arc_scores(heads: Any, modifiers: Any) -> Any:
    return np.sin(3.0 * heads + 5.0 * modifiers)


def pair_scores(positions: Any, kind: int) -> Any:
    return np.sin(positions @ [7.0, 11.0, 13.0] + kind)


def old_kernel(copies: int) -> tuple[Work, Work]:
    """Version 0.1.0's kernels on listed arcs and pairs, called as it called them, one sentence after the other."""
    from treebp.kernels.second_order import backward, forward
    from treebp.kernels.tree_factor import CHARTS

    from treebp.kernels.candidates import list_arcs, list_pairs

    heads, modifiers, starts = list_arcs(candidates())
    first, second, positions, siblings = list_pairs(heads, modifiers, starts, True, True, True)
    scores = arc_scores(heads, modifiers)
    of_pairs = np.concatenate([pair_scores(positions[:siblings], 0), pair_scores(positions[siblings:], 1)])
    size, arcs, pairs = len(starts), len(heads), len(first)

    def run(kept: int) -> tuple[Any, ...]:
        trees, charts = np.empty((2, kept, size, size)), np.empty((kept, CHARTS, size, size))
        messages, beliefs = np.empty((2, kept, 2, pairs)), np.empty(arcs)
        sums = np.empty(kept), np.empty(kept, np.bool_)
        forward(
            scores, of_pairs, first, second, heads, modifiers, starts, ITERATIONS, True, False, False,
            *trees, charts, *messages, beliefs, *sums,
        )  # fmt: skip
        return trees, charts, messages, beliefs, sums

    def gradient() -> Any:
        trees, charts, messages, beliefs, sums = run(ITERATIONS)
        by_arc, by_pair = np.empty(arcs), np.empty(pairs)
        backward(
            of_pairs, first, second, heads, starts, ITERATIONS, True, False, *trees, charts, messages[1], *sums,
            2.0 * beliefs, by_arc, by_pair,
        )  # fmt: skip
        return np.concatenate([by_arc, by_pair])

    def all_of(work: Work) -> Work:
        return lambda: np.concatenate([work() for _ in range(copies)])

    return all_of(lambda: run(1)[3]), all_of(gradient)


def listed(copies: int) -> tuple[Any, ...]:
    """What the parser has before inference."""
    from treebp.parsing.arcs import Arcs, Batch
    from treebp.parsing.model import Problem
    from treebp.parsing.parts import PARTS

    batch = Batch.of([np.zeros((WORDS + 3, 1), np.int64)] * copies, [Arcs.of(candidates())] * copies)
    parts = [PARTS["sibling"], PARTS["grandparent"]]
    tuples = {part.name: part.list(batch, True) for part in parts}
    potentials = {"arc": arc_scores(batch.heads, batch.modifiers)}
    potentials |= {part.name: pair_scores(tuples[part.name].positions, kind) for kind, part in enumerate(parts)}
    return Problem(batch, batch.trees(projective=True, single_root=False), parts, tuples, potentials)


def groups(copies: int) -> tuple[Work, Work]:
    """A graph of groups."""
    from treebp import AllOn, Graph, propagate

    batch, trees, parts, tuples, potentials = listed(copies)
    of_parts = [part.group(tuples[part.name]) for part in parts]
    graph = Graph(len(batch.heads), [AllOn(np.arange(len(batch.heads))[:, None]), *of_parts, trees], trusted=True)
    given = {"iterations": ITERATIONS, "potentials": [*potentials.values(), np.zeros(0)], "watch": False}

    def gradient() -> Any:
        beliefs = propagate(graph, **given)
        return np.concatenate(beliefs.backward(2.0 * beliefs.on))

    return lambda: propagate(graph, gradient=False, **given).on, gradient


def inference(copies: int) -> tuple[Work, Work]:
    """The parser's inference: it builds a graph for each run."""
    from treebp.parsing.model import Inference, infer

    given = Inference(iterations=ITERATIONS), listed(copies)

    def gradient() -> Any:
        inferred = infer(*given, gradient=True)
        return np.concatenate(list(inferred.backprop(2.0 * inferred.beliefs).values()))

    return lambda: infer(*given, gradient=False).beliefs, gradient


def factor_graph(copies: int) -> tuple[Work, Work, Work]:
    """A graph of variables and factors, added one by one, of a single sentence; the last work is to build it."""
    from treebp import FactorGraph, ProjectiveTree, propagate

    batch, _, parts, tuples, potentials = listed(copies)
    ends = list(zip(batch.heads.tolist(), batch.modifiers.tolist(), strict=True))

    def build() -> Any:
        graph = FactorGraph()
        arcs = graph.variables(len(ends))
        graph.constrain(ProjectiveTree(dict(zip(ends, arcs, strict=True)), single_root=False))
        for arc, score in zip(arcs, potentials["arc"].tolist(), strict=True):
            graph.factor([arc], [0.0, score])
        for part in parts:
            for (one, two), score in zip(tuples[part.name].arcs.tolist(), potentials[part.name].tolist(), strict=True):
                graph.factor([arcs[one], arcs[two]], [[0.0, 0.0], [0.0, score]])
        return graph.compile()

    graph, options = build(), {"iterations": ITERATIONS, "watch": False}

    def gradient() -> Any:
        beliefs = propagate(graph, **options)
        _, of_arcs, of_pairs = beliefs.backward(2.0 * beliefs.on)
        return np.concatenate([of_arcs[1::2], of_pairs[3::4]])  # of tables, where all are ON

    return lambda: propagate(graph, gradient=False, **options).on, gradient, build


SYSTEMS = {"version 0.1.0's kernel": old_kernel, "groups": groups, "parser": inference, "FactorGraph": factor_graph}


def measured(system: str, copies: int, seconds: float) -> list[tuple[float, list[float]]]:
    """Of each work, a number that tells its results apart, and the CPU seconds of each time it was done."""
    found = []
    for work in SYSTEMS[system](copies):
        result, times = work(), list[float]()
        while sum(times) < seconds / _AT_ONCE:
            began = process_time()
            for _ in range(_AT_ONCE):
                work()
            times.append((process_time() - began) / _AT_ONCE)
        found.append((float(np.square(result).sum()) if isinstance(result, np.ndarray) else 0.0, times))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("other", type=Path, help="the folder src of the other checkout")
    options.add_argument("--batch", type=int, default=1, help="sentences in a graph; 1 by default")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=0.3, help=argparse.SUPPRESS)
    options.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.system:
        print(json.dumps(measured(given.system, given.batch, given.seconds)))
        return
    times: dict[tuple[str, int], list[float]] = {}
    results: dict[int, list[float]] = {}
    for _ in range(given.rounds):
        for system in SYSTEMS if given.batch == 1 else list(SYSTEMS)[:-1]:
            source = given.other if system == next(iter(SYSTEMS)) else HERE
            command = [sys.executable, *sys.argv, "--system", system]
            environment = {**os.environ, "PYTHONPATH": str(source)}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            for work, (result, seconds) in enumerate(json.loads(done.stdout)):
                results.setdefault(work, []).append(result)
                times.setdefault((system, work), []).extend(1e6 * each / given.batch for each in seconds)
    assert all(np.allclose(own, own[0], rtol=1e-9) for own in results.values()), results
    print("| | µs: median, best | times the kernel: median, best |\n| --- | --- | --- |")
    for (system, work), own in times.items():
        name = f"{system}, {('beliefs', 'with gradient', 'building')[work]}"
        kernel = times.get((next(iter(SYSTEMS)), work))
        ratios = kernel and f"{median(own) / median(kernel):.2f}, {min(own) / min(kernel):.2f}"
        print(f"| {name} | {median(own):.0f}, {min(own):.0f} | {ratios or ''} |")


if __name__ == "__main__":
    main()
