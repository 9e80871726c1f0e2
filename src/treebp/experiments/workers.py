"""Running many cells at once, each in a process of its own."""

import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

from treebp.clusters.cluster import run_on_cluster
from treebp.experiments.cells import Cell, Result
from treebp.experiments.treebanks import Treebank


@dataclass(frozen=True)
class News:
    """What a worker is at: a word on the cell it runs, or the cell's result, or why there is none."""

    worker: int
    cell: Cell
    text: str = ""
    result: Result | None = None
    failure: str | None = None


def run_cells(
    experiment: str, cells: Sequence[Cell], treebanks: Mapping[str, Treebank], *, jobs: int
) -> Iterator[News]:
    """Run cells in ``jobs`` processes of one thread each, and yield news as they come.

    A cell that fails does not stop the others. When the iterator is closed, or the program interrupted, all
    processes end at once.
    """
    waiting = list(cells)
    with ExitStack() as stack:
        workers = [_Worker(number, stack) for number in range(min(jobs, len(waiting)))]
        while True:
            for worker in workers:
                if waiting and worker.cell is None:
                    busy = {other.cell.group for other in workers if other.cell is not None}
                    cell = choose(waiting, worker.group, busy)
                    waiting.remove(cell)
                    worker.start(experiment, cell, treebanks[cell.treebank])
            running = [worker for worker in workers if worker.cell is not None]
            if not running:
                return
            ready = wait([worker.connection for worker in running])
            for worker in running:
                if worker.connection in ready:
                    yield worker.news()


def run_cells_on_cluster(
    experiment: str, cells: Sequence[Cell], treebanks: Mapping[str, Treebank], *, address: str, jobs: int | None
) -> Iterator[News]:
    """The same on a Ray cluster whose machines all see the treebanks' files; a lost worker costs only time."""
    places = {code: replace(one, folder=one.folder and one.folder.absolute()) for code, one in treebanks.items()}
    outcomes = run_on_cluster(
        address,
        partial(CellWorker, experiment, places),
        cells,
        workers=jobs,
        choose=lambda waiting, last, running: choose(waiting, last and last.group, {cell.group for cell in running}),
    )
    for outcome in outcomes:
        yield News(outcome.worker, outcome.job, result=outcome.result, failure=outcome.failure)


class CellWorker:
    """Runs cells on a cluster."""

    def __init__(self, experiment: str, treebanks: Mapping[str, Treebank]) -> None:
        from treebp.experiments.running import Runner

        self._runner, self._experiment, self._treebanks = Runner(), experiment, treebanks

    def __call__(self, cell: Cell) -> Result:
        """Run a cell; nobody hears of its epochs."""
        return self._runner.run(self._experiment, cell, self._treebanks[cell.treebank], lambda text: None)


def choose(waiting: Sequence[Cell], last: Cell | None, busy: set[Cell]) -> Cell:
    """The next cell for a worker: of the group it knows, else of a group no other is at, else of the largest left.

    Example:
        >>> cells = [Cell(treebank=code, data="") for code in ("da", "da", "sv", "sv", "sv")]
        >>> danish = cells[0].group
        >>> choose(cells, None, {danish}).treebank, choose(cells, danish, {danish}).treebank
        ('sv', 'da')
        >>> choose(cells, None, {cell.group for cell in cells}).treebank
        'sv'

    """
    sizes = Counter(cell.group for cell in waiting)
    return max(waiting, key=lambda cell: (cell.group == last, cell.group not in busy, sizes[cell.group]))


class _Worker:
    """A process that runs one cell after the other, and is replaced if it dies."""

    def __init__(self, number: int, stack: ExitStack) -> None:
        self.number = number
        self.cell: Cell | None = None
        self.group: Cell | None = None
        self._stack = stack
        self._open()

    def _open(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _interrupts_ignored():
            self._process.start()
        theirs.close()  # so that the end of the process is the end of the connection
        self._stack.callback(self._process.join)
        self._stack.callback(self._process.terminate)

    def start(self, experiment: str, cell: Cell, treebank: Treebank) -> None:
        self.cell, self.group = cell, cell.group
        self.connection.send((experiment, cell, treebank))

    def news(self) -> News:
        """What the process has sent; it is free again after a result or a failure."""
        assert self.cell is not None
        cell = self.cell
        try:
            kind, content = self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            kind, content = "failure", f"its process ended with exit code {self._process.exitcode}"
            self._open()
            self.group = None
        if kind == "text":
            return News(self.number, cell, text=content)
        self.cell = None
        return News(self.number, cell, result=content) if kind == "result" else News(self.number, cell, failure=content)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """A process started meanwhile leaves Ctrl-C to this one, which ends it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(connection: Connection) -> None:
    """The process: receive a cell, send its result; end when nobody is at the other end any more."""
    from treebp.experiments.running import Runner  # here, so that only the processes load the parser

    runner = Runner()
    with suppress(EOFError, BrokenPipeError):
        while True:
            experiment, cell, treebank = connection.recv()
            try:
                result = runner.run(experiment, cell, treebank, lambda text: connection.send(("text", text)))
                connection.send(("result", result))
            except Exception as error:  # whatever it is, it is one cell's, and the others go on
                connection.send(("failure", f"{type(error).__name__}: {error}"))
