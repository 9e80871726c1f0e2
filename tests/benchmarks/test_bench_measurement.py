"""What the benchmarks do with figures; never how large these are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.benchmarks import Measurement, Run, compare
from treebp.benchmarks.machine import machine_facts
from treebp.benchmarks.measurement import growth_exponent, interleaved

FIGURES = st.lists(st.floats(0, 1e6), min_size=1, max_size=7).map(tuple)


def run_of(*values, higher_is_better=False, workload="work"):
    return Run(workload, [Measurement("group", "figure", "ms", values, higher_is_better)], {"cores": 2})


def test_cases_take_turns_after_one_warm_up_each():
    calls = []
    now = iter(range(1000))
    seconds = interleaved(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=3, clock=lambda: next(now)
    )
    assert "".join(calls) == "aabb" + "ab" * 3
    assert seconds == {"a": [1, 1, 1], "b": [1, 1, 1]}


def test_short_work_is_repeated_until_it_takes_long_enough():
    calls = []
    now = 0.0

    def work():
        nonlocal now
        now += 0.25
        calls.append(1)

    seconds = interleaved({"work": work}, repeats=2, least=1.0, clock=lambda: now)
    assert seconds == {"work": [0.25, 0.25]}
    assert len(calls) == 2 + 2 * 4


@given(st.floats(-1, 4), st.floats(1e-6, 1e3))
def test_the_exponent_of_a_power_is_found(exponent, factor):
    sizes = [20, 40, 80, 160]
    assert growth_exponent(sizes, [factor * n**exponent for n in sizes]) == pytest.approx(exponent, abs=1e-6)


@given(FIGURES)
def test_the_median_lies_between_the_quartiles(values):
    measurement = Measurement("group", "figure", "ms", values)
    low, high = measurement.quartiles
    assert min(values) <= low <= measurement.median <= high <= max(values)


@pytest.mark.parametrize("values", [(), (float("nan"),), (1.0, float("inf"))])
def test_a_figure_that_is_none_is_refused(values):
    with pytest.raises(ValueError, match="group, figure"):
        Measurement("group", "figure", "ms", values)


@given(FIGURES, st.booleans())
def test_a_run_survives_its_file(values, higher_is_better):
    run = run_of(*values, higher_is_better=higher_is_better)
    assert Run.from_json(run.to_json()) == run
    row = json.loads(run.to_json())["measurements"][0]
    assert (row["median"], tuple(row["quartiles"])) == (run.measurements[0].median, run.measurements[0].quartiles)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "other"}', run_of(1.0).to_json().replace("1.0", "NaN")])
def test_another_file_is_refused_by_name(text):
    with pytest.raises(ValueError, match=r"old\.json is no file of treebp bench"):
        Run.from_json(text, "old.json")


@pytest.mark.parametrize(
    ("new", "old", "higher_is_better", "verdict"),
    [
        ((1.0, 1.1, 1.2), (2.0, 2.1, 2.2), False, "better"),
        ((1.0, 1.1, 1.2), (2.0, 2.1, 2.2), True, "worse"),
        ((2.0, 2.1, 2.2), (1.0, 1.1, 1.2), False, "worse"),
        ((2.0, 2.1, 2.2), (1.0, 1.1, 1.2), True, "better"),
        ((1.0, 2.0, 3.0), (1.5, 2.5, 3.5), False, ""),
        ((1.0,), (1.0,), False, ""),
        ((0.0,), (0.0,), False, ""),
    ],
)
def test_differences_beyond_the_spread_are_told(new, old, higher_is_better, verdict):
    (pair,) = compare(run_of(*new, higher_is_better=higher_is_better), run_of(*old, higher_is_better=higher_is_better))
    assert pair.verdict == verdict
    assert pair.ratio * pair.old.median == pytest.approx(pair.new.median)


def test_only_figures_that_both_runs_have_are_compared():
    other = Run("work", [Measurement("group", "another", "ms", (1.0,))], {})
    assert list(compare(run_of(1.0), other)) == []


def test_facts_name_neither_host_nor_path():
    facts = machine_facts()
    assert facts["cores"] >= 1
    assert facts["python"]
    assert not any("/" in str(value) for value in facts.values())
