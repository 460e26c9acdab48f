"""What a model wrote, as calls: the nouns and the interface of every call format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

__all__ = ["THINK_CLOSE", "THINK_OPEN", "CallReader", "MalformedCall", "ReadCall", "WrittenCall"]

THINK_OPEN: Final = "<think>"
THINK_CLOSE: Final = "</think>"


@dataclass(frozen=True)
class ReadCall:
    """A call that could be read. Whether the tool exists and the arguments fit is the gateway's question."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class MalformedCall:
    """Something that was meant as a call and could not be read."""

    error_type: str
    """Short kind: `json`, `not_an_object`, `name`, `arguments`, `too_deep`, `unopened`, …."""
    message: str
    """For the model: what is wrong with it and how a call is written."""
    name: str = ""
    """The tool's name, if that much could be read."""


WrittenCall = ReadCall | MalformedCall


class CallReader(Protocol):
    """One call format."""

    def read(self, text: str, *, think_prefilled: bool = False) -> list[WrittenCall]:
        """Every call in the text of one turn, in order; an empty list if the model called nothing.

        Calls inside thinking are thoughts, not calls. `think_prefilled`: the prompt has opened the
        thinking already, so the text begins inside it. Never raises, and takes time linear in the
        text's length.
        """
        ...
