"""Obstacle: the trainer sends its weights to the server over NCCL, which needs GPUs.

ms-swift opens a `StatelessProcessGroup` first (a key-value store over TCP that both sides join)
and puts NCCL on top of it. The communicator here sends the tensors through that store itself.
"""

from typing import Any

from turngate_cpu.replacement import replace, replace_where_loaded

KEPT_S = 120
"""Seconds for which the store keeps a sent tensor. ms-swift waits for all receivers within 30 s."""


class StoreCommunicator:
    """The part of vLLM's `PyNcclCommunicator` that weight sync uses, over the group's store."""

    def __init__(self, group: Any, device: Any = None, *_: Any, **__: Any) -> None:
        """Join through `group`, a StatelessProcessGroup. `device` is ignored: tensors stay on the CPU."""
        import torch

        self.group = group
        self.rank: int = group.rank
        self.world_size: int = group.world_size
        self.device = torch.device("cpu")
        # By default the store would keep an hour's worth of weights in memory.
        group.data_expiration_seconds = KEPT_S

    def broadcast(self, tensor: Any, src: int, stream: Any = None) -> None:
        """Send `tensor` from rank `src`, or fill it there where rank is another. Blocks; no streams."""
        import torch

        if self.rank == src:
            flat = tensor.detach().contiguous().view(-1).view(torch.uint8)
            self.group.broadcast_obj(flat.numpy().tobytes(), src)
            return
        received = bytearray(self.group.broadcast_obj(None, src))
        flat = torch.frombuffer(received, dtype=torch.uint8).view(tensor.dtype)
        tensor.copy_(flat.view(tensor.shape))


def apply() -> None:
    """Put StoreCommunicator in the place of vLLM's NCCL communicator, and of ms-swift's copies of it."""
    replace("vllm.distributed.device_communicators.pynccl", "PyNcclCommunicator", StoreCommunicator)
    replace_where_loaded(
        ("swift.pipelines.infer.rollout", "swift.rlhf_trainers.vllm_client"), "PyNcclCommunicator", StoreCommunicator
    )
