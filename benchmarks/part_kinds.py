"""What each kind of part is worth: parsers that differ in their factors alone, chosen on development data.

    python benchmarks/part_kinds.py TRAIN DEV TEST -o results.jsonl --seeds 1 2 3 [--set epochs=6]

A line of JSON for every run, as it comes; what the file has already is not run again. Then a table: the mean over seeds
of the accuracy without punctuation (Unicode rule) on development data and, of the weights chosen there, on test data.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from treebp.data.conll import read_conll
from treebp.data.evaluation import evaluate
from treebp.experiments.running import program_version
from treebp.parsing.config import Config
from treebp.training import fit, prepare

SETS = (
    "",
    "grandparent,sibling",
    "grandparent,consecutive-sibling",
    "grandparent,sibling,consecutive-sibling",
    "grandparent,sibling,grand-sibling",
    "grandparent,sibling,tri-sibling",
    "grandparent,sibling,consecutive-sibling,grand-sibling,tri-sibling",
)


def runs(arguments: argparse.Namespace, done: set[tuple[str, int]]) -> Iterator[dict]:
    train, dev, test = ([*read_conll(path, require_heads=True)] for path in arguments.treebank)
    for seed in arguments.seeds:
        config = Config(seed=seed).override(arguments.set)
        waiting = [factors for factors in arguments.factors if (factors, seed) not in done]
        if not waiting:
            continue
        prepared = prepare(train, dev, config, threads=arguments.threads)
        for factors in waiting:
            began = process_time()
            chosen = replace(config, factors=tuple(name for name in factors.split(",") if name))
            parser = fit(config=chosen, prepared=prepared, threads=arguments.threads)
            trained = process_time()
            parses = list(parser.parse(test, threads=arguments.threads))
            parsed = process_time() - trained
            scores = evaluate(test, (parse.to_sentence() for parse in parses), punctuation="unicode")
            best = [report for report in parser.reports if report.best][-1]
            yield {
                "factors": factors,
                "seed": seed,
                "epoch": best.epoch,
                "dev_uas": round(best.dev_uas, 2),
                "test_uas": round(scores.uas, 2),
                "test_las": round(scores.las, 2),
                "parts": round(float(np.mean([sum(parse.factors.values()) for parse in parses])), 1),
                "training_seconds": round(trained - began, 1),
                "words_per_second": round(sum(map(len, test)) / parsed),
                "settings": arguments.set,
                "version": program_version(),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", nargs=3, metavar=("TRAIN", "DEV", "TEST"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--factors", nargs="+", default=SETS)
    parser.add_argument("--set", nargs="*", default=[], help="settings of the parser, as key=value")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    lines = arguments.output.read_text().splitlines() if arguments.output.exists() else []
    results = [json.loads(line) for line in lines]
    for result in runs(arguments, {(one["factors"], one["seed"]) for one in results}):
        results.append(result)
        with arguments.output.open("a") as file:
            file.write(json.dumps(result) + "\n")
    print("| factors | dev UAS | test UAS | test LAS | factors a sentence | words per CPU second |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for factors in dict.fromkeys(one["factors"] for one in results):
        own = [one for one in results if one["factors"] == factors]
        means = [np.mean([one[key] for one in own]) for key in ("dev_uas", "test_uas", "test_las", "parts")]
        speed = np.mean([one["words_per_second"] for one in own])
        row = f"| {factors.replace(',', ', ') or 'none'} | {means[0]:.2f} | {means[1]:.2f} | {means[2]:.2f}"
        print(f"{row} | {means[3]:,.0f} | {speed:,.0f} |")


if __name__ == "__main__":
    main()
