"""Marginals of batches of trees by treebp, SuPar or torch-struct: run by benchmarks/peers.py.

A request names files with ``scores`` (batch, n + 1, n + 1), head by modifier, and for the gradient of <adjoint,
marginals> by the scores also ``adjoint``. With ``result`` the answer is computed once and stored there, else timed.
"""

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
from peer_protocol import cpu_seconds, serve

# What is timed, and how to turn its result into an array (batch, n + 1, n + 1), head by modifier.
Prepared = tuple[Callable[[], Any], Callable[[Any], Any]]


def treebp(scores: Any, adjoint: Any, projective: bool) -> Prepared:
    from treebp import DependencyTrees

    def work() -> Any:
        trees = DependencyTrees(scores, projective=projective, single_root=True)
        # A loss needs the marginals before it has an adjoint.
        marginals = trees.marginals
        return marginals if adjoint is None else trees.backward(adjoint)

    return work, np.asarray


def supar(scores: Any, adjoint: Any, projective: bool) -> Prepared:
    import torch
    from supar.structs import DependencyCRF, MatrixTree

    torch.set_num_threads(1)
    family = DependencyCRF if projective else MatrixTree
    given = torch.tensor(scores).transpose(1, 2).contiguous()  # SuPar's order: modifier, head
    weights = None if adjoint is None else torch.tensor(adjoint).transpose(1, 2)

    def work() -> Any:
        potentials = given.clone().requires_grad_()
        marginals = family(potentials, multiroot=False).marginals
        return marginals if weights is None else torch.autograd.grad((marginals * weights).sum(), potentials)[0]

    return work, lambda result: result.detach().numpy().transpose(0, 2, 1)


def torch_struct(scores: Any, adjoint: Any, projective: bool) -> Prepared:
    import torch
    from torch_struct import DependencyCRF, NonProjectiveDependencyCRF

    torch.set_num_threads(1)
    family = DependencyCRF if projective else NonProjectiveDependencyCRF
    diagonal = range(scores.shape[1] - 1)

    def compact(array: Any) -> Any:
        """Without the root's row and column: its arcs stand on the diagonal."""
        out = array[:, 1:, 1:].copy()
        out[:, diagonal, diagonal] = array[:, 0, 1:]
        return torch.tensor(out)

    def full(result: Any) -> Any:
        compacted = result.detach().numpy()
        out = np.zeros(scores.shape)
        out[:, 1:, 1:] = compacted
        out[:, 0, 1:] = compacted[:, diagonal, diagonal]
        return out

    given = compact(scores)
    weights = None if adjoint is None else compact(adjoint)

    def work() -> Any:
        # For projective trees torch-struct wants a gradient of the scores even for the marginals alone.
        potentials = given.clone().requires_grad_(projective or weights is not None)
        marginals = family(potentials, multiroot=False).marginals
        return marginals if weights is None else torch.autograd.grad((marginals * weights).sum(), potentials)[0]

    return work, full


SYSTEMS = {"treebp": treebp, "supar": supar, "torch-struct": torch_struct}


@lru_cache
def prepared(scores: str, adjoint: str | None, projective: bool) -> Prepared:
    return SYSTEMS[sys.argv[1]](np.load(scores), np.load(adjoint) if adjoint else None, projective)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    work, as_array = prepared(request["scores"], request["adjoint"], request["projective"])
    if "result" in request:
        np.save(request["result"], as_array(work()))
        return {"version": version(sys.argv[1])}
    return {"seconds": cpu_seconds(work, request["least"])}


serve(handle)
