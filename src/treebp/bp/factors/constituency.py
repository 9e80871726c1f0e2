"""Constituency trees as one factor."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array
from treebp._types import BoolArray, FloatArray
from treebp.bp.factors.hypergraph_factor import HypergraphFactor, derivable
from treebp.bp.variables import Variable
from treebp.hypergraphs.builders import cnf_chart
from treebp.hypergraphs.hypergraph import Hypergraph


class ConstituencyTree(HypergraphFactor):
    """Allows the joint states in which the spans that are ON form a binary tree over the whole sentence.

    Without a grammar this is the factor of Naradowsky, Vieira and Smith (2012): one binary variable per span says
    whether it is a constituent. With a grammar in Chomsky normal form, state `1 + A` of a span's variable means a
    constituent with the symbol A, and each use of a rule is scored.

    Args:
        spans: {(start, end): variable}, the spans that may be constituents. Words lie between the positions 0
            to n, where n is the largest end. Words and the whole sentence are always constituents, and have a
            variable only if given here. Each variable has a state more than there are symbols; 0 is OFF.
        rules: (rules, 3) the symbols of parent, left child and right child. Symbol 0 is the whole sentence's;
            words may have any.
        rule_scores: (rules,) log-potentials of the rules, zero if left out; the factor's `potentials`.

    Raises:
        ValueError: something that is no span, a variable with the wrong states, scores without rules, spans that make
            no tree.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> spans = {span: graph.variable(name=str(span)) for span in [(0, 2), (1, 3)]}
        >>> _ = graph.factor([spans[0, 2]], [0.0, 1.0])
        >>> _ = graph.constrain(ConstituencyTree(spans))
        >>> propagate(graph, iterations=1)[spans[1, 3]].round(3)
        array([0.731, 0.269])

    """

    def __init__(
        self,
        spans: Mapping[tuple[int, int], Variable],
        rules: ArrayLike | None = None,
        rule_scores: ArrayLike | None = None,
    ) -> None:
        for (start, end), variable in spans.items():
            if not 0 <= start < end:
                raise ValueError(f"ConstituencyTree: ({start}, {end}) of variable {variable.name} is no span")
        if not spans:
            raise ValueError("ConstituencyTree: needs at least one span")
        n = max(end for _, end in spans)
        grammar = integer_array([[0, 0, 0]] if rules is None else rules, "ConstituencyTree: rules").reshape(-1, 3)
        symbols = int(grammar.max(initial=0)) + 1
        for variable in spans.values():
            if variable.states != symbols + 1:
                raise ValueError(
                    f"ConstituencyTree: variable {variable.name} has {variable.states} states, expected "
                    f"{symbols + 1}: OFF and {symbols} symbols"
                )
        scores: FloatArray = np.zeros(0 if rules is None else len(grammar))
        if rule_scores is not None:
            if rules is None:
                raise ValueError("ConstituencyTree: rule scores without rules")
            scores = float_array(rule_scores, "ConstituencyTree: rule scores")
            if scores.shape != (len(grammar),):
                raise ValueError(f"ConstituencyTree: rule scores of shape {scores.shape}, expected ({len(grammar)},)")

        chart = cnf_chart(n, grammar, symbols=symbols)
        starts, ends, symbols_used = np.unravel_index(chart.tie, (n, n + 1, symbols))
        allowed = np.zeros((n, n + 1), dtype=np.bool_)
        allowed[tuple(np.array(list(spans)).T)] = True
        kept: BoolArray = allowed[starts, ends] | (ends - starts == 1) | (ends - starts == n)
        places = zip(starts[kept].tolist(), ends[kept].tolist(), symbols_used[kept].tolist(), strict=True)
        ties = {edge: (spans[i, j], 1 + label) for edge, (i, j, label) in enumerate(places) if (i, j) in spans}
        trees = _subgraph(chart.hypergraph, kept)
        if not derivable(trees):
            raise ValueError(f"ConstituencyTree: no tree over {n} words can be made of these {len(spans)} spans")
        super().__init__(
            trees,
            edges=ties,
            potentials=scores,
            parameters=chart.rule[kept] if rules is not None else np.full(int(kept.sum()), -1),
        )


def _subgraph(hypergraph: Hypergraph, kept: BoolArray) -> Hypergraph:
    arity = np.diff(hypergraph.offsets)
    return Hypergraph(
        hypergraph.nodes,
        hypergraph.heads[kept],
        hypergraph.tails[np.repeat(kept, arity)],
        np.concatenate(([0], np.cumsum(arity[kept]))),
        root=hypergraph.root,
    )
