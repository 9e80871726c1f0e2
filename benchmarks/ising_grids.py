"""Parallel belief propagation on Ising grids: treebp beside PGMax and libDAI."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from peer_process import Peer, figures, in_turn, milliseconds

GRAPH_PEERS = ("pgmax", "libdai")
GRIDS, ITERATIONS, AGREEMENT = (50, 300), 20, 1e-6
SPINS = np.array([-1.0, 1.0])


def graph_figures(peers: list[Peer], folder: Path, repeats: int, least: float) -> Iterator[dict[str, Any]]:
    """Time of parallel belief propagation on Ising grids, and of a gradient through it.

    Every system runs as many iterations as give the beliefs that are asked for: where a variable's field is a factor
    like any other, its message arrives an iteration later, so one more is needed.
    """
    for size in GRIDS:
        model = ising_grid(size)
        files = {name: str(folder / f"{name}-{size}.npy") for name in model}
        for name, path in files.items():
            np.save(path, model[name])
        expected = beliefs_on(model["fields"], model["pairs"], model["couplings"], ITERATIONS)
        forward = files | {"adjoint": None}
        own, agreement = {}, {}
        for peer in peers:
            iterations, agreement[peer.name] = same_iterations(peer, folder, forward, expected)
            own[peer.name] = {"iterations": iterations}
        for case in (forward, files):
            yield {
                "size": size,
                "with_gradient": case is files,
                "iterations": {name: part["iterations"] for name, part in own.items()},
                "error": agreement if case is forward else gradient_errors(peers, folder, files, own),
                "seconds": figures(in_turn(peers, repeats, own, **case, least=least), "seconds"),
            }


def ising_grid(size: int) -> dict[str, Any]:
    """Random fields and couplings as tables of log-potentials, and an adjoint of the beliefs."""
    rng = np.random.default_rng(size)
    cells = np.arange(size * size).reshape(size, size)
    neighbours = (cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])
    pairs = np.concatenate([np.stack([one.ravel(), other.ravel()], axis=1) for one, other in neighbours])
    return {
        "fields": rng.normal(size=(cells.size, 1)) * SPINS,
        "pairs": pairs,
        "couplings": rng.normal(scale=0.5, size=(len(pairs), 1, 1)) * np.outer(SPINS, SPINS),
        "adjoint": rng.normal(size=cells.size),
    }


def beliefs_on(fields: Any, pairs: Any, couplings: Any, iterations: int) -> Any:
    """The probability of each variable's second state after so many rounds of messages, in plain NumPy."""
    messages = np.zeros((2, len(pairs)))  # log-odds, to the first and to the second variable of each pair
    tables = np.stack([couplings, couplings.transpose(0, 2, 1)])  # its own state first

    def odds() -> Any:
        return fields[:, 1] - fields[:, 0] + np.bincount(pairs.T.ravel(), messages.ravel(), minlength=len(fields))

    for _ in range(iterations):
        other = (odds()[pairs.T] - messages)[::-1]
        off, on = (np.logaddexp(tables[..., state, 0], tables[..., state, 1] + other) for state in (0, 1))
        messages = on - off
    return 1.0 / (1.0 + np.exp(-odds()))


def same_iterations(peer: Peer, folder: Path, case: dict[str, Any], expected: Any) -> tuple[int, float | str]:
    """How many iterations bring a system closest to the expected beliefs, and how close."""
    path, found = folder / f"{peer.name}.npy", {}
    for iterations in (ITERATIONS, ITERATIONS + 1):
        answer = peer.ask(**case, iterations=iterations, result=str(path))
        if "error" in answer:
            return iterations, str(answer["error"])
        found[iterations] = float(np.abs(np.load(path) - expected).max())
    best = min(found, key=found.__getitem__)
    return best, found[best]


def gradient_errors(
    peers: list[Peer], folder: Path, case: dict[str, Any], own: Mapping[str, dict[str, Any]]
) -> dict[str, float | str]:
    """The largest difference of each peer's gradient from ours, or why it has none.

    By the strengths of fields and couplings, not by each table's entries: beyond Ising models, another start of the
    messages is another function of the tables.
    """
    out: dict[str, float | str] = {}
    gradients: dict[str, Any] = {}
    for peer in peers:
        path = folder / f"{peer.name}.npy"
        answer = peer.ask(**case, **own[peer.name], result=str(path))
        if "error" in answer:
            out[peer.name] = str(answer["error"])
            continue
        fields, couplings = np.split(np.load(path), [2 * len(np.load(case["fields"]))])
        by_strength = fields.reshape(-1, 2) @ SPINS, couplings.reshape(-1, 4) @ np.outer(SPINS, SPINS).ravel()
        gradients[peer.name] = np.concatenate(by_strength)
        out[peer.name] = float(np.abs(gradients[peer.name] - gradients["treebp"]).max())
    return out


def graphs_table(report: dict[str, Any]) -> Iterator[str]:
    names = list(GRAPH_PEERS)
    yield "| grid | treebp, ms | " + " | ".join(f"{name}, ms | times ours" for name in names) + " | iterations |"
    yield "| --- | ---: |" + " ---: | ---: |" * len(names) + " --- |"
    for row in report["graphs"]:
        cells = [milliseconds(row["seconds"][name], row["error"][name], AGREEMENT) for name in ("treebp", *names)]
        cells[0] = cells[0].split(" | ")[0]
        kind = f"{row['size']} x {row['size']}" + (", with gradient" if row["with_gradient"] else ", beliefs")
        iterations = ", ".join(f"{name} {count}" for name, count in row["iterations"].items())
        yield f"| {kind} | {' | '.join(cells)} | {iterations} |"
