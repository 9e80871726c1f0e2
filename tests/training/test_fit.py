"""Training: what it learns, that it is reproducible, and that it can be interrupted."""

from dataclasses import replace

import numpy as np
import pytest

from small_parser import TINY, accuracy, fit, same_model
from treebp.data.embedded import embedded_treebank
from treebp.data.punctuation import is_punctuation
from treebp.parsing.arcs import Arcs
from treebp.parsing.parser import Parser, new_model
from treebp.parsing.parts import PARTS
from treebp.parsing.scorer import HashedScorer
from treebp.training import Progress, prepare, stages
from treebp.training.data import fingerprint
from treebp.training.learner import Example, Learner
from treebp.training.mean import Mean


def test_second_order_beats_first_order(train, dev):
    test = embedded_treebank("test")[:300]
    config = replace(TINY, objective="cll", epochs=3, weight_bits=18, pruner_weight_bits=16)
    second = fit(train[:800], dev[:100], config=config)
    first = fit(train[:800], dev[:100], config=replace(config, factors=()))
    assert accuracy(first, test) > 92.0
    assert accuracy(second, test) > accuracy(first, test) + 1.0


def test_the_seed_decides_every_weight_and_threads_none(train, dev):
    one = fit(train[:80], dev[:10])
    two = fit(train[:80], dev[:10], threads=2)
    assert same_model(one, two)
    for first, second in zip(one.reports, two.reports, strict=True):
        assert replace(first, words_per_second=0.0) == replace(second, words_per_second=0.0)
    other = fit(train[:80], dev[:10], config=replace(TINY, seed=2))
    assert not np.array_equal(one.model.scorer.weights, other.model.scorer.weights)


def test_the_rate_tuned_is_the_same_on_any_number_of_threads(train, dev):
    config = replace(TINY, rate=0.0, epochs=1)
    one, two = (fit(train[:60], dev[:10], config=config, threads=threads) for threads in (1, 2))
    assert one.reports[0].rate == two.reports[0].rate > 0.0
    assert same_model(one, two)


def test_clusters_of_words_are_learnt_from_and_stored(train, dev, tmp_path):
    path = tmp_path / "clusters"
    words = sorted({form for sentence in train for form in sentence.forms})
    path.write_text("".join(f"{len(word)}\t{word}\n" for word in words), encoding="utf-8")
    small = replace(TINY, epochs=1, tags="predicted", tagger_weight_bits=14, tagger_epochs=1, tagger_folds=2)
    plain = fit(train[:80], dev[:10], config=small)
    config = replace(small, word_clusters=str(path))
    fingerprint_of_run = fingerprint(config, train[:80], dev[:10])
    parser = fit(train[:80], dev[:10], config=config)
    assert not same_model(parser, plain)
    assert not np.array_equal(parser.tagger.model.weights, plain.tagger.model.weights)
    parser.save(tmp_path / "model")
    path.write_text("1\tother\n", encoding="utf-8")
    again = Parser.load(tmp_path / "model")
    assert [again.encoding.clusters.of(word) for word in words] == [str(len(word)) for word in words]
    for one, two in zip(parser.parse(dev, threads=1), again.parse(dev, threads=1), strict=True):
        assert one.to_sentence(marginals=True) == two.to_sentence(marginals=True)
    # Another file is another run.
    assert fingerprint(config, train[:80], dev[:10]) != parser.fingerprint == fingerprint_of_run


def test_several_trainings_are_averaged(train, dev):
    config = replace(TINY, epochs=2)
    alone = fit(train[:80], dev[:10], config=config)
    parser = fit(train[:80], dev[:10], config=replace(config, trainings=3))
    assert [report.objective for report in parser.reports] == ["l2"] * 6 + ["mean"]
    assert parser.reports[:2] != parser.reports[2:4] != parser.reports[4:6]
    kept = []

    class Kept(Mean):
        def epoch(self, *given, **named):
            kept.extend(scorer.weights.copy() for scorer in self._scorers)
            return super().epoch(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "Mean", Kept)
        again = fit(train[:80], dev[:10], config=replace(config, trainings=3), threads=2)
    assert same_model(parser, again)
    np.testing.assert_array_equal(kept[0], alone.model.scorer.weights)
    assert not np.array_equal(kept[0], kept[1])
    assert not np.array_equal(kept[1], kept[2])
    factor = parser.reports[-1].value
    np.testing.assert_allclose(parser.model.scorer.weights, factor * np.mean(kept, axis=0), rtol=1e-5, atol=1e-7)


