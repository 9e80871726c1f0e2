"""The tagger on the embedded treebank."""

from dataclasses import replace

import numpy as np
import pytest

from treebp.data.evaluation import tag_accuracy
from treebp.data.sentence import Sentence
from treebp.features.model_file import write_tensors
from treebp.features.word_clusters import WordClusters
from treebp.tagging.tagger import Tagger, TaggerOptions

OPTIONS = TaggerOptions(epochs=2, weight_bits=16)


@pytest.fixture(scope="module")
def tagger(train):
    return Tagger.fit(train[:400], OPTIONS, threads=1)


def accuracy(tagger, sentences):
    tagged = [tagged.sentence for tagged in tagger.tag(sentences, threads=1)]
    return tag_accuracy(zip(sentences, tagged, strict=True))


def without_tags(sentence):
    blank = ["_"] * len(sentence)
    return sentence.with_tags(coarse_tags=blank, fine_tags=blank, lemmas=blank)


def same(one, two):
    return one.sentence == two.sentence and np.array_equal(one.probabilities, two.probabilities)


@pytest.mark.parametrize("objective", ["cll", "l2"])
def test_learns_the_embedded_treebank(objective, train, test_set):
    tagger = Tagger.fit(train[:400], replace(OPTIONS, objective=objective), threads=1)
    scores = accuracy(tagger, test_set)
    assert scores["coarse_tags"] > 98
    assert scores["fine_tags"] > 97
    assert scores["lemmas"] > 96


def test_tags_depend_on_words_alone(tagger, test_set):
    for given, blank in zip(tagger.tag(test_set), tagger.tag(map(without_tags, test_set)), strict=True):
        assert given.sentence.text == blank.sentence.text


def test_tags_are_drawn_by_their_probabilities(tagger, test_set):
    best = min(tagger.tag_together(test_set[:50]), key=lambda tagged: tagged.probabilities.min())
    assert best.probabilities.min() < 0.9
    drawn = tagger.draw([best.sentence] * 2000, np.random.default_rng(3))
    same = [[own == other for own, other in zip(tags(best.sentence), tags(one), strict=True)] for one in drawn]
    deviation = np.sqrt(best.probabilities * (1 - best.probabilities) / 2000)
    assert (np.abs(np.mean(same, axis=0) - best.probabilities) <= 5 * deviation + 1e-9).all()


def tags(sentence):
    return list(zip(sentence.coarse_tags, sentence.fine_tags, sentence.feats, strict=True))


def test_probabilities(tagger, test_set):
    for tagged in tagger.tag(test_set, threads=1):
        for own in (tagged.probabilities, tagged.lemma_probabilities):
            assert own.shape == (len(tagged.sentence),)
            assert (own > 0).all()
            assert (own <= 1 + 1e-12).all()
    sure = np.concatenate([tagged.probabilities for tagged in tagger.tag(test_set, threads=1)])
    right = [
        one == other
        for sentence, tagged in zip(test_set, tagger.tag(test_set, threads=1), strict=True)
        for one, other in zip(sentence.fine_tags, tagged.sentence.fine_tags, strict=True)
    ]
    assert abs(sure.mean() - np.mean(right)) < 0.05


def test_viterbi_agrees_where_the_model_is_sure(tagger, test_set):
    other = replace(tagger, decoder="viterbi")
    for one, two in zip(tagger.tag(test_set, threads=1), other.tag(test_set, threads=1), strict=True):
        if (one.probabilities > 0.9).all():
            assert one.sentence == two.sentence


def test_one_by_one_and_on_threads(tagger, test_set, monkeypatch):
    together = list(tagger.tag(test_set, threads=1))
    assert all(same(one, tagger.tag_together([sentence])[0]) for one, sentence in zip(together, test_set, strict=True))
    monkeypatch.setattr("treebp.tagging.tagger._BATCH_WORDS", 50)
    assert all(same(one, two) for one, two in zip(together, tagger.tag(test_set, threads=3), strict=True))


def test_a_word_that_was_never_seen_is_known_by_its_cluster(train, tmp_path):
    verbs = {
        form
        for sentence in train
        for form, tag in zip(sentence.forms, sentence.coarse_tags, strict=True)
        if tag == "VERB"
    }
    clusters = WordClusters({**dict.fromkeys(verbs, "01"), "zzyx": "01"})
    tagger = Tagger.fit(train[:400], OPTIONS, clusters=clusters, threads=1)
    sentence = Sentence.from_columns(["They", "zzyx", "the", "dog", "."])
    assert tagger.tag_together([sentence])[0].sentence.coarse_tags[1] == "VERB"
    tagger.save(tmp_path / "tagger")
    again = Tagger.load(tmp_path / "tagger")
    assert same(again.tag_together([sentence])[0], tagger.tag_together([sentence])[0])


def test_training_does_not_depend_on_threads(train):
    one, two = (Tagger.fit(train[:100], OPTIONS, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.model.weights, two.model.weights)
    assert np.array_equal(one.lemmatiser.model.weights, two.lemmatiser.model.weights)


def test_unknown_words_and_empty_sentences(tagger):
    empty = Sentence([], [], [], [], [], [], [], text="# nothing\n\n")
    strange = Sentence.from_columns(["𝔘nbekannt", "ß", "\u200b", "x" * 10_000, "1.000"])
    none, some = tagger.tag([empty, strange], threads=1)
    assert none.sentence == empty
    assert len(none.probabilities) == 0
    assert all(tag != "_" for tag in some.sentence.coarse_tags)
    assert all(some.sentence.lemmas)
    assert not list(tagger.tag([]))
    assert tagger.tag_together([empty])[0].sentence == empty


def test_columns_that_training_does_not_have_stay(train):
    plain = [sentence.with_tags(fine_tags=["_"] * len(sentence), lemmas=["_"] * len(sentence)) for sentence in train]
    tagger = Tagger.fit(plain[:50], OPTIONS, threads=1)
    assert tagger.columns == ("coarse_tags",)
    sentence = Sentence.from_columns(["Trees", "grow"], fine_tags=["A", "B"], lemmas=["c", "d"])
    tagged = next(tagger.tag([sentence])).sentence
    assert (tagged.fine_tags, tagged.lemmas) == (["A", "B"], ["c", "d"])


def test_no_words_to_learn_from():
    with pytest.raises(ValueError, match="no words"):
        Tagger.fit([])


def test_saved_and_loaded(tagger, test_set, tmp_path):
    tagger.save(tmp_path / "tagger")
    again = Tagger.load(tmp_path / "tagger")
    for one, two in zip(tagger.tag(test_set, threads=1), again.tag(test_set, threads=1), strict=True):
        assert same(one, two)
        assert np.array_equal(one.lemma_probabilities, two.lemma_probabilities)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decoder": "guess"}, "no decoder"),
        ({"bits": 15}, "bytes"),
        ({"bits": 60}, "weights"),
        ({"tags": [["NOUN", "NN"]]}, "Tag"),
        ({"tags": []}, "lexicon"),
    ],
)
def test_a_file_of_something_else_is_refused(tagger, tmp_path, change, message):
    header, arrays = tagger.state()
    write_tensors(tmp_path / "tagger", "treebp tagger", {**header, **change}, arrays)
    with pytest.raises(ValueError, match=message):
        Tagger.load(tmp_path / "tagger")
