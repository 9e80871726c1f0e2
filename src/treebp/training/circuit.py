"""The paper's circuit, read from top to bottom: what a model makes of sentences, what that costs, and the way back.

An objective maps what was inferred, and which arcs are right, to a value and the adjoints of all potentials. A new one
is a function here and an entry in ``OBJECTIVES``.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.objectives.losses import annealed_risk_of_arcs, cost_of_score, l2_of_arcs, log_loss_of_arcs
from treebp.parsing.arcs import Batch
from treebp.parsing.model import Circuit, TreeModel
from treebp.parsing.scorer import Scored

Adjoints = Mapping[str, FloatArray]


Objective = Callable[[Circuit, BoolArray, float], tuple[float, Adjoints]]


class Examples(NamedTuple):
    """Training sentences in a batch, and which of their candidate arcs are right.

    Where a scorer learns labels, also the right heads and labels, as numbers, of all words.
    """

    batch: Batch
    gold: BoolArray
    heads: IntArray | None = None
    labels: IntArray | None = None


def loss_and_gradient(
    model: TreeModel, examples: Examples, objective: str, temperature: float = 1.0, scored: Scored | None = None
) -> tuple[float, Any]:
    """The sum of an objective over some sentences, and its gradient by the weights, as their learner takes it.

    A scorer that learns labels minimises their negative log-likelihood, on right arcs, besides. Where scores are known
    already, the model's scorer is not asked.
    """
    circuit = model(examples.batch, gradient=objective != "cll", scored=scored)  # (A) to (D)
    value, adjoints = OBJECTIVES[objective](circuit, examples.gold, temperature)  # (E)
    if circuit.labels is not None and examples.heads is not None and examples.labels is not None:
        of_labels, adjoint = label_loss(circuit.labels.scores(examples.heads), examples.labels)
        value, adjoints = value + of_labels, {**adjoints, "label": adjoint}
    return value, circuit.back_to_weights(adjoints)


def label_loss(scores: FloatArray, labels: IntArray) -> tuple[float, FloatArray]:
    """Negative log-likelihood of labels given the scores (words, labels) of all, and its gradient."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    sums = exponentials.sum(axis=1)
    rows = np.arange(len(labels))
    gradient = exponentials / sums[:, None]
    gradient[rows, labels] -= 1.0
    return float((np.log(sums) - shifted[rows, labels]).sum()), gradient


def likelihood(circuit: Circuit, gold: BoolArray, temperature: float) -> tuple[float, Adjoints]:
    """Negative log-likelihood of the right trees, all of whose arcs must be candidates.

    With belief propagation, the surrogate that takes Bethe's approximation for the log-partition, and the beliefs of
    arcs and parts for its gradient.
    """
    right = circuit.problem.parts_on(gold)
    score = sum(float(circuit.problem.potentials[name][on].sum()) for name, on in right.items())
    return cost_of_score(score, circuit.inferred.log_partition(), right, circuit.inferred.expectations())


def l2(circuit: Circuit, gold: BoolArray, temperature: float) -> tuple[float, Adjoints]:
    """Squared distance of beliefs and truth, eq. (11)."""
    value, adjoint = l2_of_arcs(circuit.inferred.beliefs, gold)
    return value, circuit.inferred.backprop(adjoint)


def annealed_risk(circuit: Circuit, gold: BoolArray, temperature: float) -> tuple[float, Adjoints]:
    """Expected number of wrong heads of a random decoder, eqs. (9) and (10)."""
    value, adjoint = annealed_risk_of_arcs(circuit.inferred.beliefs, gold, circuit.problem.trees, temperature)
    return value, circuit.inferred.backprop(adjoint)


def head_likelihood(circuit: Circuit, gold: BoolArray, temperature: float) -> tuple[float, Adjoints]:
    """Negative log of the belief in each right arc: where a belief is all but zero, L2 has no gradient, this has."""
    value, adjoint = log_loss_of_arcs(circuit.inferred.beliefs, gold)
    return value, circuit.inferred.backprop(adjoint)


OBJECTIVES: dict[str, Objective] = {"cll": likelihood, "l2": l2, "ar": annealed_risk, "heads": head_likelihood}
