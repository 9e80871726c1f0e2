"""The code in the documentation runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/library.md",
        "docs/architecture.md",
        "docs/pipeline.md",
        "docs/torch.md",
        "docs/networks.md",
        "docs/spacy.md",
    ],
)
def test_code_blocks_run_in_order(name, tmp_path, monkeypatch):
    for page, package in {"torch": "torch", "networks": "torch", "spacy": "spacy"}.items():
        if name == f"docs/{page}.md":
            pytest.importorskip(package, reason=f"the extra treebp[{package}] is not installed")
    monkeypatch.chdir(tmp_path)  # what a page writes goes there
    text = (ROOT / name).read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    assert blocks
    for block in blocks:
        # Blank lines in front, so that a failure shows the line of the document.
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(ROOT / name), "exec"), namespace)


def test_the_library_is_shown_in_fifteen_lines():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert first is not None
    assert first[1].count("\n") <= 15


def test_own_factor_is_shorter_than_forty_lines():
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    factor = re.search(r"^```python\n(class EvenParity.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert factor is not None
    assert factor[1].count("\n") < 40
