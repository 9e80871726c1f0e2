"""Where a network computes."""

import os

import torch


def find_device(name: str) -> str:
    """A device that is there: the one of this name or, for "auto", a GPU if there is one. Raises ValueError if not.

    Of several processes on a machine that PyTorch's launcher has started, each has a GPU of its own.
    """
    if name == "auto":
        return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"there is no device {name!r} to compute on: {str(error).splitlines()[0]}") from None
    return name
