"""Reading calls out of model text: one module for each format, one table."""

from collections.abc import Callable
from typing import Final

from turngate.scheduler.reading.calls import CallReader, MalformedCall, ReadCall, WrittenCall
from turngate.scheduler.reading.hermes import HermesReader

__all__ = ["READERS", "CallReader", "HermesReader", "MalformedCall", "ReadCall", "WrittenCall"]

READERS: Final[dict[str, Callable[[], CallReader]]] = {"hermes": HermesReader}
"""Call formats by name, as in ms-swift's `agent_template`."""
