"""Every case of the table: no traceback, the right status, the message, and nobody's file touched."""

import os
import re
import sys
from pathlib import Path

import pytest
from cases import Case, all_cases
from place import furnish, restore, snapshot

from zygote import Zygote, shared_zygote

CASES = all_cases()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    furnish(folder)
    return folder


@pytest.fixture
def zygote() -> Zygote:
    return shared_zygote()


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 150


@pytest.mark.parametrize("case", CASES, ids=str)
def test_hostile(case: Case, place: Path, zygote: Zygote) -> None:
    furnished = snapshot(place)
    try:
        for name, content in case.files.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = content(place) if callable(content) else content
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        before = snapshot(place)
        outcome = zygote.run(case.arguments, place, **case.options)
        after = snapshot(place)
    finally:
        restore(place, furnished)

    said = outcome.err + outcome.out.decode(errors="replace")
    assert "Traceback" not in said
    assert outcome.status == case.status, said
    assert re.search(case.says, outcome.err if case.status else said, flags=re.MULTILINE), said
    assert "\x1b" not in said
    if outcome.status:
        assert outcome.out == b"" or case.arguments[0] == "train"  # it may have shown some epochs
        assert outcome.err.count("\n") <= 1
    for name, content in before.items():
        assert after[name] == content or name in case.changes, f"{name} was changed"
    assert set(after) - set(before) <= set(case.leaves)
    assert not [name for name in after if os.fspath(name).endswith(".part")]
