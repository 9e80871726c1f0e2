"""Parallel belief propagation on grids by treebp, PGMax or libDAI: run by benchmarks/peers.py.

A request names files with ``fields`` (variables, 2), ``pairs`` (couplings, 2) of variables and ``couplings``
(couplings, 2, 2), log-potentials of binary variables, and how many ``iterations`` to run without damping. The result is
the probability of every variable's second state or, with ``adjoint`` (variables,), the gradient of <adjoint, those> by
fields and couplings, end to end. With ``result`` it is computed once and stored there, else timed. What depends only on
the graph, and compiling, is done before; libDAI is driven by ``peer_libdai.cpp``, compiled when first needed.
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from peer_protocol import cpu_seconds, serve

Run = Callable[[], Any]


def treebp(fields: Any, pairs: Any, couplings: Any, adjoint: Any, iterations: int) -> Run:
    import treebp as tb

    groups = [tb.Tables(np.arange(len(fields))[:, None], (2,)), tb.Tables(pairs, (2, 2))]
    graph = tb.Graph(len(fields), groups)
    potentials = [fields.ravel(), couplings.ravel()]
    options = {"iterations": iterations, "schedule": "parallel", "gradient": adjoint is not None}

    def work() -> Any:
        beliefs = tb.propagate(graph, potentials=potentials, **options)
        on = beliefs.on
        return on if adjoint is None else np.concatenate(beliefs.backward(adjoint))

    return work


def pgmax(fields: Any, pairs: Any, couplings: Any, adjoint: Any, iterations: int) -> Run:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before jax counts the cores
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # no reports about slow compilation
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    # PGMax 0.6.1 looks for a TPU by a name that jax no longer has.
    jax.lib.xla_bridge = SimpleNamespace(get_backend=lambda: SimpleNamespace(platform="cpu"))
    from pgmax import fgraph, fgroup, infer, vgroup

    variables = vgroup.NDVarArray(num_states=2, shape=(len(fields),))
    names = [(variables[one], variables[other]) for one, other in pairs.tolist()]
    group = fgroup.PairwiseFactorGroup(variables_for_factors=names, log_potential_matrix=couplings)
    graph = fgraph.FactorGraph(variable_groups=variables)
    graph.add_factors(group)
    bp = infer.build_inferer(graph.bp_state, backend="bp")

    def on(evidence: Any, potentials: Any) -> Any:
        arrays = bp.init(log_potentials_updates={group: potentials}, evidence_updates={variables: evidence})
        arrays = bp.run(arrays, num_iters=iterations, damping=0.0, temperature=1.0)
        return infer.get_marginals(bp.get_beliefs(arrays))[variables][:, 1]

    given = jax.numpy.asarray(fields), jax.numpy.asarray(couplings.reshape(-1, 4))
    if adjoint is None:
        compiled = jax.jit(on)
        return lambda: np.asarray(compiled(*given))
    weights = jax.numpy.asarray(adjoint)
    gradient = jax.jit(jax.grad(lambda *potentials: (on(*potentials) * weights).sum(), argnums=(0, 1)))
    return lambda: np.concatenate([np.asarray(part).ravel() for part in gradient(*given)])


class LibDai:
    """libDAI's answers; each comes from a process of its own, which counts its CPU time itself."""

    def __init__(self, fields: Any, pairs: Any, couplings: Any, _adjoint: None, iterations: int) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._graph = Path(self._folder.name, "graph")
        sizes = np.array([len(fields), len(pairs), iterations], dtype=np.int64)
        self._graph.write_bytes(
            b"".join(np.ascontiguousarray(part).tobytes() for part in (sizes, pairs, fields, couplings))
        )

    def __call__(self) -> Any:
        self.seconds(0.0)
        return np.fromfile(self._graph.with_suffix(".on"))

    def seconds(self, least: float) -> float:
        command = [_libdai_program(), str(self._graph), str(self._graph.with_suffix(".on")), str(least)]
        return float(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


@lru_cache
def _libdai_program() -> str:
    """Where the program is that runs libDAI; compiled with the library of the system, or of the folder given."""
    compiler, given = shutil.which("g++"), sys.argv[2]
    if compiler is None:
        raise FileNotFoundError("not installed: no g++")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    program = str(Path(folder, "peer_libdai"))
    source = str(Path(__file__).with_name("peer_libdai.cpp"))
    places = [f"-I{given}/include", f"-L{given}/lib"] if given else []
    libraries = ["-ldai", "-lgmpxx", "-lgmp"]
    command = [compiler, "-O3", "-w", "-std=c++98", *places, source, *libraries, "-o", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"not installed: {result.stderr}")
    return program


SYSTEMS: dict[str, Callable[..., Run]] = {"treebp": treebp, "pgmax": pgmax, "libdai": LibDai}
FILES = ("fields", "pairs", "couplings", "adjoint")


@lru_cache(maxsize=4)
def prepared(*request: Any) -> Run:
    *files, iterations = request
    return SYSTEMS[sys.argv[1]](*(path and np.load(path) for path in files), iterations)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    name = sys.argv[1]
    if name == "libdai" and request["adjoint"]:
        return {"error": "no gradient"}
    work = prepared(*(request[name] for name in FILES), request["iterations"])
    if "result" in request:
        np.save(request["result"], work())
        return {"version": "" if name == "libdai" else version(name)}
    least = request["least"]
    return {"seconds": work.seconds(least) if isinstance(work, LibDai) else cpu_seconds(work, least)}


serve(handle)
