"""The configuration file: errors that name file and key."""

from pathlib import Path

import pytest

from turngate.gateway import ConfigError, build_gateway, load_config


def write(folder: Path, text: str) -> Path:
    path = folder / "turngate.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_has_its_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURNGATE_CONFIG", raising=False)
    config = load_config()
    assert (config.server.host, config.server.port) == ("127.0.0.1", 8900)


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNGATE_CONFIG", str(write(tmp_path, "server: {port: 1234}")))
    assert load_config().server.port == 1234


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("server: {prot: 1}", "server.prot: unknown key"),
        ("tools: {calculator: {timeout_s: -1}}", "tools.calculator.timeout_s: Input should be greater than 0"),
        ("tols: {}", "tols: unknown key"),
        ("path: /", "path: unknown key"),
        ("[1, 2]", "expected keys"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.yaml")


TOOLS = """
def double(x: int) -> int:
    "Double a number."
    return 2 * x

number = 7

class Odd: ...

def odd(x: Odd) -> None: ...

def variadic(*numbers: int) -> int:
    return 0
"""


def built(tmp_path: Path, tools: str) -> list[str]:
    (tmp_path / "own.py").write_text(TOOLS)
    gateway = build_gateway(load_config(write(tmp_path, f"tools: {{{tools}}}")))
    return [entry.spec.name for entry in gateway.catalogue]


def test_own_functions_join_the_built_in_tools_under_the_name_they_are_given(tmp_path: Path) -> None:
    assert built(tmp_path, "twice: {import: './own.py:double'}") == ["calculator", "twice"]


def test_a_built_in_tool_can_be_switched_off_and_replaced(tmp_path: Path) -> None:
    assert built(tmp_path, "calculator: {enabled: false}") == []
    assert built(tmp_path, "calculator: {import: './own.py:double'}") == ["calculator"]


@pytest.mark.parametrize(
    ("tools", "complaint"),
    [
        ("nothing: {}", "tools.nothing: not a built-in tool"),
        ("a: {import: 'own'}", "tools.a.import: expected 'module:name'"),
        ("a: {import: './none.py:f'}", "tools.a.import: './none.py' cannot be imported"),
        ("a: {import: 'no_such_module:f'}", "tools.a.import: 'no_such_module' cannot be imported"),
        ("a: {import: './own.py:missing'}", "tools.a.import: './own.py' has no 'missing'"),
        ("a: {import: './own.py:number'}", "tools.a.import: 'number' is neither a function nor a tool"),
        ("a: {import: './own.py:odd'}", "tools.a.import: odd: a parameter's type has no JSON Schema"),
        ("a: {import: './own.py:variadic'}", "tools.a.import: variadic: parameter '*numbers: int'"),
    ],
)
def test_a_tool_that_cannot_be_built_is_named(tmp_path: Path, tools: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        built(tmp_path, tools)
    assert complaint in str(caught.value)
    assert str(tmp_path / "turngate.yaml") in str(caught.value)
