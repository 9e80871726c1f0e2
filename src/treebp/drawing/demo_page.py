"""What ``treebp demo`` shows: its scores in the terminal, and the whole as a page of HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from rich.table import Column, Table

from treebp.drawing.line_plot import line_plot
from treebp.drawing.markup import as_text, page_of

_BAR = 20
_BODY = Template("""<h1>Training for approximate inference</h1>
<p>$intent</p>
<div class="scroll">
$plot</div>
<div class="scroll">
<table>
<tr><th>training</th><th>iterations</th><th>UAS</th><th>LAS</th><th>seconds</th></tr>
$rows
</table>
</div>
<h2>A sentence as parsed</h2>
<pre class="scroll">$tree</pre>
<h2>Next</h2>
<pre class="commands">$commands</pre>""")
_STYLE = """\
body { max-width: 54rem }
td + td, th + th { text-align: end }
.best { font-weight: bold }
.commands { white-space: pre-wrap; font-size: 0.8125rem; line-height: 1.7 }
"""


@dataclass(frozen=True)
class Row:
    """One model of the demo; the scores are those on test sentences, in percent."""

    training: str
    iterations: int
    uas: float
    las: float
    seconds: float


def score_table(rows: Sequence[Row]) -> Table:
    """The scores with a bar for each, which begins just below the lowest."""
    low, high = min(row.uas for row in rows) - 0.5, max(row.uas for row in rows)
    numbers = (Column(name, justify="right") for name in ("iterations", "UAS", "LAS", "seconds"))
    table = Table("training", *numbers, "")
    for row in rows:
        table.add_row(
            row.training,
            str(row.iterations),
            f"{row.uas:.2f}",
            f"{row.las:.2f}",
            f"{row.seconds:.1f}",
            "█" * max(1, round(_BAR * (row.uas - low) / (high - low))),
            style="bold green" if row.uas == high else "",
        )
    return table


def score_plot(rows: Sequence[Row]) -> str:
    """The accuracies against the number of iterations, a line per kind of training, as SVG."""
    series: dict[str, list[float]] = {}
    for row in rows:
        series.setdefault(row.training, []).append(row.uas)
    points = sorted({row.iterations for row in rows})
    return line_plot(points, series, across="iterations of belief propagation", up="test UAS")


def demo_page(intent: str, rows: Sequence[Row], tree: str, commands: Sequence[str]) -> str:
    """The whole report as one file that needs no other."""
    best = max(row.uas for row in rows)
    cells = "\n".join(
        f"<tr{' class=best' if row.uas == best else ''}><td>{as_text(row.training)}</td><td>{row.iterations}</td>"
        f"<td>{row.uas:.2f}</td><td>{row.las:.2f}</td><td>{row.seconds:.1f}</td></tr>"
        for row in rows
    )
    body = _BODY.substitute(
        intent=as_text(intent),
        plot=score_plot(rows),
        rows=cells,
        tree=as_text(tree),
        commands=as_text("\n".join(commands)),
    )
    return page_of("treebp demo", body, _STYLE)
