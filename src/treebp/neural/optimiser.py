"""AdamW with warm-up and linear decay, and gradients that are clipped."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from treebp._types import AnyArray

_BETAS = (0.9, 0.95)


class AdamW:
    """Moves a network's parameters, step by step: the rate rises from zero and falls to zero again.

    Parameters that are ``pretrained`` have a rate of their own.

    Attributes:
        rate: of the last step.
        steps: how many were made.

    """

    def __init__(
        self,
        network: nn.Module,
        rate: float,
        *,
        decay: float,
        steps: int,
        warmup: float,
        clip: float,
        pretrained: Sequence[nn.Parameter] = (),
        pretrained_rate: float = 0.0,
    ) -> None:
        self._peak, self._clip = rate, clip
        self._all_steps, self._warmup = steps, max(1, round(warmup * steps))
        self.steps, self.rate = 0, 0.0
        known = {id(parameter) for parameter in pretrained}
        new = [parameter for parameter in network.parameters() if id(parameter) not in known]
        self._parameters = [*new, *pretrained]
        groups = [{"params": new, "share": 1.0}]
        if pretrained:
            groups.append({"params": list(pretrained), "share": pretrained_rate / rate})
        self._optimiser = torch.optim.AdamW(groups, rate, betas=_BETAS, eps=1e-8, weight_decay=decay)

    def step(self, count: int) -> None:
        """One update by the gradients that there are, divided by ``count``, the words that they are of."""
        self.steps += 1
        left = (self._all_steps + 1 - self.steps) / max(1, self._all_steps + 1 - self._warmup)
        self.rate = self._peak * min(1.0, self.steps / self._warmup, max(0.0, left))
        for group in self._optimiser.param_groups:
            group["lr"] = self.rate * group["share"]
        for parameter in self._parameters:
            if parameter.grad is not None:
                parameter.grad /= count
        nn.utils.clip_grad_norm_(self._parameters, self._clip)
        self._optimiser.step()
        self._optimiser.zero_grad()

    def state(self) -> dict[str, AnyArray]:
        """Arrays from which ``restore`` goes on."""
        arrays: dict[str, AnyArray] = {"steps": np.array(self.steps)}
        for number, values in self._optimiser.state_dict()["state"].items():
            for name, value in values.items():
                arrays[f"{number}.{name}"] = value.detach().cpu().numpy().copy()
        return arrays

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Go back to where ``state`` was asked for. Raises ValueError if that was of another network."""
        whole = self._optimiser.state_dict()
        state: dict[int, dict[str, Any]] = {}
        for name, array in arrays.items():
            if name != "steps":
                place, _, key = name.partition(".")
                value = torch.from_numpy(array.copy())
                own = state.setdefault(int(place), {})
                own[key] = value.reshape(()) if key == "step" else value  # files know no scalars
        for number, parameter in enumerate(self._parameters):
            if number in state and state[number]["exp_avg"].shape != parameter.shape:
                raise ValueError("the optimiser's arrays are of another network")
        self._optimiser.load_state_dict({**whole, "state": state})
        self.steps = int(arrays["steps"].item())
