"""The `turngate` command: serve the tools, list them, call one.

Whatever a command needs is imported inside it, so that `--help` and `--version` stay quick. Exit codes:
0 fine, 1 the call failed, 2 the command line, the configuration or the gateway's URL is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from turngate.gateway.config import ENV_TOKEN

if TYPE_CHECKING:
    from turngate.gateway.config import GatewayConfig
    from turngate.gateway.gateway import ToolGateway
    from turngate.tools import ToolResult

__all__ = ["app"]

T = TypeVar("T")

app = typer.Typer(
    name="turngate",
    help="Tools behind one gateway: serve them, list them, call them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class _LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class _Format(StrEnum):
    OPENAI = "openai"
    MCP = "mcp"
    ANTHROPIC = "anthropic"


ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="Configuration file. Else $TURNGATE_CONFIG, else ./turngate.yaml."),
]
UrlOption = Annotated[
    str | None,
    typer.Option("--url", help=f"Ask a running gateway (its token in ${ENV_TOKEN}) instead of an embedded one."),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        typer.echo(f"turngate {importlib.metadata.version('turngate')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Tools behind one gateway: serve them, list them, call them."""


@app.command()
def serve(
    config: ConfigOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Else the configuration's.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one. Else the configuration's.")] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Listen beyond loopback without a token.")] = False,
    log_level: Annotated[_LogLevel, typer.Option(help="What goes to stderr.")] = _LogLevel.WARNING,
) -> None:
    """Serve the tools over MCP and REST until SIGTERM or Ctrl-C."""
    import logging

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for name in ("turngate", "uvicorn"):
        logging.getLogger(name).setLevel(log_level.value.upper())
    with _told_errors():
        settings = _with_server(_load(config), host, port)
        from turngate.gateway.faces.security import check_bind

        check_bind(settings.server, insecure)
        from turngate.gateway.build import build_gateway
        from turngate.gateway.faces.app import build_app
        from turngate.gateway.faces.listen import serve as listen

        gateway = build_gateway(settings)

        def started(base_url: str) -> None:
            count = len(gateway.catalogue)
            tools = "1 tool" if count == 1 else f"{count} tools"
            typer.echo(f"turngate: {tools} at {base_url} (MCP {base_url}/mcp, REST {base_url}/v1)")

        listen(build_app(gateway, settings), settings.server.host, settings.server.port, log_level.value, started)


@app.command()
def tools(
    config: ConfigOption = None,
    url: UrlOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything that is known of each tool.")] = False,
    format: Annotated[_Format | None, typer.Option("--format", help="Print JSON for this kind of client.")] = None,
) -> None:
    """List the tools."""
    with _told_errors():
        specs = _run(config, url, lambda gateway: gateway.list_tools())
    if as_json or format is not None:
        import json

        from turngate.gateway.faces.formats import tool_list

        listed = tool_list(specs, None if format is None else format.value)
        typer.echo(json.dumps(listed, ensure_ascii=False, indent=2))
    else:
        from turngate.gateway.faces.printing import print_table

        print_table(specs)


@app.command()
def call(
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="""'{"key": "value"}' or key=value, as often as needed.""")
    ] = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result.")] = False,
) -> None:
    """Call a tool: its text goes to stdout, an error to stderr (exit code 1)."""
    from turngate.tools import ToolCall

    async def run(gateway: ToolGateway) -> ToolResult:
        from turngate.gateway.faces.arguments import parse_arguments

        words = arguments or []
        # A key=value is read by the tool's schema; a JSON object needs none.
        specs = await gateway.list_tools() if any(not word.lstrip().startswith("{") for word in words) else []
        schema = next((spec.input_schema for spec in specs if spec.name == name), {})
        try:
            parsed = parse_arguments(words, schema)
        except ValueError as error:
            raise _UsageError(str(error)) from None
        return await gateway.call(ToolCall(name=name, arguments=parsed, call_id="cli"))

    with _told_errors():
        result = _run(config, url, run)
    if as_json:
        typer.echo(result.model_dump_json(by_alias=True, indent=2))
    else:
        from turngate.gateway.faces.printing import print_result

        print_result(result)
    raise typer.Exit(0 if result.ok else 1)


class _UsageError(Exception):
    """The command line is wrong; the message says what."""


@contextmanager
def _told_errors() -> Iterator[None]:
    """What a person can mend becomes one line on stderr and an exit code."""
    from turngate.gateway.errors import ConfigError

    try:
        yield
    except (ConfigError, _UsageError) as error:
        _tell(str(error))
        raise typer.Exit(2) from None


def _tell(message: str) -> None:
    typer.echo(f"turngate: {message}", err=True)


def _load(path: Path | None) -> GatewayConfig:
    from turngate.gateway.config import load_config

    return load_config(path)


def _with_server(config: GatewayConfig, host: str | None, port: int | None) -> GatewayConfig:
    """The configuration with what the command line says of the server."""
    from pydantic import ValidationError

    from turngate.gateway.config import ServerConfig
    from turngate.gateway.errors import ConfigError

    given = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    try:
        server = ServerConfig.model_validate({**config.server.model_dump(), **given})
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigError(f"--{problem['loc'][0]}: {problem['msg']}") from None
    return config.model_copy(update={"server": server})


def _run(path: Path | None, url: str | None, work: Callable[[ToolGateway], Awaitable[T]]) -> T:
    """Do `work` with the gateway at `url`, or with one built here from the configuration."""
    import anyio

    async def main() -> T:
        gateway = _open(path, url)
        try:
            return await work(gateway)
        finally:
            await gateway.aclose()

    return anyio.run(main)


def _open(path: Path | None, url: str | None) -> ToolGateway:
    if url is not None:
        from turngate.gateway.client import RemoteGateway

        # A person who waits at a terminal is told at once.
        return RemoteGateway(url, token=os.environ.get(ENV_TOKEN), connect_retry_s=0.0)
    from turngate.gateway.build import build_gateway

    return build_gateway(_load(path))
