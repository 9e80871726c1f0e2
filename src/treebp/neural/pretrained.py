"""Encoders of the package ``transformers``, by name or folder, with their subwords pooled to words."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from treebp.neural.inputs import Words

try:
    import transformers
    from tokenizers import Tokenizer
except ImportError as error:
    raise ValueError("an encoder of transformers needs that package: pip install 'treebp[transformers]'") from error


class Pretrained(nn.Module):
    """The mean of the states of a word's subwords, beside its input vectors; the root's are those of special tokens.

    Sentences of more subwords than the encoder takes are read in pieces.

    Attributes:
        size: of the states.
        description: all but the weights, as JSON: configuration and tokeniser.

    """

    def __init__(self, inputs: int, description: str) -> None:
        super().__init__()
        self.description = description
        try:
            stored = json.loads(description)
            config = transformers.AutoConfig.for_model(**_harmless(stored["config"]))
            self.encoder = transformers.AutoModel.from_config(
                config, trust_remote_code=False, attn_implementation="eager"
            )
            self._tokeniser = Tokenizer.from_str(stored["tokeniser"])
            self._most = int(stored["most"])
            self.size = inputs + int(config.hidden_size)
        except Exception as error:  # what a stranger wrote may raise anything, plain exceptions among them
            raise ValueError(f"its encoder cannot be made: {str(error)[:200]}") from None
        self._tokeniser.no_truncation()
        self._tokeniser.no_padding()

    @classmethod
    def named(cls, inputs: int, name: str) -> "Pretrained":
        """The encoder of this name or in this folder, with its weights. Raises ValueError if there is none."""
        try:
            tokeniser = transformers.AutoTokenizer.from_pretrained(name, add_prefix_space=True, trust_remote_code=False)
            model = transformers.AutoModel.from_pretrained(name, trust_remote_code=False, use_safetensors=True)
            most = min(tokeniser.model_max_length, getattr(model.config, "max_position_embeddings", 1 << 30) - 2)
            parts = {
                "config": _harmless(model.config.to_dict()),
                "tokeniser": tokeniser.backend_tokenizer.to_str(),
                "most": most,
            }
            own = cls(inputs, json.dumps(parts))
            own.encoder.load_state_dict(model.state_dict())
        except (OSError, ValueError, AttributeError, RuntimeError, KeyError) as error:
            message = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(f"encoder = {name!r} cannot be used: {message}") from None
        return own

    def forward(self, rows: Tensor, words: Words) -> Tensor:
        """(rows, inputs) to (rows, `size`)."""
        ids: list[Sequence[int]] = []
        owners: list[list[int]] = []  # of each subword its word's row, or its root's
        first = 0
        for size in words.sizes.tolist():
            at = first + 1
            for piece, count in self._pieces(list(words.forms[first + 1 : first + size])):
                ids.append(piece.ids[: self._most])
                owners.append([first if word is None else at + word for word in piece.word_ids[: self._most]])
                at += count
            first += size
        width = max(map(len, ids))
        device = rows.device
        padded = torch.tensor([[*one, *[0] * (width - len(one))] for one in ids], device=device)
        mask = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in ids], device=device)
        states = self.encoder(input_ids=padded, attention_mask=mask).last_hidden_state[mask.bool()]
        where = torch.from_numpy(np.concatenate(owners)).to(device)
        sums = states.new_zeros(len(rows), states.shape[1]).index_add(0, where, states)
        counts = torch.bincount(where, minlength=len(rows)).clamp(min=1)
        return torch.cat([rows, (sums / counts[:, None]).to(rows.dtype)], dim=1)

    def _pieces(self, forms: list[str]) -> list[tuple[Any, int]]:
        """The subwords of a sentence, or of parts of it that are short enough, and how many words each has."""
        found = self._tokeniser.encode(forms, is_pretokenized=True)
        if len(found.ids) <= self._most or len(forms) <= 1:
            return [(found, len(forms))]
        middle = len(forms) // 2
        return [*self._pieces(forms[:middle]), *self._pieces(forms[middle:])]


def _harmless(config: Any) -> Any:
    """A configuration without what could load more than the package itself has: code or kernels of others."""
    if isinstance(config, dict):
        return {
            key: _harmless(value)
            for key, value in config.items()
            if not str(key).startswith("_") and key not in ("auto_map", "quantization_config", "attn_implementation")
        }
    return config
