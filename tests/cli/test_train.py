"""``treebp train``: what it writes, what it refuses, and that interruptions change nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tiny import OPTIONS, command, treebp, write_treebank

from treebp.features.model_file import read_tensors
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser

TRAIN = ["train", "train.conllu", "--dev", "dev.conllu", "--threads", "1", *OPTIONS]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder with a treebank and a model, and what was said when it was trained."""
    folder = tmp_path_factory.mktemp("trained")
    write_treebank(folder)
    return folder, treebp(*TRAIN, "-o", "en.model", folder=folder)


def same_weights(one: Path, other: Path) -> bool:
    (_, first), (_, second) = (read_tensors(path, "treebp model") for path in (one, other))
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name], equal_nan=False) for name in first
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_run_leaves_model_settings_and_log_and_says_what_comes_next(trained) -> None:
    folder, result = trained
    assert (result.returncode, result.stderr) == (0, "")
    parser = Parser.load(folder / "en.model")
    assert Config.load(folder / "en.model.config.toml") == parser.config
    log = [json.loads(line) for line in lines(folder / "en.model.log.jsonl")]
    assert [report["epoch"] for report in log] == [1, 2]
    assert sorted(path.name for path in folder.glob("*en.model*")) == [
        "en.model",
        "en.model.config.toml",
        "en.model.log.jsonl",
    ]

    table = [line for line in result.stdout.splitlines() if " l2 " in line and "best:" not in line]
    assert len(table) == 2
    assert f"{log[-1]['dev_uas']:.2f}" in table[-1]
    best = max(log, key=lambda report: report["dev_uas"])
    assert f"best: l2 epoch {best['epoch']}, dev UAS {best['dev_uas']:.2f}" in result.stdout
    assert f"{100 * parser.pruning['dev'].oracle:.2f} % of the right heads" in result.stdout
    assert "next: treebp parse en.model dev.conllu -o parsed.conllu\n" in result.stdout
    assert "\x1b" not in result.stdout  # no bar and no colours where there is no terminal


