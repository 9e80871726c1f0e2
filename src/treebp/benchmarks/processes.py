"""What only a fresh process shows: start-up and memory."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from treebp.benchmarks.measurement import Measurement, interleaved
from treebp.benchmarks.workload import Workload
from treebp.data.conll import write_conll

_COMMAND = "from treebp.cli import main; main()"
# A process inherits the peak that `getrusage` gives from the one that started it; this one is its own.
_WITH_PEAK = (
    "import atexit; "
    "atexit.register(lambda: print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))); "
)
_TIMES = 8  # how much larger the larger corpus is


def start_up(workload: Workload) -> Iterator[Measurement]:
    """Seconds, by the clock on the wall, to import the package and to parse one sentence in a fresh process.

    Kernels come from Numba's cache, except in the first run ever, which is measured once with an empty cache.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parse = _parse_command(workload, folder, times=0)
        cases = {
            "import treebp": lambda: _run("import treebp", []),
            "treebp --help": lambda: _run(_COMMAND, ["--help"]),
            "treebp parse, one sentence": lambda: _run(_COMMAND, parse),
        }
        for case, seconds in interleaved(cases, workload.sizes.repeats, clock=perf_counter).items():
            yield Measurement("start-up", case, "s", tuple(seconds))
        if workload.sizes.cold:
            began = perf_counter()
            _run(_COMMAND, parse, NUMBA_CACHE_DIR=str(folder / "cache"))
            yield Measurement("start-up", "treebp parse, first run ever", "s", (perf_counter() - began,))


def memory(workload: Workload) -> Iterator[Measurement]:
    """Peak MiB of ``treebp parse`` on a corpus and on one eight times as large; nothing where /proc is missing."""
    if not os.path.exists("/proc/self/status"):
        return
    peaks: dict[int, list[float]] = {1: [], _TIMES: []}
    with tempfile.TemporaryDirectory() as name:
        commands = {times: _parse_command(workload, Path(name), times=times) for times in peaks}
        for _ in range(min(3, workload.sizes.repeats)):  # it hardly varies
            for times, command in commands.items():
                kilobytes = int(_run(_WITH_PEAK + _COMMAND, command).split()[1])
                peaks[times].append(kilobytes / 1024)
    for times, values in peaks.items():
        yield Measurement("memory", f"sentences: {times * len(workload.sentences):,}", "MiB", tuple(values))
    ratios = tuple(large / small for small, large in zip(*peaks.values(), strict=True))
    yield Measurement("memory", f"{_TIMES} times the sentences", "", ratios)


def _parse_command(workload: Workload, folder: Path, *, times: int) -> list[str]:
    """The arguments to parse all sentences so many times, or only the first one if it is none."""
    model, corpus = folder / "bench.model", folder / f"{times}.conllu"
    if not model.exists():
        workload.parser.save(model)
    write_conll(corpus, workload.sentences * times if times else workload.sentences[:1])
    return ["parse", str(model), str(corpus), "-o", str(folder / "parsed.conllu"), "--force", "--threads", "1"]


def _run(code: str, arguments: list[str], **environment: str) -> str:
    """What a Python process prints; CalledProcessError if it fails."""
    command = [sys.executable, "-c", code, *arguments]
    # Python keeps what it compiles, as it does for whoever does not forbid it.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        command, env=own | environment, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    ).stdout
