"""The command line: what goes to stdout, what to stderr, and how it exits."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from turngate.gateway import Gateway, GatewayConfig, client
from turngate.gateway.cli import app
from turngate.gateway.faces.app import build_app
from turngate.tools import tool

TOOLS = '''
from turngate.tools import ImageContent, TextContent, ToolFailed, ToolOutput

async def echo(text: str, times: int = 1) -> str:
    """Say it again.

    A second line that a table does not show.
    """
    return text * times

async def fail() -> str:
    """Fail."""
    raise ToolFailed("no luck")

async def picture() -> ToolOutput:
    """Return an image."""
    return ToolOutput([ImageContent(data="aGk=", mime_type="image/png")], structured={"seen": 1})
'''


@pytest.fixture
def config(tmp_path: Path) -> str:
    (tmp_path / "my_tools.py").write_text(TOOLS)
    entries = "".join(f"  {name}: {{import: './my_tools.py:{name}'}}\n" for name in ("echo", "fail", "picture"))
    path = tmp_path / "turngate.yaml"
    path.write_text(f"tools:\n  calculator: {{enabled: false}}\n{entries}")
    return str(path)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def test_version_and_help_say_what_they_should() -> None:
    assert run("--version").stdout.startswith("turngate ")
    text = run("--help").stdout
    for command in ("serve", "tools", "call"):
        assert command in text


def test_the_command_line_loads_no_server_and_no_protocol_until_a_command_needs_it() -> None:
    heavy = ("mcp", "uvicorn", "httpx", "rich.table")
    code = f"import sys, turngate.gateway.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_the_table_shows_names_parameters_and_the_first_line_of_the_description(config: str) -> None:
    result = run("tools", "--config", config)
    assert result.exit_code == 0
    line = next(line for line in result.stdout.splitlines() if line.startswith("echo"))
    assert "text, times?" in line
    assert "Say it again." in line
    assert "second line" not in result.stdout


def test_tools_print_as_json_for_each_kind_of_client(config: str) -> None:
    everything = json.loads(run("tools", "-c", config, "--json").stdout)
    assert [item["name"] for item in everything] == ["echo", "fail", "picture"]
    assert everything[0]["source"] == "function"
    openai = json.loads(run("tools", "-c", config, "--format", "openai").stdout)
    assert openai[0]["function"]["parameters"] == everything[0]["input_schema"]
    assert json.loads(run("tools", "-c", config, "--format", "mcp").stdout)[0]["inputSchema"]
    assert json.loads(run("tools", "-c", config, "--format", "anthropic").stdout)[0]["input_schema"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["text=2+2"], "2+2"),
        (["text=7", "times=2"], "77"),
        (['{"text": "a", "times": 3}'], "aaa"),
        (['{"text": "a"}', "times=2"], "aa"),
    ],
)
def test_a_call_prints_the_tools_text_and_nothing_else(config: str, words: list[str], text: str) -> None:
    result = run("call", "-c", config, "echo", *words)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{text}\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fail"], "tool_error: no luck"),
        (["nope"], "unknown_tool: There is no tool 'nope'"),
        (["echo", "times=many", "text=x"], "invalid_arguments: "),
        (["echo"], '"text" is a required property'),
    ],
)
def test_a_call_that_fails_says_why_on_stderr_and_exits_with_1(config: str, words: list[str], told: str) -> None:
    result = run("call", "-c", config, *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr


def test_the_whole_result_is_printed_on_demand_whether_it_is_good_or_bad(config: str) -> None:
    good = run("call", "-c", config, "--json", "picture")
    assert good.exit_code == 0
    assert json.loads(good.stdout)["content"][0]["mimeType"] == "image/png"
    bad = run("call", "-c", config, "--json", "fail")
    assert (bad.exit_code, json.loads(bad.stdout)["error"]["message"]) == (1, "no luck")


def test_a_result_without_text_prints_its_data_and_names_the_rest(config: str) -> None:
    result = run("call", "-c", config, "picture")
    assert json.loads(result.stdout) == {"seen": 1}
    assert "image" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["call", "-c", "{config}", "echo", "text"], "'text': expected key=value"),
        (["call", "-c", "{config}", "echo", "{"], "not a JSON object"),
        (["tools", "-c", "/nowhere/turngate.yaml"], "/nowhere/turngate.yaml: cannot be read"),
        (["tools", "--format", "xml"], "xml"),
        (["tools", "--url", "nonsense"], "gateway URL"),
        (["serve", "-c", "{config}", "--host", "0.0.0.0"], "server.host: '0.0.0.0'"),
        (["serve", "-c", "{config}", "--port", "99999"], "--port: "),
        (["serve", "-c", "{config}", "--host", "256.0.0.1", "--insecure"], "cannot listen on 256.0.0.1"),
    ],
)
def test_mistakes_of_the_person_are_told_and_exit_with_2(config: str, arguments: list[str], told: str) -> None:
    result = run(*[argument.replace("{config}", config) for argument in arguments])
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(("names", "told"), [(["echo"], "1 tool at "), (["echo", "fail"], "2 tools at ")])
def test_a_served_gateway_says_how_many_tools_it_has(
    config: str, names: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listen(app: Any, host: str, port: int, log_level: str, started: Callable[[str], None]) -> None:
        started("http://127.0.0.1:1")

    monkeypatch.setattr("turngate.gateway.faces.listen.serve", listen)
    entries = "".join(f"  {name}: {{import: './my_tools.py:{name}'}}\n" for name in names)
    Path(config).write_text(f"tools:\n  calculator: {{enabled: false}}\n{entries}")
    result = run("serve", "-c", config)
    assert result.stdout.startswith(f"turngate: {told}http://127.0.0.1:1 (")


def test_a_token_that_cannot_be_sent_is_told_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNGATE_TOKEN", "s3crét")
    result = run("tools", "--url", "http://127.0.0.1:1")
    assert (result.exit_code, "TURNGATE_TOKEN" in result.stderr) == (2, True)
    assert "s3cr" not in result.output


def test_a_broken_configuration_is_told_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("server: {prot: 1}\n")
    result = run("tools", "-c", str(path))
    assert (result.exit_code, "server.prot: unknown key" in result.stderr) == (2, True)


@tool
async def far(text: str) -> str:
    """Answer from afar."""
    return f"far {text}"


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Let `--url` lead to a gateway in this process; the tokens that it is asked with."""
    tokens: list[str | None] = []
    real = client.RemoteGateway

    def make(url: str, token: str | None = None, **options: Any) -> client.RemoteGateway:
        tokens.append(token)
        transport = httpx.ASGITransport(build_app(Gateway([far]), GatewayConfig()))
        return real(url, token, transport=transport, **options)

    monkeypatch.setattr(client, "RemoteGateway", make)
    return tokens


def test_a_running_gateway_is_asked_with_the_token_of_the_environment(
    remote: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNGATE_TOKEN", "s3cret")
    assert "far" in run("tools", "--url", "http://127.0.0.1:8900").stdout
    assert run("call", "--url", "http://127.0.0.1:8900", "far", "text=12").stdout == "far 12\n"
    assert remote == ["s3cret", "s3cret"]


def test_a_gateway_that_is_not_there_is_told_in_one_line() -> None:
    result = run("tools", "--url", "http://127.0.0.1:9")
    assert result.exit_code == 2
    assert "http://127.0.0.1:9" in result.stderr
    assert result.stderr.count("\n") == 1
