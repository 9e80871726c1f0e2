"""The experiments: what each varies and shows. An experiment is a figure, and the cells it needs follow from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from treebp.experiments.by_treebank import ByTreebank
from treebp.experiments.cells import Result
from treebp.experiments.convergence import Convergence
from treebp.experiments.curves import Curves
from treebp.experiments.summary import Settings


class Figure(Protocol):
    """What an experiment shows."""

    @property
    def variants(self) -> list[Settings]:
        """The settings of all the cells that it needs."""

    @property
    def test_iterations(self) -> tuple[int, ...]:
        """With how many iterations to parse the test set besides."""

    def markdown(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """The figure as tables."""

    def svg(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """The figure as a picture."""


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Attributes:
        title: what it is about.
        figure: what it shows; of fewer iterations if the argument, for a quick look, is true.
        treebanks: the codes of the treebanks that it is usually run on.
        embedded: those that it is run on when there are no others.

    """

    title: str
    figure: Callable[[bool], Figure]
    treebanks: tuple[str, ...] = ("ptb10",)
    embedded: tuple[str, ...] = ("embedded",)


# The settings of a quick look, with which a parser is trained in a few seconds.
QUICK_SENTENCES = 800
QUICK_SETTINGS = (
    "epochs=3",
    "rate=0.02",
    "weight_bits=19",
    "pruner_weight_bits=17",
    "pruner_epochs=1",
    "pruner_folds=2",
    "prune_heads=5",
    "encoder_layers=1",
    "encoder_size=64",
    "embedding_size=32",
    "arc_size=64",
    "part_rank=16",
    "network_epochs=3",
    "network_batch=500",
)

# The 19 languages of the paper's Table 2, in its order.
LANGUAGES = (
    *("ar_padt", "bg_btb", "ca_ancora", "cs_mix", "da_conllx", "de_mix", "el_gdt", "en_ewt", "es_conll07", "eu_bdt"),
    *("hu_szeged", "it_partut", "ja_mix", "nl_lassysmall", "pt_bosque", "sl_ssj", "sv_talbanken", "tr_imst", "zh_gsd"),
)
# The paper's Table 2 for Danish, CLL and L2; the only treebank that we have as it was.
PUBLISHED = {
    "da_conllx": {
        "first order": (87.15, 87.03),
        "BP 1": (86.31, 85.24),
        "BP 2": (87.41, 87.44),
        "BP 4": (87.65, 87.54),
        "BP 8": (87.68, 87.58),
    }
}

_CLL, _L2, _BOTH, _ALONE = ({"objective": name} for name in ("cll", "l2", "l2+ar", "ar"))
_FIRST_ORDER = {"factors": ()}
_SECOND_ORDER = {"factors": ("grandparent", "sibling")}


def _iterations(quick: bool, *full: int) -> dict[str, Settings]:
    counts = [count for count in full if count in (1, 2, 4)] if quick else full
    return {str(count): {"iterations": count} for count in counts}


def _figure3(quick: bool) -> Figure:
    return Curves(
        across="iterations",
        points=_iterations(quick, *range(1, 9)),
        series={"CLL": _CLL, "L2": _L2, "L2+AR": _BOTH},
        comparisons=[(("L2", "2"), ("CLL", "4"))],
    )


def _figure4(quick: bool) -> Figure:
    factors = {
        "unary": (),
        "grandparents": ("grandparent",),
        "siblings": ("sibling",),
        "both": ("grandparent", "sibling"),
    }
    return Curves(
        across="factors",
        points={name: {"factors": kinds, "iterations": 4} for name, kinds in factors.items()},
        series={"CLL": _CLL, "L2": _L2, "L2+AR": _BOTH},
    )


def _table1(quick: bool) -> Figure:
    factors = {"factors": ("grandparent",), "iterations": 4}
    return Curves(
        across="inference",
        points={"BP 4": {**factors, "inference": "bp"}, "exact": {**factors, "inference": "exact"}},
        series={"CLL": _CLL, "L2": _L2},
        comparisons=[(("L2", "BP 4"), ("CLL", "exact"))],
    )


