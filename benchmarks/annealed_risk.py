"""Why annealed risk adds nothing to L2: its epochs from a parser trained with L2, by rate, regularisation and history.

    python benchmarks/annealed_risk.py train.conll dev.conll > benchmarks/results/annealed_risk.jsonl

A line for each variant: the mean number of wrong heads that annealed risk expects in a training sentence, and UAS on
development data, after each epoch. "kept" goes on with the optimiser of L2, its sums of squared gradients included.
"""

import argparse
import json
from copy import deepcopy
from dataclasses import replace
from itertools import product

from treebp.data import read_conll
from treebp.experiments.running import program_version
from treebp.parsing.arcs import Arcs
from treebp.parsing.config import Config
from treebp.parsing.parser import new_model
from treebp.training.data import prepare
from treebp.training.development import Development
from treebp.training.learner import Example, Learner

EPOCHS = 3
RATES = (0.01, 0.0025, 0.0006)
L2_RATE = 0.02  # what tuning finds for L2


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("train")
    arguments.add_argument("dev")
    files = arguments.parse_args()
    config = Config(labels=False, objective="l2", epochs=1, rate=L2_RATE)
    prepared = prepare(read_conll(files.train), read_conll(files.dev), config, threads=1)
    projective, single_root = prepared.structure
    model = new_model(config, prepared.encoding, projective=projective, single_root=single_root)
    development = Development(prepared, prepared.labels, config, model)
    examples = []
    for tokens, kept, gold in zip(prepared.tokens, prepared.keep, prepared.gold, strict=True):
        arcs = Arcs.of(kept)
        examples.append(Example(tokens, arcs, arcs.marked(gold)))

    def epochs(learner: Learner, objective: str) -> dict[str, list[float]]:
        warm, step = config.temperature_start, (config.temperature_end - config.temperature_start) / EPOCHS
        values, scores = [], []
        for epoch in range(EPOCHS):
            between = warm + step * epoch, warm + step * (epoch + 1)
            value = learner.epoch(examples, objective, seed=(1, 3, epoch), temperatures=between)
            values.append(round(value, 3))
            scores.append(round(development.score()[0], 2))
        return {"value": values, "dev_uas": scores}

    first = Learner(model, config, L2_RATE, len(examples), threads=1)
    decay = first.optimiser.decay
    print_line(objective="l2", rate=L2_RATE, decay=decay, kept=False, **epochs(first, "l2"))
    weights = model.scorer.weights.copy()
    state, steps = deepcopy(first.optimiser.state), first.optimiser.steps
    for kept, regularised, rate in product((False, True), (True, False), RATES):
        model.scorer.weights[:] = weights
        own = config if regularised else replace(config, regularisation=0.0)
        learner = Learner(model, own, rate, len(examples), threads=1)
        if kept:
            learner.optimiser.state[:], learner.optimiser.steps = state, steps
        print_line(objective="ar", rate=rate, decay=learner.optimiser.decay, kept=kept, **epochs(learner, "ar"))


def print_line(**figures: object) -> None:
    print(json.dumps({**figures, "version": program_version()}), flush=True)


if __name__ == "__main__":
    main()
