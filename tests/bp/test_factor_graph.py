import numpy as np
import pytest

from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factors.cardinality import ExactlyOne
from treebp.bp.propagation import propagate
from treebp.bp.variables import Variable


def test_variables_and_handles_are_keys_with_readable_names():
    graph = FactorGraph()
    a, b = graph.variable(name="rain"), graph.variable(states=3)
    handle = graph.factor([a, b], np.zeros((2, 3)))
    structured = graph.constrain(ExactlyOne([a]), name="one")
    assert {a: 1, b: 2}[a] == 1
    assert Variable("rain", 2) != a
    assert repr(a) == "Variable(name='rain', states=2)"
    assert repr(handle) == "Factor('factor (rain, x1)')"
    assert repr(structured) == "Factor('one')"
    assert repr(graph) == "FactorGraph(2 variables, 2 factors)"


def test_potentials_are_copied():
    graph = FactorGraph()
    a = graph.variable()
    scores = np.zeros(2)
    handle = graph.factor([a], scores)
    scores[:] = np.nan
    assert handle.potentials.tolist() == [0.0, 0.0]


def test_compiled_once_until_the_structure_changes():
    graph = FactorGraph()
    a = graph.variable()
    graph.factor([a], [0.0, 1.0])
    compiled = graph.compile()
    assert graph.compile() is compiled
    graph.factor([a], [0.0, 1.0])
    assert graph.compile() is not compiled
    assert propagate(graph, iterations=1)[a][1] == pytest.approx(1 / (1 + np.exp(-2)))


class Unfit:
    """A structured factor with faults."""

    def __init__(self, variables, potentials=(), outgoing=(0.0, 0.0), adjoint=(0.0, 0.0)):
        self.variables = variables
        self.potentials = np.array(potentials, dtype=float)
        self.outgoing = np.array(outgoing, dtype=float)
        self.adjoint = np.array(adjoint, dtype=float)

    def messages(self, incoming, potentials):
        return self.outgoing, lambda adjoint: (self.adjoint, np.zeros_like(potentials))


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda graph, a: graph.variable(states=0, name="none"), "variable none: states = 0: at least 1 expected"),
        (
            lambda graph, a: graph.variable(states=2.5, name="half"),
            "variable half: states = 2.5: a whole",
        ),
        (lambda graph, a: graph.factor([a], [[0], [0, 1]]), r"factor \(x0\): an array of numbers expected"),
        (lambda graph, a: graph.factor([a], ["a", "b"]), r"factor \(x0\): an array of numbers expected"),
        (lambda graph, a: graph.factor([a], [0, -1e305]), r"factor \(x0\): log-potential -1e\+305 at \(1,\)"),
        (lambda graph, a: graph.factor([a], [0, 0, 0]), r"factor \(x0\): .* \(3,\), expected \(2,\)"),
        (lambda graph, a: graph.factor([a], [0, np.nan]), r"factor \(x0\): log-potential nan at \(1,\)"),
        (lambda graph, a: graph.factor([a], [np.inf, 0]), r"factor \(x0\): log-potential inf at \(0,\)"),
        (lambda graph, a: graph.factor([a], [-np.inf] * 2), r"factor \(x0\): forbids every joint state"),
        (lambda graph, a: graph.factor([], 0.0), "needs at least one variable"),
        (lambda graph, a: graph.factor([a, a], np.zeros((2, 2))), "variable x0 appears more than once"),
        (lambda graph, a: graph.factor([FactorGraph().variable(name="far")], [0, 0]), "variable far belongs"),
        (lambda graph, a: graph.constrain(ExactlyOne([a, a])), "ExactlyOne: variable x0 appears more than"),
        (lambda graph, a: graph.constrain(Unfit([a], [np.nan])), "Unfit: log-potential nan"),
    ],
)
def test_bad_input_is_named_when_the_graph_is_built(add, message):
    graph = FactorGraph()
    with pytest.raises(ValueError, match=message):
        add(graph, graph.variable())


@pytest.mark.parametrize(
    ("outgoing", "message"),
    [
        ([0.0], r"Unfit: outgoing messages of shape \(1,\), expected \(2,\)"),
        ([0.0, np.nan], "Unfit: NaN or"),
        ([0.0, np.inf], "Unfit: NaN or"),
        ([-np.inf, -np.inf], "Unfit: the other factors leave it no state of variable x0"),
    ],
)
def test_faults_of_a_users_factor_are_named(outgoing, message):
    graph = FactorGraph()
    graph.constrain(Unfit([graph.variable()], outgoing=outgoing))
    with pytest.raises(ValueError, match=message):
        propagate(graph, iterations=1)


@pytest.mark.parametrize("adjoint", [[0.0], [0.0, np.nan], [np.inf, 0.0]])
def test_faults_of_a_users_gradient_are_named(adjoint):
    graph = FactorGraph()
    a = graph.variable()
    graph.constrain(Unfit([a], adjoint=adjoint))
    with pytest.raises(ValueError, match=r"Unfit: adjoint \[.*\], expected finite numbers of shape \(2,\)"):
        propagate(graph, iterations=1).backward({a: [0.0, 1.0]})
