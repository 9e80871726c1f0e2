"""Training with predicted tags."""

from dataclasses import replace

import numpy as np
import pytest

from small_parser import TINY, fit
from treebp.data.evaluation import evaluate
from treebp.features.word_clusters import NO_CLUSTERS
from treebp.parsing.parser import Parser, new_model
from treebp.tagging.tagger import Tagger
from treebp.training import Progress, prepare
from treebp.training.stages import stages_of
from treebp.training.tagging import predict_tags, words_to_learn_from

CONFIG = replace(TINY, epochs=1, tags="predicted", tagger_weight_bits=14, tagger_epochs=2, tagger_folds=3)


@pytest.fixture(scope="module")
def parser(train, dev):
    return fit(train[:120], dev[:20], config=CONFIG)


def blank(sentence):
    return sentence.with_tags(**{name: ["_"] * len(sentence) for name in ("coarse_tags", "fine_tags", "lemmas")})


@pytest.mark.parametrize("folds", [1, 3])
def test_sentences_are_tagged_by_models_that_have_not_seen_them(folds, train, dev, monkeypatch):
    seen, tagged_by = [], {}

    class Spy:
        def __init__(self, sentences):
            self.sentences = {sentence.text for sentence in sentences}

        def tag(self, sentences, threads):
            for sentence in sentences:
                tagged_by[sentence.text] = self.sentences
                yield type("Tagged", (), {"sentence": sentence})

    def fit_spy(sentences, options, clusters, threads):
        seen.append(len(sentences))
        return Spy(sentences)

    monkeypatch.setattr(Tagger, "fit", fit_spy)
    words = []
    some = list({sentence.text: sentence for sentence in train[:20]}.values())
    found = predict_tags(some, dev[:3], NO_CLUSTERS, replace(CONFIG, tagger_folds=folds), 1, words.append)
    assert [sentence.text for sentence in found.train] == [sentence.text for sentence in some]
    assert sum(words) == words_to_learn_from(some, replace(CONFIG, tagger_folds=folds))
    everything = {sentence.text for sentence in some}
    if folds == 1:
        assert seen == [len(some)]
    else:
        assert seen[-1] == len(some)
        assert all(sentence.text not in tagged_by[sentence.text] for sentence in some)
    assert all(tagged_by[sentence.text] == everything for sentence in dev[:3])


def test_the_parser_is_trained_on_predicted_tags(train, dev):
    prepared = prepare(train[:60], dev[:10], CONFIG)
    for name, gold, predicted in (("train", train[:60], prepared.train), ("dev", dev[:10], prepared.dev)):
        assert [one.heads for one in predicted] == [one.heads for one in gold]
        right = [a == b for x, y in zip(gold, predicted, strict=True) for a, b in zip(x.lemmas, y.lemmas, strict=True)]
        assert prepared.tagging.accuracy[name]["lemmas"] == pytest.approx(100 * np.mean(right))
        assert 80 < prepared.tagging.accuracy[name]["coarse_tags"] < 100
    assert prepare(train[:20], dev[:5], TINY).tagging is None


def test_each_training_but_the_first_has_tags_of_its_own(train, dev):
    prepared = prepare(train[:60], dev[:10], replace(CONFIG, trainings=3))
    assert len(prepared.drawn) == 2
    changed = [
        np.concatenate([(a != b).any(axis=1) for a, b in zip(one, other, strict=True)]).mean()
        for one, other in ((prepared.tokens, prepared.drawn[0]), prepared.drawn)
    ]
    assert all(0.0 < share < 0.3 for share in changed)
    seen = []
    model = new_model(replace(CONFIG, trainings=3), prepared.encoding, projective=True, single_root=True)
    for stage in stages_of(model, prepared, prepared.labels, replace(CONFIG, trainings=3), 1, Progress()):
        seen.append([example.tokens for example in stage.examples])
    for own, expected in zip(seen[:3], [prepared.tokens, *prepared.drawn], strict=True):
        assert all(map(np.array_equal, own, expected))


def test_it_tags_what_it_parses(parser, test_set):
    parses = list(parser.parse(test_set, threads=1))
    again = parser.parse(map(blank, test_set), threads=1)
    for one, other in zip(parses, again, strict=True):
        assert one.to_sentence().text == other.to_sentence().text
    scores = evaluate(test_set, [parse.to_sentence() for parse in parses], punctuation="unicode")
    assert scores.uas > 70
    assert 90 < scores.tags["coarse_tags"] < 100
    assert set(scores.tags) == {"coarse_tags", "fine_tags", "lemmas"}


def test_the_tagger_is_in_the_file(parser, test_set, tmp_path):
    parser.save(tmp_path / "model")
    again = Parser.load(tmp_path / "model")
    assert again.tagging == parser.tagging
    assert [report.tags for report in again.reports] == ["predicted"]
    for one, other in zip(parser.parse(test_set, threads=1), again.parse(test_set, threads=2), strict=True):
        assert one.to_sentence() == other.to_sentence()
        assert np.array_equal(one.beliefs, other.beliefs)
