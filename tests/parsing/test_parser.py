"""A trained parser: what it returns, for ordinary sentences and for odd ones."""

import io
import resource
from dataclasses import replace
from itertools import cycle, islice
from time import perf_counter, process_time

import numpy as np
import pytest

from small_parser import CONFIG, is_tree, parse
from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.sentence import Sentence


def words_without_heads(count, seed=0):
    """As many words of the embedded treebank as asked for, in one sentence."""
    words = [
        (form, fine, coarse)
        for sentence in islice(cycle(embedded_treebank("test", seed=1 + seed)), count)
        for form, fine, coarse in zip(sentence.forms, sentence.fine_tags, sentence.coarse_tags, strict=True)
    ][:count]
    forms, fine, coarse = zip(*words, strict=True)
    return Sentence.from_columns(forms, fine_tags=fine, coarse_tags=coarse)


def test_parses_are_trees_with_probabilities(parser, test_set):
    for result in parser.parse(test_set, threads=1):
        n = len(result.sentence)
        assert len(result.heads) == len(result.labels) == n
        assert is_tree(result.heads, projective=True, single_root=True)
        assert ((result.beliefs >= 0.0) & (result.beliefs <= 1.0 + 1e-9)).all()
        np.testing.assert_allclose(np.add.reduceat(result.beliefs, result.arcs.starts[:-1]), 1.0, atol=1e-9)
        np.testing.assert_allclose(result.label_probabilities.sum(axis=1), 1.0)
        assert result.label_probabilities.shape == (n, len(result.label_names))
        best = result.label_probabilities.argmax(axis=1)
        assert [result.label_names[k] for k in best] == result.labels
        matrix = result.arcs.matrix(result.beliefs, 0.0)
        np.testing.assert_allclose(result.head_probabilities, matrix[result.heads, np.arange(1, n + 1)])
        assert result.expected_accuracy == pytest.approx(result.head_probabilities.mean())
        assert 0.0 < result.expected_accuracy <= 1.0
        assert list(result.factors) == ["grandparent", "sibling"]
        assert min(result.factors.values()) > 0
        assert result.alternatives == []


def test_nonprojective_parses_are_trees_with_probabilities(nonprojective, test_set):
    for result in nonprojective.parse(test_set[:20], threads=1):
        assert is_tree(result.heads, projective=False, single_root=False)
        assert ((result.beliefs > -1e-12) & (result.beliefs < 1.0 + 1e-9)).all()
        np.testing.assert_allclose(np.add.reduceat(result.beliefs, result.arcs.starts[:-1]), 1.0, atol=1e-9)


def test_expected_accuracy_is_about_the_accuracy(parser, test_set):
    parses = list(parser.parse(test_set, threads=1))
    expected = np.concatenate([result.head_probabilities for result in parses]).mean()
    right = np.concatenate([result.heads == result.sentence.heads for result in parses]).mean()
    labels = np.mean([a == b for result in parses for a, b in zip(result.labels, result.sentence.labels, strict=True)])
    assert abs(expected - right) < 0.1
    assert right > 0.9
    assert labels > 0.9


def test_convergence_is_reported(parser, test_set):
    few = list(parser.parse(test_set, threads=1))
    many = list(parser.with_iterations(50).parse(test_set, threads=1))
    assert np.mean([result.converged for result in many]) > 0.9
    assert np.mean([result.residual for result in many]) < np.mean([result.residual for result in few])
    assert all(result.converged == (result.residual <= 1e-3) for result in few + many)


def test_one_iteration_never_counts_as_converged(parser, test_set):
    assert not any(result.converged for result in parser.with_iterations(1).parse(test_set[:5], threads=1))


def test_iterations_can_be_changed_after_training(parser, test_set):
    other = parser.with_iterations(1)
    assert (parser.config.iterations, other.config.iterations) == (4, 1)
    four, one = (parse(p, test_set[0]) for p in (parser, other))
    assert not np.array_equal(four.beliefs, one.beliefs)
    again = parse(other.with_iterations(4), test_set[0])
    np.testing.assert_array_equal(again.beliefs, four.beliefs)


