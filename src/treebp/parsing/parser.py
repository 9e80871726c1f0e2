"""The parser: what training makes, to be used and stored."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from treebp._threads import map_in_order
from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.data.sentence import Sentence
from treebp.features.encoding import Encoding
from treebp.features.model_file import MODEL_KIND, load_model, tensors_of, with_prefix, write_tensors
from treebp.features.word_clusters import WordClusters
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.decoding import k_best
from treebp.parsing.label_templates import label_templates
from treebp.parsing.labels import LabelModel, label_trees
from treebp.parsing.model import Circuit, Inference, TreeModel, decode
from treebp.parsing.parse import Parse
from treebp.parsing.parts import PARTS
from treebp.parsing.pruner import Pruner
from treebp.parsing.reports import EpochReport, PruningReport
from treebp.parsing.scorer import HashedScorer, Scorer
from treebp.tagging.tagger import Tagged, Tagger

_FEWEST, _MOST = 12, 64  # sentences that are parsed together at first and at most
_ENOUGH = 25  # words for each of them: fewer sentences will do if they are longer
_Known = Mapping[int, int]
_Forbidden = Collection[tuple[int, int]]
_Item = tuple[Sentence, _Known, _Forbidden]


@dataclass(frozen=True)
class Parser:
    """A dependency parser. `treebp.training.fit` trains one, `Parser.load` reads one from a file.

    Attributes:
        config: how it was built and trained.
        encoding: of words as numbers.
        pruner: which arcs to look at.
        model: of trees.
        labels: of arcs.
        reports: the epochs of its training.
        pruning: what the pruner leaves of "train" and "dev".
        tagger: of the sentences to parse, whatever tags they have; None if they come with their own.
        tagging: per cent of the tags of "train" and "dev", column by column, that are right.
        columns: the share of training words that have a value in each column it looks at; empty if unknown.
        fingerprint: of the configuration and the data that it was trained with.

    Example:
        >>> from treebp.data.embedded import embedded_treebank
        >>> from treebp.training import fit
        >>> config = Config(epochs=2, pruner_epochs=1, weight_bits=18, pruner_weight_bits=16, rate=0.05)
        >>> parser = fit(embedded_treebank("train")[:120], embedded_treebank("dev")[:20], config, threads=1)
        >>> parse = next(parser.parse(embedded_treebank("test")[:1]))
        >>> len(parse.heads) == len(parse.labels) == len(parse.sentence)
        True
        >>> 0.0 < parse.expected_accuracy <= 1.0
        True

    """

    config: Config
    encoding: Encoding
    pruner: Pruner
    model: TreeModel
    labels: LabelModel
    reports: Sequence[EpochReport]
    pruning: Mapping[str, PruningReport]
    tagger: Tagger | None = None
    tagging: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    columns: Mapping[str, float] = field(default_factory=dict)
    fingerprint: str = ""

    def with_iterations(self, iterations: int) -> "Parser":
        """The same parser, sharing its weights, with another number of iterations of belief propagation."""
        config = replace(self.config, iterations=iterations)
        return replace(self, config=config, model=replace(self.model, inference=inference_of(config)))

    def parse(
        self,
        sentences: Iterable[Sentence],
        *,
        threads: int | None = None,
        kbest: int = 0,
        known: Iterable[_Known] | None = None,
        forbidden: Iterable[_Forbidden] | None = None,
    ) -> Iterator[Parse]:
        """Parse sentences as they come, in order, looking only a little ahead.

        ``known`` gives, for each sentence, heads that are settled, as {modifier: head}; ``forbidden`` gives arcs
        (head, modifier) that must not be. Raises ValueError where these leave no tree. ``kbest`` asks for that many
        alternatives.
        """
        batches = _batches(_with_constraints(sentences, known, forbidden))
        return map_in_order(lambda batch: self._parse_in_memory(batch, kbest), batches, threads)

    def _parse_in_memory(self, items: Sequence[_Item], kbest: int) -> list[Parse]:
        """Parse sentences, one by one if they need too much memory together; MemoryError names the one that does."""
        try:
            return self._parse(items, kbest)
        except MemoryError:
            if len(items) > 1:
                return [parse for item in items for parse in self._parse_in_memory([item], kbest)]
            sentence = items[0][0]
            where = f"{sentence.source}:{sentence.line}: " if sentence.source else ""
            raise MemoryError(
                f"{where}there is not enough memory for this sentence of {len(sentence):,} words: "
                "leave such sentences out with --max-length"
            ) from None

    def _parse(self, items: Sequence[_Item], kbest: int) -> list[Parse]:
        """Parse sentences stage by stage: what a stage needs is then in the processor's caches most of the time."""
        tagged = self._tagged([sentence for sentence, _, _ in items])
        items = [(one.sentence, known, forbidden) for one, (_, known, forbidden) in zip(tagged, items, strict=True)]
        names = self.labels.labels
        tokens = [self.encoding.encode(sentence) for sentence, _, _ in items]
        candidates = self._candidates(items, tokens)
        batch = Batch.of(tokens, candidates, [sentence.forms for sentence, _, _ in items])
        circuit = self.model(batch)
        beliefs = batch.split(circuit.inferred.beliefs)
        trees = decode(self.config.decoder, self.model.inference, circuit)
        labelled = label_trees(self.labels, tokens, trees, circuit.labels)
        found = zip(tagged, candidates, beliefs, trees, labelled, *self._factors(batch, circuit), strict=True)
        return [
            Parse(
                sentence=one.sentence,
                heads=heads,
                labels=[names[label] for label in numbers.tolist()],
                arcs=arcs,
                beliefs=own,
                label_names=names,
                label_probabilities=probabilities,
                alternatives=self._alternatives(arcs, own, kbest) if kbest and len(heads) else [],
                factors=factors,
                residual=residual,
                tag_probabilities=one.probabilities,
                lemma_probabilities=one.lemma_probabilities,
            )
            for one, arcs, own, heads, (numbers, probabilities), factors, residual in found
        ]

    def _alternatives(self, arcs: Arcs, beliefs: FloatArray, k: int) -> list[tuple[IntArray, float]]:
        return k_best(arcs, beliefs, k, projective=self.model.projective, single_root=self.model.single_root)

    def _tagged(self, sentences: Sequence[Sentence]) -> list[Tagged]:
        """The sentences with the tagger's tags or, if there is none, their own, which are certain."""
        if self.tagger is not None:
            return self.tagger.tag_together(sentences)
        certain = np.ones(max(map(len, sentences), default=0))
        certain.flags.writeable = False  # all have it in common
        return [Tagged(sentence, certain[: len(sentence)], certain[: len(sentence)]) for sentence in sentences]

    @staticmethod
    def _factors(batch: Batch, circuit: Circuit) -> tuple[list[dict[str, int]], list[float]]:
        """How many parts of each kind each sentence has, and how far its beliefs moved at last: 0 without any."""
        counts = {name: np.diff(tuples.first) for name, tuples in circuit.problem.tuples.items()}
        residuals = batch.largest(circuit.inferred.changes)
        if not counts:
            return [{} for _ in batch.sizes], residuals.tolist()
        residuals[sum(counts.values()) == 0] = 0.0
        rows = zip(*(own.tolist() for own in counts.values()), strict=True)
        return [dict(zip(counts, own, strict=True)) for own in rows], residuals.tolist()

    def _candidates(self, items: Sequence[_Item], tokens: Sequence[IntArray]) -> list[Arcs]:
        """The arcs to look at, of each sentence."""
        if not any(known or forbidden for _, known, forbidden in items):
            return self.pruner.keep(tokens)
        return [self._constrained(*item, one) for item, one in zip(items, tokens, strict=True)]

    def _constrained(self, sentence: Sentence, known: _Known, forbidden: _Forbidden, tokens: IntArray) -> Arcs:
        if not known and not forbidden:
            return self.pruner.keep([tokens])[0]
        allowed = _allowed(len(sentence), known, forbidden)
        try:
            return self.pruner.keep_among(tokens, allowed)
        except ValueError:
            where = f"{sentence.source}:{sentence.line}: " if sentence.source else ""
            raise ValueError(
                f"{where}known and forbidden arcs leave no tree: {dict(known)}, {list(forbidden)}"
            ) from None

    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A header and arrays from which `from_state` makes the same parser."""
        header: dict[str, Any] = {
            "config": self.config.to_toml(),
            "values": self.encoding.values,
            "tag_map": self.encoding.tag_map,
            "projective": self.model.projective,
            "single_root": self.model.single_root,
            "labels": self.labels.labels,
            # Times would make equal runs differ.
            "reports": [asdict(replace(report, words_per_second=None)) for report in self.reports],
            "columns": self.columns,
            "fingerprint": self.fingerprint,
            "pruning": {name: asdict(report) for name, report in self.pruning.items()},
            "tagging": self.tagging,
        }
        tensors = {
            **self.model.scorer.state(),
            **{f"pruner_{name}": array for name, array in self.pruner.model.scorer.state().items()},
            "length_bounds": self.pruner.bounds,
            **with_prefix("labels", self.labels.state()),
            **with_prefix("clusters", self.encoding.clusters.state()),
        }
        if self.tagger is not None:
            header["tagger"], of_tagger = self.tagger.state()
            tensors |= with_prefix("tagger", of_tagger)
        return header, tensors

    def save(self, path: str | Path) -> None:
        """Write everything that parsing needs to one file, which appears only when complete."""
        write_tensors(Path(path), MODEL_KIND, *self.state())

    @classmethod
    def load(cls, path: str | Path) -> "Parser":
        """Read a parser that was saved. Raises ValueError for a file that is damaged, or of a newer version."""
        return load_model(path, MODEL_KIND, cls.from_state)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], tensors: Mapping[str, AnyArray]) -> "Parser":
        """The parser that had this state. Raises ValueError, among others, if it cannot be one."""
        _check_types(header)
        config = Config.from_toml(header["config"])
        clusters = WordClusters.from_state(tensors_of("clusters", tensors))
        values = {"cluster": [], "cluster6": [], "cluster4": [], **header["values"]}  # which 0.1.0 knows nothing of
        encoding = Encoding(values, header["tag_map"], clusters)
        projective, single_root = bool(header["projective"]), bool(header["single_root"])
        count = len(header["labels"])
        model = new_model(
            config, encoding, projective=projective, single_root=single_root, labels=count, stored=tensors
        )
        model.scorer.restore(tensors)
        pruner = Pruner.new(config, tensors["length_bounds"], projective=projective, single_root=single_root)
        pruner.model.scorer.restore({name: tensors[f"pruner_{name}"] for name in ("weights_used", "weights")})
        templates = label_templates(encoding.available(config.templates))
        labels = LabelModel.from_state(header["labels"], templates, tensors_of("labels", tensors))
        reports = [EpochReport(**report) for report in header["reports"]]
        pruning = {name: PruningReport(**report) for name, report in header["pruning"].items()}
        tagger = None
        if config.tags == "predicted":
            tagger = Tagger.from_state(header["tagger"], tensors_of("tagger", tensors), clusters)
        tagging = header.get("tagging", {})
        columns = {str(name): float(share) for name, share in header.get("columns", {}).items()}
        fingerprint = str(header.get("fingerprint", ""))
        return cls(config, encoding, pruner, model, labels, reports, pruning, tagger, tagging, columns, fingerprint)


def _check_types(header: Mapping[str, Any]) -> None:
    """Raise ValueError for what a stranger may have put where words, names or truth values belong."""
    texts = [*header["labels"], *(value for values in header["values"].values() for value in values)]
    texts += [*(header["tag_map"] or {}).keys(), *(header["tag_map"] or {}).values(), header["config"]]
    if not all(isinstance(text, str) and text for text in texts) or isinstance(header["labels"], str):
        raise ValueError("its words, tags and labels are no text")
    if not all(isinstance(header[name], bool) for name in ("projective", "single_root")):
        raise ValueError("its kind of trees is neither true nor false")
    if not isinstance(header["reports"], list):
        raise ValueError("its epochs are no list")


def new_model(
    config: Config,
    encoding: Encoding,
    *,
    projective: bool,
    single_root: bool,
    labels: int = 1,
    stored: Mapping[str, AnyArray] | None = None,
) -> TreeModel:
    """A model of trees as configured, nothing learnt yet; a network scores so many labels.

    Arrays that were ``stored`` describe the encoder of a network where its name, elsewhere, may say nothing.
    """
    return TreeModel(new_scorer(config, encoding, labels, stored), projective, single_root, inference_of(config))


def new_scorer(config: Config, encoding: Encoding, labels: int, stored: Mapping[str, AnyArray] | None) -> Scorer:
    """A scorer as configured: weights are zero, and a network's parameters follow from the seed."""
    parts = [PARTS[name] for name in config.factors]
    hashed = HashedScorer(encoding.available(config.templates), parts, config.weight_bits)
    if config.scorer == "hashed":
        return hashed
    import treebp.neural  # noqa: F401 - which says what to install where PyTorch is missing
    from treebp.parsing.neural_scorer import NeuralScorer, SumScorer

    neural = NeuralScorer(config, encoding, parts, labels, stored)
    return neural if config.scorer == "neural" else SumScorer(hashed, neural)


