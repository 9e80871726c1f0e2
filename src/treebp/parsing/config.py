"""Everything that describes a training run, as one dataclass that reads and writes TOML."""

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from treebp.features.templates import TemplateGroup

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Objective = Literal["cll", "l2", "ar", "l2+ar"]
NetworkObjective = Literal["heads", "cll", "l2", "l2+ar", "heads+l2"]
Input = Literal["words", "characters", "lemmas", "tags", "morphology"]
PartName = Literal["grandparent", "sibling", "consecutive-sibling", "grand-sibling", "tri-sibling"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How a parser is built and trained; the defaults are those that did best on development data.

    >>> config = Config().override(["iterations=2", "factors=['sibling']"])
    >>> config.iterations, config.factors
    (2, ('sibling',))
    >>> Config.from_toml(config.to_toml()) == config
    True
    """

    objective: Objective = "l2"
    """What training minimises: negative (surrogate) log-likelihood, L2 distance, annealed risk, or L2 and then risk."""
    factors: tuple[PartName, ...] = ("grandparent", "sibling")
    """Arcs that are scored together; none for a first-order model."""
    inference: Literal["bp", "exact"] = "bp"
    """Belief propagation, or the dynamic program there is for first order, and for grandparents in projective trees."""
    scorer: Literal["hashed", "neural", "sum"] = "hashed"
    """What scores arcs and parts: hashed features, a network (which needs treebp[neural]), or the mean of both."""
    iterations: int = 4
    """Iterations of belief propagation, in training and in parsing."""
    schedule: Literal["serial", "parallel"] = "serial"
    """The order of messages: from all other factors to the tree factor and back, or all at once."""
    damping: float = 0.0
    """The share of its last value that stays in a message."""
    tolerance: float = 0.0
    """Stop before the last iteration when no message, as a probability, changes by as much; 0 never stops early."""
    tree: Literal["auto", "projective", "nonprojective"] = "auto"
    """Whether arcs may cross; "auto" allows it where at least 1 % of the training arcs do."""
    root: Literal["auto", "single", "multiple"] = "auto"
    """How many words may hang from the root; "auto" follows the training trees."""
    decoder: Literal["mbr", "log-odds", "map"] = "mbr"
    """How a tree is picked: by expected accuracy, by log-odds of arcs, or by score."""
    templates: tuple[TemplateGroup, ...] = get_args(TemplateGroup)
    """Groups of feature templates; those whose column a treebank does not fill are left out."""
    word_clusters: str = ""
    """A file of clusters of words, a name, a tab and a word in each line, or a model that has them, "en" say."""
    weight_bits: int = 24
    """The parser has 2**weight_bits hashed weights."""
    tags: Literal["gold", "predicted"] = "gold"
    """Tags, features and lemmas of the treebank, or those of a tagger that is trained and used with the parser."""
    tokeniser: bool = False
    """Whether a tokeniser is trained too, so that the model reads plain text."""
    tagger_weight_bits: int = 24
    """The tagger has 2**tagger_weight_bits hashed weights."""
    tagger_epochs: int = 5
    """Passes over the training data for the tagger."""
    tagger_folds: int = 4
    """Training sentences are tagged by models that have not seen them, one per fold."""
    labels: bool = True
    """Whether arcs get labels."""
    label_weight_bits: int = 17
    """The model of labels has 2**label_weight_bits hashed rows of weights, fewer if there are very many labels."""
    label_epochs: int = 3
    """Passes over the training data for the model of labels."""
    label_rate: float = 0.3
    """Its learning rate."""

    pruner_weight_bits: int = 22
    """The pruner has 2**pruner_weight_bits weights."""
    pruner_epochs: int = 2
    """Passes over the training data for the pruner."""
    pruner_rate: float = 0.2
    """The pruner's learning rate."""
    pruner_folds: int = 4
    """Training sentences are pruned by models that have not seen them, one per fold."""
    prune_ratio: float = 1e-4
    """Heads less probable than this times the word's best head are pruned."""
    prune_heads: int = 10
    """At most so many heads are kept per word."""
    length_bounds: bool = False
    """Also prune arcs longer than any in training between the same tags in the same direction."""

    epochs: int = 10
    """Passes over the training data, for each objective in turn."""
    trainings: int = 1
    """So many trainings of hashed features for heads and labels, each in its own order, whose weights are averaged."""
    minibatch: int = 14
    """Sentences per update of the weights."""
    rate: float = 0.0
    """Learning rate; 0 tunes it on a sample of the training data."""
    regularisation: float = 10.0
    """The L2 penalty is this divided by the number of training sentences."""
    temperature_start: float = 0.1
    """Annealed risk's temperature at the first update."""
    temperature_end: float = 1e-4
    """Annealed risk's temperature at the last update."""

    inputs: tuple[Input, ...] = ("words", "characters", "lemmas", "tags", "morphology")
    """What a network is told of each word; columns that a treebank does not fill are left out."""
    encoder: str = "bilstm"
    """How a network reads a sentence: "bilstm", "transformer", or by a name or folder of the package transformers."""
    encoder_layers: int = 3
    """Layers of the encoder."""
    encoder_size: int = 400
    """Size of its states, in each direction."""
    embedding_size: int = 100
    """Size of the vector of each input."""
    arc_size: int = 500
    """Size of the vectors that arcs are scored by."""
    label_size: int = 100
    """Size of the vectors that labels are scored by."""
    part_rank: int = 100
    """Size of the vectors that parts of several arcs are scored by."""
    dropout: float = 0.33
    """The share of values between layers that are dropped in training."""
    hidden: float = 0.33
    """The share of inputs that are hidden in training."""
    bf16: bool = False
    """Whether the encoder computes in bfloat16; only on GPUs."""
    network_objective: NetworkObjective = "l2"
    """What a network's training minimises: as above, or negative log-beliefs of right heads, or one after the other."""
    network_epochs: int = 32
    """Passes over the training data for a network, for each objective in turn."""
    network_rate: float = 2e-3
    """AdamW's learning rate at its highest: it rises from zero and falls to zero again."""
    pretrained_rate: float = 5e-5
    """The same for an encoder of the package transformers."""
    network_warmup: float = 0.05
    """The share of all steps in which it rises."""
    network_decay: float = 0.01
    """AdamW's weight decay."""
    network_batch: int = 1000
    """Words per update of a network."""
    network_clip: float = 5.0
    """Gradients that are longer are shortened to this length."""
    held_out: float = 0.1
    """Share of the training sentences, the last ones, used as development data when none is given."""
    seed: int = 1
    """All that is random follows from it."""
    size: float = 0.0
    """Megabytes of the file, at most; 0: the fewest weights that cost nothing on development data; inf: all of them."""

    def __post_init__(self) -> None:
        hints = get_type_hints(Config)
        for field in fields(self):
            object.__setattr__(self, field.name, _checked(field.name, getattr(self, field.name), hints[field.name]))
        for name, low, high in _RANGES:
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} = {getattr(self, name)} is not between {low:g} and {high:g}")
        if not self.encoder or set(self.encoder) & set('"\\\n\r'):
            raise ValueError(f"encoder = {self.encoder!r} is no name")
        if self.tokeniser and self.tags != "predicted":
            raise ValueError("tokeniser = true needs tags = 'predicted': words of a text come without tags")
        for name in self.factors if self.inference == "exact" else ():
            if name != "grandparent":
                raise ValueError(f"inference = 'exact' knows no {name!r} factors: leave them out, or use 'bp'")
        if self.inference == "exact" and self.factors and self.tree == "nonprojective":
            raise ValueError("inference = 'exact' needs tree = 'projective' when there are 'grandparent' factors")

    @classmethod
    def from_toml(cls, text: str, source: str = "configuration") -> "Config":
        """Read TOML; keys that are left out keep their defaults. Raises ValueError for anything else that is wrong."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{source}: {error}") from None
        return cls()._with(values, source)

    @classmethod
    def load(cls, path: str | Path) -> "Config":
        """Read a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: {error}") from None
        return cls.from_toml(text, str(path))

    def override(self, settings: Iterable[str]) -> "Config":
        """Replace values by settings of the form ``key=value``, the value as in TOML or a bare word."""
        values: dict[str, Any] = {}
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                raise ValueError(f"setting {setting!r} is not of the form key=value")
            try:
                values[key.strip()] = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError:
                values[key.strip()] = value.strip()
        return self._with(values, "setting")

    def to_toml(self) -> str:
        """All values as TOML."""
        return "".join(f"{key} = {_toml(value)}\n" for key, value in asdict(self).items())

    def _with(self, values: dict[str, Any], source: str) -> "Config":
        known = {field.name for field in fields(self)}
        for key in values:
            if key not in known:
                raise ValueError(f"{source}: unknown key {key!r}; the keys are {', '.join(sorted(known))}")
        try:
            return replace(self, **values)
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from None


