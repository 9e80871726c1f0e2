"""Numba functions on flat NumPy arrays: no classes, no I/O, no words."""
