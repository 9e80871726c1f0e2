"""How ``treebp experiment`` shows what its processes are at."""

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from treebp.experiments.workers import News


class ExperimentDisplay:
    """A line for every finished cell and, on a terminal, a bar below with a line for each process.

    Use it as a context manager; the cells that failed are in ``failures``.
    """

    def __init__(self, console: Console, cells: int) -> None:
        self.failures: list[News] = []
        self._console = console
        self._cells = cells
        self._done = 0
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        # A cell may take minutes, so the time left is estimated from the last hour.
        self._bar = Progress(*columns, console=console, speed_estimate_period=3600)
        self._all = self._bar.add_task("", total=cells)
        self._processes: dict[int, Text] = {}
        self._live = Live(get_renderable=self._overview, console=console, transient=True)

    def __enter__(self) -> "ExperimentDisplay":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, news: News) -> None:
        """Take note of what a process reports."""
        text = Text(f"{news.cell}: {news.text}", no_wrap=True, overflow="ellipsis")
        self._processes[news.worker] = text
        if news.text:
            return
        self._done += 1
        self._bar.update(self._all, completed=self._done)
        if news.result:
            result = news.result
            outcome = f"dev UAS {result.dev_uas:.2f}, test UAS {result.test_uas:.2f}, {result.training_seconds:.0f} s"
        else:
            self.failures.append(news)
            outcome = "failed"
        self._console.print(f"{self._done:>{len(str(self._cells))}}/{self._cells}  {news.cell}: {outcome}")

    def _overview(self) -> Group:
        return Group(self._bar.get_renderable(), *(text for _, text in sorted(self._processes.items())))
