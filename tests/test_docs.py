"""The code in the documentation runs."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("name", ["library.md"])
def test_code_blocks_run_in_order(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    assert blocks
    for block in blocks:
        # Blank lines in front, so that a failure shows the line of the document.
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(DOCS / name), "exec"), namespace)


def test_own_factor_is_shorter_than_forty_lines():
    text = (DOCS / "library.md").read_text(encoding="utf-8")
    factor = re.search(r"^```python\n(class EvenParity.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert factor is not None
    assert factor[1].count("\n") < 40
