"""What is trained one after the other: hashed features, a network, or each by itself and then their shares in a sum."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from treebp.parsing.arcs import Arcs
from treebp.parsing.config import Config
from treebp.parsing.labels import LabelModel
from treebp.parsing.model import TreeModel
from treebp.parsing.reports import EpochReport
from treebp.parsing.scorer import HashedScorer
from treebp.training.data import Prepared
from treebp.training.development import Development
from treebp.training.learner import AnyLearner, Example, Learner
from treebp.training.loop import Stage
from treebp.training.mean import Mean
from treebp.training.progress import Progress
from treebp.training.rate import tuned_rate

_SHARES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0)


def stages_of(
    model: TreeModel, prepared: Prepared, labels: LabelModel, config: Config, threads: int, progress: Progress
) -> Iterator[Stage]:
    """The stages that train a model's scorer as configured."""
    if config.scorer != "neural":
        hashed = replace(model, scorer=getattr(model.scorer, "hashed", model.scorer))
        assert isinstance(hashed.scorer, HashedScorer)
        examples = _examples(prepared, labels, whole_trees=config.objective == "cll")
        scorers = [hashed.scorer, *(hashed.scorer.untrained() for _ in range(config.trainings - 1))]
        for number, scorer in enumerate(scorers):
            own, seen = replace(hashed, scorer=scorer), examples
            if number and prepared.drawn:  # tags in doubt are not the same in all trainings
                drawn = zip(examples, prepared.drawn[number - 1], strict=True)
                seen = [example._replace(tokens=tokens) for example, tokens in drawn]
            score = Development(prepared, labels, config, own, threads).score
            for objective in config.objective.split("+"):
                learner = _of_features(own, config, seen, objective, threads, progress)
                yield Stage(objective, config.epochs, seen, scorer, learner, score, number)
        if len(scorers) > 1:
            score = Development(prepared, labels, config, hashed, threads).score
            mean = Mean(scorers, score)
            yield Stage("mean", 1, [], hashed.scorer, lambda rate: mean, score)
    if config.scorer != "hashed":
        neural = replace(model, scorer=getattr(model.scorer, "neural", model.scorer))
        score = Development(prepared, labels, config, neural, threads).score
        examples = _examples(prepared, labels, whole_trees=config.network_objective == "cll")
        learner = _of_network(neural, config, examples, threads)
        for objective in config.network_objective.split("+"):
            yield Stage(objective, config.network_epochs, examples, neural.scorer, learner, score)


def choose_shares(model: TreeModel, development: Development) -> EpochReport:
    """Leave in a sum of scorers the network's shares that do best on development data: by UAS, then of labels."""
    shares = model.scorer.shares  # type: ignore[attr-defined]
    for which in (0, 1):  # of arcs by UAS, then of labels by LAS
        found = {}
        for share in _SHARES:
            shares[which] = share
            found[share] = development.score()[which]
        shares[which] = max(found, key=lambda share: found[share])
    uas, las = development.score()
    return EpochReport("sum", 1, float(shares[0]), uas, las, 0.0, True)


def _of_features(
    model: TreeModel, config: Config, examples: Sequence[Example], objective: str, threads: int, progress: Progress
) -> Callable[[float | None], AnyLearner]:
    """A learner of hashed features, its rate tuned if none is set."""

    def new(rate: float | None = None) -> Learner:
        return Learner(model, config, rate or 0.0, len(examples), threads)

    def learner(rate: float | None) -> Learner:
        rate = rate or config.rate
        if rate == 0.0:
            progress.start("tuning the learning rate", 0)
            weights = new().optimiser.weights
            rate = tuned_rate(new, weights, examples, objective, config.temperature_start, config.seed)
        found = new(rate)
        found.gradients(examples[:1], objective, config.temperature_start)  # loads kernels: no part of an epoch's speed
        return found

    return learner


def _of_network(
    model: TreeModel, config: Config, examples: Sequence[Example], threads: int
) -> Callable[[float | None], AnyLearner]:
    from treebp.training.network_learner import NetworkLearner  # loads PyTorch

    words = sum(len(example.tokens) - 3 for example in examples)
    return lambda rate: NetworkLearner(model, config, rate or config.network_rate, words, threads)


def _examples(prepared: Prepared, labels: LabelModel, *, whole_trees: bool) -> list[Example]:
    """The training sentences. Log-likelihood needs whole trees: all arcs of a legal one, pruned or not."""
    numbers = {label: number for number, label in enumerate(labels.labels)}
    examples = []
    for sentence, tokens, kept, gold, legal in zip(
        prepared.train, prepared.tokens, prepared.keep, prepared.gold, prepared.legal, strict=True
    ):
        heads = legal if whole_trees else gold
        if whole_trees:
            kept = kept.copy()
            kept[heads, np.arange(1, len(heads) + 1)] = True
        arcs = Arcs.of(kept)
        names = sentence.labels if len(numbers) > 1 else labels.labels * len(gold)
        own = np.array([numbers[name] for name in names])
        examples.append(Example(tokens, arcs, arcs.marked(heads), sentence.forms, gold, own))
    return examples