def test_the_factor_of_a_mean_is_the_one_that_does_best(train, dev):
    one, two = (HashedScorer(["words"], (), bits=10) for _ in range(2))
    one.weights[:], two.weights[:] = 1.0, 3.0
    for best in (1.0, 1.4, 2.0):
        value = Mean([one, two], lambda best=best: (-abs(one.weights[0] - 2.0 * best), 0.0)).epoch([], "mean", seed=())
        assert value == best
        assert one.weights == pytest.approx(2.0 * best)
        one.weights[:] = 1.0


class PowerCutError(Exception):
    """Stands for a signal or a power cut."""


@pytest.mark.parametrize(("objective", "epochs", "trainings"), [("l2", 3, 1), ("l2+ar", 2, 1), ("l2", 2, 2)])
def test_training_goes_on_after_any_epoch_as_if_nothing_had_happened(
    train, dev, tmp_path, objective, epochs, trainings
):
    config = replace(TINY, objective=objective, epochs=epochs, trainings=trainings, minibatch=1)
    straight = fit(train[:40], dev[:10], config=config)
    interruptions = 0
    while True:
        started = []

        def start(what, words, started=started):
            started += [what] if "epoch" in what else []
            if len(started) == 2:
                raise PowerCutError

        try:
            resumed = fit(
                train[:40], dev[:10], config=config, checkpoint=tmp_path / "run", progress=Progress(start=start)
            )
            break
        except PowerCutError:
            interruptions += 1
    assert interruptions == len(straight.reports) - 1
    assert same_model(resumed, straight)
    for first, second in zip(resumed.reports, straight.reports, strict=True):
        assert replace(first, words_per_second=0.0) == replace(second, words_per_second=0.0)


def test_a_checkpoint_of_another_run_is_refused_and_kept(train, dev, tmp_path):
    checkpoint = tmp_path / "run"
    config = replace(TINY, epochs=1)
    fit(train[:20], dev[:5], config=config, checkpoint=checkpoint)
    stored = checkpoint.read_bytes()
    with pytest.raises(ValueError, match="run belongs to a run with another configuration or other data"):
        fit(train[:20], dev[:5], config=replace(config, seed=3), checkpoint=checkpoint)
    with pytest.raises(ValueError, match="other data"):
        fit(train[:21], dev[:5], config=config, checkpoint=checkpoint)
    checkpoint.write_bytes(stored[:-100])
    with pytest.raises(ValueError, match="damaged"):
        fit(train[:20], dev[:5], config=config, checkpoint=checkpoint)
    assert checkpoint.read_bytes() == stored[:-100]


NEW_PARTS = [("consecutive-sibling",), ("grand-sibling",), ("tri-sibling",), tuple(PARTS)]
KINDS = [
    (objective, inference, tree, factors)
    for objective in ("cll", "l2", "ar", "l2+ar")
    for inference, tree, factors in (
        ("bp", "projective", ("grandparent", "sibling")),
        ("bp", "nonprojective", ("grandparent", "sibling")),
        ("exact", "projective", ("grandparent",)),
        ("exact", "projective", ()),
        ("exact", "nonprojective", ()),
        *(("bp", "projective", factors) for factors in NEW_PARTS),
        ("bp", "nonprojective", tuple(PARTS)),
    )
]


@pytest.mark.parametrize(("objective", "inference", "tree", "factors"), KINDS)
def test_every_kind_of_training_learns_something(train, dev, objective, inference, tree, factors):
    config = replace(
        TINY, objective=objective, inference=inference, tree=tree, factors=factors, iterations=2, prune_heads=4
    )
    short = [sentence for sentence in train[:200] if len(sentence) <= 12][:30]
    parser = fit(short, dev[:5], config=config)
    assert [report.objective for report in parser.reports] == [o for o in objective.split("+") for _ in range(2)]
    assert all(np.isfinite(report.value) for report in parser.reports)
    assert parser.reports[1].value < parser.reports[0].value
    assert accuracy(parser, short) > 80.0


