"""From treebank sentences to what training works on."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.data.projectivity import nonprojective_arcs, projectivise
from treebp.data.sentence import Sentence
from treebp.features.encoding import Encoding
from treebp.features.word_clusters import NO_CLUSTERS, WordClusters
from treebp.models import find_model
from treebp.parsing.config import Config
from treebp.parsing.label_templates import label_templates
from treebp.parsing.labels import LabelModel
from treebp.parsing.pruner import Pruner
from treebp.parsing.reports import EpochReport, PruningReport
from treebp.training.progress import Progress
from treebp.training.pruning import cross_fitted, train_pruner
from treebp.training.tagging import Tagging, predict_tags, words_to_learn_from
from treebp.trees.dependency_trees import DependencyTrees

# With fewer sentences than this share that have several root words, a treebank counts as single-rooted.
_FEW = 0.01
# With fewer arcs than this share that are non-projective, projective trees do no worse on development data: of
# nineteen treebanks, the three above it gained by non-projective ones (0.5 to 0.9 UAS), the others lost 0.1 on average.
_FEW_ARCS = 0.01


# Settings that nothing here depends on.
_LATER = {
    "scorer",
    "inputs",
    "encoder",
    "encoder_layers",
    "encoder_size",
    "embedding_size",
    "arc_size",
    "label_size",
    "part_rank",
    "dropout",
    "hidden",
    "bf16",
    "network_objective",
    "network_epochs",
    "network_rate",
    "pretrained_rate",
    "network_warmup",
    "network_decay",
    "network_batch",
    "network_clip",
    "tokeniser",
    "size",
    "objective",
    "factors",
    "inference",
    "iterations",
    "schedule",
    "damping",
    "tolerance",
    "decoder",
    "weight_bits",
    "epochs",
    "rate",
    "temperature_start",
    "temperature_end",
}


@dataclass(frozen=True)
class Prepared:
    """What training starts from, pruned and with labels learnt: the same for all objectives, factors and iterations.

    Attributes:
        config: the configuration it was made with.
        train: the training sentences, ``tokens`` their encodings, ``gold`` their trees, ``legal`` the nearest trees
            of the model's structure, ``keep`` the arcs (n + 1, n + 1) that pruning leaves; ``drawn`` their encodings
            for each training after the first, if tags are predicted.
        dev: the development sentences, ``dev_tokens`` and ``dev_keep`` likewise.
        structure: whether trees are projective, and whether they have a single root word.
        encoding: of the training sentences.
        pruner: for new sentences.
        labels: the model of labels.
        given: training and development sentences with the tags that they came with.
        tagging: where the tags of ``train`` and ``dev`` come from, if they are predicted.
        pruning: what is left of both sets.

    """

    config: Config
    train: list[Sentence]
    dev: list[Sentence]
    structure: tuple[bool, bool]
    encoding: Encoding
    tokens: list[IntArray]
    drawn: list[list[IntArray]]
    gold: list[IntArray]
    legal: list[IntArray]
    keep: list[BoolArray]
    dev_tokens: list[IntArray]
    dev_keep: list[BoolArray]
    pruner: Pruner
    labels: LabelModel
    given: tuple[list[Sentence], list[Sentence]]
    tagging: Tagging | None
    pruning: dict[str, PruningReport]

    def check(self, config: Config) -> None:
        """Raise ValueError if a parser with another configuration would need other preparation."""
        ours = asdict(self.config)
        for key, value in asdict(config).items():
            if key not in _LATER and ours[key] != value:
                raise ValueError(f"the data were prepared with {key} = {ours[key]!r}, not {value!r}")


def prepare(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None,
    config: Config,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Prepared:
    """Encode and prune training and development sentences, and learn labels; see ``treebp.training.fit``."""
    progress = progress or Progress()
    sentences, held_out = given = train_and_dev(train, dev, config)
    clusters = WordClusters.load(config.word_clusters) if config.word_clusters else NO_CLUSTERS
    tagging = None
    if config.tags == "predicted":
        progress.start("tagger", words_to_learn_from(sentences, config))
        tagging = predict_tags(sentences, held_out, clusters, config, threads, progress.advance)
        sentences, held_out = tagging.train, tagging.dev
    structure = tree_structure(config, sentences)
    encoding = Encoding.of(sentences, clusters)
    tokens = [encoding.encode(sentence) for sentence in sentences]
    drawn = [[encoding.encode(sentence) for sentence in own] for own in (tagging.drawn if tagging is not None else [])]
    gold = [np.array(sentence.heads, dtype=np.int64) for sentence in sentences]
    legal = [legal_tree(sentence.heads, structure) for sentence in sentences]

    folds = min(config.pruner_folds, len(sentences))
    progress.start("pruner", sum(map(len, gold)) * config.pruner_epochs * max(2, folds))
    keep = cross_fitted(tokens, legal, config, structure, threads, progress.advance)
    pruner = train_pruner(tokens, legal, config, structure, threads, progress.advance)
    dev_tokens = [encoding.encode(sentence) for sentence in held_out]
    dev_keep = [pruner.keep([sentence])[0].mask() for sentence in dev_tokens]
    dev_gold = [np.array(sentence.heads, dtype=np.int64) for sentence in held_out]

    labels = LabelModel.fit(
        tokens,
        gold,
        [sentence.labels if config.labels else ["_"] * len(sentence) for sentence in sentences],
        label_templates(encoding.available(config.templates)),
        bits=config.label_weight_bits,
        epochs=config.label_epochs,
        rate=config.label_rate,
        trainings=config.trainings,
        seed=config.seed,
    )
    return Prepared(
        config=config,
        train=sentences,
        dev=held_out,
        structure=structure,
        encoding=encoding,
        tokens=tokens,
        drawn=drawn,
        gold=gold,
        legal=legal,
        keep=keep,
        dev_tokens=dev_tokens,
        dev_keep=dev_keep,
        pruner=pruner,
        labels=labels,
        given=given,
        tagging=tagging,
        pruning={"train": PruningReport.of(keep, gold), "dev": PruningReport.of(dev_keep, dev_gold)},
    )


def train_and_dev(
    train: Iterable[Sentence], dev: Iterable[Sentence] | None, config: Config
) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences to train on and those to choose by, the last of the former if none are given."""
    sentences = with_heads(list(train), "training")
    return split_off(sentences, config.held_out) if dev is None else (sentences, with_heads(list(dev), "development"))


