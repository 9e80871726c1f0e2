import json
from pathlib import Path

import typer
from typer.testing import CliRunner, Result

from treebp.cli.debug_data import debug_data
from treebp.data.conll import write_conll
from treebp.data.sentence import Sentence


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(debug_data)
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


def test_report_shows_counts_and_findings(tmp_path: Path) -> None:
    train = [Sentence.from_columns([f"w{i}"], fine_tags=[f"T{i}"], heads=[0], labels=["[b]root"]) for i in range(25)]
    dev = [Sentence.from_columns(["w1", "x"], fine_tags=["T1", "T2"], heads=[0, 1], labels=["[b]root", "new"])]
    write_conll(tmp_path / "train.conllu", train)
    write_conll(tmp_path / "dev.conllu", dev)
    result = run(str(tmp_path / "train.conllu"), str(tmp_path / "dev.conllu"))
    assert result.exit_code == 0
    rows = {
        cells[1].strip(): cells[2:4]
        for cells in (line.split("│") for line in result.stdout.splitlines())
        if len(cells) > 3
    }
    assert [cell.strip() for cell in rows["sentences"]] == ["25", "1"]
    assert [cell.strip() for cell in rows["[b]root"]] == ["25", "1"]
    assert "and 5 rarer ones" in result.stdout
    assert "1 word with a label that" in result.stdout
    assert "cannot be predicted" in result.stdout


def test_json_has_the_same(tmp_path: Path) -> None:
    write_conll(tmp_path / "train.conllu", [Sentence.from_columns(["a", "b"], heads=[0, 1], labels=["root", "x"])])
    report = json.loads(run(str(tmp_path / "train.conllu"), "--json").stdout)
    assert report["files"][0]["words"] == 2
    assert report["files"][0]["labels"] == {"root": 1, "x": 1}
    assert {finding["level"] for finding in report["findings"]} <= {"error", "warning", "note"}


def test_a_file_that_the_parser_refuses_gives_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "cycle.conllu"
    path.write_text("1\ta\t_\tNOUN\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tNOUN\t_\t_\t1\tdep\t_\t_\n\n")
    result = run(str(path))
    assert result.exit_code == 1
    assert "1 sentence with a cycle" in result.stdout
