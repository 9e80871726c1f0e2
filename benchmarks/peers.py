"""treebp beside its peers, on the same inputs, in one run: a table of ratios in Markdown, and a file of JSON.

Each peer is installed from PyPI into a virtual environment of its own and runs there in a process of its own. The
processes take turns, case by case and repeat by repeat, on one thread each, and count CPU time; a ratio is the median
of the ratios within a turn. A peer that cannot be installed or fails says so in its cells. libDAI is not on PyPI: it is
used where g++ finds it, or in the folder that --libdai names.

    python benchmarks/peers.py -o benchmarks/results/peers.json > peers.md
    python benchmarks/peers.py --only graphs --libdai /opt/libdai
    python benchmarks/peers.py --train train.conllu --test test.conllu --model en.model --only parsers

`benchmarks/fill_page.py` puts the tables into docs/performance.md.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from ising_grids import graph_figures, graphs_table
from peer_process import Peer, figures, in_turn, installed, milliseconds

from treebp.benchmarks.machine import machine_facts
from treebp.data import embedded_treebank, read_conll, write_conll

TREE_PEERS = {"supar": "trees", "torch-struct": "trees"}
PARSER_PEERS = {"spacy": "spacy", "ufal.udpipe": "udpipe"}
AGREEMENT = 1e-4
BATCH, LENGTHS, SCALES, WORDS_OF_SCALES = 32, (10, 20, 40, 80), (1, 10, 30, 100), 20


def tree_figures(peers: list[Peer], folder: Path, repeats: int, least: float) -> Iterator[dict[str, Any]]:
    """Time of marginals, and of a gradient through them, for batches of random scores."""
    rng = np.random.default_rng(0)
    for words in LENGTHS:
        files = {name: str(folder / f"{name}-{words}.npy") for name in ("scores", "adjoint")}
        for path in files.values():
            np.save(path, rng.normal(size=(BATCH, words + 1, words + 1)))
        for projective in (True, False):
            for adjoint in (None, files["adjoint"]):
                case = {"scores": files["scores"], "adjoint": adjoint, "projective": projective}
                agreement = errors(peers, folder, case)
                yield {
                    "projective": projective,
                    "words": words,
                    "with_backward": adjoint is not None,
                    "error": agreement,
                    "seconds": figures(in_turn(peers, repeats, **case, least=least), "seconds"),
                }


def scale_figures(peers: list[Peer], folder: Path) -> Iterator[dict[str, Any]]:
    """How far marginals are off for large scores."""
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(BATCH, WORDS_OF_SCALES + 1, WORDS_OF_SCALES + 1))
    for scale in SCALES:
        path = str(folder / f"scale-{scale}.npy")
        np.save(path, scale * normal)
        for projective in (True, False):
            case = {"scores": path, "adjoint": None, "projective": projective}
            yield {"projective": projective, "scale": scale, "error": errors(peers, folder, case)}


def errors(peers: list[Peer], folder: Path, case: dict[str, Any]) -> dict[str, float | str]:
    """The largest difference of each peer's result from ours; "NaN" or the message if it gives none."""
    results: dict[str, Any] = {}
    for peer in peers:
        path = folder / f"{peer.name}.npy"
        answer = peer.ask(**case, result=str(path))
        results[peer.name] = answer["error"] if "error" in answer else np.load(path)
    ours = results.pop("treebp")
    arcs = ~np.eye(ours.shape[1], dtype=bool)
    arcs[:, 0] = False
    out: dict[str, float | str] = {}
    for name, result in results.items():
        if isinstance(result, str):
            out[name] = result
        else:
            difference = float(np.abs(result - ours)[:, arcs].max())
            out[name] = difference if np.isfinite(difference) else "NaN"
    return out


def trees_table(report: dict[str, Any]) -> Iterator[str]:
    names = list(TREE_PEERS)
    yield "| trees | words | treebp, ms | " + " | ".join(f"{name}, ms | times ours" for name in names) + " |"
    yield "| --- | ---: | ---: |" + " ---: | ---: |" * len(names)
    for row in report["trees"]:
        cells = [milliseconds(row["seconds"][name], row["error"][name], AGREEMENT) for name in names]
        kind = ("projective" if row["projective"] else "non-projective") + (
            ", with backward" if row["with_backward"] else ", marginals"
        )
        yield f"| {kind} | {row['words']} | {1e3 * row['seconds']['treebp']['median']:.3g} | {' | '.join(cells)} |"


