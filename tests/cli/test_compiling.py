"""Two processes compile kernels on the first run."""

import os
import sys
import time

import pytest

from treebp.cli import _compiling
from treebp.cli._compiling import all_but_trees, compiling_elsewhere


def test_it_waits_for_the_other_process(tmp_path, monkeypatch):
    told = tmp_path / "told"
    (tmp_path / "elsewhere.py").write_text(
        "import pathlib, time\n"
        "def all_but_trees(model):\n"
        "    time.sleep(0.2)\n"
        "    pathlib.Path(model).write_text('done')\n"
    )
    monkeypatch.setattr(_compiling, "__name__", "elsewhere")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    with compiling_elsewhere(told):
        assert not told.exists()
    assert told.read_text() == "done"


def test_a_process_that_fails_is_no_matter(tmp_path, capfd):
    with compiling_elsewhere(tmp_path / "nothing.model"):
        pass
    assert capfd.readouterr() == ("", "")


def test_it_does_not_wait_when_something_goes_wrong(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text("import time\ndef all_but_trees(model):\n    time.sleep(60)\n")
    monkeypatch.setattr(_compiling, "__name__", "elsewhere")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    began = time.monotonic()
    with pytest.raises(ValueError, match="no such model"), compiling_elsewhere(tmp_path):
        raise ValueError("no such model")
    assert time.monotonic() - began < 30.0


def test_the_model_of_the_package_goes_all_the_way():
    all_but_trees("en")
