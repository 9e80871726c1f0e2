"""This checkout beside another one, on the same files, taking turns: how fast each parses and trains.

    python benchmarks/taking_turns.py OTHER/src --model en.model --test test.conllu --train train.conllu

CPU seconds of one thread, median and best of all rounds, and this checkout's speed as a multiple of the other's. The
model must be one that both can read. Training is on 600 sentences, by epochs after the first.
"""

import argparse
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time

HERE = Path(__file__).parents[1] / "src"
WORK = {"parse": (), "l2 second": ("l2", 2), "cll second": ("cll", 2), "cll first": ("cll", 1)}


def parsing(given: argparse.Namespace) -> list[float]:
    from treebp.data.conll import read_conll
    from treebp.parsing.parser import Parser

    parser, sentences = Parser.load(given.model), list(read_conll(given.test))
    seconds = []
    for _ in range(given.repeats + 1):
        began = process_time()
        list(parser.parse(sentences, threads=1))
        seconds.append(process_time() - began)
    return seconds[1:]


def training(given: argparse.Namespace, objective: str, order: int) -> list[float]:
    from treebp.data.conll import read_conll
    from treebp.parsing.config import Config

    sentences = list(islice(read_conll(given.train, require_heads=True), 600))
    config = Config(
        objective=objective,
        factors=("grandparent", "sibling") if order == 2 else (),
        epochs=given.repeats + 1,
        rate=0.02,
        labels=False,
        pruner_epochs=1,
        pruner_folds=2,
    )
    began, seconds = [0.0], []

    def start(what: str, words: int) -> None:
        began[0] = process_time()

    def epoch(report: object) -> None:
        seconds.append(process_time() - began[0])

    try:
        from treebp.training import Progress, fit
    except ImportError:  # before version 0.2
        from treebp.parsing.training import Progress

        from treebp.parsing.parser import Parser

        Parser(config).fit(sentences, sentences[:1], threads=1, progress=Progress(start, epoch=epoch))
    else:
        fit(sentences, sentences[:1], config, threads=1, progress=Progress(start, epoch=epoch))
    return seconds[1:]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("other", type=Path, help="the folder src of the other checkout")
    for name in ("model", "test", "train"):
        options.add_argument(f"--{name}", required=True)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--what", choices=WORK, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.what:
        print(json.dumps(training(given, *WORK[given.what]) if WORK[given.what] else parsing(given)))
        return
    print("| | other: median, best | this: median, best | times as fast: median, best |\n| --- | --- | --- | --- |")
    for what in WORK:
        seconds: dict[Path, list[float]] = {given.other: [], HERE: []}
        for _ in range(given.rounds):
            for source, found in seconds.items():
                command = [sys.executable, *sys.argv, "--what", what]
                environment = {**os.environ, "PYTHONPATH": str(source)}
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                found += json.loads(done.stdout.splitlines()[-1])
        (m1, b1), (m2, b2) = ((median(found), min(found)) for found in seconds.values())
        print(f"| {what} | {m1:.3f}, {b1:.3f} | {m2:.3f}, {b2:.3f} | {m1 / m2:.2f}, {b1 / b2:.2f} |", flush=True)


if __name__ == "__main__":
    main()
