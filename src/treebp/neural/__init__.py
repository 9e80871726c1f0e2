"""Networks that score words, arcs and parts: encoders, what they are given, and how they are trained.

Only loaded when a network is asked for. It sees numbers, forms and positions, and knows nothing of trees.
"""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without which cuBLAS does not repeat itself to the bit

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    # A ValueError, since it is a user's setting that asks for a network.
    raise ValueError("a network as scorer needs PyTorch: pip install 'treebp[neural]'") from error