def _table2(quick: bool) -> Figure:
    orders: dict[str, Settings] = {"first order": {**_FIRST_ORDER, "iterations": 4}}
    orders |= {f"BP {name}": {**_SECOND_ORDER, **count} for name, count in _iterations(quick, 1, 2, 4, 8).items()}
    pairs = {name: ({**order, **_CLL}, {**order, **_L2}) for name, order in orders.items()}
    return ByTreebank(("CLL", "L2"), pairs, published=PUBLISHED)


def _nonprojective(quick: bool) -> Figure:
    model = {**_L2, **_SECOND_ORDER, "iterations": 4}
    pair = {**model, "tree": "projective"}, {**model, "tree": "nonprojective"}
    trait = "non-projective arcs, %", lambda result: result.nonprojective
    return ByTreebank(("projective", "nonprojective"), {"": pair}, trait=trait)


def _predicted_tags(quick: bool) -> Figure:
    tags: Settings = {"tags": "predicted"}
    if quick:
        tags = {**tags, "tagger_weight_bits": 18, "tagger_epochs": 2, "tagger_folds": 2}
    return Curves(
        across="iterations",
        points=_iterations(quick, 1, 2, 4),
        series={"CLL": {**_CLL, **tags}, "L2": {**_L2, **tags}},
        comparisons=[(("L2", "2"), ("CLL", "4"))],
    )


def _ar_alone(quick: bool) -> Figure:
    return Curves(
        across="iterations",
        points=_iterations(quick, 1, 2, 4, 8),
        series={"CLL": _CLL, "L2": _L2, "AR": _ALONE, "L2+AR": _BOTH},
    )


def _convergence(quick: bool) -> Figure:
    series = {
        f"{name}, T = {count}": {**objective, **setting}
        for name, objective in (("CLL", _CLL), ("L2", _L2))
        for count, setting in _iterations(quick, 1, 2, 4, 8).items()
    }
    return Convergence(series, (1, 2, 4, 8) if quick else (1, 2, 3, 4, 5, 6, 8, 10, 12, 16))


def _networks(quick: bool) -> Figure:
    orders: dict[str, Settings] = {"first order": {**_FIRST_ORDER, "iterations": 4}}
    orders |= {f"BP {name}": {**_SECOND_ORDER, **count} for name, count in _iterations(quick, 1, 2, 3, 4).items()}
    pairs: dict[str, tuple[Settings, Settings]] = {}
    for scorer in ("hashed", "neural", "sum"):
        for name, order in orders.items():
            first, second = (
                {**order, "scorer": scorer, "objective": objective, "network_objective": objective}
                for objective in ("cll", "l2")
            )
            pairs[f"{scorer}, {name}"] = first, second
    return ByTreebank(("CLL", "L2"), pairs)


EXPERIMENTS = {
    "figure3": Experiment("Accuracy against iterations, in training and testing alike", _figure3),
    "figure4": Experiment("Accuracy against the kinds of factors, with 4 iterations", _figure4),
    "table1": Experiment("Belief propagation against exact inference, with grandparents", _table1),
    "table2": Experiment("L2 against CLL on many treebanks", _table2, LANGUAGES),
    "nonprojective": Experiment(
        "Non-projective against projective trees", _nonprojective, LANGUAGES, ("embedded", "embedded-nonprojective")
    ),
    "predicted-tags": Experiment("Accuracy against iterations, with tags predicted as in use", _predicted_tags),
    "ar-alone": Experiment("Annealed risk without L2 before it", _ar_alone),
    "convergence": Experiment("Iterations at test time, for parsers trained with T of them", _convergence),
    "networks": Experiment(
        "L2 against CLL with hashed features, networks and sums of both",
        _networks,
        ("ptb10", "en_ewt", "el_gdt", "hu_szeged", "it_partut", "da_conllx"),
    ),
}
