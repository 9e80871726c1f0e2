"""The whole way from one file to another, on one thread and on two, and training."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from io import BytesIO
from time import perf_counter, process_time

from treebp.benchmarks.measurement import Measurement, growth_exponent, interleaved
from treebp.benchmarks.workload import Workload, count_words
from treebp.data.conll import read_conll, write_conll
from treebp.data.sentence import Sentence
from treebp.kernels._jit import kernel
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.training import Progress, fit

_STEPS = 50_000_000
_RATE = 0.02  # where the model's own configuration would tune it first


def parsing(workload: Workload) -> Iterator[Measurement]:
    """Reading, parsing and writing all sentences on one thread: words per CPU second."""
    parser, sentences = workload.parser, workload.sentences
    file = BytesIO()
    write_conll(file, sentences)

    def from_file_to_file() -> None:
        source = read_conll(BytesIO(file.getvalue()), format=sentences[0].format)
        write_conll(BytesIO(), (parse.to_sentence() for parse in parser.parse(source, threads=1)))

    seconds = interleaved({"all": from_file_to_file}, workload.sizes.repeats)["all"]
    rates = tuple(count_words(sentences) / value for value in seconds)
    yield Measurement("parsing", "from file to file", "words/s", rates, higher_is_better=True)


def threads(workload: Workload) -> Iterator[Measurement]:
    """Parsing on one thread and on two: words per second, and how much faster two are.

    Beside it, how much faster two threads do arithmetic that needs no memory and no lock: what the machine gives.
    """
    parser, sentences = workload.parser, workload.sentences
    counts = (1, 2)
    cases: dict[str, Callable[[], object]] = {}
    for count in counts:
        cases[f"parse {count}"] = partial(_parse, parser, sentences, threads=count)
        cases[f"calculate {count}"] = partial(_calculate, count)
    seconds = interleaved(cases, workload.sizes.repeats, clock=perf_counter)
    for count in counts:
        rates = tuple(count_words(sentences) / value for value in seconds[f"parse {count}"])
        yield Measurement("threads", f"threads: {count}", "words/s", rates, higher_is_better=True)
    for name, what, work in (("two against one", "parse", 1), ("the same, of arithmetic alone", "calculate", 2)):
        turns = zip(seconds[f"{what} 1"], seconds[f"{what} 2"], strict=True)
        yield Measurement("threads", name, "", tuple(work * one / two for one, two in turns), higher_is_better=True)


def _calculate(threads: int) -> None:
    """The same arithmetic on each thread."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(_arithmetic, [_STEPS] * threads))


@kernel
def _arithmetic(steps: int) -> int:
    """Many operations that do not wait for each other."""
    a, b, c, d = 1, 2, 3, 4
    for k in range(steps):
        a, b, c, d = a * 3 + k, b * 5 + k, c * 7 + k, d * 9 + k
    return a ^ b ^ c ^ d


def growth(workload: Workload) -> Iterator[Measurement]:
    """CPU ms to parse a sentence of n words, and the exponent of n that fits best."""
    parser, sizes = workload.parser, workload.sizes
    count = max(2, sizes.batch // 4)
    batches = {words: workload.joined(words, count) for words in sizes.long}
    cases = {f"{words} words": partial(_parse, parser, batch) for words, batch in batches.items()}
    seconds = interleaved(cases, sizes.repeats, least=sizes.least)
    for name, values in seconds.items():
        yield Measurement("growth", name, "ms", tuple(1e3 * value / count for value in values))
    exponents = tuple(growth_exponent(sizes.long, values) for values in zip(*seconds.values(), strict=True))
    yield Measurement("growth", "exponent", "", exponents)


def training(workload: Workload) -> Iterator[Measurement]:
    """CPU seconds of an epoch with CLL and with L2 on one thread, and how often that parses the same sentences."""
    sentences, repeats = workload.sentences, workload.sizes.repeats
    config = workload.parser.config
    for objective in ("cll", "l2"):
        chosen = replace(config, objective=objective, epochs=1 + repeats, rate=config.rate or _RATE)
        parser, seconds = _trained(chosen, workload)
        epochs = seconds[1:]  # the first one starts from nothing: most weights are still zero
        parses = interleaved({"": partial(_parse, parser, sentences)}, repeats)[""]
        name = objective.upper()
        yield Measurement("training", f"{name}, epoch", "s", tuple(epochs))
        yield Measurement("training", f"{name}, parsing the same sentences", "s", tuple(parses))
        ratios = tuple(epoch / parse for epoch, parse in zip(epochs, parses, strict=True))
        yield Measurement("training", f"{name}, epoch by parsing", "", ratios)


def _parse(parser: Parser, sentences: list[Sentence], threads: int = 1) -> None:
    for _ in parser.parse(sentences, threads=threads):
        pass


def _trained(config: Config, workload: Workload) -> tuple[Parser, list[float]]:
    """A parser, and the CPU seconds of every epoch; one sentence to develop on leaves nothing else to be counted."""
    began = 0.0
    seconds: list[float] = []

    def start(what: str, words: int) -> None:
        nonlocal began
        began = process_time()

    progress = Progress(start, epoch=lambda report: seconds.append(process_time() - began))
    parser = fit(workload.sentences, workload.sentences[:1], config, threads=1, progress=progress)
    return parser, seconds
