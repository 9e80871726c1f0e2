"""Train the whole way from text to trees on several treebanks, and score it on the text of their test sets.

    python benchmarks/pipelines.py FOLDER OUTPUT.jsonl ja_mix it_partut ... [--epochs 10]

FOLDER has CODE.train.conllu, CODE.dev.conllu and CODE.test.conllu of each, compressed or not. A line of JSON for each
treebank is added to OUTPUT: F1 of all measures, and how many words were done per CPU second, from text to CoNLL-U.
"""

import argparse
import json
import time
from pathlib import Path

from treebp.data import evaluate_raw, read_conll
from treebp.data.plain_text import plain_text
from treebp.parsing.config import Config
from treebp.training import fit_pipeline

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("codes", nargs="+")
    parser.add_argument("--epochs", type=int, default=Config().epochs)
    given = parser.parse_args()
    config = Config(tokeniser=True, tags="predicted", epochs=given.epochs)
    for code in given.codes:
        train, dev, test = (
            list(read_conll(next(given.folder.glob(f"{code}.{split}.conllu*")))) for split in ("train", "dev", "test")
        )
        start = time.process_time()
        nlp = fit_pipeline(train, dev, config, threads=1)
        trained = time.process_time() - start
        text = plain_text(test).text
        nlp(text[:2000])
        start = time.process_time()
        parsed = [sentence.to_sentence() for sentence in nlp.stream([text], threads=1)]
        seconds = time.process_time() - start
        line = {
            "treebank": code,
            "epochs": given.epochs,
            "f1": {name: round(score.f1, 2) for name, score in evaluate_raw(test, parsed).items()},
            "words_per_cpu_second": round(sum(map(len, parsed)) / seconds),
            "training_cpu_seconds": round(trained),
        }
        with given.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
