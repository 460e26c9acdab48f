"""The `turngate` command: the gateway's commands, and those that belong to the scheduler."""

from __future__ import annotations

from pathlib import Path

import typer

from turngate.gateway.cli import app

__all__ = ["main"]


@app.command()
def plugin() -> None:
    """Print the path of the scheduler plugin, for `swift rollout --external_plugins "$(turngate plugin)"`."""
    typer.echo(Path(__file__).with_name("turngate_plugin.py"))


def main() -> None:
    """Entry point of the console script."""
    app()
