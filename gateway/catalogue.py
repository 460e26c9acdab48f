"""The tools of one gateway, by name, each with what the call path needs to know of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from turngate.gateway.admission import Admission
from turngate.gateway.names import safe_name
from turngate.gateway.policy import EffectivePolicy, effective_policy
from turngate.gateway.validation import ArgumentValidator
from turngate.tools import CallPolicy, Tool, ToolSpec

__all__ = ["Catalogue", "CatalogueEntry"]

_MAX_LISTED = 40


@dataclass(frozen=True)
class CatalogueEntry:
    """One tool, ready to be called."""

    tool: Tool
    spec: ToolSpec
    """The tool's own spec under the name that this catalogue gave it."""
    policy: EffectivePolicy
    validator: ArgumentValidator
    admission: Admission


class Catalogue:
    """Tools by name, in the order in which they were added."""

    def __init__(self, defaults: CallPolicy | None = None) -> None:
        self._defaults = defaults or CallPolicy()
        self._entries: dict[str, CatalogueEntry] = {}

    def add(self, tool: Tool, override: CallPolicy | None = None) -> CatalogueEntry:
        """Add a tool; a name that is taken gets a hash suffix.

        Raises SchemaError if the tool's input schema cannot be compiled: the tool's fault.
        """
        own = tool.spec
        name = safe_name(own.name, self._entries)
        policy = effective_policy(own, self._defaults, override or CallPolicy())
        entry = CatalogueEntry(
            tool=tool,
            spec=own.model_copy(update={"name": name}),
            policy=policy,
            validator=ArgumentValidator(own.input_schema),
            admission=Admission(name, policy.max_concurrency, policy.max_queue),
        )
        self._entries[name] = entry
        return entry

    def get(self, name: str) -> CatalogueEntry | None:
        """The tool of that name, or None."""
        return self._entries.get(name)

    def unknown_message(self, name: str) -> str:
        """What to tell a model that called a tool which does not exist."""
        shown = name if len(name) <= 80 else f"{name[:80]}…"
        names = list(self._entries)
        if not names:
            return f"There is no tool '{shown}': no tools are available. Answer without one."
        listed = ", ".join(names[:_MAX_LISTED]) + (", …" if len(names) > _MAX_LISTED else "")
        near = difflib.get_close_matches(name[:80], names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return f"There is no tool '{shown}'.{hint} Available tools: {listed}."

    def __iter__(self) -> Iterator[CatalogueEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
