"""The results of an experiment on disk: a line of JSON for every cell, written as soon as it is there."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from treebp.data.files import naming
from treebp.experiments.cells import Cell, Result


def read_results(path: Path) -> dict[Cell, Result]:
    """Read the results of a file, none if it is not there; the end of a last line that was cut short is dropped.

    Raises:
        ValueError: with file and line, if another line cannot be read.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     read_results(Path(folder) / "figure3.jsonl")
        {}

    """
    results = {}
    for number, line in enumerate(_whole_lines(path), 1):
        try:
            result = Result.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}:{number}: not a result of this program ({error}): remove the line") from None
        results[result.cell] = result
    return results


def append_results(path: Path, results: Iterable[Result]) -> None:
    """Add results to a file, in place of a last line that was cut short, and see them safely on disk."""
    whole = sum(map(len, _whole_lines(path)))
    with naming(path), open(path, "ab") as stream:
        stream.truncate(whole)
        for result in results:
            text = json.dumps(result.to_json(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
            stream.write(text.encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def _whole_lines(path: Path) -> list[bytes]:
    if not path.exists():
        return []
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
