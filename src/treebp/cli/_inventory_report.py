"""How ``treebp debug-data`` presents what it finds."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from json import dumps
from pathlib import Path

from rich.table import Column, Table

from treebp.cli._terminal import console as new_console
from treebp.data.findings import Finding
from treebp.data.inventory import Inventory

_COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_ROWS = 20

_COLUMNS: dict[str, Callable[[Inventory], Counter[str]]] = {
    "label": lambda inventory: inventory.labels,
    "coarse tag": lambda inventory: inventory.coarse_tags,
    "fine tag": lambda inventory: inventory.fine_tags,
}
_OVERVIEW: dict[str, Callable[[Inventory], str]] = {
    "format": lambda inventory: inventory.format,
    "sentences": lambda inventory: f"{inventory.sentences:,}",
    "words": lambda inventory: f"{inventory.words:,}",
    "words per sentence": lambda inventory: f"{inventory.words / inventory.sentences:.1f}",
    "longest sentence": lambda inventory: f"{max(inventory.lengths):,}",
    "multiword tokens": lambda inventory: f"{inventory.multiword_tokens:,}",
    "empty nodes": lambda inventory: f"{inventory.empty_nodes:,}",
    "sentences with several roots": lambda inventory: f"{inventory.several_roots:,}",
    "sentences with a cycle": lambda inventory: f"{inventory.cyclic:,}",
    "sentences without all heads": lambda inventory: f"{inventory.incomplete:,}",
    "non-projective sentences": lambda inventory: f"{inventory.nonprojective:,}",
    "non-projective arcs": lambda inventory: f"{inventory.nonprojective_arcs:,}",
}


def print_report(inventories: list[Inventory], findings: list[Finding]) -> None:
    """Print the counts of each file side by side, then the findings."""
    console = new_console(soft_wrap=False)
    console.print(_overview(inventories))
    for name, counts_of in _COLUMNS.items():
        console.print(_commonest(name, counts_of, inventories))
    for finding in findings:
        console.print(f"{finding.level}: {finding.what}", style=_COLOURS[finding.level], soft_wrap=True)
        console.print(f"    {finding.consequence}", soft_wrap=True)


def inventories_as_json(inventories: list[Inventory], findings: list[Finding]) -> str:
    """Return the counts and the findings as a JSON object; the words of the sentences are left out."""
    files = [
        {"sentences": one.sentences, "words": one.words}
        | {name: value for name, value in vars(one).items() if name != "texts"}
        for one in inventories
    ]
    return dumps({"files": files, "findings": list(map(asdict, findings))}, indent=2, ensure_ascii=False)


def _overview(inventories: list[Inventory]) -> Table:
    table = _table("", inventories)
    for name, cell in _OVERVIEW.items():
        table.add_row(name, *map(cell, inventories))
    for name, counts_of in _COLUMNS.items():
        table.add_row(f"{name}s", *(f"{len(counts_of(inventory)):,}" for inventory in inventories))
    return table


def _commonest(name: str, counts_of: Callable[[Inventory], Counter[str]], inventories: list[Inventory]) -> Table:
    table = _table(name, inventories)
    together: Counter[str] = sum(map(counts_of, inventories), Counter())
    for value, _ in together.most_common(_ROWS):
        table.add_row(value, *(f"{counts_of(inventory)[value]:,}" for inventory in inventories))
    if len(together) > _ROWS:
        table.caption = f"and {len(together) - _ROWS:,} rarer ones"
    return table


def _table(corner: str, inventories: list[Inventory]) -> Table:
    return Table(corner, *(Column(Path(inventory.path).name, justify="right") for inventory in inventories))
