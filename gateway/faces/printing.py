"""Tools and results for a person at a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from turngate.tools import TextContent, ToolResult, ToolSpec

__all__ = ["print_result", "print_table"]

_PIPE_WIDTH = 200
_MAX_DESCRIPTION = 160


def print_table(specs: Sequence[ToolSpec]) -> None:
    """One line per tool: name, parameters (`?` optional), the first line of the description, source."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", no_wrap=True)
    table.add_column("arguments")
    table.add_column("description")
    table.add_column("source", no_wrap=True)
    for spec in specs:
        first_line = spec.description.strip().partition("\n")[0]
        shown = first_line if len(first_line) <= _MAX_DESCRIPTION else f"{first_line[:_MAX_DESCRIPTION]}…"
        table.add_row(escape(spec.name), escape(_parameters(spec)), escape(shown), escape(spec.source))
    # Without a terminal rich assumes 80 columns and folds names that a script looks for.
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    console.print(table if specs else "No tools.")


def print_result(result: ToolResult) -> None:
    """The text of a result: to stdout if the call went well, to stderr if not. Other content is named on stderr."""
    target = sys.stdout if result.ok else sys.stderr
    text = result.text
    if not text and result.ok and result.structured is not None:
        text = json.dumps(result.structured, ensure_ascii=False)
    prefix = "" if result.ok else f"turngate: {result.status.value}: "
    if text or not result.ok:
        print(f"{prefix}{text}", file=target)
    for block in result.content:
        if not isinstance(block, TextContent):
            print(f"turngate: also returned: {block.type} (--json shows it)", file=sys.stderr)


def _parameters(spec: ToolSpec) -> str:
    required = spec.input_schema.get("required", [])
    return ", ".join(key if key in required else f"{key}?" for key in spec.input_schema.get("properties", {}))
