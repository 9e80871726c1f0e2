"""Each layer imports only from the ones below it."""

import ast
from pathlib import Path

import pytest

import treebp

ROOT = Path(treebp.__file__).parent
LAYERS = [
    "core",
    "clusters",
    "kernels",
    "cuda",
    "hypergraphs",
    "trees",
    "bp",
    "objectives",
    "torch",
    "data",
    "features",
    "neural",
    "tagging",
    "tokenising",
    "parsing",
    "pipeline",
    "training",
    "drawing",
    "experiments",
    "benchmarks",
    "serving",
    "spacy",
    "cli",
]
# The root names the homes of the public names and loads none of them by itself; `python -m treebp` is the command line.
MODULES = sorted(path for path in ROOT.rglob("*.py") if path not in (Path(treebp.__file__), ROOT / "__main__.py"))


def layer_of(parts: tuple[str, ...]) -> str:
    return parts[0] if parts and parts[0] in LAYERS else "core"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_from_lower_layers(path: Path) -> None:
    own = LAYERS.index(layer_of(path.relative_to(ROOT).parts))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("treebp."):
                layer = layer_of(tuple(name.split(".")[1:]))
                assert LAYERS.index(layer) <= own, f"{path.name} imports {name}"
