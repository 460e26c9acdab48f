"""Errors of this package.

CpuRolloutError
├── MissingTargetError    ms-swift or vLLM no longer has what a patch replaces
└── NotACpuMachineError   vLLM here is not a CPU build, so nothing must be patched
"""


class CpuRolloutError(RuntimeError):
    """Root of the tree."""


class MissingTargetError(CpuRolloutError):
    """The installed ms-swift, vLLM or torch lacks the name that a patch replaces."""


class NotACpuMachineError(CpuRolloutError):
    """vLLM runs on something other than the CPU here; this package has no business there."""