def inference_of(config: Config) -> Inference:
    """How beliefs are found, as configured."""
    return Inference(
        exact=config.inference == "exact",
        iterations=config.iterations,
        schedule=config.schedule,
        damping=config.damping,
        tolerance=config.tolerance or None,
    )


def _with_constraints(
    sentences: Iterable[Sentence], known: Iterable[_Known] | None, forbidden: Iterable[_Forbidden] | None
) -> Iterator[_Item]:
    """Each sentence with its constraints; ValueError if there are fewer of those than of sentences."""
    of_known: Iterator[_Known] = repeat({}) if known is None else iter(known)
    of_forbidden: Iterator[_Forbidden] = repeat(()) if forbidden is None else iter(forbidden)
    for number, sentence in enumerate(sentences):
        try:
            yield sentence, next(of_known), next(of_forbidden)
        except StopIteration:
            raise ValueError(f"known or forbidden arcs are given for {number} sentences only") from None


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """The sentences in groups, small ones first, so that somebody who waits for the first trees gets them soon."""
    batch: list[_Item] = []
    words, size = 0, _FEWEST
    for item in items:
        batch.append(item)
        words += len(item[0])
        if len(batch) == size or words >= size * _ENOUGH:
            yield batch
            batch, words, size = [], 0, min(2 * size, _MOST)
    if batch:
        yield batch


def _allowed(n: int, known: _Known, forbidden: _Forbidden) -> BoolArray:
    """The arcs that known heads and forbidden arcs leave."""
    allowed = ~np.eye(n + 1, dtype=np.bool_)
    allowed[:, 0] = False
    for head, modifier in [*((head, modifier) for modifier, head in known.items()), *forbidden]:
        if not (1 <= modifier <= n and 0 <= head <= n and head != modifier):
            raise ValueError(f"arc {head} -> {modifier} is not between the root 0 and {n} words")
    for modifier, head in known.items():
        allowed[np.arange(n + 1) != head, modifier] = False
    for head, modifier in forbidden:
        allowed[head, modifier] = False
    return allowed
