"""``treebp demo``, made small."""

import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tiny import SETTINGS
from typer.testing import CliRunner

from treebp.cli import app
from treebp.cli import demo as command  # the function, so that its module can be found
from treebp.parsing.parser import Parser


def test_the_demo_leaves_all_it_names_and_its_next_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(command.__globals__, "SENTENCES", 40)
    monkeypatch.setitem(command.__globals__, "SETTINGS", tuple(f"{key}={value}" for key, value in SETTINGS.items()))
    runner = CliRunner(env={"COLUMNS": "120"})
    result = runner.invoke(app, ["demo", "--output", "treebp-demo", "--seed", "3", "--json"])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "treebp-demo"
    assert Parser.load(folder / "demo.model").config.seed == 3
    ElementTree.parse(folder / "accuracy.svg")
    scores = re.findall(r"│ (CLL|L2) +│ +(\d) │ +([\d.]+) │", result.output)
    assert [row[:2] for row in scores] == [(name, n) for name in ("CLL", "L2") for n in "124"]
    text = (folder / "index.html").read_text()
    for _, _, uas in scores:
        assert f"<td>{uas}</td>" in text
    assert [f"{row['uas']:.2f}" for row in json.loads(result.stdout)] == [uas for _, _, uas in scores]
    assert "heads are right" in result.output
    assert re.search(r"[├╰╭]─+▶ ", result.output)

    commands = [line.strip() for line in result.output.split("Next:\n")[1].splitlines()]
    assert [shlex.split(line)[1] for line in commands] == ["parse", "evaluate", "train"]
    small = [option for key, value in SETTINGS.items() for option in ("--set", f"{key}={value}")]
    for line in commands:
        arguments = shlex.split(line)[1:]
        result = runner.invoke(app, [*arguments, *(small if arguments[0] == "train" else [])])
        assert result.exit_code == 0, result.output
