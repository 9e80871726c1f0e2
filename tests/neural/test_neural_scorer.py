"""A network as scorer: its gradients through belief propagation, and what its scores depend on."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_network import NETWORK

from treebp.data.embedded import embedded_treebank
from treebp.features.encoding import Encoding
from treebp.neural import network as network_module
from treebp.parsing.arcs import Arcs, Batch, split
from treebp.parsing.model import Inference, TreeModel
from treebp.parsing.neural_scorer import NeuralScorer, SumScorer
from treebp.parsing.parts import PARTS
from treebp.parsing.scorer import HashedScorer
from treebp.training import threads as on_threads
from treebp.training.circuit import Examples, label_loss, loss_and_gradient
from treebp.training.learner import Example
from treebp.training.threads import loss_and_gradient_on_threads

SENTENCES = [sentence for sentence in embedded_treebank("train")[:60] if 4 <= len(sentence) <= 7][:3]
ENCODING = Encoding.of(embedded_treebank("train")[:60])
LABELS = 5
QUIET = replace(NETWORK, dropout=0.0, hidden=0.0)


def new_scorer(kinds, config=QUIET, *, seed=0):
    scorer = NeuralScorer(config, ENCODING, [PARTS[kind] for kind in kinds], LABELS)
    scorer.network.double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in scorer.network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64), alpha=0.3)
        for table in scorer.network.inputs.tables.values():
            if isinstance(table, torch.nn.Embedding):
                table.weight[0] = 0.0
    return scorer


def examples_of(sentences=SENTENCES, *, labels=True):
    rng = np.random.default_rng(1)
    tokens = [ENCODING.encode(sentence) for sentence in sentences]
    arcs, heads = [], [np.array(sentence.heads) for sentence in sentences]
    for tree in heads:
        keep = rng.random((len(tree) + 1,) * 2) < 0.7
        keep[tree, np.arange(1, len(tree) + 1)] = True
        keep[:, 0] = False
        np.fill_diagonal(keep, False)
        arcs.append(Arcs.of(keep))
    batch = Batch.of(tokens, arcs, [sentence.forms for sentence in sentences])
    gold = np.concatenate([own.marked(tree) for own, tree in zip(arcs, heads, strict=True)])
    flat = np.concatenate(heads)
    return Examples(batch, gold, *((flat, rng.integers(LABELS, size=len(flat))) if labels else ()))


@pytest.mark.parametrize("objective", ["heads", "cll"])
def test_gradients_are_the_same_on_any_number_of_threads(objective, monkeypatch):
    monkeypatch.setattr(on_threads, "_WORDS", 1)  # a few sentences are enough for several threads
    model = TreeModel(new_scorer(PARTS), projective=False, single_root=True, inference=Inference(iterations=2))
    model.scorer.network.train()
    batch, gold, heads, labels = examples_of()
    sentences = zip(
        batch, batch.split(gold), split(heads, batch.sizes - 1), split(labels, batch.sizes - 1), strict=True
    )
    examples = [
        Example(tokens, arcs, right, sentence.forms, tree, names)
        for sentence, ((tokens, arcs), right, tree, names) in zip(SENTENCES, sentences, strict=True)
    ]
    found = []
    for threads in (1, 2, 5):
        model.scorer.network.zero_grad()
        value = loss_and_gradient_on_threads(model, examples, objective, 1.0, threads)
        found.append((value, [parameter.grad.clone() for parameter in model.scorer.network.parameters()]))
    for value, gradients in found:
        assert value == pytest.approx(found[0][0])
        assert all(map(torch.equal, gradients, found[0][1]))


@pytest.mark.parametrize("objective", ["heads", "l2"])
@pytest.mark.parametrize("kinds", [(), *((kind,) for kind in PARTS), ("sibling", "grandparent")])
def test_gradients_through_network_and_propagation_are_those_of_finite_differences(kinds, objective):
    scorer, examples = new_scorer(kinds), examples_of()
    model = TreeModel(scorer, projective=False, single_root=True, inference=Inference(iterations=2))
    scorer.network.train()
    loss_and_gradient(model, examples, objective)
    gradients = {
        name: (parameter, parameter.grad.clone())
        for name, parameter in scorer.network.named_parameters()
        if name.startswith(("arc_", "part_", "label_", "inputs.tables.word"))
    }
    assert len(gradients) >= 13
    for name, (parameter, gradient) in gradients.items():
        direction = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        if name.startswith("inputs"):
            direction[0] = 0.0  # the unknown word's vector stays zero
        values = []
        with torch.no_grad():
            for step in (1e-5, -2e-5):
                parameter += step * direction
                values.append(value_of(model, examples, objective))
            parameter += 1e-5 * direction
        assert (gradient * direction).sum().item() == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-4, abs=1e-5)


def value_of(model, examples, objective):
    with torch.enable_grad():
        return loss_and_gradient(model, examples, objective)[0]


@pytest.mark.parametrize("encoder", ["bilstm", "transformer"])
def test_a_sentence_has_the_same_scores_alone_and_in_a_batch(encoder):
    scorer = new_scorer(PARTS, replace(QUIET, encoder=encoder))
    together = examples_of().batch
    scores = scorer(together, {name: part.list(together, False) for name, part in PARTS.items()})
    begin = dict.fromkeys(scores.potentials, 0)
    for (tokens, arcs), sentence in zip(together, SENTENCES, strict=True):
        alone = Batch.of([tokens], [arcs], [sentence.forms])
        own = scorer(alone, {name: part.list(alone, False) for name, part in PARTS.items()}).potentials
        for name, values in own.items():
            np.testing.assert_allclose(scores.potentials[name][begin[name] :][: len(values)], values, atol=1e-9)
            begin[name] += len(values)


def test_products_of_matrices_and_parts_one_by_one_give_the_same_scores(monkeypatch):
    scorer, batch = new_scorer(("sibling", "grandparent")), examples_of().batch
    tuples = {part.name: part.list(batch, False) for part in scorer.parts}
    usual = scorer(batch, tuples).potentials
    monkeypatch.setattr(network_module, "_LONGEST", 3)
    for name, values in scorer(batch, tuples).potentials.items():
        np.testing.assert_allclose(values, usual[name], atol=1e-9)


def test_parts_start_at_zero():
    scorer, batch = NeuralScorer(QUIET, ENCODING, list(PARTS.values()), LABELS), examples_of().batch
    potentials = scorer(batch, {name: part.list(batch, False) for name, part in PARTS.items()}).potentials
    assert all(len(potentials[name]) and not potentials[name].any() for name in PARTS)


@pytest.mark.parametrize("left_out", ["words", "characters", "lemmas", "tags", "morphology"])
def test_each_input_can_be_left_out(left_out):
    inputs = tuple(name for name in QUIET.inputs if name != left_out)
    narrower, all_of_them = (
        new_scorer((), replace(QUIET, inputs=given)).network.inputs.size for given in (inputs, QUIET.inputs)
    )
    filled = left_out != "morphology" or ENCODING.values["morphology"]
    assert all_of_them - narrower == (QUIET.embedding_size if filled else 0)


def test_characters_tell_unknown_words_apart():
    sentence = SENTENCES[0]
    for inputs, differ in ((("words", "characters"), True), (("words",), False)):
        scorer = new_scorer((), replace(QUIET, inputs=inputs))
        found = []
        for form in ("unheard", "unseen"):
            forms = [form, *sentence.forms[1:]]
            tokens = ENCODING.encode(sentence)
            tokens[2] = 0
            batch = Batch.of([tokens], [Arcs.of(examples_of([sentence]).batch.arcs[0].mask())], [forms])
            found.append(scorer(batch, {}).potentials["arc"])
        assert np.array_equal(*found) != differ


def test_a_network_without_any_input_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        NeuralScorer(replace(QUIET, inputs=()), ENCODING, (), LABELS)


def test_a_sum_is_the_mean_of_its_parts_and_so_is_its_gradient():
    examples = examples_of(labels=False)
    kinds = [PARTS["sibling"]]
    hashed = HashedScorer(["words", "tags"], kinds, 10)
    hashed.weights[:] = np.random.default_rng(0).normal(size=len(hashed.weights))
    both = SumScorer(hashed, new_scorer(("sibling",)))
    both.shares[0] = 0.25
    both.neural.network.train()
    tuples = {"sibling": kinds[0].list(examples.batch, False)}
    scores = both(examples.batch, tuples)
    features, network = hashed(examples.batch, tuples), both.neural(examples.batch, tuples)
    for name, values in scores.potentials.items():
        np.testing.assert_allclose(values, 0.75 * features.potentials[name] + 0.25 * network.potentials[name])
    ones = {name: np.ones(len(values)) for name, values in scores.potentials.items()}
    network.backprop(ones)
    expected = [parameter.grad.clone() for parameter in both.neural.network.parameters() if parameter.grad is not None]
    both.neural.network.zero_grad()
    sparse = scores.backprop(ones)
    found = [parameter.grad for parameter in both.neural.network.parameters() if parameter.grad is not None]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, 0.25 * other)
    assert sparse.values.sum() == pytest.approx(0.75 * features.backprop(ones).values.sum(), rel=1e-5)


def test_the_loss_of_labels_is_their_cross_entropy():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(4, 3)), np.array([0, 2, 1, 1])
    value, gradient = label_loss(scores, labels)
    tensor = torch.tensor(scores, requires_grad=True)
    expected = torch.nn.functional.cross_entropy(tensor, torch.tensor(labels), reduction="sum")
    expected.backward()
    assert value == pytest.approx(expected.item())
    np.testing.assert_allclose(gradient, tensor.grad.numpy(), atol=1e-12)


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no device 'cuda:99'"):
        new_scorer(()).to("cuda:99")


def test_too_little_memory_is_told_in_one_line(monkeypatch):
    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 TiB")

    scorer = new_scorer(())
    monkeypatch.setattr(scorer.network, "states", fail)
    with pytest.raises(MemoryError, match="cpu has too little memory for"):
        scorer(examples_of().batch, {})
