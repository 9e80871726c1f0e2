"""Randomness that follows from a seed alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def repeatable(seed: int, device: torch.device, threads: int) -> Iterator[None]:
    """What PyTorch computes inside, on some threads, depends on the seed alone; outside all is as it was."""
    usual = torch.get_num_threads()
    devices = [device] if device.type == "cuda" else []
    before = torch.are_deterministic_algorithms_enabled()
    filling = torch.utils.deterministic.fill_uninitialized_memory
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # nothing here reads such memory
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before)
            torch.utils.deterministic.fill_uninitialized_memory = filling
            torch.set_num_threads(usual)