def test_without_labels_nothing_is_said_of_them(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    result = treebp(*TRAIN, "--set", "labels=false", "--set", "trainings=2", "-o", "en.model", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines() if " gold " in line]
    assert [row[1] for row in rows] == ["l2"] * 4 + ["mean"]
    assert all(row[5] == "-" for row in rows)
    assert rows[-1][6:8] == ["-", "-"]  # a mean has neither speed nor rate
    assert "LAS 0.00" not in result.stdout


def test_epochs_are_printed_as_json_if_asked_for(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    result = treebp(*TRAIN, "-o", "en.model", "--json", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == lines(tmp_path / "en.model.log.jsonl")


def test_options_override_settings_which_override_the_file(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    (tmp_path / "run.toml").write_text('objective = "ar"\niterations = 3\nepochs = 1\n')
    options = ["--config", "run.toml", "--set", "iterations=2", "--objective", "cll", "--factors", "sibling"]
    settings = ["--tree", "nonprojective", "--seed", "7", "--epochs", "1", *OPTIONS]
    result = treebp("train", "train.conllu", "-o", "en.model", *settings, *options, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    config = Parser.load(tmp_path / "en.model").config
    assert (config.objective, config.iterations, config.factors) == ("cll", 2, ("sibling",))
    assert (config.tree, config.seed, config.epochs) == ("nonprojective", 7, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--objective", "l3"], "objective = 'l3' is none of 'cll', 'l2', 'ar', 'l2+ar'"),
        (["--inference", "exact"], "leave them out, or use 'bp'"),
        (["--iterations", "0"], "iterations = 0 is not between 1 and 1000"),
        (["--set", "epoch=1"], "unknown key 'epoch'"),
        (["--threads", "0"], "--threads"),
        (["-o", "."], "is a folder"),
        (["--word-clusters", "test.conllu", "-o", "test.conllu", "--force"], "test.conllu is an input"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(trained, options: list[str], message: str) -> None:
    folder, _ = trained
    result = treebp(*TRAIN, "-o", "new.model", *options, folder=folder)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr
    assert result.stderr.endswith("See: treebp train --help\n")
    assert not list(folder.glob("*new.model*"))


def test_bad_data_is_one_line_with_its_place_and_nothing_is_written(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    text = (tmp_path / "dev.conllu").read_text().split("\n")
    text[2] = "\t".join([*text[2].split("\t")[:6], "_", *text[2].split("\t")[7:]])
    (tmp_path / "dev.conllu").write_text("\n".join(text))
    result = treebp(*TRAIN, "-o", "en.model", folder=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("treebp: dev.conllu:3:7: ")
    assert not list(tmp_path.glob("*en.model*"))


def test_clusters_that_are_none_are_one_line_with_its_place(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    (tmp_path / "clusters").write_text("0110\tdog\ncat\n")
    result = treebp(*TRAIN, "--word-clusters", "clusters", "-o", "en.model", folder=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("treebp: clusters:2: a cluster's name, a tab and a word are expected")
    missing = treebp(*TRAIN, "--word-clusters", "no such file", "-o", "en.model", folder=tmp_path)
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert "no such file" in missing.stderr
    assert not list(tmp_path.glob("*en.model*"))


def test_a_bad_configuration_file_is_named(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    (tmp_path / "run.toml").write_text("iteration = 3\n")
    result = treebp(*TRAIN, "-o", "en.model", "--config", "run.toml", folder=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("treebp: run.toml: unknown key 'iteration'")


def test_a_model_is_replaced_only_by_force(trained, tmp_path: Path) -> None:
    write_treebank(tmp_path)
    (tmp_path / "en.model").write_bytes(b"precious")
    result = treebp(*TRAIN, "-o", "en.model", folder=tmp_path)
    assert result.returncode == 2
    assert "en.model exists: choose another name, or add --force" in result.stderr
    assert (tmp_path / "en.model").read_bytes() == b"precious"
    assert treebp(*TRAIN, "-o", "en.model", "--force", folder=tmp_path).returncode == 0
    assert same_weights(tmp_path / "en.model", trained[0] / "en.model")


def test_a_missing_folder_is_named_before_any_work(trained) -> None:
    result = treebp(*TRAIN, "-o", "none/en.model", folder=trained[0])
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "treebp: none: no such folder\n")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission_is_named_before_any_work(trained, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    result = treebp(*TRAIN, "-o", tmp_path / "en.model", folder=trained[0])
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"treebp: {tmp_path}: nothing can be written in this folder\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and terminals")
def test_a_full_disk_is_one_line_and_loses_nothing(trained, tmp_path: Path) -> None:
    """The limit on a file's size stands for the full disk; the checkpoint is the first file above it."""
    import resource

    write_treebank(tmp_path)
    arguments = [*TRAIN, "-o", "en.model"]
    result = subprocess.run(
        command(*arguments),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY)),
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "en.model" in result.stderr
    assert not (tmp_path / "en.model").exists()
    assert treebp(*arguments, "--resume", folder=tmp_path).returncode == 0
    assert same_weights(tmp_path / "en.model", trained[0] / "en.model")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and terminals")
def test_kills_and_resumption_change_no_weight(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    arguments = [*TRAIN, "--objective", "l2+ar", "--epochs", "100", "-o"]
    began = time.monotonic()
    assert treebp(*arguments, "whole.model", folder=tmp_path).returncode == 0
    whole = time.monotonic() - began
    log = tmp_path / "broken.model.log.jsonl"
    chance = random.Random(os.getpid())
    for epochs in (0, 3, 80, 120):  # kill at a random time after so many of the 200 epochs, long before the last
        options = ["broken.model", "--resume"] if epochs else ["broken.model"]
        with subprocess.Popen(command(*arguments, *options), cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            while len(lines(log)) < epochs and process.poll() is None:
                time.sleep(0.002)
            time.sleep(chance.uniform(0.0, 0.1 if epochs else whole / 2))
            process.kill()
        assert process.returncode == -signal.SIGKILL
    refused = treebp(*arguments, "broken.model", folder=tmp_path)
    assert refused.returncode == 2
    assert "continue it with --resume, or start anew with --force" in refused.stderr
    other = treebp(*arguments, "broken.model", "--resume", "--seed", "5", folder=tmp_path)
    assert other.returncode == 2
    assert "that run had other settings, those in broken.model.config.toml" in other.stderr
    assert treebp(*arguments, "broken.model", "--resume", folder=tmp_path).returncode == 0

    assert (tmp_path / "whole.model").read_bytes() == (tmp_path / "broken.model").read_bytes()
    reports = [
        [json.loads(line) for line in lines(tmp_path / f"{name}.model.log.jsonl")] for name in ("whole", "broken")
    ]
    for report in (*reports[0], *reports[1]):
        del report["words_per_second"]
    assert reports[0] == reports[1]
    assert not [path for path in os.listdir(tmp_path) if path.endswith((".part", ".checkpoint"))]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and terminals")
def test_ctrl_c_says_how_to_continue(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    arguments = [*TRAIN, "--epochs", "10000", "-o", "en.model"]
    with subprocess.Popen(
        command(*arguments), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while len(lines(tmp_path / "en.model.log.jsonl")) < 1 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 130
    assert said.startswith("to continue: treebp train train.conllu --dev dev.conllu ")
    assert said.endswith(" -o en.model --resume\ntreebp: interrupted\n")
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and terminals")
def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    import pty

    write_treebank(tmp_path)
    controller, terminal = pty.openpty()
    with subprocess.Popen(command(*TRAIN, "-o", "en.model"), cwd=tmp_path, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                shown += os.read(controller, 4096)
            except OSError:  # how a closed terminal reads on Linux
                break
    os.close(controller)
    assert process.returncode == 0
    assert b"words/s" in shown
    assert b"l2 epoch 2" in shown
    assert "━".encode() in shown


def test_tags_may_be_predicted(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    tagger = [option for key in ("weight_bits=12", "folds=2") for option in ("--set", f"tagger_{key}")]
    result = treebp(*TRAIN, *tagger, "--epochs", "1", "--tags", "predicted", "-o", "en.model", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "tags: predicted, right are UPOS " in result.stdout
    assert [json.loads(line)["tags"] for line in lines(tmp_path / "en.model.log.jsonl")] == ["predicted"]
    text = (tmp_path / "test.conllu").read_text()
    columns = [line.split("\t") for line in text.splitlines()]
    untagged = "\n".join("\t".join([*row[:2], *"____", *row[6:]]) if len(row) > 1 else row[0] for row in columns)
    (tmp_path / "raw.conllu").write_text(untagged + "\n")
    assert treebp("parse", "en.model", "raw.conllu", "-o", "out.conllu", folder=tmp_path).returncode == 0
    scores = treebp("evaluate", "test.conllu", "out.conllu", folder=tmp_path).stdout
    assert "tags of out.conllu: predicted, right are UPOS " in scores
    assert "tags of test.conllu: gold" in treebp("evaluate", "test.conllu", "test.conllu", folder=tmp_path).stdout