def scales_table(report: dict[str, Any]) -> Iterator[str]:
    names = list(TREE_PEERS)
    yield "| largest error of a marginal | scores | " + " | ".join(names) + " |"
    yield "| --- | ---: |" + " ---: |" * len(names)
    for row in report["scales"]:
        cells = [value if isinstance(value, str) else f"{value:.1g}" for value in row["error"].values()]
        kind = "projective" if row["projective"] else "non-projective"
        yield f"| {kind} | × {row['scale']} | {' | '.join(cells)} |"


def parsers_table(report: dict[str, Any]) -> Iterator[str]:
    yield "| parser | version | words per CPU second | treebp is faster by |"
    yield "| --- | --- | ---: | ---: |"
    for name, figure in report["parsers"].items():
        if "error" in figure:
            yield f"| {name} | | {figure['error']} | |"
        else:
            yield f"| {name} | {report['versions'][name]} | {figure['median']:,.0f} | {1 / figure['ratio']:.2f} |"


TABLES = {"trees": trees_table, "scales": scales_table, "graphs": graphs_table, "parsers": parsers_table}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--envs", type=Path, default=Path(".bench-envs"), help="folder for the environments")
    options.add_argument("--only", choices=["trees", "graphs", "parsers"], help="one part of the work")
    options.add_argument(
        "--libdai", default="", metavar="DIR", help="folder with include/dai and lib, if g++ does not know"
    )
    options.add_argument("--train", help="CoNLL file for the parsers; by default the embedded treebank")
    options.add_argument("--test", help="CoNLL file for the parsers")
    options.add_argument("--model", type=Path, help="treebp model to parse with, instead of training one")
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--least", type=float, default=0.2, help="CPU seconds that a timing takes at least")
    options.add_argument("--output", "-o", type=Path, help="JSON file")
    given = options.parse_args()
    if (given.train is None) != (given.test is None):
        options.error("--train and --test go together")

    report: dict[str, Any] = {"machine": machine_facts(), "versions": {}}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        if given.only in (None, "trees"):
            peers = [Peer(sys.executable, "peer_trees.py", "treebp")]
            peers += [Peer(installed(given.envs, env), "peer_trees.py", peer) for peer, env in TREE_PEERS.items()]
            for peer in peers:
                stack.enter_context(peer)
            report["trees"] = list(tree_figures(peers, folder, given.repeats, given.least))
            report["scales"] = list(scale_figures(peers, folder))
            report["versions"] |= {peer.name: peer.version for peer in peers}
        if given.only in (None, "graphs"):
            graphs = [
                Peer(sys.executable, "peer_graphs.py", "treebp"),
                Peer(installed(given.envs, "pgmax"), "peer_graphs.py", "pgmax"),
                Peer(sys.executable, "peer_graphs.py", "libdai", given.libdai),
            ]
            for peer in graphs:
                stack.enter_context(peer)
            report["graphs"] = list(graph_figures(graphs, folder, given.repeats, given.least))
            report["versions"] |= {peer.name: peer.version for peer in graphs}
        if given.only in (None, "parsers"):
            train, test = folder / "train.conllu", folder / "test.conllu"
            write_conll(train, read_conll(given.train) if given.train else embedded_treebank("train")[:1000])
            write_conll(test, read_conll(given.test) if given.test else embedded_treebank("test"))
            model = [str(given.model)] if given.model else []
            parsers = [Peer(sys.executable, "peer_parsers.py", "treebp", str(train), str(test), *model)]
            for peer, env in PARSER_PEERS.items():
                parsers.append(Peer(installed(given.envs, env), "peer_parsers.py", peer, str(train), str(test)))
            for peer in parsers:
                stack.enter_context(peer)
            report["parsers"] = figures(in_turn(parsers, given.repeats), "words_per_second")
            report["versions"] |= {peer.name: peer.version for peer in parsers}
    if given.output:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        given.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for name, table in TABLES.items():
        if name in report:
            print("\n".join(table(report)), end="\n\n")


if __name__ == "__main__":
    main()
