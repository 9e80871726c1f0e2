"""Treebanks in and out, evaluation, and a treebank of our own."""

from treebp.data.coarse_tags import coarse_tags, default_mapping, read_tag_map
from treebp.data.conll import read_conll, write_conll
from treebp.data.download import download_treebank
from treebp.data.embedded import embedded_treebank
from treebp.data.errors import TreebankError
from treebp.data.evaluation import Evaluation, evaluate
from treebp.data.findings import find_problems
from treebp.data.inventory import take_inventory
from treebp.data.penn import read_penn
from treebp.data.projectivity import is_projective, nonprojective_arcs, projectivise
from treebp.data.punctuation import is_punctuation
from treebp.data.raw_evaluation import evaluate_raw
from treebp.data.sentence import Sentence
from treebp.data.significance import bootstrap_interval, paired_test

__all__ = [
    "Evaluation",
    "Sentence",
    "TreebankError",
    "bootstrap_interval",
    "coarse_tags",
    "default_mapping",
    "download_treebank",
    "embedded_treebank",
    "evaluate",
    "evaluate_raw",
    "find_problems",
    "is_projective",
    "is_punctuation",
    "nonprojective_arcs",
    "paired_test",
    "projectivise",
    "read_conll",
    "read_penn",
    "read_tag_map",
    "take_inventory",
    "write_conll",
]
