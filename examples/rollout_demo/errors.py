"""Errors of the demo; each message tells a person what happened and where to look.

DemoError
├── StartError    a server did not come up, or what it needs is missing
└── InferError    the rollout server did not answer a batch as it should
"""


class DemoError(Exception):
    """Root of the tree."""


class StartError(DemoError):
    """A server died, stayed silent or cannot be started here."""


class InferError(DemoError):
    """`/infer/` failed: refused, broke off, took too long, or answered something else."""
