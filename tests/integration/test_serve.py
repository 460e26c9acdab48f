"""`turngate serve` as a process of its own, with the clients that people use."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import pytest
from mcp import Client

from turngate.gateway import Status, ToolCall
from turngate.gateway.client import RemoteGateway

pytestmark = [pytest.mark.process, pytest.mark.anyio]
LIMIT_S = 60

TOOLS = '''
import pathlib

import anyio

async def echo(text: str) -> str:
    """Say it again."""
    return text

async def hold(folder: str) -> str:
    """Tell when it starts and when it is cancelled; never end."""
    pathlib.Path(folder, "started").touch()
    try:
        await anyio.sleep_forever()
    finally:
        pathlib.Path(folder, "cancelled").touch()
    return ""
'''


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Server:
    """A running `turngate serve`."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        command = "from turngate.gateway.cli import app; app()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", command, "serve", "--port", "0", *arguments],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        found = re.search(r"http://\S+:\d+", self.line)
        assert found, self.process.communicate()
        self.url = found.group()

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit status and stderr after a signal."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, errors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_tools.py").write_text(TOOLS)
    entries = "".join(f"  {name}: {{import: './my_tools.py:{name}'}}\n" for name in ("echo", "hold"))
    (tmp_path / "turngate.yaml").write_text(f"tools:\n{entries}")
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    running = Server(folder)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.communicate()


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_the_sdks_own_client_lists_and_calls_the_tools(server: Server, mode: str) -> None:
    with anyio.fail_after(LIMIT_S):
        async with Client(f"{server.url}/mcp", mode=mode) as client:  # type: ignore[arg-type]
            names = [listed.name for listed in (await client.list_tools()).tools]
            result = await client.call_tool("calculator", {"expression": "2+2"})
            bad = await client.call_tool("calculator", {"expression": "1/0"})
    assert names == ["calculator", "echo", "hold"]
    assert (result.is_error, result.content[0].model_dump()["text"]) == (False, "4")
    assert bad.is_error


def test_serve_says_where_it_listens_and_stops_cleanly_when_told(server: Server) -> None:
    assert f"{server.url}/mcp" in server.line
    assert f"{server.url}/v1" in server.line
    assert httpx.get(f"{server.url}/health").json()["tools"] == 3
    assert server.stop() == (0, "")


def test_an_interrupt_stops_it_as_cleanly(server: Server) -> None:
    assert server.stop(signal.SIGINT) == (0, "")


async def wait_for(path: Path) -> None:
    """Wait until another process has made the file."""
    while not path.exists():
        await anyio.sleep(0.02)


async def test_a_client_that_gives_up_stops_the_tool_in_the_server(server: Server, tmp_path: Path) -> None:
    gateway = RemoteGateway(server.url)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(gateway.call, ToolCall(name="hold", arguments={"folder": str(tmp_path)}))
            await wait_for(tmp_path / "started")
            group.cancel_scope.cancel()
        await wait_for(tmp_path / "cancelled")
        assert (await gateway.call(ToolCall(name="echo", arguments={"text": "é"}))).text == "é"
        await gateway.aclose()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_an_mcp_client_that_gives_up_stops_the_tool_in_the_server(
    server: Server, tmp_path: Path, mode: str
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with Client(f"{server.url}/mcp", mode=mode) as client:  # type: ignore[arg-type]
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "hold", {"folder": str(tmp_path)})
                await wait_for(tmp_path / "started")
                group.cancel_scope.cancel()
            await wait_for(tmp_path / "cancelled")


async def test_a_token_is_asked_for_and_given(folder: Path) -> None:
    with (folder / "turngate.yaml").open("a") as file:
        file.write("server: {token_env: GATE_TOKEN}\n")
    server = Server(folder, GATE_TOKEN="s3cret")
    try:
        with anyio.fail_after(LIMIT_S):
            stranger, friend = RemoteGateway(server.url), RemoteGateway(server.url, token="s3cret")
            refused = await stranger.call(ToolCall(name="echo", arguments={"text": "a"}))
            answered = await friend.call(ToolCall(name="echo", arguments={"text": "a"}))
            await stranger.aclose()
            await friend.aclose()
    finally:
        status = server.stop()
    assert (refused.status, answered.text) == (Status.DENIED, "a")
    assert status == (0, "")


def test_an_address_that_is_taken_is_told_in_one_line(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = "from turngate.gateway.cli import app; app()"
        done = subprocess.run(
            [sys.executable, "-c", command, "serve", "--port", str(port)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert done.stderr.count("\n") == 1