@pytest.mark.parametrize("decoder", ["mbr", "log-odds", "map"])
def test_sentences_are_parsed_together_as_they_are_alone(parser, test_set, decoder):
    parser = replace(parser, config=replace(parser.config, decoder=decoder))
    empty = replace(test_set[0], forms=[], lemmas=[], coarse_tags=[], fine_tags=[], feats=[], heads=[], labels=[])
    sentences = [*test_set[:3], empty, *test_set[3:30]]
    for sentence, together in zip(sentences, parser.parse(sentences, threads=1), strict=True):
        (alone,) = parser.parse([sentence], threads=1)
        assert together.sentence is sentence
        assert together.labels == alone.labels
        assert (together.factors, together.residual) == (alone.factors, alone.residual)
        for ours, other in zip(
            (together.heads, together.beliefs, together.arcs.heads, together.arcs.modifiers, together.arcs.starts),
            (alone.heads, alone.beliefs, alone.arcs.heads, alone.arcs.modifiers, alone.arcs.starts),
            strict=True,
        ):
            assert np.array_equal(ours, other)


def test_threads_keep_the_order_and_the_results(parser, test_set):
    one, three = (list(parser.parse(test_set, threads=threads)) for threads in (1, 3))
    assert [result.sentence for result in three] == test_set
    for first, second in zip(one, three, strict=True):
        assert np.array_equal(first.heads, second.heads)
        assert np.array_equal(first.beliefs, second.beliefs)


@pytest.mark.parametrize("threads", [1, 2])
def test_sentences_are_parsed_as_they_come(parser, test_set, threads):
    taken = 0

    def endless():
        nonlocal taken
        for sentence in cycle(test_set[:3]):
            taken += 1
            yield sentence

    parses = parser.parse(endless(), threads=threads)
    assert len(list(islice(parses, 5))) == 5
    parses.close()
    assert taken < 100


def test_k_best_trees_are_distinct_sorted_and_begin_with_the_parse(parser, nonprojective, test_set):
    for model in (parser, nonprojective):
        for result in model.parse(test_set[:10], threads=1, kbest=6):
            trees = [tuple(heads.tolist()) for heads, _ in result.alternatives]
            accuracies = [accuracy for _, accuracy in result.alternatives]
            assert len(set(trees)) == len(trees) == 6
            assert accuracies == sorted(accuracies, reverse=True)
            assert trees[0] == tuple(result.heads.tolist())
            assert accuracies[0] == pytest.approx(result.expected_accuracy)
            matrix = result.arcs.matrix(result.beliefs, 0.0)
            for heads, accuracy in result.alternatives:
                assert accuracy == pytest.approx(matrix[heads, np.arange(1, len(heads) + 1)].mean())


def test_there_may_be_fewer_trees_than_asked_for(parser):
    two = Sentence.from_columns(["the", "dog"], fine_tags=["DT", "NN"])
    result = parse(parser, two, kbest=50)
    assert 1 <= len(result.alternatives) <= 2


@pytest.mark.parametrize("decoder", ["mbr", "log-odds", "map"])
def test_every_decoder_gives_good_trees(parser, test_set, decoder):
    parser = replace(parser, config=replace(CONFIG, decoder=decoder))
    parses = list(parser.parse(test_set[:30], threads=1))
    assert all(is_tree(result.heads, projective=True, single_root=True) for result in parses)
    assert np.concatenate([result.heads == result.sentence.heads for result in parses]).mean() > 0.9


def test_an_empty_sentence(parser, test_set):
    nothing = replace(
        test_set[0], forms=[], lemmas=[], coarse_tags=[], fine_tags=[], feats=[], heads=[], labels=[], text=""
    )
    for threads in (1, 2):
        first, second = parser.parse([nothing, test_set[0]], threads=threads, kbest=2)
        assert (first.heads.tolist(), first.labels, first.alternatives) == ([], [], [])
        assert first.expected_accuracy == 1.0
        assert first.converged
        assert first.to_sentence(marginals=True) == nothing
        assert len(second.heads) == len(test_set[0])


def test_a_sentence_of_one_word(parser, nonprojective):
    word = Sentence.from_columns(["Yes"], fine_tags=["UH"], coarse_tags=["INTJ"])
    for model in (parser, nonprojective):
        result = parse(model, word, kbest=3)
        assert result.heads.tolist() == [0]
        assert result.expected_accuracy == pytest.approx(1.0)
        assert len(result.alternatives) == 1
        assert set(result.factors.values()) == {0}
        assert result.converged


def test_words_tags_and_labels_never_seen(parser):
    strange = Sentence.from_columns(
        ["ψ", "☃", "zzz"],
        fine_tags=["?", "??", "???"],
        coarse_tags=["!", "!!", "!!!"],
        feats=["A=B", "_", "C=D"],
        labels=["new", "newer", "newest"],
        heads=[0, 1, 1],
    )
    result = parse(parser, strange)
    assert is_tree(result.heads, projective=True, single_root=True)
    assert set(result.labels) <= set(result.label_names)


def test_no_tags_at_all(parser):
    assert is_tree(parse(parser, Sentence.from_columns(["a", "b", "c"])).heads, projective=True, single_root=True)


def test_nothing_to_parse(parser):
    assert list(parser.parse([])) == []
    assert list(parser.parse([], threads=2, known=[])) == []


CONLLX = b"1\tthe\t_\tDT\tDT\t_\t2\t_\t_\t_\n2\tdog\t_\tNN\tNN\t_\t0\t_\t_\t_\n\n"
CONLLU = b"# id = 1\n1\tthe\t_\tDET\tDT\t_\t_\t_\t_\tA=1|HeadProb=0\n2\tdog\t_\tNOUN\tNN\t_\t_\t_\t_\t_\n\n"


def test_marginals_are_written_in_conllu(parser):
    (sentence,) = read_conll(io.BytesIO(CONLLU), format="conllu")
    result = parse(parser, sentence, kbest=2)
    written = result.to_sentence(marginals=True)
    assert written.heads == result.heads.tolist()
    assert written.labels == result.labels
    lines = written.text.splitlines()
    first, second = (f"HeadProb={p:.3f}" for p in result.head_probabilities)
    assert [line for line in lines if line.startswith("1\t")][0].endswith(f"A=1|{first}")  # noqa: RUF015
    assert [line for line in lines if line.startswith("2\t")][0].endswith(f"\t{second}")  # noqa: RUF015
    assert lines[0] == "# id = 1"
    assert lines[1].startswith("# alternative 1 accuracy=")
    assert lines[1].endswith("heads=" + " ".join(map(str, result.heads)))
    (again,) = read_conll(io.BytesIO(written.text.encode()), format="conllu")
    assert again == written
    assert parse(parser, written, kbest=2).to_sentence(marginals=True) == written  # nothing is repeated
    plain = parse(parser, sentence).to_sentence()
    assert "HeadProb" not in plain.text  # of an earlier parse
    assert plain.comments == ["# id = 1"]


def test_conllx_has_no_room_for_marginals(parser):
    (sentence,) = read_conll(io.BytesIO(CONLLX), format="conllx")
    result = parse(parser, sentence, kbest=2)
    written = result.to_sentence(marginals=True)
    assert written == result.to_sentence()
    assert written.format == "conllx"
    assert written.heads == result.heads.tolist()
    assert len(written.text.splitlines()) == 3


@pytest.mark.parametrize(("words", "seconds"), [(200, 2.0), (400, 40.0)])
def test_long_sentences(parser, words, seconds):
    sentence = words_without_heads(words)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = perf_counter()
    result = parse(parser, sentence)
    assert perf_counter() - began < seconds
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
    assert is_tree(result.heads, projective=True, single_root=True)
    assert np.isfinite(result.beliefs).all()


def test_cost_grows_with_the_cube_of_the_length(parser):
    def cost(words):
        sentence = words_without_heads(words)
        began = process_time()
        parse(parser, sentence)
        return (process_time() - began) / words**3

    cost(250)  # which loads kernels
    assert cost(700) < 3.0 * min(cost(250) for _ in range(3))  # with logarithms it was five times as much


def test_a_long_nonprojective_sentence(nonprojective):
    result = parse(nonprojective, words_without_heads(200))
    assert is_tree(result.heads, projective=False, single_root=False)
    assert np.isfinite(result.beliefs).all()


@pytest.mark.parametrize("scale", [1e3, 1e30])
def test_weights_of_any_size_give_a_tree(parser, test_set, monkeypatch, scale):
    scorer = parser.model.scorer
    monkeypatch.setattr(scorer, "weights", np.clip(scorer.weights * np.float32(scale), -1e37, 1e37))
    for result in parser.parse(test_set[:10], threads=1, kbest=2):
        assert is_tree(result.heads, projective=True, single_root=True)
        assert np.isfinite(result.beliefs).all()


@pytest.mark.parametrize("kbest", [-1, -5])
def test_alternatives_are_counted_from_one(parser, test_set, kbest):
    with pytest.raises(ValueError, match="at least"):
        parse(parser, test_set[0], kbest=kbest)
