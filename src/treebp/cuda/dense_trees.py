"""Sums over batches of trees: the twins of ``treebp.kernels.projective`` and ``nonprojective``.

Scores are contiguous float64 tensors (batch, width, width), lengths int64 tensors (batch,). A verdict that is not zero
says that a sentence has no tree, a score that is none, or a wrong length; its answers are NaN, or -1 for heads.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import torch

from treebp.cuda.launching import launch, most_shared

_MOST_ROOM = 1 << 25  # doubles that the blocks which calculate in logarithms share
_MOST_BLOCKS = 264


def marginals(scores: Any, lengths: Any, projective: bool, single_root: bool) -> tuple[Any, Any, Any]:
    """Log-partitions, marginals and verdicts."""
    batch = scores.shape[0]
    log_partition, out = scores.new_empty(batch), torch.empty_like(scores)
    verdicts = scores.new_empty((2, batch), dtype=torch.int32)
    _sums("marginals", scores, None, lengths, projective, single_root, log_partition, out, verdicts)
    return log_partition, out, verdicts[0]


def product(scores: Any, direction: Any, lengths: Any, projective: bool, single_root: bool) -> Any:
    """The Jacobian of the marginals, which is symmetric, times a direction."""
    out = torch.empty_like(scores)
    _sums("product", scores, direction.contiguous(), lengths, projective, single_root, None, out, None)
    return out


def best(scores: Any, lengths: Any, projective: bool, single_root: bool) -> tuple[Any, Any]:
    """The heads of the best trees (batch, width - 1), padded with -1, and verdicts."""
    batch, width = scores.shape[:2]
    heads = lengths.new_empty((batch, width - 1))
    verdicts = scores.new_empty(batch, dtype=torch.int32)
    room = 9 * width * width + 4 * width + 4
    arguments = (scores, lengths, width, single_root, heads, verdicts, scores.new_empty(batch * room), room)
    kernel = "best_projective" if projective else "best_spanning"
    launch("best_trees.cu", kernel, batch, min(threads_for(width), 512), *arguments)
    return heads, verdicts


def sample_projective(scores: Any, lengths: Any, single_root: bool, uniforms: Any) -> tuple[Any, Any]:
    """Heads of independent projective trees, (batch, samples, width - 1) padded with -1, and verdicts.

    They are as many as there are rows of numbers from 0 to below 1, (batch, samples, 2 * width).
    """
    batch, samples, width = uniforms.shape[0], uniforms.shape[1], scores.shape[1]
    heads = lengths.new_empty((batch, samples, width - 1))
    verdicts = scores.new_empty(batch, dtype=torch.int32)
    room = 9 * width * width + 2 * width + samples * (3 * width + 3)
    arguments = (scores, lengths, batch, width, single_root, samples, uniforms, heads, verdicts)
    scratch = scores.new_empty(batch * room)
    threads = min(threads_for(width), 512)
    launch("sample_trees.cu", "sample_projective", batch, threads, *arguments, scratch, room)
    return heads, verdicts


def legal(heads: Any, lengths: Any, projective: bool, single_root: bool) -> Any:
    """Of heads (batch, trees, width - 1): 1 for a tree, 0 for none, -1 for a head that no word can have."""
    batch, trees, words = heads.shape
    out = heads.new_empty((batch, trees), dtype=torch.int32)
    arguments = (heads, lengths, trees, words, projective, single_root, out)
    launch("best_trees.cu", "legal_trees", batch * trees, 64, *arguments)
    return out


def _sums(
    query: str,
    scores: Any,
    direction: Any,
    lengths: Any,
    projective: bool,
    single_root: bool,
    log_partition: Any,
    out: Any,
    verdicts: Any,
) -> None:
    """Real arithmetic for all sentences, then logarithms for those that it refuses."""
    batch, width = scores.shape[:2]
    where, shared = shared_memory(scores.device, projective, width, 1 if direction is None else 2)
    plan = _plan(query, projective, batch, width, where)
    scratch = scores.new_empty(plan.scratch + batch)
    if verdicts is None:
        verdicts = scratch.data_ptr() + 8 * plan.scratch
    arguments = (scores, direction, lengths, batch, width, single_root, log_partition, out, verdicts, scratch)
    launch(plan.source, plan.kernel, batch, plan.threads, *arguments, plan.room, shared=shared)
    launch(plan.source, plan.log_kernel, plan.log_blocks, plan.log_threads, *arguments, plan.log_room)


class _Plan(NamedTuple):
    """Which kernels answer a query for a batch, by how many blocks and threads, and the doubles they work in."""

    source: str
    kernel: str
    threads: int
    room: int
    log_kernel: str
    log_blocks: int
    log_threads: int
    log_room: int
    scratch: int


@lru_cache(maxsize=256)  # small batches wait for the host: it should not do this each time
def _plan(query: str, projective: bool, batch: int, width: int, where: str) -> _Plan:
    kind = "projective" if projective else "spanning"
    square = (2 if query == "product" else 1) * width * width
    room = _even(_even(width) + (10 if projective else 4) * square)
    log_matrices = 10 * square if projective else (4 + 4 * walk_depth(width)) * width * width
    log_room = _even(_even(width) + log_matrices)
    blocks = log_blocks(batch, log_room)
    threads = min(threads_for(width), 512) if where else threads_for(width)
    return _Plan(
        f"{kind}.cu",
        f"{kind}_{query}{where}",
        threads,
        room,
        f"{kind}_log_{query}",
        blocks,
        min(threads, 512),
        log_room,
        max(batch * room, blocks * log_room),
    )


def shared_memory(device: Any, projective: bool, width: int, numbers: int) -> tuple[str, int]:
    """Which kernels trees of so many positions go to, by how they end, and the shared memory they need, in bytes.

    All charts or matrices fit into it, or half of the charts, or nothing.
    """
    all_charts = 8 * numbers * (4 * width * (width | 1) if projective else width * (width + 2))
    most = most_shared(device.type, device.index)
    if all_charts <= most:
        return "_shared", all_charts
    return ("_half", all_charts // 2) if projective and all_charts // 2 <= most else ("", 0)


def _even(number: int) -> int:
    """The next even number: what blocks share is cut at multiples of 16 bytes."""
    return number + number % 2


def threads_for(width: int) -> int:
    """Threads of a block that has a sentence: enough for a lane or more in every cell of its chart's diagonals."""
    return 128 if width <= 32 else 256 if width <= 64 else 512 if width <= 128 else 1024


def log_blocks(trees: int, room: int) -> int:
    """How many blocks calculate in logarithms, where each needs so much room: few trees need it, and take turns."""
    return min(trees, _MOST_BLOCKS, max(1, _MOST_ROOM // room))


def walk_depth(size: int) -> int:
    """How many matrices at a time the matrix-tree theorem without subtraction has."""
    return 2 + (size - 1).bit_length()
