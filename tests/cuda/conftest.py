"""CUDA kernels run on the CPU here, by the tests' emulator."""

import pytest
from emulation import COMPILER, emulate

from treebp.cuda import launching


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    if COMPILER is None:
        pytest.skip("there is no C++ compiler to run CUDA kernels on the CPU")
    monkeypatch.setitem(launching.LAUNCHERS, "cpu", emulate)
