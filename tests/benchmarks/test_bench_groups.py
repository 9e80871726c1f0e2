"""Every benchmark, on tiny sizes, gives the figures that its name promises."""

from dataclasses import replace

import pytest

from treebp.benchmarks import GROUPS, QUICK, Workload, measure_groups
from treebp.training import fit


@pytest.fixture(scope="module")
def workload():
    return Workload.small(QUICK)


@pytest.fixture(scope="module")
def figures(workload):
    return {name: {one.name: one for one in measured} for name, measured in measure_groups(GROUPS, workload)}


def test_all_figures_have_a_value_per_repeat_under_their_own_name(figures):
    assert list(figures) == list(GROUPS)
    for group, measurements in figures.items():
        if group == "gpu":
            continue  # there is none where the tests run
        assert measurements
        for one in measurements.values():
            assert one.group == group
            assert len(one.values) == QUICK.repeats
            assert min(one.values) >= 0.0 or one.name == "exponent"


def test_trees_are_measured_at_every_length(figures):
    assert len(figures["trees"]) == 4 * len(QUICK.lengths)


def test_the_stages_make_up_the_parser(figures):
    assert list(figures["stages"])[:2] == ["reading", "encoding"]
    assert list(figures["stages"])[-2:] == ["labels", "writing"]
    assert {one.unit for one in figures["stages"].values()} == {"µs/word"}


def test_growth_and_propagation_end_in_an_exponent(figures):
    assert list(figures["growth"]) == [*(f"{words} words" for words in QUICK.long), "exponent"]
    assert list(figures["propagation"]) == ["iterations: 1", "iterations: 2", "exponent"]


def test_ratios_are_those_of_the_figures(figures):
    training = figures["training"]
    for objective in ("CLL", "L2"):
        epochs, parses, ratios = (
            training[f"{objective}, {what}"].values
            for what in ("epoch", "parsing the same sentences", "epoch by parsing")
        )
        assert ratios == tuple(epoch / parse for epoch, parse in zip(epochs, parses, strict=True))
    one, two, ratio = (figures["threads"][name].values for name in ("threads: 1", "threads: 2", "two against one"))
    assert ratio == pytest.approx([b / a for a, b in zip(one, two, strict=True)])


def test_an_unknown_name_is_refused_at_once(workload):
    with pytest.raises(ValueError, match=r"'speed'.*trees, stages"):
        measure_groups(["trees", "speed"], workload)


def test_a_first_order_model_has_no_iterations_to_measure(workload):
    config = replace(workload.parser.config, factors=(), epochs=1)
    parser = fit(workload.sentences, workload.sentences[:1], config, threads=1)
    first_order = replace(workload, parser=parser)
    assert list(GROUPS["propagation"](first_order)) == []
    assert len(list(GROUPS["stages"](first_order))) == 10


@pytest.mark.parametrize("words", [1, 7, 100])
def test_joined_sentences_have_the_length_asked_for(workload, words):
    joined = workload.joined(words, 3)
    assert [len(sentence) for sentence in joined] == [words] * 3
    assert joined[1].forms[0] == workload.sentences[1].forms[0]
