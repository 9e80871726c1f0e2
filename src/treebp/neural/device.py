"""Where a network computes."""

import torch


def find_device(name: str) -> str:
    """A device that is there: the one of this name or, for "auto", a GPU if there is one. Raises ValueError if not."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"there is no device {name!r} to compute on: {str(error).splitlines()[0]}") from None
    return name
