"""Models that were saved go on giving the same parses, byte for byte.

What is in ``kept`` was written by version 0.1.0: parsers of five kinds, trained on sentences of the embedded treebank,
and what each made of ten others. Whoever changes what weights mean, such as the hash of features, raises the version of
model files and makes all of it anew: ``python tests/parsing/test_kept_parses.py``.
"""

from pathlib import Path

import pytest

from treebp.data.conll import read_conll, write_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.projectivity import is_projective
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.training import fit

FOLDER = Path(__file__).parent / "kept"
KINDS = {
    "second-order": {"weight_bits": 12},
    "first-order": {"factors": (), "objective": "cll", "decoder": "map"},
    "exact-grandparents": {"factors": ("grandparent",), "inference": "exact", "objective": "cll"},
    "risk-log-odds": {
        "factors": ("sibling",),
        "objective": "l2+ar",
        "root": "multiple",
        "decoder": "log-odds",
        "length_bounds": True,
    },
    "crossing-with-labels": {
        "tree": "nonprojective",
        "root": "single",
        "iterations": 3,
        "labels": True,
        "templates": ("tags",),
    },
}


def write_parses(parser, sentences, target, *, threads):
    parses = parser.parse(sentences, threads=threads)
    write_conll(target, (parse.to_sentence(marginals=True) for parse in parses))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_model_that_was_saved_gives_the_same_parses(kind, threads, tmp_path):
    kept, now = FOLDER / f"{kind}.conllu", tmp_path / "now.conllu"
    assert kept.read_text().count("HeadProb=") > 100
    write_parses(Parser.load(FOLDER / f"{kind}.model"), list(read_conll(kept)), now, threads=threads)
    assert now.read_bytes() == kept.read_bytes()


def test_the_kept_trees_that_may_cross_do():
    for kind in KINDS:
        trees = [sentence.heads for sentence in read_conll(FOLDER / f"{kind}.conllu")]
        assert all(map(is_projective, trees)) == (kind != "crossing-with-labels")


if __name__ == "__main__":
    small = {"epochs": 2, "pruner_epochs": 1, "pruner_folds": 2, "weight_bits": 11, "pruner_weight_bits": 10}
    for kind, settings in KINDS.items():
        config = Config(**small | {"labels": False} | settings)
        share = 0.5 if config.tree == "nonprojective" else 0.0
        train, dev, test = (embedded_treebank(split, nonprojective=share) for split in ("train", "dev", "test"))
        parser = fit(train[: 60 if config.labels else 200], dev[:20], config, threads=1)
        parser.save(FOLDER / f"{kind}.model")
        write_parses(parser, test[:10], FOLDER / f"{kind}.conllu", threads=1)
