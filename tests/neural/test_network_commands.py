"""Networks on the command line: trained, continued, used, and what is said where PyTorch or a device is missing."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treebp.data.conll import read_conll, write_conll
from treebp.data.embedded import embedded_treebank
from treebp.features.model_file import MODEL_KIND, read_tensors

SETTINGS = [
    *("weight_bits=14", "pruner_weight_bits=14", "pruner_epochs=1", "pruner_folds=2", "rate=0.05", "epochs=1"),
    *("encoder_layers=1", "encoder_size=8", "embedding_size=8", "arc_size=8", "part_rank=4", "network_epochs=1"),
]
TRAIN = ["train", "train.conllu", "--dev", "dev.conllu", "-o", "model", "--threads", "1", "--scorer", "sum"]
TRAIN += [option for setting in SETTINGS for option in ("--set", setting)]


def treebp(*arguments: str, folder: Path, before: str = "import sys") -> subprocess.CompletedProcess[str]:
    code = f"{before}; from treebp.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("networks")
    write_conll(path / "train.conllu", embedded_treebank("train")[:30])
    write_conll(path / "dev.conllu", embedded_treebank("dev")[:5])
    return path


def test_a_sum_is_trained_and_parses(folder: Path) -> None:
    done = treebp(*TRAIN, "--device", "cpu", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "best: sum epoch 1" in done.stdout
    parsed = treebp("parse", "model", "dev.conllu", "-o", "parsed.conllu", "--device", "cpu", folder=folder)
    assert parsed.returncode == 0, parsed.stderr
    assert all(min(sentence.heads) >= 0 for sentence in read_conll(folder / "parsed.conllu"))
    missing = treebp("parse", "model", "dev.conllu", folder=folder, before="import sys; sys.modules['torch'] = None")
    assert missing.returncode == 1
    assert missing.stderr.endswith("a network as scorer needs PyTorch: pip install 'treebp[neural]'\n")


@pytest.mark.parametrize(
    ("before", "options", "message"),
    [
        ("import sys; sys.modules['torch'] = None", [], "treebp: a network as scorer needs PyTorch: pip install"),
        ("import sys", ["--device", "cuda:99"], "treebp: there is no device 'cuda:99' to compute on: "),
    ],
)
def test_what_is_missing_is_told_in_one_line_at_once(folder: Path, before: str, options, message: str) -> None:
    done = treebp(*TRAIN[:5], "other", *TRAIN[6:], *options, folder=folder, before=before)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert not list(folder.glob("other*"))


def test_two_processes_share_the_batches_of_one_training(folder: Path) -> None:
    exact = ["--set", "dropout=0", "--set", "hidden=0", "--set", "network_epochs=2", "--scorer", "neural"]
    command = [*TRAIN[:4], "-o", "alone.model", *TRAIN[6:], *exact, "--device", "cpu"]
    alone = treebp(*command, folder=folder)
    assert alone.returncode == 0, alone.stderr
    command[5] = "shared.model"
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "treebp"]
    shared = subprocess.run([*launcher, *command], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert shared.returncode == 0, shared.stderr
    assert shared.stdout.count("best: ") == 1
    (_, one), (_, two) = (read_tensors(folder / name, MODEL_KIND) for name in ("alone.model", "shared.model"))
    assert one.keys() == two.keys()
    for name, array in one.items():
        assert np.allclose(array, two[name], atol=2e-4), name


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for threads")
def test_no_thread_of_a_process_group_is_left_for_the_exit() -> None:
    """One that still runs when Python ends may abort the whole launch, after all is done."""
    code = """
import os
from pathlib import Path

from treebp.training.workers import assist

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1", TORCHELASTIC_RUN_ID="test")


def threads():
    return [task.joinpath("comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]


from torch import distributed

destroy = distributed.destroy_process_group


def noticed():
    import torch._dynamo  # as AdamW does

    assert any("gloo" in name for name in threads())
    destroy()


distributed.destroy_process_group = noticed
assist("cpu", 1)  # it dismisses itself at once
assert not any("gloo" in name for name in threads())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
