import ast
import subprocess
import sys
from pathlib import Path

import pytest

import treebp


@pytest.mark.parametrize("name", treebp.__all__)
def test_every_public_name_can_be_had_and_has_an_example(name: str) -> None:
    assert ">>>" in getattr(treebp, name).__doc__


def test_the_two_lists_of_names_agree() -> None:
    tree = ast.parse(Path(treebp.__file__).read_text(encoding="utf-8"))
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {"import_module", "TYPE_CHECKING", "Any"} == set(treebp.__all__) == set(dir(treebp))


def test_importing_loads_nothing_slow() -> None:
    code = "import sys, treebp; print(sorted({'numba', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ProjectivTree'"):
        _ = treebp.ProjectivTree
