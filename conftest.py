"""Tests and doctests of what needs a package that is not installed are left out; tests/test_extras.py says so."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/treebp/torch/*", "tests/tensors/*", "tests/cuda/*"]
