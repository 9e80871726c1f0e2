"""Each layer imports only from the ones below it."""

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import treebp

ROOT = Path(treebp.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
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


def names_in(picture: str) -> list[str]:
    """What a picture in the documentation says, from top to bottom and from left to right."""
    texts = ElementTree.parse(DOCS / picture).iter("{http://www.w3.org/2000/svg}text")
    return [text.text or "" for text in texts]


def test_the_picture_and_the_table_of_rooms_show_all_of_them_in_order() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("_")}
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \|", page.partition("## One engine")[0], flags=re.MULTILINE)
    for shown in ([name for name in names_in("rooms.svg") if name in folders], table):
        assert sorted(shown) == sorted(folders)
        assert [name for name in shown if name in LAYERS] == LAYERS[1:]


def test_the_picture_of_the_circuit_names_files_that_exist() -> None:
    files = [name for name in names_in("circuit.svg") if "/" in name]
    assert len(files) > 5
    assert [name for name in files if not (ROOT / name).exists()] == []
