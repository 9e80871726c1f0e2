"""treebp beside its peers, on the same inputs, in one run: a table of ratios in Markdown, and a file of JSON.

Each peer is installed from PyPI into a virtual environment of its own and runs there in a process of its own. The
processes take turns, case by case and repeat by repeat, on one thread each, and count CPU time; a ratio is the median
of the ratios within a turn. A peer that cannot be installed or fails says so in its cells.

    python benchmarks/peers.py -o benchmarks/results/peers.json > peers.md
    python benchmarks/peers.py --train train.conllu --test test.conllu --model en.model --only parsers

`benchmarks/fill_page.py` puts the tables into docs/performance.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from treebp.benchmarks.machine import machine_facts
from treebp.data import embedded_treebank, read_conll, write_conll

HERE = Path(__file__).parent
# Environment and what is installed into it, step by step: torch first, so that a CPU build is taken where there is one.
ENVIRONMENTS = {
    "trees": [["torch==2.13.0", "numpy"], ["torch==2.13.0", "supar==1.1.4", "torch-struct==0.5"]],
    "spacy": [["spacy>=3.8,<4"]],
    "udpipe": [["ufal.udpipe>=1.3,<2"]],
}
TREE_PEERS = {"supar": "trees", "torch-struct": "trees"}
PARSER_PEERS = {"spacy": "spacy", "ufal.udpipe": "udpipe"}
BATCH, LENGTHS, SCALES, WORDS_OF_SCALES = 32, (10, 20, 40, 80), (1, 10, 30, 100), 20
AGREEMENT = 1e-4


class Peer:
    """A system in a process of its own, which answers requests; if it cannot, every answer says why."""

    def __init__(self, python: Path | str, script: str, *arguments: str) -> None:
        self.name = arguments[0]
        self.version = ""
        self._failure = "" if Path(python).exists() else str(python)
        if not self._failure:
            threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
            self._process = subprocess.Popen(
                [str(python), "-W", "ignore", str(HERE / script), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | threads,
            )

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        if not self._failure:
            self._process.communicate()

    def ask(self, **request: Any) -> dict[str, Any]:
        if self._failure:
            return {"error": self._failure}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            self._failure = f"ended with status {self._process.wait()}"
            return {"error": self._failure}
        self.version = answer.get("version", self.version)
        return answer


def installed(folder: Path, name: str) -> str:
    """The Python of an environment, made if it is not there yet; or what went wrong."""
    place = folder / name
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = place / "installed"
    if done.exists() and json.loads(done.read_text()) == ENVIRONMENTS[name]:
        return str(python)
    print(f"installing {name} into {place}", file=sys.stderr)
    venv.create(place, with_pip=True, clear=True)
    for requirements in ENVIRONMENTS[name]:
        command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            return f"not installed: {' '.join(result.stderr.split())[-150:]}"
    done.write_text(json.dumps(ENVIRONMENTS[name]))
    return str(python)


def in_turn(peers: Iterable[Peer], repeats: int, **request: Any) -> dict[str, list[dict[str, Any]]]:
    """The answers of every peer to the same request, asked in turn."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for _ in range(repeats):
        for peer in peers:
            if "error" not in answers.get(peer.name, [{}])[-1]:
                answers.setdefault(peer.name, []).append(peer.ask(**request))
    return answers


def figures(answers: dict[str, list[dict[str, Any]]], key: str) -> dict[str, Any]:
    """Of every system: the median, its ratio to ours, and both of every turn; or its error."""
    ours = [answer[key] for answer in answers["treebp"]]
    out: dict[str, Any] = {}
    for name, given in answers.items():
        if "error" in given[-1]:
            out[name] = {"error": given[-1]["error"]}
            continue
        values = [answer[key] for answer in given]
        ratios = [value / own for value, own in zip(values, ours, strict=True)]
        out[name] = {"median": median(values), "ratio": median(ratios), "values": values}
    return out


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
        cells = [_milliseconds(row["seconds"][name], row["error"][name]) for name in names]
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


TABLES = {"trees": trees_table, "scales": scales_table, "parsers": parsers_table}


def _milliseconds(figure: dict[str, Any], error: float | str) -> str:
    if "error" in figure:
        return f"{figure['error']} | "
    mark = "" if isinstance(error, float) and error <= AGREEMENT else f" (not the same: {error})"
    return f"{1e3 * figure['median']:.3g}{mark} | {figure['ratio']:.1f}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--envs", type=Path, default=Path(".bench-envs"), help="folder for the environments")
    options.add_argument("--only", choices=["trees", "parsers"], help="one half of the work")
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
        if given.only != "parsers":
            peers = [Peer(sys.executable, "peer_trees.py", "treebp")]
            peers += [Peer(installed(given.envs, env), "peer_trees.py", peer) for peer, env in TREE_PEERS.items()]
            for peer in peers:
                stack.enter_context(peer)
            report["trees"] = list(tree_figures(peers, folder, given.repeats, given.least))
            report["scales"] = list(scale_figures(peers, folder))
            report["versions"] |= {peer.name: peer.version for peer in peers}
        if given.only != "trees":
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
