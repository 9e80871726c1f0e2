"""Structured inference for PyTorch tensors: trees and belief propagation, differentiable by autograd, on any device.

Names, keywords and errors are those of `treebp`. Everything is computed in float64, given back as it came, and left to
the kernels of the device that holds the tensors: Numba's on the CPU, which see them without a copy, or CUDA's.

>>> import torch
>>> scores = torch.zeros(4, 4, requires_grad=True)
>>> trees = DependencyTrees(scores, projective=True, single_root=True)
>>> trees.log_partition.exp().round().item()
7.0
>>> trees.marginals[0, 1].backward()
>>> round(scores.grad[0, 1].item(), 3)  # p (1 - p)
0.245
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("treebp.torch needs PyTorch: pip install 'treebp[torch]'") from error

from treebp.torch.beliefs import Beliefs
from treebp.torch.dependency_trees import DependencyTrees
from treebp.torch.grandparent_trees import GrandparentTrees
from treebp.torch.objectives import (
    annealed_risk,
    expected_recall,
    l2_distance,
    log_likelihood,
    log_odds_decode,
    mbr_decode,
)
from treebp.torch.propagation import propagate

__all__ = [
    "Beliefs",
    "DependencyTrees",
    "GrandparentTrees",
    "annealed_risk",
    "expected_recall",
    "l2_distance",
    "log_likelihood",
    "log_odds_decode",
    "mbr_decode",
    "propagate",
]
