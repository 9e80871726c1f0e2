import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from treebp.cli.evaluate import evaluate
from treebp.data.conll import write_conll
from treebp.data.errors import TreebankError
from treebp.data.sentence import Sentence

GOLD = Sentence.from_columns(
    ["We", "see", "[red]it[/red]", "."],
    coarse_tags=["PRON", "VERB", "PRON", "PUNCT"],
    heads=[2, 0, 2, 2],
    labels=["nsubj", "root", "[red]x[/red]", "punct"],
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    versions = {"gold": [2, 0, 2, 2], "good": [2, 0, 2, 1], "bad": [2, 0, 1, 1]}
    for name, heads in versions.items():
        write_conll(tmp_path / f"{name}.conllu", [GOLD.with_parse(heads)] * 4)
    return [str(tmp_path / f"{name}.conllu") for name in versions]


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(evaluate)
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


def test_tables_show_the_rule_scores_and_details(files: list[str]) -> None:
    gold, good, bad = files
    result = run(gold, bad, "--against", good, "--details")
    assert result.exit_code == 0
    assert "punctuation rule: ud" in result.stdout
    assert "tags of bad.conllu: gold" in result.stdout
    assert "66.67 [66.67, 66.67]" in result.stdout
    assert "UAS: p = " in result.stdout
    for text in ("bad.conllu: length", "bad.conllu: label", "good.conllu: distance", "[red]x[/red]"):
        assert text in result.stdout
    assert "length" not in run(gold, bad).stdout


def test_json_holds_everything(files: list[str]) -> None:
    gold, good, bad = files
    report = json.loads(run(gold, bad, "--against", good, "--json", "--punctuation", "include").stdout)
    assert (report["gold"], report["punctuation"]) == (gold, "include")
    first, second = report["systems"]
    assert (first["file"], first["uas"], first["words"], first["sentences"]) == (bad, 50, 16, 4)
    assert first["tags"] == {"coarse_tags": 100}
    assert (second["uas"], second["uas_interval"], second["exact_match"]) == (75, [75, 75], 0)
    assert second["by_label"]["punct"] == {"words": 4, "uas": 0, "las": 0, "label_accuracy": 100}
    assert 0.1 < report["p_values"]["uas"] < 0.15  # 2 of the 16 ways to swap four sentences
    assert "p_values" not in json.loads(run(gold, good, "--json").stdout)


def test_punctuation_is_counted_in_the_second_set_of_scores(files: list[str]) -> None:
    gold, good, _ = files
    (system,) = json.loads(run(gold, good, "--json").stdout)["systems"]
    assert (system["uas"], system["uas_with_punctuation"]) == (100, 75)
    assert (system["words"], system["all_words"]) == (12, 16)


def test_encoding_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "latin.conllu"
    write_conll(path, [Sentence.from_columns(["né"], heads=[0])], encoding="latin-1")
    assert run(str(path), str(path), "--encoding", "latin-1").exit_code == 0
    assert isinstance(run(str(path), str(path)).exception, TreebankError)


def test_raw_scores_words_and_sentences_too(tmp_path: Path, files: list[str]) -> None:
    joined = str(tmp_path / "joined.conllu")
    write_conll(joined, [Sentence.from_columns(["We", "see", "[red]it[/red]."], heads=[2, 0, 2])] * 4)
    table = run(files[0], joined, "--raw").stdout
    right = [line.split()[1] for line in table.splitlines() if "57.14" in line]
    assert right == ["Tokens", "Words", "XPOS", "UFeats", "Lemmas", "UAS"]  # there are no tags, and other labels
    report = json.loads(run(files[0], joined, "--raw", "--json").stdout)
    assert (report["gold"], report["system"]) == (files[0], joined)
    assert (report["words"]["correct"], report["words"]["gold"], report["words"]["system"]) == (8, 16, 12)
    assert report["sentences"]["f1"] == 100
    assert run(files[0], joined, "--raw", "--details").exit_code == 2
