"""`turngate serve` as a process of its own, with the clients that people use."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
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
import socket

import anyio

async def echo(text: str) -> str:
    """Say it again."""
    return text

async def hold(port: int) -> str:
    """Report the start and the cancellation to a port; never end."""
    with socket.create_connection(("127.0.0.1", port)) as report:
        report.sendall(b"started.")
        try:
            await anyio.sleep_forever()
        finally:
            report.sendall(b"cancelled.")
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


def folder_in(parent: Path) -> Path:
    (parent / "my_tools.py").write_text(TOOLS)
    entries = "".join(f"  {name}: {{import: './my_tools.py:{name}'}}\n" for name in ("echo", "hold"))
    (parent / "turngate.yaml").write_text(f"tools:\n{entries}")
    return parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_in(tmp_path)


@contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[Server]:
    running = Server(folder, *arguments, **environment)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(folder_in(tmp_path_factory.mktemp("served"))) as running:
        yield running


@asynccontextmanager
async def reports() -> AsyncIterator[tuple[int, "asyncio.Future[asyncio.StreamReader]"]]:
    """A port, and what the first peer that connects to it writes."""
    first: asyncio.Future[asyncio.StreamReader] = asyncio.get_running_loop().create_future()
    writers: list[asyncio.StreamWriter] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        first.set_result(reader)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1], first
        for writer in writers:
            writer.close()


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_serve_says_where_it_listens_and_stops_cleanly_when_told(folder: Path, number: int) -> None:
    with serving(folder) as server:
        assert f"{server.url}/mcp" in server.line
        assert f"{server.url}/v1" in server.line
        assert httpx.get(f"{server.url}/health").json()["tools"] == 3
        assert server.stop(number) == (0, "")


async def test_a_client_that_gives_up_stops_the_tool_in_the_server(server: Server) -> None:
    gateway = RemoteGateway(server.url)
    with anyio.fail_after(LIMIT_S):
        async with reports() as (port, first):
            async with anyio.create_task_group() as group:
                group.start_soon(gateway.call, ToolCall(name="hold", arguments={"port": port}))
                report = await first
                assert await report.readuntil(b".") == b"started."
                group.cancel_scope.cancel()
            assert await report.readuntil(b".") == b"cancelled."
        assert (await gateway.call(ToolCall(name="echo", arguments={"text": "é"}))).text == "é"
        await gateway.aclose()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_an_mcp_client_that_gives_up_stops_the_tool_in_the_server(server: Server, mode: str) -> None:
    with anyio.fail_after(LIMIT_S):
        async with reports() as (port, first), Client(f"{server.url}/mcp", mode=mode) as client:  # type: ignore[arg-type]
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "hold", {"port": port})
                report = await first
                assert await report.readuntil(b".") == b"started."
                group.cancel_scope.cancel()
            assert await report.readuntil(b".") == b"cancelled."
            # The session goes on. (The SDK's client cannot close while a cancelled call's answer is on its way.)
            assert not (await client.call_tool("echo", {"text": "a"})).is_error


async def test_a_token_is_asked_for_and_given(folder: Path) -> None:
    with (folder / "turngate.yaml").open("a") as file:
        file.write("server: {token_env: GATE_TOKEN}\n")
    with serving(folder, GATE_TOKEN="s3cret") as server, anyio.fail_after(LIMIT_S):
        stranger, friend = RemoteGateway(server.url), RemoteGateway(server.url, token="s3cret")
        refused = await stranger.call(ToolCall(name="echo", arguments={"text": "a"}))
        answered = await friend.call(ToolCall(name="echo", arguments={"text": "a"}))
        await stranger.aclose()
        await friend.aclose()
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
