"""Small networks for tests."""

from dataclasses import replace

import torch

from small_parser import TINY

torch.set_num_threads(1)  # several would wait for each other on a machine that is busy with tests

NETWORK = replace(
    TINY,
    scorer="neural",
    encoder_layers=1,
    encoder_size=16,
    embedding_size=8,
    arc_size=16,
    label_size=8,
    part_rank=6,
    network_epochs=2,
    network_batch=200,
)
