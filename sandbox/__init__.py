"""Isolation for model-written code.

Nothing is here yet: until the sandbox lands, turngate offers no tool that runs code.
"""

__all__: list[str] = []
