"""Other systems, installed each into an environment of its own, asked in processes of their own, and compared."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
# Environment and what is installed into it, step by step: torch first, so that a CPU build is taken where there is one.
ENVIRONMENTS = {
    "trees": [["torch==2.13.0", "numpy"], ["torch==2.13.0", "supar==1.1.4", "torch-struct==0.5"]],
    "spacy": [["spacy>=3.8,<4"]],
    "udpipe": [["ufal.udpipe>=1.3,<2"]],
    # Of what PGMax asks for, its belief propagation needs only these.
    "pgmax": [["jax==0.10.2", "numba"], ["--no-deps", "pgmax==0.6.1"]],
}


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


def in_turn(
    peers: Iterable[Peer], repeats: int, own: Mapping[str, dict[str, Any]] | None = None, **request: Any
) -> dict[str, list[dict[str, Any]]]:
    """The answers of every peer to the same request, with its own part of it if it has one, asked in turn."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for _ in range(repeats):
        for peer in peers:
            if "error" not in answers.get(peer.name, [{}])[-1]:
                answers.setdefault(peer.name, []).append(peer.ask(**request, **(own or {}).get(peer.name, {})))
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


def milliseconds(figure: dict[str, Any], error: float | str, agreement: float) -> str:
    """Two cells of a table: the time, with a remark if the result is not the same as ours, and its ratio to ours."""
    if "error" in figure:
        return f"{figure['error']} | "
    mark = "" if isinstance(error, float) and error <= agreement else f" (not the same: {error})"
    thousandths, ratio = 1e3 * figure["median"], figure["ratio"]
    time = f"{thousandths:,.0f}" if thousandths >= 1000 else f"{thousandths:.3g}"
    return f"{time}{mark} | {ratio:.2f}" if ratio < 1 else f"{time}{mark} | {ratio:.1f}"
