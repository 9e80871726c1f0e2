"""Where a sentence's time goes, and what an iteration of belief propagation costs.

Some stages cannot be called alone: they are what one call takes more than another that leaves them out. This is the one
place outside the parser that knows what it consists of.
"""

from collections.abc import Callable, Iterator
from io import BytesIO

from treebp.benchmarks.measurement import Measurement, growth_exponent, interleaved
from treebp.benchmarks.workload import Workload, words_of
from treebp.data.conll import read_conll, write_conll
from treebp.kernels.objective import infer
from treebp.kernels.sentence import score
from treebp.parsing.arc_model import ArcModel
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.decoding import decode
from treebp.parsing.parser import _BATCH


def stages(workload: Workload) -> Iterator[Measurement]:
    """CPU microseconds per word of every stage on the way from one file to another."""
    parser, sentences = workload.parser, workload.sample
    encoding, pruner, model, config = parser._encoding, parser._pruner, parser._model, parser.config
    assert encoding is not None
    projective, single_root = model.structure
    arcs_only = ArcModel(
        encoding.available(config.templates), (), config.weight_bits, projective=projective, single_root=single_root
    )
    arcs_only.weights = model.weights

    file = BytesIO()
    write_conll(file, sentences)
    parses = list(parser.parse(sentences, threads=1))
    tokens = [encoding.encode(sentence) for sentence in sentences]
    possible = [Arcs.of(pruner.allowed(one)) for one in tokens]
    kept = [parse.arcs for parse in parses]
    batches = [
        (tokens[k : k + _BATCH], Batch.of(tokens[k : k + _BATCH], kept[k : k + _BATCH]))
        for k in range(0, len(tokens), _BATCH)
    ]
    believed = [(batch, model.infer(batch)[0]) for _, batch in batches]
    trees = [parse.heads for parse in parses]
    exact = config.inference == "exact"
    cases: dict[str, Callable[[], object]] = {
        "read": lambda: list(read_conll(BytesIO(file.getvalue()), format=sentences[0].format)),
        "encode": lambda: [encoding.encode(sentence) for sentence in sentences],
        "score possible": lambda: [*map(pruner.model.score, tokens, possible)],
        "prune": lambda: [pruner.keep(own) for own, _ in batches],
        "score arcs": lambda: [*map(arcs_only.score, tokens, kept)],
        "score": lambda: [*map(model.score, tokens, kept)],
        "decode": lambda: [decode(config.decoder, model, *one, exact=exact) for one in believed],
        "infer": lambda: [parser._infer(batch) for _, batch in batches],
        "labels": lambda: [*map(parser._labels.predict, tokens, trees)],
        "write": lambda: write_conll(BytesIO(), (parse.to_sentence() for parse in parses)),
    }
    seconds = interleaved(cases, workload.sizes.repeats, least=workload.sizes.least)
    words = words_of(sentences)
    for name, more, less in _STAGES:
        differences = (
            max(0.0, sum(values[: len(more)]) - sum(values[len(more) :]))
            for values in zip(*(seconds[case] for case in (*more, *less)), strict=True)
        )
        yield Measurement("stages", name, "µs/word", tuple(1e6 * value / words for value in differences))


# Name of a stage, the cases that include it, and those to be taken off.
_STAGES = (
    ("reading", ("read",), ()),
    ("encoding", ("encode",), ()),
    ("pruner: scores", ("score possible",), ()),
    ("pruner: trees", ("prune",), ("score possible",)),
    ("scores of arcs", ("score arcs",), ()),
    ("scores of pairs", ("score",), ("score arcs",)),
    ("inference", ("infer",), ("score", "decode")),
    ("decoding", ("decode",), ()),
    ("labels", ("labels",), ()),
    ("writing", ("write",), ()),
)


def propagation(workload: Workload) -> Iterator[Measurement]:
    """CPU microseconds per word of 1, 2, ... iterations of belief propagation, and the exponent: 1 is linear.

    Nothing for a model without pairs of arcs, which needs no iterations.
    """
    parser, sizes = workload.parser, workload.sizes
    encoding, model = parser._encoding, parser._model
    assert encoding is not None
    problems = []
    for parse in parser.parse(workload.sample, threads=1):
        arcs = (parse.arcs.heads, parse.arcs.modifiers, parse.arcs.starts)
        tokens = encoding.encode(parse.sentence)
        scores, pairs, first, second, _, _ = score(tokens, *arcs, model.features, model.structure, model.weights)
        problems.append((scores, pairs, first, second, *arcs))
    if not any(len(problem[1]) for problem in problems):
        return

    def run(iterations: int) -> Callable[[], object]:
        return lambda: [infer(*problem, iterations, *model.structure) for problem in problems]

    counts = range(1, sizes.iterations + 1)
    seconds = interleaved({str(count): run(count) for count in counts}, sizes.repeats, least=sizes.least)
    words = words_of(workload.sample)
    for name, values in seconds.items():
        per_word = tuple(1e6 * value / words for value in values)
        yield Measurement("propagation", f"iterations: {name}", "µs/word", per_word)
    exponents = tuple(growth_exponent(counts, values) for values in zip(*seconds.values(), strict=True))
    yield Measurement("propagation", "exponent", "", exponents)
