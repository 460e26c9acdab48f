"""Which process needs which patch.

rollout server   `swift rollout`, patched by `--external_plugins` or the wrapper: device count
its engine       a child that vLLM starts, patched by `vllm.general_plugins`: linear layers,
                 communicator, device calls
trainer          `swift rlhf`, patched by the wrapper: the same as the engine, because it sends
                 weights and, in colocate mode, holds an engine itself
"""

from turngate_cpu import communicator, device_calls, device_count, linear_layers
from turngate_cpu.errors import NotACpuMachineError


def prepare_server() -> None:
    """Patch the process that reads the rollout server's arguments.

    Raises:
        NotACpuMachineError: vLLM is not a CPU build here.
        MissingTargetError: another ms-swift or vLLM than this package was written for.
    """
    _require_cpu()
    device_count.apply()


def prepare_engine() -> None:
    """Patch the process that holds the model and receives new weights. Raises as prepare_server does."""
    _require_cpu()
    linear_layers.apply()
    communicator.apply()
    device_calls.apply()


def prepare_trainer() -> None:
    """Patch the trainer's process. Raises as prepare_server does."""
    prepare_engine()


def runs_on_cpu() -> bool:
    """Tell whether the installed vLLM is a CPU build."""
    from vllm.platforms import current_platform

    return bool(current_platform.is_cpu())


def _require_cpu() -> None:
    if not runs_on_cpu():
        raise NotACpuMachineError(
            "vLLM is not a CPU build here, so turngate_cpu would only do harm. "
            "Use ms-swift directly (`swift rollout`, `swift rlhf`) and uninstall turngate-cpu-rollout."
        )
