"""What there is without the packages that only some need."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "extra", "tests"),
    [
        ("torch", "torch", "tests/tensors, tests/cuda and tests/neural"),
        ("transformers", "transformers", "tests/neural/test_pretrained.py"),
        ("ray", "ray", "tests/clusters"),
        ("uvicorn", "serve", "tests/serving"),
        ("spacy", "spacy", "tests/spacy_pipes"),
    ],
)
def test_packages_are_there_to_be_tested(package, extra, tests):
    pytest.importorskip(package, reason=f"the extra treebp[{extra}] is not installed, which {tests} need")


def test_without_the_server_the_error_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['uvicorn'] = None; from treebp.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "serve", "en"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "treebp: this command needs more packages: pip install 'treebp[serve]'\n"


def test_without_torch_the_error_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import treebp.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("ImportError: treebp.torch needs PyTorch: pip install 'treebp[torch]'\n")
