"""The unknowns of a factor graph."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Variable:
    """An unknown with the states 0 to `states - 1`; made by `FactorGraph.variable`.

    Two variables are equal only if they are the same object, so a variable can be the key of a dictionary.
    A binary variable that says whether something is there has state 0 for OFF and state 1 for ON.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> FactorGraph().variable(states=3, name="tag")
        Variable(name='tag', states=3)

    """

    name: str
    states: int
