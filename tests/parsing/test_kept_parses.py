"""Models that were saved go on giving the same trees.

``kept/kept.model`` was trained on 200 sentences of the embedded treebank; ``kept/parses.conllu`` is what it made of ten
others. Whoever changes what weights mean, such as the hash of features, raises the version of model files and makes
both anew: ``python tests/parsing/test_kept_parses.py``.
"""

from pathlib import Path

import pytest

from treebp.data.conll import read_conll, write_conll
from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.training import fit

FOLDER = Path(__file__).parent / "kept"


def misc(sentence):
    return [float(line.rpartition("HeadProb=")[2]) for line in sentence.text.splitlines() if line[:1].isdigit()]


def test_a_model_that_was_saved_gives_the_same_trees():
    kept = list(read_conll(FOLDER / "parses.conllu"))
    assert len(kept) == 10
    parser = Parser.load(FOLDER / "kept.model")
    for threads in (1, 2):
        for parse, before in zip(parser.parse(kept, threads=threads), kept, strict=True):
            now = parse.to_sentence(marginals=True)
            assert now.heads == before.heads
            assert misc(now) == pytest.approx(misc(before), abs=0.0015)


if __name__ == "__main__":
    config = Config(epochs=2, pruner_epochs=1, pruner_folds=2, weight_bits=12, pruner_weight_bits=10, labels=False)
    trained = fit(embedded_treebank("train")[:200], embedded_treebank("dev")[:20], config, threads=1)
    trained.save(FOLDER / "kept.model")
    parses = trained.parse(embedded_treebank("test")[:10], threads=1)
    write_conll(FOLDER / "parses.conllu", (parse.to_sentence(marginals=True) for parse in parses))
