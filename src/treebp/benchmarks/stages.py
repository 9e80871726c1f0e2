"""Where a sentence's time goes, and what an iteration of belief propagation costs.

Some stages cannot be called alone: they are what one call takes more than another that leaves them out. This is the one
place outside the parser that knows what it consists of.
"""

from collections.abc import Callable, Iterator
from io import BytesIO

from treebp.benchmarks.measurement import Measurement, growth_exponent, interleaved
from treebp.benchmarks.workload import Workload, count_words
from treebp.data.conll import read_conll, write_conll
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.model import decode, infer
from treebp.parsing.scorer import HashedScorer

_BATCH = 24  # sentences, as the parser takes them


def stages(workload: Workload) -> Iterator[Measurement]:
    """CPU microseconds per word of every stage on the way from one file to another."""
    parser, sentences = workload.parser, workload.sample
    encoding, pruner, model, config = parser.encoding, parser.pruner, parser.model, parser.config
    if not isinstance(model.scorer, HashedScorer):
        raise ValueError("stages are measured of parsers with hashed features alone")
    arcs_only = HashedScorer(encoding.available(config.templates), (), config.weight_bits)
    arcs_only.weights = model.scorer.weights

    file = BytesIO()
    write_conll(file, sentences)
    parses = list(parser.parse(sentences, threads=1))
    tokens = [encoding.encode(sentence) for sentence in sentences]
    trees = [parse.heads for parse in parses]
    kept = [parse.arcs for parse in parses]
    chunks = [slice(k, k + _BATCH) for k in range(0, len(tokens), _BATCH)]
    batches = [Batch.of(tokens[chunk], kept[chunk]) for chunk in chunks]
    possible = [Batch.of(tokens[chunk], [Arcs.of(pruner.allowed(one)) for one in tokens[chunk]]) for chunk in chunks]
    circuits = [model(batch) for batch in batches]

    def score(batch: Batch) -> object:
        tuples = {part.name: part.list(batch, model.projective) for part in model.scorer.parts}
        return model.scorer(batch, tuples)

    cases: dict[str, Callable[[], object]] = {
        "read": lambda: list(read_conll(BytesIO(file.getvalue()), format=sentences[0].format)),
        "encode": lambda: [encoding.encode(sentence) for sentence in sentences],
        "score possible": lambda: [pruner.model.scorer(batch, {}) for batch in possible],
        "prune": lambda: [pruner.keep(tokens[chunk]) for chunk in chunks],
        "score arcs": lambda: [arcs_only(batch, {}) for batch in batches],
        "score": lambda: [score(batch) for batch in batches],
        "decode": lambda: [decode(config.decoder, model.inference, one) for one in circuits],
        "infer": lambda: [model(batch) for batch in batches],
        "labels": lambda: [*map(parser.labels.predict, tokens, trees)],
        "write": lambda: write_conll(BytesIO(), (parse.to_sentence() for parse in parses)),
    }
    seconds = interleaved(cases, workload.sizes.repeats, least=workload.sizes.least)
    words = count_words(sentences)
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
    ("inference", ("infer",), ("score",)),
    ("decoding", ("decode",), ()),
    ("labels", ("labels",), ()),
    ("writing", ("write",), ()),
)


def propagation(workload: Workload) -> Iterator[Measurement]:
    """CPU microseconds per word of 1, 2, ... iterations of belief propagation, and the exponent: 1 is linear.

    Nothing for a model without pairs of arcs, which needs no iterations.
    """
    parser, sizes = workload.parser, workload.sizes
    parses = list(parser.parse(workload.sample, threads=1))
    if not any(any(parse.factors.values()) for parse in parses):
        return
    tokens = [parser.encoding.encode(parse.sentence) for parse in parses]
    batches = [
        Batch.of(tokens[k : k + _BATCH], [parse.arcs for parse in parses[k : k + _BATCH]])
        for k in range(0, len(tokens), _BATCH)
    ]
    problems = [parser.model(batch).problem for batch in batches]

    def run(iterations: int) -> Callable[[], object]:
        inference = parser.model.inference._replace(iterations=iterations)
        return lambda: [infer(inference, problem, gradient=False) for problem in problems]

    counts = range(1, sizes.iterations + 1)
    seconds = interleaved({str(count): run(count) for count in counts}, sizes.repeats, least=sizes.least)
    words = count_words(workload.sample)
    for name, values in seconds.items():
        per_word = tuple(1e6 * value / words for value in values)
        yield Measurement("propagation", f"iterations: {name}", "µs/word", per_word)
    exponents = tuple(growth_exponent(counts, values) for values in zip(*seconds.values(), strict=True))
    yield Measurement("propagation", "exponent", "", exponents)
