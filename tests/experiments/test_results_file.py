"""Results on disk survive interruptions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import result

from treebp.experiments.cells import Cell
from treebp.experiments.results_file import append_results, read_results
from treebp.parsing.config import Config

RESULTS = [result(Cell(treebank="da", data="", config=Config(iterations=n)), [n, 0]) for n in (1, 2, 3)]


@given(st.data())
def test_a_file_cut_short_anywhere_keeps_its_whole_lines_and_can_be_continued(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("results") / "figure3.jsonl"
    append_results(path, RESULTS[:2])
    whole = path.read_bytes()
    length = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:length])
    kept = whole[:length].count(b"\n")
    assert list(read_results(path).values()) == RESULTS[:kept]
    append_results(path, RESULTS[kept:])
    assert list(read_results(path).values()) == RESULTS


def test_a_foreign_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "figure3.jsonl"
    append_results(path, RESULTS[:1])
    with path.open("a") as stream:
        stream.write('{"treebank": "da"}\n')
    with pytest.raises(ValueError, match=r"figure3\.jsonl:2: not a result of this program"):
        read_results(path)


def test_lines_are_short(tmp_path: Path) -> None:
    path = tmp_path / "table2.jsonl"
    append_results(path, [result(Cell(treebank="en_ewt", data="12ab"), [1] * 1000)])
    assert path.stat().st_size < 6000
