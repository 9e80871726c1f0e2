"""How ``treebp evaluate`` presents its scores."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from treebp.cli._terminal import console as new_console
from treebp.data.evaluation import Evaluation, Scores
from treebp.data.raw_evaluation import F1
from treebp.data.significance import bootstrap_interval, paired_test


def print_tables(paths: list[str], results: list[Evaluation], *, details: bool) -> None:
    """Print the scores of one system, or of two with the significance of their difference."""
    console = new_console(soft_wrap=False)
    console.print(f"punctuation rule: {results[0].punctuation}")
    for path, result in zip(paths, results, strict=True):
        console.print(f"tags of {Path(path).name}: {tags_used(result.tags)}")
    console.print(_summary(paths, results))
    for name, p_value in _p_values(results).items():
        console.print(f"{name}: p = {p_value:.4f} (approximate randomisation, two-sided)")
    if details:
        for path, result in zip(paths, results, strict=True):
            for name, groups in _groups(result).items():
                console.print(_breakdown(f"{Path(path).name}: {name}", groups))


def scores_as_json(gold: str, paths: list[str], results: list[Evaluation]) -> str:
    """Return all scores as a JSON object."""
    systems = [
        {
            "file": path,
            **{_key(name): value for name, value in _measures(result).items()},
            **{f"{_key(name)}_interval": interval for name, interval in _intervals(result).items()},
            "words": result.tokens,
            "all_words": result.with_punctuation.words,
            "sentences": result.sentences,
            "tags": result.tags,
            **{f"by_{name}": _rows(groups) for name, groups in _groups(result).items()},
        }
        for path, result in zip(paths, results, strict=True)
    ]
    p_values = {_key(name): p_value for name, p_value in _p_values(results).items()}
    report: dict[str, Any] = {"gold": gold, "punctuation": results[0].punctuation, "systems": systems}
    if p_values:
        report["p_values"] = p_values
    return json.dumps(report, indent=2, ensure_ascii=False)


def print_raw_table(path: str, scores: Mapping[str, F1]) -> None:
    """Print the measures of raw text of one system."""
    titles = ("precision", "recall", "F1", "of aligned words")
    table = Table(Path(path).name, *(Column(title, justify="right") for title in titles))
    for name, score in scores.items():
        shares = (score.precision, score.recall, score.f1, score.aligned_accuracy)
        table.add_row(name, *("" if share is None else f"{share:.2f}" for share in shares))
    new_console(soft_wrap=False).print(table)


def raw_as_json(gold: str, path: str, scores: Mapping[str, F1]) -> str:
    """Return the measures of raw text as a JSON object."""
    measures = {
        name.lower(): {
            "precision": score.precision,
            "recall": score.recall,
            "f1": score.f1,
            "aligned_accuracy": score.aligned_accuracy,
            **asdict(score),
        }
        for name, score in scores.items()
    }
    return json.dumps({"gold": gold, "system": path, **measures}, indent=2, ensure_ascii=False)


def tags_used(accuracy: Mapping[str, float]) -> str:
    """Which tags a file was parsed with, given how many of each column are those of the gold standard."""
    names = {"coarse_tags": "UPOS", "fine_tags": "XPOS", "feats": "FEATS", "lemmas": "lemmas"}
    if all(right == 100.0 for right in accuracy.values()):
        return "gold"
    return "predicted, right are " + ", ".join(f"{names[name]} {right:.2f} %" for name, right in accuracy.items())


def _measures(result: Evaluation) -> dict[str, float]:
    everything = result.with_punctuation
    return {
        "UAS": result.uas,
        "LAS": result.las,
        "label accuracy": result.label_accuracy,
        "exact match": result.exact_match,
        "labelled exact match": result.labelled_exact_match,
        "UAS with punctuation": everything.uas,
        "LAS with punctuation": everything.las,
        "label accuracy with punctuation": everything.label_accuracy,
    }


def _intervals(result: Evaluation) -> dict[str, tuple[float, float]]:
    return {
        "UAS": bootstrap_interval(result.correct_heads, result.words),
        "LAS": bootstrap_interval(result.correct_arcs, result.words),
    }


def _p_values(results: list[Evaluation]) -> dict[str, float]:
    if len(results) == 1:
        return {}
    one, other = results
    return {
        "UAS": paired_test(one.correct_heads, other.correct_heads),
        "LAS": paired_test(one.correct_arcs, other.correct_arcs),
    }


def _groups(result: Evaluation) -> dict[str, dict[str, Scores]]:
    return {"length": result.by_length, "label": result.by_label, "distance": result.by_distance}


def _summary(paths: list[str], results: list[Evaluation]) -> Table:
    table = Table("", *(Column(Path(path).name, justify="right") for path in paths))
    intervals = [_intervals(result) for result in results]
    for name in _measures(results[0]):
        cells = [f"{_measures(result)[name]:.2f}" for result in results]
        if name in intervals[0]:
            cells = [
                f"{cell} [{interval[name][0]:.2f}, {interval[name][1]:.2f}]"
                for cell, interval in zip(cells, intervals, strict=True)
            ]
        table.add_row(name, *cells)
    table.add_row("scored words", *(f"{result.tokens:,}" for result in results))
    table.add_row("all words", *(f"{result.with_punctuation.words:,}" for result in results))
    table.add_row("scored sentences", *(f"{result.sentences:,}" for result in results))
    return table


def _breakdown(title: str, groups: dict[str, Scores]) -> Table:
    numbers = (Column(name, justify="right") for name in ("words", "UAS", "LAS", "label accuracy"))
    table = Table(title, *numbers)
    for name, scores in groups.items():
        accuracies = (scores.uas, scores.las, scores.label_accuracy)
        table.add_row(name, f"{scores.words:,}", *(f"{accuracy:.2f}" for accuracy in accuracies))
    return table


def _rows(groups: dict[str, Scores]) -> dict[str, dict[str, float]]:
    return {
        name: {
            "words": scores.words,
            "uas": scores.uas,
            "las": scores.las,
            "label_accuracy": scores.label_accuracy,
        }
        for name, scores in groups.items()
    }


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")