def with_heads(sentences: Sequence[Sentence], what: str) -> list[Sentence]:
    """The sentences that have words; ValueError if there are none, or if a word has no head."""
    kept = [sentence for sentence in sentences if len(sentence)]
    if not kept:
        raise ValueError(f"the {what} data have no sentence")
    for sentence in kept:
        if min(sentence.heads) < 0:
            word = sentence.heads.index(-1) + 1
            where = f"{sentence.source or what + ' data'}:{sentence.line_of(word)}"
            raise ValueError(f"{where}: word {word} has no head, so the sentence is of no use as {what} data")
    return kept


def split_off(sentences: Sequence[Sentence], share: float) -> tuple[list[Sentence], list[Sentence]]:
    """Training and development sentences, the latter being the last ones."""
    if len(sentences) < 2:
        raise ValueError("training without development data needs at least two sentences")
    held_out = max(1, round(len(sentences) * share))
    return list(sentences[:-held_out]), list(sentences[-held_out:])


def tree_structure(config: Config, sentences: Sequence[Sentence]) -> tuple[bool, bool]:
    """Whether trees are projective, and whether they have a single root word: by the configuration or the treebank."""
    several = sum(sentence.heads.count(0) > 1 for sentence in sentences)
    single = several < _FEW * len(sentences) if config.root == "auto" else config.root == "single"
    projective = config.tree == "projective"
    if config.tree == "auto":
        crossing = np.concatenate([nonprojective_arcs(sentence.heads) for sentence in sentences])
        grandparents_only = config.inference == "exact" and bool(config.factors)  # that program knows no others
        projective = grandparents_only or bool(crossing.mean() < _FEW_ARCS)
    return projective, single


def as_resolved(config: Config, structure: tuple[bool, bool], reports: Sequence[EpochReport]) -> Config:
    """The configuration with what a run chose in place of what was left to it; it gives the same parser.

    Where two objectives follow each other, each with a learning rate of its own, the rate stays to be tuned.
    """
    projective, single_root = structure
    of_features = 0 if config.scorer == "neural" else config.epochs * len(config.objective.split("+"))
    rates = {report.rate for report in reports[:of_features]}
    return replace(
        config,
        tree="projective" if projective else "nonprojective",
        root="single" if single_root else "multiple",
        rate=rates.pop() if len(rates) == 1 else config.rate,
    )


def legal_tree(heads: Sequence[int], structure: tuple[bool, bool]) -> IntArray:
    """The tree itself if it is of the right structure, else the one that shares the most arcs with it."""
    projective, single_root = structure
    if projective:
        return projectivise(heads, single_root=single_root)
    gold = np.array(heads, dtype=np.int64)
    if not single_root or (gold == 0).sum() == 1:
        return gold
    scores = np.zeros((len(gold) + 1, len(gold) + 1))
    scores[gold, np.arange(1, len(gold) + 1)] = 1.0
    return DependencyTrees(scores, projective=False, single_root=True).argmax()


def fingerprint(config: Config, *parts: Sequence[Sentence]) -> str:
    """A digest of a configuration, with its clusters, and of data, to recognise a run by."""
    digest = hashlib.blake2b(config.to_toml().encode(), digest_size=16)
    if config.word_clusters:
        digest.update(find_model(config.word_clusters).read_bytes())
    for sentences in parts:
        digest.update(b"\0\0")
        for sentence in sentences:
            digest.update(sentence.text.encode())
    return digest.hexdigest()