def test_reports_name_the_epoch_that_is_returned(train, dev):
    heard = []
    parser = fit(train[:80], dev[:20], config=replace(TINY, epochs=4), progress=Progress(epoch=heard.append))
    assert parser.reports == heard
    assert [report.epoch for report in heard] == [1, 2, 3, 4]
    best = max(report.dev_uas for report in heard)
    assert [report.dev_uas for report in heard if report.best][-1] == best
    scored = [
        (parse.heads == parse.sentence.heads)[~is_punctuation(parse.sentence, "unicode")]
        for parse in parser.parse(dev[:20], threads=1)
    ]
    assert 100.0 * np.concatenate(scored).mean() == pytest.approx(best)


@pytest.mark.parametrize("folds", [1, 2, 3, 50])
def test_progress_adds_up_to_the_words_announced(train, dev, folds):
    announced, done = {}, {}

    def start(what, words):
        announced[what] = words

    def advance(words):
        last = next(reversed(announced))
        done[last] = done.get(last, 0) + words

    config = replace(TINY, pruner_folds=folds)
    fit(train[:10], dev[:5], config=config, progress=Progress(start=start, advance=advance))
    assert announced == done
    assert list(announced) == ["pruner", "l2 epoch 1", "l2 epoch 2"]


def test_a_rate_that_is_far_too_high_is_an_error_or_does_no_harm(train, dev):
    for objective in ("cll", "l2", "ar"):
        config = replace(TINY, objective=objective, rate=1000.0, regularisation=0.0)
        try:
            parser = fit(train[:60], dev[:5], config=config)
        except ValueError as error:
            assert "diverged; set a lower rate" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(parser.model.scorer.weights).all()
            assert all(np.isfinite(parse.beliefs).all() for parse in parser.parse(dev[:5], threads=1))


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_counted_from_one(train, dev, threads):
    with pytest.raises(ValueError, match=f"threads must be at least 1, not {threads}"):
        fit(train[:5], dev[:2], threads=threads)


SETTINGS = [{"schedule": "parallel"}, {"damping": 0.3}, {"tolerance": 0.05}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_settings_of_belief_propagation_are_trained_with(train, dev, settings):
    usual = fit(train[:40], dev[:5])
    one, two = (fit(train[:40], dev[:5], config=replace(TINY, **settings), threads=threads) for threads in (1, 2))
    assert same_model(one, two)
    assert not np.array_equal(one.model.scorer.weights, usual.model.scorer.weights)
    assert one.reports[1].value < one.reports[0].value
    assert accuracy(one, train[:40]) > 90.0


def test_with_a_tolerance_sentences_are_learnt_from_one_by_one(train):
    """Together they would go on until the last of them has settled."""
    prepared = prepare(train[:14], train[:2], TINY)
    arcs = [Arcs.of(kept) for kept in prepared.keep]
    examples = [
        Example(tokens, own, own.marked(gold))
        for tokens, own, gold in zip(prepared.tokens, arcs, prepared.gold, strict=True)
    ]
    config = replace(TINY, tolerance=1e-3, iterations=100)
    model = new_model(config, prepared.encoding, projective=True, single_root=True)
    model.scorer.weights[:] = np.random.default_rng(0).normal(scale=0.1, size=len(model.scorer.weights))
    learner = Learner(model, config, 0.05, len(examples), threads=1)
    sizes = len(model.scorer.weights)
    value, together = 0.0, np.zeros(sizes)
    expected, alone = 0.0, np.zeros(sizes)
    for found, gradient in learner.gradients(examples, "l2", 1.0):
        value += found
        together += np.bincount(gradient.indices, gradient.values, minlength=sizes)
    for example in examples:
        ((found, gradient),) = learner.gradients([example], "l2", 1.0)
        expected += found
        alone += np.bincount(gradient.indices, gradient.values, minlength=sizes)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5 * np.abs(alone).max())  # float32, in another order