_RANGES = [
    ("iterations", 1, 1000),
    ("damping", 0.0, 0.99),
    ("tolerance", 0.0, 1.0),
    ("weight_bits", 10, 30),
    ("tagger_weight_bits", 10, 30),
    ("tagger_epochs", 1, 1000),
    ("tagger_folds", 1, 100),
    ("size", 0.0, math.inf),
    ("label_weight_bits", 1, 24),
    ("label_epochs", 1, 1000),
    ("label_rate", 1e-9, 1e3),
    ("pruner_weight_bits", 10, 30),
    ("pruner_epochs", 1, 1000),
    ("pruner_rate", 1e-9, 1e3),
    ("pruner_folds", 1, 100),
    ("prune_ratio", 0.0, 1.0),
    ("prune_heads", 1, 10**6),
    ("epochs", 1, 10000),
    ("trainings", 1, 1000),
    ("minibatch", 1, 10**6),
    ("rate", 0.0, 1e3),
    ("regularisation", 0.0, 1e9),
    ("temperature_start", 1e-6, 1e3),
    ("temperature_end", 1e-6, 1e3),
    ("encoder_layers", 1, 100),
    ("encoder_size", 1, 10**5),
    ("embedding_size", 1, 10**5),
    ("arc_size", 1, 10**5),
    ("label_size", 1, 10**4),
    ("part_rank", 1, 10**5),
    ("dropout", 0.0, 0.99),
    ("hidden", 0.0, 0.99),
    ("network_epochs", 1, 10000),
    ("network_rate", 1e-9, 10.0),
    ("pretrained_rate", 0.0, 10.0),
    ("network_warmup", 0.0, 1.0),
    ("network_decay", 0.0, 100.0),
    ("network_batch", 1, 10**7),
    ("network_clip", 1e-9, 1e9),
    ("held_out", 0.01, 0.5),
    ("seed", 0, 2**32 - 1),
]


def _checked(name: str, value: Any, kind: Any) -> Any:
    """The value as its declared type, or a ValueError that says what would be right."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{name} = {value!r} is none of {', '.join(map(repr, get_args(kind)))}")
        return value
    if get_origin(kind) is tuple:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} = {value!r} is not a list")
        chosen = [_checked(name, part, get_args(kind)[0]) for part in value]
        return tuple(option for option in get_args(get_args(kind)[0]) if option in chosen)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"{name} = {value!r} is not of type {kind.__name__}")
    return value


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
