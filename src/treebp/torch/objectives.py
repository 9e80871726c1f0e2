"""What to train for, and how to pick a tree, for tensors: module (E) of the paper's circuit.

Arc probabilities are `marginals[head, modifier]`, (n + 1, n + 1) or a batch of them with `lengths`, 0 being the root;
the correct heads are (n,), or (batch, width - 1), what lies beyond a sentence's words being ignored. Objectives have an
entry for each sentence, and autograd differentiates them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from treebp._types import FloatArray
from treebp.bp.factors.protocol import score_assignment
from treebp.bp.variables import Variable
from treebp.torch.beliefs import Beliefs
from treebp.torch.dependency_trees import DependencyTrees, tensor_of_lengths


def expected_recall(marginals: Tensor, heads: Tensor, *, lengths: Any = None) -> Tensor:
    """Expected number of words with the correct head; shape () or (batch,).

    >>> marginals = torch.tensor([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]])
    >>> expected_recall(marginals, torch.tensor([0, 1]))
    tensor(1.5000)
    """
    gold, _ = _right_arcs(marginals, heads, lengths)
    return torch.where(gold, marginals, 0.0).sum(dim=(-2, -1))


def l2_distance(marginals: Tensor, heads: Tensor, *, lengths: Any = None) -> Tensor:
    """Squared distance between beliefs and truth, eq. (11), ON and OFF counting alike; shape () or (batch,).

    >>> marginals = torch.tensor([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]])
    >>> l2_distance(marginals, torch.tensor([0, 1]))
    tensor(0.5000)
    """
    gold, arcs = _right_arcs(marginals, heads, lengths)
    return 2.0 * torch.where(arcs, marginals - gold.to(marginals.dtype), 0.0).square().sum(dim=(-2, -1))


def annealed_risk(
    marginals: Tensor, heads: Tensor, *, temperature: float, projective: bool, single_root: bool, lengths: Any = None
) -> Tensor:
    """Expected number of words with a wrong head when the decoder is random, eq. (9) and (10); () or (batch,).

    The decoder draws trees with log-weights `marginals / temperature`; towards zero this becomes the loss of
    `mbr_decode`.

    >>> marginals = torch.tensor([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]])
    >>> risk = annealed_risk(marginals, torch.tensor([0, 1]), temperature=0.1, projective=True, single_root=True)
    >>> round(risk.item(), 5)
    9e-05
    """
    if not 0.0 < temperature < np.inf:
        raise ValueError(f"temperature = {temperature}: a positive number expected")
    gold, _ = _right_arcs(marginals, heads, lengths)
    decoder = DependencyTrees(
        marginals.to(torch.float64) / temperature, projective=projective, single_root=single_root, lengths=lengths
    )
    words = gold.sum(dim=(-2, -1))
    return (words - torch.where(gold, decoder.marginals, 0.0).sum(dim=(-2, -1))).to(marginals.dtype)


def log_likelihood(beliefs: Beliefs, gold: Mapping[Variable, int]) -> Tensor:
    """Log-probability of a joint state of all variables of a `FactorGraph`, in Bethe's approximation.

    Its gradient takes the factors' beliefs for that of the log-partition. ValueError if `gold` leaves out a variable or
    is a state that a factor forbids.

    >>> import treebp as tb
    >>> from treebp.torch.propagation import propagate
    >>> graph = tb.FactorGraph()
    >>> rain = graph.variable()
    >>> prior = graph.factor([rain], [0.0, 0.0])
    >>> scores = torch.tensor([0.25, 0.75]).log().requires_grad_()
    >>> log_likelihood(propagate(graph, iterations=1, potentials={prior: scores}), {rain: 1}).backward()
    >>> scores.grad
    tensor([-0.2500,  0.2500])
    """
    graph = beliefs.graph
    for variable in graph.variables:
        if variable not in gold:
            raise ValueError(f"variable {variable.name}: no state given")
    observed = [np.zeros(len(own)) for own in beliefs.potentials]
    for factor in graph.factors:
        place, states = graph.place(factor), tuple(gold[variable] for variable in factor.variables)
        for variable, state in zip(factor.variables, states, strict=True):
            if state not in range(variable.states):
                raise ValueError(f"variable {variable.name}: no state {state} among its {variable.states}")
        counts: FloatArray = np.zeros(factor.potentials.shape)
        if factor.structured is None:
            counts[states] = 1.0
            score = 0.0
        else:
            score, counts = score_assignment(factor.structured, states, counts)
        own = beliefs.potentials[place.group][place.potentials].detach().cpu().numpy()
        if score == -np.inf or (own[counts.ravel() > 0.0] == -np.inf).any():
            raise ValueError(f"{factor.name}: forbids the joint state {states}, of which the likelihood was asked")
        observed[place.group][place.potentials] = counts.ravel()
    total = -beliefs.log_partition
    for used, own in zip(observed, beliefs.potentials, strict=True):
        places = torch.from_numpy(np.flatnonzero(used)).to(own.device)
        total = total + (torch.from_numpy(used[used > 0.0]).to(own) * own[places]).sum()
    return total


def mbr_decode(marginals: Tensor, *, projective: bool, single_root: bool, lengths: Any = None) -> Tensor:
    """The tree with the largest expected number of correct heads, eq. (3): (n,), or (batch, width - 1) with -1.

    >>> marginals = torch.tensor([[0, 0.6, 0.3], [0, 0, 0.7], [0, 0.4, 0]])
    >>> mbr_decode(marginals, projective=True, single_root=True)
    tensor([0, 1])
    """
    return DependencyTrees(marginals, projective=projective, single_root=single_root, lengths=lengths).argmax()


def log_odds_decode(marginals: Tensor, *, projective: bool, single_root: bool, lengths: Any = None) -> Tensor:
    """The tree with the largest sum of log-odds `log(p / (1 - p))`: the paper's footnote 3, not MBR.

    Probabilities of 0 and 1 count as the closest numbers to them that floating point can tell apart.

    >>> marginals = torch.tensor([[0, 0.6, 0.3], [0, 0, 0.7], [0, 0.4, 0]])
    >>> log_odds_decode(marginals, projective=True, single_root=True)
    tensor([0, 1])
    """
    numbers, beliefs = np.finfo(np.float64), marginals.to(torch.float64)
    odds = beliefs.clamp(min=float(numbers.tiny)).log() - (1.0 - beliefs).clamp(min=float(numbers.epsneg)).log()
    return mbr_decode(odds, projective=projective, single_root=single_root, lengths=lengths)


def _right_arcs(marginals: Tensor, heads: Tensor, lengths: Any) -> tuple[Tensor, Tensor]:
    """Which arcs are right, and which are arcs at all; ValueError for heads that cannot be."""
    device, size = marginals.device, marginals.shape[-1]
    lengths = tensor_of_lengths(marginals, lengths, False)
    if heads.shape != (*marginals.shape[:-2], size - 1):
        raise ValueError(f"heads have shape {tuple(heads.shape)}, the trees {size - 1} words")
    position = torch.arange(size, device=device)
    inside = position <= lengths.reshape(*marginals.shape[:-2], 1)
    arcs = inside[..., :, None] & inside[..., None, :] & (position[:, None] != position) & (position > 0)
    gold = (heads.to(device)[..., None, :] == position[:, None]) & arcs[..., 1:]
    if device.type == "cpu" and bool((gold.any(dim=-2) != inside[..., 1:]).any()):
        raise ValueError(f"heads {heads.tolist()}: a head from 0 to n, not the word itself, for each of n words")
    return torch.nn.functional.pad(gold, (1, 0)), arcs
