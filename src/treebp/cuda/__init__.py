"""Twins of kernels for GPUs: CUDA C++, compiled when first used, on tensors.

CUDA C++ rather than Numba's dialect, because it is two to three times as fast here; and because any C++ compiler can
build the same sources, the tests run them on the CPU (`tests/cuda/emulator.cpp`).
"""
