"""The talk between benchmarks/peers.py and the systems, with the one system that is always there."""

import importlib
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from treebp.benchmarks import Measurement, Run
from treebp.trees.dependency_trees import DependencyTrees

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("peers")


@pytest.fixture
def grids(peers):
    return importlib.import_module("ising_grids")


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


def test_the_reference_is_exact_on_a_chain(grids):
    rng = np.random.default_rng(0)
    fields, couplings, pairs = rng.normal(size=(3, 2)), rng.normal(size=(2, 2, 2)), np.array([[0, 1], [2, 1]])
    weights = {
        states: np.exp(
            sum(fields[variable, state] for variable, state in enumerate(states))
            + sum(table[states[one], states[other]] for table, (one, other) in zip(couplings, pairs, strict=True))
        )
        for states in itertools.product((0, 1), repeat=3)
    }
    exact = [sum(weight for states, weight in weights.items() if states[variable]) for variable in range(3)]
    found = grids.beliefs_on(fields, pairs, couplings, iterations=2)
    np.testing.assert_allclose(found, np.array(exact) / sum(weights.values()))


def test_grids_are_run_until_they_are_the_same_and_what_is_missing_says_why(grids, tmp_path, monkeypatch):
    monkeypatch.setattr(grids, "GRIDS", (4,))
    missing = grids.Peer("not installed: no wheel", "peer_graphs.py", "pgmax")
    with grids.Peer(sys.executable, "peer_graphs.py", "treebp") as ours, missing, monkeypatch.context() as context:
        context.setenv("PATH", "")
        with grids.Peer(sys.executable, "peer_graphs.py", "libdai", "") as libdai:
            beliefs, gradient = grids.graph_figures([ours, missing, libdai], tmp_path, repeats=2, least=0.0)
    assert beliefs["error"]["treebp"] < 1e-12
    assert beliefs["iterations"]["treebp"] in (20, 21)
    assert beliefs["error"]["libdai"] == "FileNotFoundError: not installed: no g++"
    assert gradient["error"] == {"treebp": 0.0, "pgmax": "not installed: no wheel", "libdai": "no gradient"}
    for row in (beliefs, gradient):
        assert len(row["seconds"]["treebp"]["values"]) == 2
        assert row["seconds"]["pgmax"] == {"error": "not installed: no wheel"}

    # Our gradient is that of the reference.
    model, change = grids.ising_grid(4), 1e-5
    by_fields = np.load(tmp_path / "treebp.npy")[:32].reshape(16, 2) @ grids.SPINS
    values = [
        grids.beliefs_on(model["fields"] + step * grids.SPINS, model["pairs"], model["couplings"], 20)
        @ model["adjoint"]
        for step in (change, -change)
    ]
    np.testing.assert_allclose(by_fields.sum(), (values[0] - values[1]) / (2 * change), rtol=1e-7)


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
        "graphs": [
            {
                "size": 50,
                "with_gradient": True,
                "iterations": {"treebp": 21, "pgmax": 20, "libdai": 21},
                "error": {"treebp": 1e-9, "pgmax": 1e-9, "libdai": "no gradient"},
                "seconds": {
                    "treebp": {"median": 0.02, "ratio": 1.0, "values": [0.02]},
                    "pgmax": {"median": 1.2345, "ratio": 0.5, "values": [1.2345]},
                    "libdai": {"error": "no gradient"},
                },
            }
        ],
        "parsers": {
            "treebp": {"median": 20000.0, "ratio": 1.0, "values": [20000.0]},
            "spacy": {"error": "not installed: no wheel"},
        },
    }

    def text():
        return "\n".join(line for name, table in peers.TABLES.items() if name in report for line in table(report))

    assert "| projective, marginals | 10 | 1 | 50 | 50.0 | not installed: no wheel |  |" in text()
    assert "| non-projective | × 100 | NaN | 0.4 |" in text()
    assert "| 50 x 50, with gradient | 20 | 1,234 | 0.50 | no gradient |  | treebp 21, pgmax 20, libdai 21 |" in text()
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
