"""How good and how fast taggers are: one is trained with its defaults and scores development and test data once.

    python benchmarks/tagging.py TRAIN DEV TEST [TRAIN DEV TEST ...] -o tagging.jsonl

A line of JSON for every treebank: per cent of right tags, features and lemmas, and words per CPU second of one thread,
for words that are all new to the tagger and once it has them at hand.
"""

import argparse
import json
from pathlib import Path
from time import process_time

from treebp.data.conll import read_conll
from treebp.data.evaluation import tag_accuracy
from treebp.data.sentence import Sentence
from treebp.experiments.running import program_version
from treebp.tagging import Tagger


def tagged(tagger: Tagger, sentences: list[Sentence]) -> tuple[list[Sentence], int]:
    """The sentences as tagged, and words per CPU second."""
    began = process_time()
    found = [tagged.sentence for tagged in tagger.tag(sentences, threads=1)]
    return found, round(sum(map(len, sentences)) / (process_time() - began))


def measure(paths: list[str]) -> dict[str, object]:
    train, dev, test = ([*read_conll(path, check_trees=False)] for path in paths)
    Tagger.fit(train[:20], threads=1)  # compiles, unless that is done
    began = process_time()
    tagger = Tagger.fit(train, threads=1)
    seconds = process_time() - began
    fresh = Tagger.from_state(*tagger.state())
    fresh.tag_together(dev[:5])
    found, of_new = tagged(fresh, test)
    return {
        "treebank": Path(paths[0]).name.partition(".")[0],
        "tags": len(tagger.tags),
        "dev": tag_accuracy(zip(dev, tagged(tagger, dev)[0], strict=True)),
        "test": tag_accuracy(zip(test, found, strict=True)),
        "training_seconds": round(seconds, 1),
        "words_per_second": of_new,
        "words_per_second_again": max(tagged(fresh, test)[1] for _ in range(3)),
        "version": program_version(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="TRAIN DEV TEST")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    program_version()  # of what is run, whatever is edited meanwhile
    for k in range(0, len(arguments.files), 3):
        line = json.dumps(measure(arguments.files[k : k + 3]))
        print(line)
        with arguments.output.open("a", encoding="utf-8") as output:
            output.write(line + "\n")


if __name__ == "__main__":
    main()
