"""CUDA kernels on the CPU: see emulator.cpp."""

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from treebp.cuda.launching import FOLDER

COMPILER = shutil.which("g++") or shutil.which("c++")
_KERNEL_ARGUMENTS = 24


@cache
def _library(source):
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = Path(folder) / f"{source}.so"
    emulator = Path(__file__).with_name("emulator.cpp")
    options = ["-std=c++17", "-O1", "-fPIC", "-shared", "-DEMULATED", f'-DSOURCE="{source}"', f"-I{FOLDER}"]
    subprocess.run([COMPILER, *options, str(emulator), "-o", str(target)], check=True, capture_output=True)
    return ctypes.CDLL(str(target))


def emulate(source, kernel, blocks, threads, device, shared, numbers):
    library = _library(source)
    padded = (ctypes.c_int64 * _KERNEL_ARGUMENTS)(*numbers)
    assert len(numbers) <= _KERNEL_ARGUMENTS
    address = ctypes.cast(getattr(library, kernel), ctypes.c_void_p)
    library.emulate(address, ctypes.c_int64(blocks), ctypes.c_int64(threads), padded)
