"""All iterations in one kernel give what a call for each group gives."""

from collections.abc import Callable

import numpy as np
import pytest

from treebp.bp import propagation
from treebp.bp.beliefs import Beliefs
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.protocol import Group
from treebp.bp.groups.trees import Trees
from treebp.bp.propagation import propagate

WORDS = [4, 1, 9]
Potentials = list[np.ndarray]


def graph_of(rng: np.random.Generator, counts: tuple[int, ...] = (60, 30), *, single_root: bool = False) -> Graph:
    """Sentences side by side: an arc from the root to each word, some others, and so many pairs of each kind."""
    heads, modifiers, sentence = [], [], []
    for number, count in enumerate(WORDS):
        for modifier in range(1, count + 1):
            own = [0, *(head for head in range(1, count + 1) if head != modifier and rng.random() < 0.6)]
            heads += own
            modifiers += [modifier] * len(own)
            sentence += [number] * len(own)
    sizes, arcs = [count + 1 for count in WORDS], np.arange(len(heads))
    trees = Trees(sizes, heads, modifiers, arcs, projective=True, single_root=single_root)
    groups: list[Group] = [AllOn(arcs[:, None])]
    for count in counts:
        pairs = rng.integers(len(arcs), size=(20 * count, 2))
        same = np.array(sentence)[pairs]
        groups.append(AllOn(pairs[(same[:, 0] == same[:, 1]) & (pairs[:, 0] != pairs[:, 1])][:count]))
    return Graph(len(arcs), [*groups, trees])


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each run since was done in one kernel."""
    found, run = list[bool](), propagation.run_projective

    def watched(*arguments: object) -> object:
        outcome = run(*arguments)  # type: ignore[arg-type]
        found.append(outcome is not None)
        return outcome

    monkeypatch.setattr(propagation, "run_projective", watched)
    return found


def group_by_group(graph: Graph, **options: object) -> Beliefs:
    """As without the kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "run_projective", lambda *_: None)
        return propagate(graph, **options)  # type: ignore[arg-type]


def agree(ours: Beliefs, theirs: Beliefs, *, gradient: bool) -> None:
    """All that beliefs can be asked for."""
    assert np.array_equal(ours.on, theirs.on)
    assert np.array_equal(ours.changes, theirs.changes)
    assert np.array_equal(ours.residuals, theirs.residuals)
    assert ours.log_partition == theirs.log_partition
    assert all(map(np.array_equal, ours.group_expectations, theirs.group_expectations))
    if not gradient:
        return
    adjoint = np.random.default_rng(8).normal(size=len(ours.on))
    for one, two in zip(ours.backward(adjoint), theirs.backward(adjoint), strict=True):
        assert np.allclose(one, two, rtol=1e-12, atol=1e-12)
    for one, two in zip(ours.backward(adjoint), ours.backward(adjoint), strict=True):
        assert np.array_equal(one, two)  # nothing that is kept was overwritten


@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_beliefs_and_gradients(taken: list[bool], iterations: int, gradient: bool, single_root: bool) -> None:
    rng = np.random.default_rng(iterations)
    graph = graph_of(rng, single_root=single_root)
    potentials = [rng.normal(size=group.potentials) for group in graph.groups]
    given = {"iterations": iterations, "potentials": potentials, "gradient": gradient, "watch": False}
    agree(propagate(graph, **given), group_by_group(graph, **given), gradient=gradient)
    assert taken == [True]


@pytest.mark.parametrize("counts", [(40,), (50, 0), (30, 20, 10)], ids=str)
def test_kinds_of_pairs(taken: list[bool], counts: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    graph = graph_of(rng, counts)
    given = {"iterations": 3, "potentials": [rng.normal(size=group.potentials) for group in graph.groups]}
    agree(propagate(graph, watch=False, **given), group_by_group(graph, watch=False, **given), gradient=True)
    assert taken == [True]


def forbidden(potentials: Potentials) -> Potentials:
    """Some arcs that are not from the root are in no tree."""
    return [np.where(potentials[0] < -0.8, -np.inf, potentials[0]), *potentials[1:]]


def strong_pairs(potentials: Potentials) -> Potentials:
    """Too strong for ratios."""
    return [potentials[0], 300.0 * potentials[1], *potentials[2:]]


def strong_arcs(potentials: Potentials) -> Potentials:
    """Too strong for real arithmetic."""
    return [np.where(potentials[0] > 0.5, 2000.0, potentials[0]), *potentials[1:]]


@pytest.mark.parametrize(("change", "in_one_kernel"), [(forbidden, True), (strong_pairs, False), (strong_arcs, False)])
@pytest.mark.parametrize("seed", range(4))
def test_extreme_potentials(
    taken: list[bool], change: Callable[[Potentials], Potentials], in_one_kernel: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    graph = graph_of(rng)
    from_root = graph.groups[-1].arcs.heads == 0  # type: ignore[attr-defined]
    potentials = [rng.normal(size=group.potentials) for group in graph.groups]
    potentials[0][from_root] = 0.1  # a tree is left
    given = {"iterations": 3, "potentials": change(potentials), "watch": False}
    agree(propagate(graph, **given), group_by_group(graph, **given), gradient=True)
    assert taken == [in_one_kernel]


@pytest.mark.parametrize("options", [{"damping": 0.5, "watch": False}, {"watch": True}, {"tolerance": 1e-3}], ids=str)
def test_what_it_is_not_for(taken: list[bool], options: dict[str, float]) -> None:
    rng = np.random.default_rng(4)
    graph = graph_of(rng)
    given = {"iterations": 9, "potentials": [rng.normal(size=group.potentials) for group in graph.groups], **options}
    agree(propagate(graph, **given), group_by_group(graph, **given), gradient=True)
    assert taken == [False]


@pytest.mark.parametrize("projective", [False, True])
def test_graphs_it_is_not_for(taken: list[bool], projective: bool) -> None:
    """Triples, or trees whose arcs may cross."""
    arcs = np.arange(6)
    trees = Trees([3, 3], [0, 2, 1] * 2, [1, 1, 2] * 2, arcs, projective=projective, single_root=False)
    more = AllOn([[0, 1, 2], [3, 5, 4]]) if projective else AllOn([[0, 2], [3, 5]])
    graph = Graph(6, [AllOn(arcs[:, None]), AllOn([[0, 2], [5, 4]]), more, trees])
    potentials = [np.random.default_rng(6).normal(size=group.potentials) for group in graph.groups]
    given = {"iterations": 3, "potentials": potentials, "watch": False}
    agree(propagate(graph, **given), group_by_group(graph, **given), gradient=True)
    assert taken == [False]


def test_no_tree_is_an_error() -> None:
    rng = np.random.default_rng(5)
    graph = graph_of(rng)
    potentials = [rng.normal(size=group.potentials) for group in graph.groups]
    potentials[0][:] = -np.inf
    given = {"iterations": 2, "potentials": potentials, "watch": False}
    for run in (propagate, group_by_group):
        with pytest.raises(ValueError, match="the other factors leave it no state of variable 0"):
            run(graph, **given)
