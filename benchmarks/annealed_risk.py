"""Why annealed risk adds nothing to L2: its epochs from a parser trained with L2, by rate, regularisation and history.

    python benchmarks/annealed_risk.py train.conll dev.conll > benchmarks/results/annealed_risk.jsonl

A line for each variant: the mean number of wrong heads that annealed risk expects in a training sentence, and UAS on
development data, after each epoch. "kept" goes on with the optimiser of L2, its sums of squared gradients included.
"""

import argparse
import json
from copy import deepcopy
from itertools import product

from treebp.data import read_conll
from treebp.experiments.running import program_version
from treebp.parsing.arc_model import Example
from treebp.parsing.arcs import Arcs
from treebp.parsing.config import Config
from treebp.parsing.learning import run_epoch
from treebp.parsing.optimiser import AdaGrad
from treebp.parsing.parser import Parser, _Development
from treebp.parsing.preparation import prepare

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
    parser = Parser(config)
    parser.fit(prepared=prepared, threads=1)  # only to set it up: it is trained again below, with the optimiser in view
    model, development = parser._model, _Development(parser, prepared)
    examples = []
    for tokens, kept, gold in zip(prepared.tokens, prepared.keep, prepared.gold, strict=True):
        arcs = Arcs.of(kept)
        examples.append(Example(tokens, arcs, arcs.marked(gold)))
    decay = config.regularisation / len(examples)

    def epochs(optimiser: AdaGrad, objective: str) -> dict[str, list[float]]:
        warm, step = config.temperature_start, (config.temperature_end - config.temperature_start) / EPOCHS
        values, scores = [], []
        for epoch in range(EPOCHS):
            between = warm + step * epoch, warm + step * (epoch + 1)
            value = run_epoch(optimiser, examples, config, objective, seed=(1, 3, epoch), temperatures=between)
            values.append(round(value, 3))
            scores.append(round(development.score()[0], 2))
        return {"value": values, "dev_uas": scores}

    model.weights[:] = 0.0
    first = AdaGrad(model, L2_RATE, decay)
    print_line(objective="l2", rate=L2_RATE, decay=decay, kept=False, **epochs(first, "l2"))
    weights, state, steps = model.weights.copy(), deepcopy(first.state), first.steps
    for kept, own_decay, rate in product((False, True), (decay, 0.0), RATES):
        model.weights[:] = weights
        optimiser = AdaGrad(model, rate, own_decay)
        if kept:
            optimiser.state[:], optimiser.steps = state, steps
        print_line(objective="ar", rate=rate, decay=own_decay, kept=kept, **epochs(optimiser, "ar"))


def print_line(**figures: object) -> None:
    print(json.dumps({**figures, "version": program_version()}), flush=True)


if __name__ == "__main__":
    main()
