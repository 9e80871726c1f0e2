"""The tagger: what training makes, to be used and stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from treebp._threads import map_in_order, thread_count
from treebp._types import AnyArray, FloatArray
from treebp.data.sentence import Sentence
from treebp.features.model_file import load_model, pack, tensors_of, unpack, with_prefix, write_tensors
from treebp.features.word_clusters import NO_CLUSTERS, WordClusters
from treebp.tagging.fitting import FittingOptions, fit_sequences
from treebp.tagging.lemmatiser import Lemmatiser, Tag
from treebp.tagging.lexicon import Lexicon
from treebp.tagging.model import Decoder, Objective, SequenceModel
from treebp.tagging.sequences import LabelSet, Sequences
from treebp.tagging.words import ATTRIBUTES, PREFIXES, SUFFIXES, WordValues

_KIND = "treebp tagger"
_BATCH_WORDS = 1500  # that are tagged together, at least
_REMEMBERED = 200_000  # words whose numbers are kept at hand, so that memory does not grow with what is tagged
_TEMPLATES = (
    "p.word",
    "p.lower",
    "p.shape",
    *(f"p.prefix{k}" for k in PREFIXES),
    *(f"p.suffix{k}" for k in SUFFIXES),
    "p.shape p.suffix3",
    "p-1.word",
    "p+1.word",
    "p-2.word",
    "p+2.word",
    "p-1.lower p.lower",
    "p.lower p+1.lower",
    "p-1.word p+1.word",
    "p-1.suffix3",
    "p+1.suffix3",
    "p-1.suffix2 p.suffix2 p+1.suffix2",
    "p-1.shape p.shape p+1.shape",
    "p-2.lower p-1.lower",
    "p+1.lower p+2.lower",
)
_CLUSTER_TEMPLATES = (
    "p.cluster",
    "p-1.cluster",
    "p+1.cluster",
    "p-1.cluster p.cluster",
    "p.cluster p+1.cluster",
    "p-2.cluster",
    "p+2.cluster",
)


@dataclass(frozen=True, kw_only=True)
class TaggerOptions:
    """How a tagger is built and trained; the defaults are those that did best on development data."""

    objective: Objective = "cll"
    """What training minimises: negative log-likelihood, or L2 distance."""
    decoder: Decoder = "mbr"
    """How tags are picked: each by its probability, or all together."""
    epochs: int = 5
    """Passes over the training data."""
    weight_bits: int = 24
    """There are 2**weight_bits hashed weights for tags, and a sixteenth of that for lemmas, which need fewer."""
    seed: int = 1
    """Of the order in which sentences are seen."""


class Tagged(NamedTuple):
    """A sentence with its tags, and the probabilities of these and of the lemmas, (words,) each."""

    sentence: Sentence
    probabilities: FloatArray
    lemma_probabilities: FloatArray


class _Word(NamedTuple):
    """What is to be known of a word: values and candidates as bytes, which are fastest to join, and how many."""

    values: bytes
    candidates: bytes
    choices: int


@dataclass(frozen=True)
class Tagger:
    """Tags and lemmas for words. `Tagger.fit` trains one, `Tagger.load` reads one from a file.

    A tag is coarse tag, fine tag and features in one, so that they always fit each other; its parts, each feature being
    one, have weights of their own, so that what is learnt of one tag is known of others. Columns that the training set
    does not have are left as they are.

    Attributes:
        tags: by number.
        lexicon: which tags a word may have.
        model: of tags.
        lemmatiser: None if the training set has no lemmas.
        decoder: how tags are picked.

    Example:
        >>> from treebp.data.embedded import embedded_treebank
        >>> tagger = Tagger.fit(embedded_treebank("train"), TaggerOptions(epochs=2, weight_bits=16), threads=1)
        >>> sentence = Sentence.from_columns(["The", "dog", "sleeps"])
        >>> next(tagger.tag([sentence])).sentence.coarse_tags
        ['DET', 'NOUN', 'VERB']

    """

    tags: Sequence[Tag]
    lexicon: Lexicon
    values: WordValues
    model: SequenceModel
    lemmatiser: Lemmatiser | None
    decoder: Decoder = "mbr"
    _known: dict[str, _Word] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def fit(
        cls,
        sentences: Iterable[Sentence],
        options: TaggerOptions | None = None,
        *,
        clusters: WordClusters = NO_CLUSTERS,
        threads: int | None = None,
    ) -> "Tagger":
        """Train on sentences with tags; the result does not depend on the number of threads."""
        options = options or TaggerOptions()
        train = [sentence for sentence in sentences if len(sentence)]
        if not train:
            raise ValueError("there are no words to learn tags from")
        numbers: dict[Tag, int] = {}
        gold = [numbers.setdefault(tag, len(numbers)) for sentence in train for tag in tags_of(sentence)]
        words = [("", form) for sentence in train for form in sentence.forms]
        lexicon = Lexicon.of(words, gold, len(numbers))
        tags = list(numbers)
        tagger = cls._new(tags, lexicon, clusters, options.weight_bits, options.decoder)
        candidates = lexicon.candidates_in_training(words, gold)
        sequences = Sequences(
            np.array([len(sentence) for sentence in train]),
            tagger.values.rows([form for _, form in words]),
            np.cumsum([0, *map(len, candidates)]),
            np.concatenate(candidates),
        )
        fitting = FittingOptions(objective=options.objective, epochs=options.epochs, seed=options.seed)
        fit_sequences(tagger.model, sequences, np.array(gold), fitting, threads=thread_count(threads))
        lemmas = [lemma for sentence in train for lemma in sentence.lemmas]
        if all(lemma == "_" for lemma in lemmas):
            return tagger
        lemmatiser = Lemmatiser.fit(
            [(tag, form) for tag, (_, form) in zip(gold, words, strict=True)],
            lemmas,
            tags,
            tagger.values,
            bits=max(options.weight_bits - 4, 10),
            epochs=options.epochs,
            seed=options.seed,
            threads=thread_count(threads),
        )
        return replace(tagger, lemmatiser=lemmatiser)

    @classmethod
    def _new(
        cls, tags: Sequence[Tag], lexicon: Lexicon, clusters: WordClusters, bits: int, decoder: Decoder
    ) -> "Tagger":
        """A tagger without lemmas, all its weights zero."""
        counts = zip(lexicon.words, lexicon.totals.tolist(), strict=True)
        values = WordValues({word: count for (_, word), count in counts}, clusters)
        templates = (*_TEMPLATES, *_CLUSTER_TEMPLATES) if clusters else _TEMPLATES
        features = [_features(tag) for tag in tags]
        names = list(dict.fromkeys(name for own in features for name in own))
        parts = [(tag.coarse, tag.fine, *map(own.get, names)) for tag, own in zip(tags, features, strict=True)]
        labels = LabelSet.of_parts(parts, chained=2)
        return cls(tags, lexicon, values, SequenceModel(labels, ATTRIBUTES, templates, bits=bits), None, decoder)

    def tag(self, sentences: Iterable[Sentence], *, threads: int | None = None) -> Iterator[Tagged]:
        """Tag sentences as they come, in order, looking only a little ahead."""
        return map_in_order(self.tag_together, _batches(sentences), threads)

    def draw(self, sentences: Iterable[Sentence], rng: np.random.Generator) -> Iterator[Sentence]:
        """Sentences with tags that are drawn, word by word, by their probabilities."""
        for batch in _batches(sentences):
            yield from (tagged.sentence for tagged in self.tag_together(batch, rng))

    def tag_together(self, sentences: Sequence[Sentence], rng: np.random.Generator | None = None) -> list[Tagged]:
        """Tag some sentences, on one thread; see `draw` for a generator of random numbers."""
        if not any(map(len, sentences)):
            return [Tagged(sentence, np.zeros(0), np.zeros(0)) for sentence in sentences]
        words = self._words([form for sentence in sentences for form in sentence.forms])
        sequences = Sequences(
            np.array([len(sentence) for sentence in sentences if len(sentence)]),
            _array([word.values for word in words]).reshape(-1, len(ATTRIBUTES)),
            np.cumsum([0, *(word.choices for word in words)]),
            _array([word.candidates for word in words]),
        )
        labelled = self.model.label(sequences, self.decoder, rng)
        numbers = labelled.labels.tolist()
        lemmas: list[tuple[str, float]] = []
        if self.lemmatiser is not None:
            forms = chain.from_iterable(sentence.forms for sentence in sentences)
            lemmas = self.lemmatiser.lemmas(list(zip(numbers, forms, strict=True)))
        of_tags = labelled.confidence
        of_lemmas = np.array([probability for _, probability in lemmas] or np.ones(len(words)))
        ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
        return [
            Tagged(
                self._with_tags(sentence, numbers[end - len(sentence) : end], lemmas[end - len(sentence) : end]),
                of_tags[end - len(sentence) : end],
                of_lemmas[end - len(sentence) : end],
            )
            for sentence, end in zip(sentences, ends, strict=True)
        ]

    def _with_tags(self, sentence: Sentence, numbers: list[int], lemmas: list[tuple[str, float]]) -> Sentence:
        columns = {name: [self.tags[k][place] for k in numbers] for place, name in self._columns.items()}
        if lemmas:
            columns["lemmas"] = [lemma for lemma, _ in lemmas]
        return sentence.with_tags(**columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a sentence that are predicted, as `Sentence` calls them."""
        return (*self._columns.values(), *(["lemmas"] if self.lemmatiser is not None else []))

    @cached_property
    def _columns(self) -> dict[int, str]:
        names = {0: "coarse_tags", 1: "fine_tags", 2: "feats"}
        return {place: name for place, name in names.items() if any(tag[place] != "_" for tag in self.tags)}

    def _words(self, forms: Sequence[str]) -> list[_Word]:
        """What is to be known of each word, in order."""
        found = [self._known.get(form) for form in forms]
        new = list(dict.fromkeys(form for form, word in zip(forms, found, strict=True) if word is None))
        if new:
            candidates = self.lexicon.candidates([("", form) for form in new])
            learnt = {
                form: _Word(row.tobytes(), own.tobytes(), len(own))
                for form, row, own in zip(new, self.values.rows(new), candidates, strict=True)
            }
            if len(self._known) < _REMEMBERED:
                self._known.update(learnt)
            found = [word or learnt[form] for form, word in zip(forms, found, strict=True)]
        return cast(list[_Word], found)

    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A header and arrays from which, with the same clusters, `from_state` makes the same tagger."""
        lexicon, arrays = self.lexicon.state()
        used, weights = pack(self.model.weights)
        header = {
            "tags": self.tags,
            "decoder": self.decoder,
            "bits": self.model.bits,
            "lexicon": lexicon,
            "lemmas": None,
        }
        tensors = {**arrays, "weights_used": used, "weights": weights}
        if self.lemmatiser is not None:
            header["lemmas"], of_lemmas = self.lemmatiser.state()
            tensors |= with_prefix("lemmas", of_lemmas)
        return header, tensors

    @classmethod
    def from_state(
        cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], clusters: WordClusters = NO_CLUSTERS
    ) -> "Tagger":
        """The tagger that had this state. Raises ValueError if it cannot be one."""
        tags = [Tag(*map(str, tag)) for tag in header["tags"]]
        if header["decoder"] not in get_args(Decoder):
            raise ValueError(f"there is no decoder {header['decoder']!r}")
        lexicon = Lexicon.from_state(header["lexicon"], arrays, len(tags))
        tagger = cls._new(tags, lexicon, clusters, header["bits"], header["decoder"])
        unpack(arrays["weights_used"], arrays["weights"], tagger.model.weights)
        if header["lemmas"] is None:
            return tagger
        own = tensors_of("lemmas", arrays)
        return replace(tagger, lemmatiser=Lemmatiser.from_state(header["lemmas"], own, tags, tagger.values))

    def save(self, path: str | Path) -> None:
        """Write everything that tagging needs to one file, which appears only when complete."""
        header, tensors = self.state()
        write_tensors(Path(path), _KIND, header, tensors | with_prefix("clusters", self.values.clusters.state()))

    @classmethod
    def load(cls, path: str | Path) -> "Tagger":
        """Read a tagger that was saved. Raises ValueError for a file that is damaged, or of a newer version."""

        def tagger(header: Mapping[str, Any], tensors: Mapping[str, AnyArray]) -> "Tagger":
            return cls.from_state(header, tensors, WordClusters.from_state(tensors_of("clusters", tensors)))

        return load_model(path, _KIND, tagger)


def tags_of(sentence: Sentence) -> Iterator[Tag]:
    """The tags that its words have."""
    return map(Tag, sentence.coarse_tags, sentence.fine_tags, sentence.feats)


def _features(tag: Tag) -> dict[str, str]:
    """The values of a tag's features by their names.

    >>> _features(Tag("NOUN", "NNS", "Case=Nom|Number=Plur"))
    {'Case': 'Nom', 'Number': 'Plur'}
    """
    named = (feature.partition("=") for feature in tag.feats.split("|"))
    return {name: value for name, _, value in named}


def _array(rows: Sequence[bytes]) -> AnyArray:
    return np.frombuffer(bytearray().join(rows), np.int32)  # which may be written to, as others: kernels know the type


def _batches(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """The sentences in groups."""
    batch: list[Sentence] = []
    words = 0
    for sentence in sentences:
        batch.append(sentence)
        words += len(sentence)
        if words >= _BATCH_WORDS:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch
