import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.data.embedded import Split, embedded_treebank
from treebp.features.encoding import Encoding
from treebp.features.templates import ATTRIBUTES
from treebp.kernels.features import ARC, GRANDPARENT, SIBLING, mix, order_code
from treebp.kernels.labels import LABEL_TOKENS, LabelHashing, LabelTemplates, LabelTrees, LabelWeights, train_epoch
from treebp.parsing.label_templates import label_templates
from treebp.parsing.labels import LabelModel

TEMPLATES = label_templates(["words", "tags", "coarse", "prefixes", "lemmas", "morphology", "clusters"])
BITS = 6  # few rows, so that features share them
Sentences = tuple[list[IntArray], list[IntArray], list[list[str]]]


def random_tokens(words: int, rng: np.random.Generator) -> IntArray:
    tokens = rng.integers(3, 9, (words + 3, len(ATTRIBUTES)))
    tokens[[0, -1]], tokens[1] = 1, 2
    return tokens


def random_heads(words: int, rng: np.random.Generator) -> IntArray:
    """A random tree: every word hangs from one that comes before it in some order."""
    heads = np.zeros(words, np.int64)
    order = rng.permutation(words)
    for place in range(1, words):
        heads[order[place]] = rng.choice([0, *(order[:place] + 1)])
    return heads


def random_model(rng: np.random.Generator, *, labels: int = 4, root_label: int = -1, scale: float = 1.0) -> LabelModel:
    model = LabelModel([f"label{k}" for k in range(labels)], TEMPLATES, BITS, root_label)
    model.weights[:] = rng.normal(scale=scale, size=model.weights.shape)
    return model


def features_by_definition(
    tokens: IntArray, heads: IntArray, modifier: int, templates: LabelTemplates
) -> Iterator[int]:
    """The rows of the weights that an arc uses, with every relative looked up by its definition."""
    head = int(heads[modifier - 1])
    siblings = [m for m in range(1, len(heads) + 1) if heads[m - 1] == head and m != modifier]
    children = [m for m in range(1, len(heads) + 1) if heads[m - 1] == modifier]
    positions = {
        "h": head,
        "m": modifier,
        "h-": head - 1,
        "h+": head + 1,
        "m-": modifier - 1,
        "m+": modifier + 1,
        "g": int(heads[head - 1]) if head else -1,
        "s-": max((s for s in siblings if s < modifier), default=-1),
        "s+": min((s for s in siblings if s > modifier), default=-1),
        "c-": min(children, default=-1),
        "c+": max(children, default=-1),
    }

    def hashed(array: IntArray, seed: int, where: dict[str, int]) -> Iterator[int]:
        for t, template in enumerate(array):
            key = mix(np.uint64(0), seed + t)
            for token, attribute in template[template[:, 0] >= 0]:
                key = mix(np.uint64(key), tokens[where[LABEL_TOKENS[token]] + 1, attribute])
            yield int(key) >> (64 - BITS)

    of_arc, of_child, of_sibling = templates
    yield from hashed(of_arc, ARC + 256 * (head < modifier), positions)
    for child in children:
        yield from hashed(of_child, GRANDPARENT + 256 * order_code(head, modifier, child), {**positions, "c": child})
    for sibling in siblings:
        yield from hashed(of_sibling, SIBLING + 256 * order_code(head, modifier, sibling), {**positions, "s": sibling})


def softmax_by_definition(weights: AnyArray, rows: list[int], root_label: int) -> FloatArray:
    scores = weights[rows].astype(np.float64).sum(axis=0)
    if root_label >= 0:
        scores[root_label] = -np.inf
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


@settings(deadline=None)
@given(st.integers(0, 9), st.integers(-1, 3), st.integers(0, 2**32 - 1))
def test_probabilities_are_those_of_the_definition(words: int, root_label: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tokens, heads = random_tokens(words, rng), random_heads(words, rng)
    model = random_model(rng, root_label=root_label)
    numbers, probabilities = model.predict(tokens, heads)
    assert probabilities.shape == (words, 4)
    for modifier in range(1, words + 1):
        expected = np.eye(4)[root_label]
        if root_label < 0 or heads[modifier - 1] > 0:
            rows = list(features_by_definition(tokens, heads, modifier, TEMPLATES))
            expected = softmax_by_definition(model.weights, rows, root_label)
        np.testing.assert_allclose(probabilities[modifier - 1], expected, atol=1e-12)
    assert (numbers == probabilities.argmax(axis=1)).all()


def test_huge_weights_give_probabilities() -> None:
    rng = np.random.default_rng(1)
    model = random_model(rng, scale=1e37, root_label=2)
    _, probabilities = model.predict(random_tokens(30, rng), random_heads(30, rng))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("root_label", [-1, 1])
def test_lazy_training_equals_adagrad_that_touches_every_row_at_every_step(root_label: int) -> None:
    rng = np.random.default_rng(2)
    rate, decay = 0.3, 0.05
    lengths = [3, 0, 5, 2, 7]
    tokens = [random_tokens(n, rng) for n in lengths]
    trees = [random_heads(n, rng) for n in lengths]
    gold = rng.choice([0, 2], sum(lengths))
    starts = np.cumsum([0, *lengths])
    weights, squares = np.zeros((1 << BITS, 3), np.float32), np.zeros(1 << BITS, np.float32)
    last = np.zeros(1 << BITS, np.int64)
    eager, sums = np.zeros(weights.shape), np.zeros(len(weights))
    flat, learnt = (
        LabelTrees(np.concatenate(tokens), np.concatenate(trees), starts),
        LabelWeights(weights, squares, last),
    )
    step = 0
    for order in (rng.permutation(len(lengths)) for _ in range(3)):
        step = train_epoch(flat, gold, order, LabelHashing(TEMPLATES, BITS), root_label, rate, decay, learnt, step)
        for i in order:
            for modifier in range(1, lengths[i] + 1):
                if root_label >= 0 and trees[i][modifier - 1] == 0:
                    continue
                rows = list(features_by_definition(tokens[i], trees[i], modifier, TEMPLATES))
                gradient = softmax_by_definition(eager, rows, root_label)
                gradient[gold[starts[i] + modifier - 1]] -= 1.0
                if gradient @ gradient < 1e-8:
                    rows = []
                for row in range(len(eager)):
                    for _ in range(rows.count(row)):
                        sums[row] += gradient @ gradient
                        scale = 1e-6 + math.sqrt(sums[row])
                        eager[row] = (scale * eager[row] - rate * gradient) / (scale + rate * decay)
                    if row not in rows and sums[row] > 0.0:
                        scale = 1e-6 + math.sqrt(sums[row])
                        eager[row] *= scale / (scale + rate * decay)
        np.testing.assert_allclose(weights, eager, atol=1e-4)
    assert np.abs(eager).max() > 0.1


@pytest.fixture(scope="module")
def encoding() -> Encoding:
    return Encoding.of(embedded_treebank("train"))


def sentences(encoding: Encoding, split: Split, count: int) -> Sentences:
    chosen = embedded_treebank(split)[:count]
    return (
        [encoding.encode(sentence) for sentence in chosen],
        [np.array(sentence.heads) for sentence in chosen],
        [sentence.labels for sentence in chosen],
    )


def accuracy(model: LabelModel, data: Sentences) -> float:
    right = [
        model.labels[number] == label
        for tokens, heads, labels in zip(*data, strict=True)
        for number, label in zip(model.predict(tokens, heads)[0], labels, strict=True)
    ]
    return sum(right) / len(right)


@pytest.fixture(scope="module")
def train(encoding: Encoding) -> Sentences:
    return sentences(encoding, "train", 400)


@pytest.fixture(scope="module")
def model(train: Sentences) -> LabelModel:
    return LabelModel.fit(*train, TEMPLATES)


def test_labels_of_new_sentences_are_learnt_and_the_tree_around_an_arc_helps(
    encoding: Encoding, train: Sentences, model: LabelModel
) -> None:
    dev = sentences(encoding, "dev", 300)
    of_arc, of_child, of_sibling = TEMPLATES
    neighbours = (of_arc[:, :, 0] <= LABEL_TOKENS.index("m+")).all(axis=1)
    without_tree = LabelModel.fit(*train, LabelTemplates(of_arc[neighbours], of_child[:0], of_sibling[:0]))
    assert accuracy(model, dev) > max(0.99, accuracy(without_tree, dev))


def test_probabilities_are_confidence(encoding: Encoding, model: LabelModel) -> None:
    tokens, trees, labels = sentences(encoding, "dev", 300)
    predictions = [model.predict(*pair) for pair in zip(tokens, trees, strict=True)]
    top = np.concatenate([probabilities.max(axis=1) for _, probabilities in predictions])
    right = accuracy(model, (tokens, trees, labels))
    assert abs(top.mean() - right) < 0.01


def test_the_seed_decides_every_weight(train: Sentences, model: LabelModel) -> None:
    assert np.array_equal(LabelModel.fit(*train, TEMPLATES).weights, model.weights)
    assert not np.array_equal(LabelModel.fit(*train, TEMPLATES, seed=1).weights, model.weights)


def test_several_trainings_are_averaged(train: Sentences, model: LabelModel) -> None:
    both = LabelModel.fit(*train, TEMPLATES, trainings=2)
    second = 2.0 * both.weights - model.weights  # in the order that the seed gives next
    assert not np.allclose(second, model.weights, atol=1e-3)
    both.weights[:] = second
    assert accuracy(both, train) > 0.99


def test_threads_predict_what_one_thread_does(train: Sentences, model: LabelModel) -> None:
    tokens, trees, _ = train
    alone = [model.predict(*pair)[1] for pair in zip(tokens, trees, strict=True)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda *pair: model.predict(*pair)[1], tokens, trees))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_state_goes_through_a_file_and_comes_back_exactly(model: LabelModel, tmp_path: Path) -> None:
    state = model.state()
    assert state["weights"].any(axis=1).all()
    save_file(state, tmp_path / "labels")
    again = LabelModel.from_state(model.labels, TEMPLATES, load_file(tmp_path / "labels"))
    assert np.array_equal(again.weights, model.weights)
    assert (again.labels, again.root_label) == (model.labels, model.root_label)
    tokens, heads = random_tokens(5, np.random.default_rng(0)), np.array([0, 1, 1, 3, 1])
    assert np.array_equal(again.predict(tokens, heads)[1], model.predict(tokens, heads)[1])


@pytest.mark.parametrize(
    "change",
    [
        {"settings": np.array([BITS, 3])},
        {"settings": np.array([BITS, -2])},
        {"settings": np.array([0, 0])},
        {"settings": np.array([40, 0])},
        {"settings": np.array([BITS])},
        {"rows": np.array([0, 1 << BITS])},
        {"rows": np.array([-1, 0])},
        {"rows": np.array([0, 1, 2])},
        {"rows": np.array([0.0, 1.0])},
        {"weights": np.zeros((2, 4), np.float32)},
        {"weights": np.full((2, 3), np.nan, np.float32)},
        {"more": np.zeros(1)},
    ],
    ids=str,
)
def test_a_state_that_cannot_be_is_refused(change: dict[str, AnyArray]) -> None:
    state = {"settings": np.array([BITS, 0]), "rows": np.array([0, 1]), "weights": np.ones((2, 3), np.float32)}
    assert LabelModel.from_state(["a", "b", "c"], TEMPLATES, state).weights.sum() == 6.0
    with pytest.raises(ValueError, match="do not fit each other or its 3 labels"):
        LabelModel.from_state(["a", "b", "c"], TEMPLATES, {**state, **change})


@pytest.mark.parametrize(
    ("labels", "reserved"),
    [
        (["root", "a", "b"], True),
        (["root", "a", "root"], False),  # also used below
        (["a", "b", "b"], True),
        (["_", "_", "_"], False),
    ],
)
def test_a_label_of_the_root_alone_is_reserved_for_it(labels: list[str], reserved: bool) -> None:
    tokens = random_tokens(3, np.random.default_rng(0))
    model = LabelModel.fit([tokens], [[0, 1, 1]], [labels], TEMPLATES)
    assert (model.root_label >= 0) == reserved
    if reserved:
        _, probabilities = model.predict(tokens, [2, 0, 2])
        assert probabilities[:, model.labels.index(labels[0])].tolist() == [0.0, 1.0, 0.0]


def test_two_labels_at_the_root_are_learnt() -> None:
    tokens = [random_tokens(1, np.random.default_rng(seed)) for seed in range(2)]
    model = LabelModel.fit(tokens * 20, [[0]] * 40, [["verb"], ["noun"]] * 20, TEMPLATES)
    assert model.root_label == -1
    assert [model.labels[model.predict(rows, [0])[0][0]] for rows in tokens] == ["verb", "noun"]


def test_one_label_needs_no_weights() -> None:
    tokens = random_tokens(2, np.random.default_rng(0))
    model = LabelModel.fit([tokens], [[0, 1]], [["_", "_"]], TEMPLATES)
    assert model.weights.size == 0
    again = LabelModel.from_state(model.labels, TEMPLATES, model.state())
    numbers, probabilities = again.predict(tokens, [2, 0])
    assert numbers.tolist() == [0, 0]
    assert probabilities.tolist() == [[1.0], [1.0]]


def test_many_labels_have_fewer_rows() -> None:
    rng = np.random.default_rng(0)
    tokens, heads = random_tokens(300, rng), random_heads(300, rng)
    model = LabelModel.fit([tokens], [heads], [[f"label{k}" for k in range(300)]], TEMPLATES)
    assert 2**25 < model.weights.nbytes <= 2**26
    assert np.array_equal(LabelModel.from_state(model.labels, TEMPLATES, model.state()).weights, model.weights)


@pytest.mark.parametrize(
    ("words", "heads", "labels", "message"),
    [
        (2, [0, 3], ["a", "b"], "sentence 2: word 2 has head 3: the sentence has 2 words"),
        (2, [0, -1], ["a", "b"], "sentence 2: word 2 has head -1"),
        (3, [0, 1], ["a", "b"], rf"sentence 2: tokens of shape \(6, {len(ATTRIBUTES)}\) for heads of shape \(2,\)"),
        (2, [[0, 1]], ["a", "b"], "sentence 2: tokens of shape"),
        (2, [0, 1], ["a"], "sentence 2: 1 labels for 2 words"),
    ],
)
def test_bad_sentences_are_named(words: int, heads: list[int], labels: list[str], message: str) -> None:
    rng = np.random.default_rng(0)
    good, bad = random_tokens(1, rng), random_tokens(words, rng)
    with pytest.raises(ValueError, match=message):
        LabelModel.fit([good, bad], [[0], heads], [["a"], labels], TEMPLATES)


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="no words"):
        LabelModel.fit([], [], [], TEMPLATES)


def test_templates_use_only_the_groups_asked_for() -> None:
    def attributes(*arrays: IntArray) -> set[str]:
        return {ATTRIBUTES[k] for array in arrays for k in np.unique(array[:, :, 1]) if k >= 0}

    assert attributes(*TEMPLATES) == set(ATTRIBUTES) - {"cluster6", "cluster4"}  # labels need no wider clusters
    assert {LABEL_TOKENS[k] for array in TEMPLATES for k in np.unique(array[:, :, 0]) if k >= 0} == set(LABEL_TOKENS)
    assert attributes(*label_templates(["words", "tags"])) == {"word", "fine"}
    assert attributes(*label_templates([])) == set()
    coarse = label_templates(["coarse"])
    assert attributes(*coarse) == {"coarse"}
    assert all(len(np.unique(array, axis=0)) == len(array) for array in coarse)
    assert min(map(len, coarse)) > 0
