"""Obstacle: `swift rollout` counts GPUs while it reads its arguments, and stops at zero.

vLLM's CPU engine is one worker, so the count this module reports is one device.
"""

from turngate_cpu.replacement import replace


def apply() -> None:
    """Let the rollout server's argument check see one device."""
    replace("swift.arguments.deploy_args", "get_device_count", _one_device)


def _one_device() -> int:
    return 1
