"""Tests and doctests of what needs a package that is not installed are left out; tests/test_extras.py says so."""

from importlib.util import find_spec

_NEEDED = {
    "torch": [
        *("src/treebp/torch/*", "src/treebp/neural/*", "src/treebp/parsing/neural_scorer.py"),
        *("src/treebp/training/network_learner.py", "tests/tensors/*", "tests/neural/*", "tests/cuda/*"),
    ],
    "transformers": ["src/treebp/neural/pretrained.py"],
    "ray": ["tests/clusters/*"],
    "spacy": ["src/treebp/spacy/*", "tests/spacy_pipes/*"],
    "uvicorn": ["src/treebp/serving/*", "tests/serving/*"],
}
collect_ignore_glob = [
    pattern for package, patterns in _NEEDED.items() if not find_spec(package) for pattern in patterns
]
