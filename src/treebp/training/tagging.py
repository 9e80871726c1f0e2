"""Tags for training as they will be in use: predicted, by taggers that have not seen the sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treebp.data.evaluation import tag_accuracy
from treebp.data.sentence import Sentence
from treebp.features.word_clusters import WordClusters
from treebp.parsing.config import Config
from treebp.tagging.tagger import Tagger, TaggerOptions


@dataclass(frozen=True)
class Tagging:
    """Training and development sentences with predicted tags, the tagger for new ones, and how many tags are right.

    Where there are several trainings, ``drawn`` has sentences for each but the first: with tags by their probabilities.
    """

    tagger: Tagger
    train: list[Sentence]
    drawn: list[list[Sentence]]
    dev: list[Sentence]
    accuracy: dict[str, dict[str, float]]


def predict_tags(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    clusters: WordClusters,
    config: Config,
    threads: int,
    advance: Callable[[int], None],
) -> Tagging:
    """Tag ``train`` by folds and ``dev`` by a tagger of all of it; ``advance`` hears of words that were learnt from.

    A tagger is better on the sentences that it was trained on than on new ones: a parser trained on those would trust
    tags more than it should.
    """
    folds = min(config.tagger_folds, len(train))
    tagged, drawn = list(train), [list(train) for _ in range(1, config.trainings)]
    rng = np.random.default_rng((config.seed, 4))
    for fold in range(folds):
        seen = [sentence for k, sentence in enumerate(train) if k % folds != fold]
        tagger = _fit(seen if folds > 1 else train, clusters, config, threads, advance)
        tagged[fold::folds] = _tagged(tagger, train[fold::folds], threads)
        for sentences in drawn:
            sentences[fold::folds] = tagger.draw(train[fold::folds], rng)
    if folds > 1:
        tagger = _fit(train, clusters, config, threads, advance)
    new = _tagged(tagger, dev, threads)
    accuracy = {"train": tag_accuracy(zip(train, tagged, strict=True)), "dev": tag_accuracy(zip(dev, new, strict=True))}
    return Tagging(tagger, tagged, drawn, new, accuracy)


def words_to_learn_from(sentences: Sequence[Sentence], config: Config) -> int:
    """How many words all taggers together are trained on."""
    folds = min(config.tagger_folds, len(sentences))
    return sum(map(len, sentences)) * max(1, folds)


def _fit(
    sentences: Sequence[Sentence], clusters: WordClusters, config: Config, threads: int, advance: Callable[[int], None]
) -> Tagger:
    options = TaggerOptions(epochs=config.tagger_epochs, weight_bits=config.tagger_weight_bits, seed=config.seed)
    tagger = Tagger.fit(sentences, options, clusters=clusters, threads=threads)
    advance(sum(map(len, sentences)))
    return tagger


def _tagged(tagger: Tagger, sentences: Sequence[Sentence], threads: int) -> list[Sentence]:
    return [tagged.sentence for tagged in tagger.tag(sentences, threads=threads)]
