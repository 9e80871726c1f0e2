"""The talk between benchmarks/peers.py and the systems, with the one system that is always there."""

import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from treebp.benchmarks import Measurement, Run
from treebp.trees.dependency_trees import DependencyTrees

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def peers():
    spec = importlib.util.spec_from_file_location("peers", FOLDER / "peers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_system_answers_and_one_that_is_missing_or_fails_says_why(peers, tmp_path):
    scores, adjoint = np.random.default_rng(0).normal(size=(2, 3, 5, 5))
    for name, array in (("scores", scores), ("adjoint", adjoint)):
        np.save(tmp_path / f"{name}.npy", array)
    case = {
        "scores": str(tmp_path / "scores.npy"),
        "adjoint": str(tmp_path / "adjoint.npy"),
        "projective": True,
    }
    missing = peers.Peer("not installed: no wheel", "peer_trees.py", "supar")
    with peers.Peer(sys.executable, "peer_trees.py", "treebp") as ours, missing:
        assert "version" in ours.ask(**case, result=str(tmp_path / "out.npy"))
        trees = DependencyTrees(scores, projective=True, single_root=True)
        assert np.array_equal(np.load(tmp_path / "out.npy"), trees.backward(adjoint))
        answers = peers.in_turn([ours, missing], 3, **case, least=0.0)
        figures = peers.figures(answers, "seconds")
        assert len(figures["treebp"]["values"]) == 3
        assert figures["supar"] == {"error": "not installed: no wheel"}
        assert peers.errors([ours, missing], tmp_path, case) == {"supar": "not installed: no wheel"}
        assert "FileNotFoundError" in ours.ask(scores="none.npy", adjoint=None, projective=True)["error"]


def test_the_table_has_a_row_for_everything(peers):
    seconds = {
        "treebp": {"median": 0.001, "ratio": 1.0, "values": [0.001]},
        "supar": {"median": 0.05, "ratio": 50.0, "values": [0.05]},
        "torch-struct": {"error": "not installed: no wheel"},
    }
    error = {"supar": 1e-9, "torch-struct": "not installed: no wheel"}
    report = {
        "versions": {"treebp": "0", "spacy": None},
        "trees": [{"projective": True, "words": 10, "with_backward": False, "error": error, "seconds": seconds}],
        "scales": [{"projective": False, "scale": 100, "error": {"supar": "NaN", "torch-struct": 0.42}}],
        "parsers": {
            "treebp": {"median": 20000.0, "ratio": 1.0, "values": [20000.0]},
            "spacy": {"error": "not installed: no wheel"},
        },
    }

    def text():
        return "\n".join(line for name, table in peers.TABLES.items() if name in report for line in table(report))

    assert "| projective, marginals | 10 | 1 | 50 | 50.0 | not installed: no wheel |  |" in text()
    assert "| non-projective | × 100 | NaN | 0.4 |" in text()
    assert "| treebp | 0 | 20,000 | 1.00 |" in text()
    report["trees"][0]["error"]["supar"] = 0.3
    assert "not the same: 0.3" in text()


def test_the_page_is_filled_where_there_are_figures_and_stays_elsewhere(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    page = importlib.import_module("fill_page")
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    run = Run("small.conllu", [Measurement("parsing", "whole", "words/s", (1234.0,))], {"cores": 2})
    (tmp_path / "bench.json").write_text(run.to_json())
    text = (
        "a\n<!-- bench.json parsing growth -->\nold\n<!-- end -->\nb\n<!-- none.json parsing -->\nold\n<!-- end -->\n"
    )
    filled = page.TABLE.sub(page.filled, text)
    assert "| parsing | whole | 1,234 | 1,234 - 1,234 | words/s |" in filled
    assert "small.conllu; cores 2." in filled
    assert filled.count("old") == 1
    assert page.TABLE.sub(page.filled, filled) == filled
