"""Train the whole way from text to trees on several treebanks, and score it on the text of their test sets.

    python benchmarks/pipelines.py FOLDER OUTPUT.jsonl ja_mix it_partut ... [--epochs 10] [--tokenisers]

FOLDER has CODE.train.conllu, CODE.dev.conllu and CODE.test.conllu of each, compressed or not. A line of JSON for each
treebank is added to OUTPUT: F1 of all measures, and how many words were done per CPU second, from text to CoNLL-U.
With --tokenisers, nothing but these is trained.
"""

import argparse
import json
import time
from pathlib import Path

from treebp.data import evaluate_raw, read_conll
from treebp.data.plain_text import plain_text
from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.pipeline import Pipeline
from treebp.tokenising.fitting import fit_tokeniser
from treebp.tokenising.tokeniser import Tokeniser
from treebp.training import fit_pipeline


def sentences_of(model: Pipeline | Tokeniser, text: str) -> list[Sentence]:
    if isinstance(model, Pipeline):
        return [sentence.to_sentence() for sentence in model.stream([text], threads=1)]
    return [found.to_sentence(number) for number, found in enumerate(model.stream([text]), 1)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("codes", nargs="+")
    parser.add_argument("--epochs", type=int, default=Config().epochs)
    parser.add_argument("--tokenisers", action="store_true")
    given = parser.parse_args()
    config = Config(tokeniser=True, tags="predicted", epochs=given.epochs)
    for code in given.codes:
        train, dev, test = (
            list(read_conll(next(given.folder.glob(f"{code}.{split}.conllu*")))) for split in ("train", "dev", "test")
        )
        start = time.process_time()
        model = fit_tokeniser(train) if given.tokenisers else fit_pipeline(train, dev, config, threads=1)
        trained = time.process_time() - start
        text = plain_text(test).text
        sentences_of(model, text[:2000])
        start = time.process_time()
        parsed = sentences_of(model, text)
        seconds = time.process_time() - start
        scores = evaluate_raw(test, parsed)
        if given.tokenisers:
            scores = {name: scores[name] for name in ("Tokens", "Sentences", "Words")}
        line = {
            "treebank": code,
            "epochs": None if given.tokenisers else given.epochs,
            "f1": {name: round(score.f1, 2) for name, score in scores.items()},
            "words_per_cpu_second": round(sum(map(len, parsed)) / seconds),
            "training_cpu_seconds": round(trained),
        }
        with given.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
