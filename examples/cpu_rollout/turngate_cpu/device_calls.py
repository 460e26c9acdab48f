"""Obstacle: ms-swift's weight sync makes device calls that exist for GPUs only.

`swift.utils.synchronize` ends in `torch.cuda.synchronize` even where there is no GPU, and
`with get_torch_device().device(...)` needs a `torch.cpu.device`, which torch doesn't have.
On a CPU there is nothing to wait for and no device to choose, so both do nothing.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from turngate_cpu.replacement import add, replace


def apply() -> None:
    """Make both calls do nothing."""
    replace("torch.cuda", "synchronize", _nothing_to_wait_for)
    add("torch.cpu", "device", _no_choice)


def _nothing_to_wait_for(device: Any = None) -> None:
    return None


def _no_choice(device: Any = None) -> AbstractContextManager[None]:
    return nullcontext()
