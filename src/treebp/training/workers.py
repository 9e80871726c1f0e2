"""Several processes, started by PyTorch's launcher, that share the batches of one network's training.

The first one is in charge: it alone reads, writes, judges and updates. The others have a copy of the network, and until
they are dismissed they take its parameters and their part of a batch, and give back the gradient.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed.nn  # imported later, as optimisers do, it would keep the group, whose threads abort at exit
from torch import distributed
from torch.nn.utils import parameters_to_vector

from treebp.neural.device import find_device
from treebp.neural.repeatable import repeatable
from treebp.parsing.model import TreeModel
from treebp.training.learner import Example
from treebp.training.threads import loss_and_gradient_on_threads

_PATIENCE = timedelta(days=30)  # others wait while the first one prepares data and scores


class Task(NamedTuple):
    """What all processes do at the same time, each with its part of a batch.

    Attributes:
        parts: one for each process, and none of a sentence where there are too few.
        objective, temperature: see ``treebp.training.circuit``.
        seed: of what is random from now on, where an epoch begins.

    """

    parts: Sequence[Sequence[Example]]
    objective: str
    temperature: float
    seed: int | None


class Workers:
    """All processes of a launch, as the one in charge sees them.

    Attributes:
        count: how many they are, this one included.

    """

    def __init__(self, model: TreeModel, threads: int) -> None:
        self.count = launched()
        self._model, self._threads = model, threads
        if self.count > 1:
            device = model.scorer.device
            model.scorer.to("cpu")  # for the way to other devices
            _announced(model)
            model.scorer.to(device)

    def loss_and_gradient(self, task: Task) -> float:
        """The value of the whole batch; its gradient is then that of the network's parameters."""
        if self.count > 1:
            _announced(task)
        return _share(self._model, task, 0, self._threads)


def launched() -> int:
    """How many processes PyTorch's launcher has started; 1 without it."""
    return int(os.environ["WORLD_SIZE"]) if "TORCHELASTIC_RUN_ID" in os.environ else 1


def dismiss() -> None:
    """Let the other processes end."""
    if launched() > 1:
        _announced(None)
        distributed.destroy_process_group()


def assist(device: str, threads: int) -> None:
    """Work for the process in charge until it dismisses this one."""
    rank = int(os.environ["RANK"])
    with ExitStack() as randomness:
        model: Any = None
        while (message := _announced()) is not None:
            if isinstance(message, Task):
                if message.seed is not None:
                    randomness.close()
                    seed = (message.seed + rank) % 2**63
                    randomness.enter_context(repeatable(seed, model.scorer.network.device, threads))
                _share(model, message, rank, threads)
            else:
                model = message
                model.scorer.to(find_device(device))
                model.scorer.network.train()
    distributed.destroy_process_group()


def _announced(message: Any = None) -> Any:
    """What the process in charge says to all, by giving it here; the others give nothing, and wait for it."""
    if not distributed.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(backend, timeout=_PATIENCE)
    said = [message]
    distributed.broadcast_object_list(said, 0, device=torch.device("cpu"))
    return said[0]


def _share(model: TreeModel, task: Task, rank: int, threads: int) -> float:
    """Do this process's part of a task; in the process in charge, with the value and the gradient of the whole."""
    part, together = task.parts[rank], len(task.parts) > 1
    parameters = list(model.scorer.network.parameters())  # type: ignore[attr-defined]
    if together:
        vector = parameters_to_vector(parameters).detach()
        distributed.broadcast(vector, 0)
        if rank:
            for own, piece in zip(parameters, vector.split([own.numel() for own in parameters]), strict=True):
                own.data.copy_(piece.view_as(own))
    value = loss_and_gradient_on_threads(model, part, task.objective, task.temperature, threads) if part else 0.0
    if together:
        gradients = [torch.zeros_like(own) if own.grad is None else own.grad for own in parameters]
        whole = torch.cat(
            [gradient.flatten().double() for gradient in gradients] + [vector.new_tensor([value]).double()]
        )
        distributed.reduce(whole, 0)
        *pieces, total = whole.split([own.numel() for own in parameters] + [1])
        for own, piece in zip(parameters, pieces, strict=True):
            own.grad = piece.view_as(own).to(own) if rank == 0 else None
        value = float(total)
    return value
