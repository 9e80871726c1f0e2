"""Tests and doctests of what needs a package that is not installed are left out; tests/test_extras.py says so."""

from importlib.util import find_spec

_TORCH = [
    *("src/treebp/torch/*", "src/treebp/neural/*", "src/treebp/parsing/neural_scorer.py"),
    *("src/treebp/training/network_learner.py", "tests/tensors/*", "tests/neural/*", "tests/cuda/*"),
]
collect_ignore_glob = [] if find_spec("torch") else _TORCH
if not find_spec("transformers"):
    collect_ignore_glob = [*collect_ignore_glob, "src/treebp/neural/pretrained.py"]
