"""What there is without the packages that only some need."""

import subprocess
import sys

import pytest


def test_torch_is_there_to_be_tested():
    pytest.importorskip(
        "torch", reason="the extra treebp[torch] is not installed, which tests/tensors and tests/cuda need"
    )


def test_without_torch_the_error_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import treebp.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("ImportError: treebp.torch needs PyTorch: pip install 'treebp[torch]'\n")


def test_transformers_are_there_to_be_tested():
    pytest.importorskip(
        "transformers",
        reason="the extra treebp[transformers] is not installed, which tests/neural/test_pretrained.py needs",
    )
