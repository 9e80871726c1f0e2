"""Compiles the sources of this folder and launches kernels on the device that holds the tensors."""

import threading
from array import array
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import torch

FOLDER = Path(__file__).parent
_THREADS, _MOST_BLOCKS = 256, 4096

Launcher: TypeAlias = Callable[[str, str, int, int, Any, int, "array[int]"], None]
"""Of source, kernel, blocks, threads in each, the device's number, bytes of shared memory, and 64-bit arguments."""


def launch(source: str, kernel: str, blocks: int, threads: int, *arguments: Any, shared: int = 0) -> None:
    """Launch a kernel of a source on the device of its first argument, a tensor, in the current stream.

    Arguments are contiguous tensors, None for one that is not there, integers and truth values. Each block has `shared`
    bytes of shared memory besides what the source asks for.
    """
    if blocks == 0:
        return
    device = arguments[0].device
    numbers = array("q", [0 if one is None else one if isinstance(one, int) else one.data_ptr() for one in arguments])
    LAUNCHERS[device.type](source, kernel, blocks, threads, device.index, shared, numbers)


def launch_all(source: str, kernel: str, count: int, *arguments: Any) -> None:
    """Launch a kernel whose threads share `count` things."""
    launch(source, kernel, min(-(-count // _THREADS), _MOST_BLOCKS), _THREADS, *arguments)


@cache
def most_shared(kind: str, device: int | None) -> int:
    """How many bytes of shared memory a block may ask for, besides the few of the sources' own."""
    if kind != "cuda":
        return 1 << 18  # the emulator's
    attribute = _driver().CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    return int(_check(_driver().cuDeviceGetAttribute(attribute, _check(_driver().cuDeviceGet(device))))) - 1024


def _on_gpu(
    source: str, kernel: str, blocks: int, threads: int, device: int, shared: int, numbers: "array[int]"
) -> None:
    if torch.cuda.current_device() != device:
        with torch.cuda.device(device):
            _on_gpu(source, kernel, blocks, threads, device, shared, numbers)
        return
    if getattr(_thread, "device", None) != device:  # autograd has threads of its own
        _check(_driver().cuCtxSetCurrent(_context(device)))
        _thread.device = device
    begin, count = numbers.buffer_info()
    places = array("Q", range(begin, begin + 8 * count, 8))
    stream = torch._C._cuda_getCurrentRawStream(device)  # as compilers for torch ask: a tenth of the public way's time
    function = _function(source, kernel, device)
    _check(_driver().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, places.buffer_info()[0], 0))


_thread = threading.local()


LAUNCHERS: dict[str, Launcher] = {"cuda": _on_gpu}
"""By the type of the device."""


@cache
def _driver() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise ImportError("tensors on a GPU need its compiler: pip install 'treebp[cuda]'") from error
    return driver


@cache
def _context(device: int) -> Any:
    """The context that torch uses, too."""
    return _check(_driver().cuDevicePrimaryCtxRetain(_check(_driver().cuDeviceGet(device))))


@cache
def _function(source: str, kernel: str, device: int) -> Any:
    driver = _driver()
    function = _check(driver.cuModuleGetFunction(_module(source, device), kernel.encode()))
    if kernel.endswith(("_shared", "_half")):
        most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _check(driver.cuFuncSetAttribute(function, most, most_shared("cuda", device)))
    return function


@cache
def _module(source: str, device: int) -> Any:
    """A source compiled for a device."""
    from cuda.bindings import nvrtc

    text = (FOLDER / source).read_bytes()
    program = _check(nvrtc.nvrtcCreateProgram(text, source.encode(), 0, [], []))
    major, minor = torch.cuda.get_device_capability(device)
    options = [f"--gpu-architecture=sm_{major}{minor}".encode(), b"--std=c++17", f"--include-path={FOLDER}".encode()]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b" " * _check(nvrtc.nvrtcGetProgramLogSize(program))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"{source} could not be compiled for the GPU: {log.decode(errors='replace')}")
    binary = b" " * _check(nvrtc.nvrtcGetCUBINSize(program))
    _check(nvrtc.nvrtcGetCUBIN(program, binary))
    _check(nvrtc.nvrtcDestroyProgram(program))
    return _check(_driver().cuModuleLoadData(binary))


def _check(answer: Any) -> Any:
    """What a call of the driver or the compiler returned, but for the status."""
    status, *found = answer
    if int(status) != 0:
        raise RuntimeError(f"CUDA: {status.name}")
    return found[0] if found else None
