"""All benchmarks by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from treebp.benchmarks.gpu import gpu
from treebp.benchmarks.measurement import Measurement
from treebp.benchmarks.parsing import growth, parsing, threads, training
from treebp.benchmarks.processes import memory, start_up
from treebp.benchmarks.stages import propagation, stages
from treebp.benchmarks.trees import tree_marginals
from treebp.benchmarks.workload import Workload

GROUPS: Mapping[str, Callable[[Workload], Iterator[Measurement]]] = {
    "trees": tree_marginals,
    "stages": stages,
    "propagation": propagation,
    "growth": growth,
    "parsing": parsing,
    "threads": threads,
    "training": training,
    "start-up": start_up,
    "memory": memory,
    "gpu": gpu,
}


def measure_groups(names: Iterable[str], workload: Workload) -> Iterator[tuple[str, list[Measurement]]]:
    """Run the benchmarks named, one after the other, and give each one's measurements when it is done.

    Raises ValueError, before anything is measured, for a name that is none of ``GROUPS``.
    """
    names = list(names)
    for name in names:
        if name not in GROUPS:
            raise ValueError(f"unknown benchmark {name!r}: the benchmarks are {', '.join(GROUPS)}")
    return ((name, list(GROUPS[name](workload))) for name in names)
