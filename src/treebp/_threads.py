"""Work on several threads, with the results in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def thread_count(threads: int | None) -> int:
    """As many as asked for, or as there are processors; ValueError for less than one."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads or os.cpu_count() or 1


def map_in_order(function: Callable[[T], list[R]], batches: Iterable[T], threads: int | None) -> Iterator[R]:
    """What a function that releases the GIL makes of each batch, one by one, looking only a little ahead."""
    workers = thread_count(threads)
    if workers == 1:
        for batch in batches:
            yield from function(batch)
        return
    waiting: deque[Future[list[R]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for batch in batches:
            waiting.append(pool.submit(function, batch))
            if len(waiting) > workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
