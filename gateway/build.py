"""From a configuration to a gateway: which tools there are and what each may do."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Final

from turngate.gateway.config import GatewayConfig
from turngate.gateway.gateway import Gateway
from turngate.gateway.names import safe_name
from turngate.gateway.validation import SchemaError
from turngate.tools import Tool, tool

__all__ = ["BUILTIN_TOOLS", "build_gateway"]


def _calculator() -> Tool:
    from turngate.tools.calculator import Calculator

    return Calculator()


BUILTIN_TOOLS: Final[dict[str, Callable[[], Tool]]] = {"calculator": _calculator}
"""The tools that are on without any configuration, by name; each is imported when it is made."""


def build_gateway(config: GatewayConfig) -> Gateway:
    """A gateway with the built-in tools and those that the configuration imports.

    Raises ConfigError, which names the key: an unknown tool, something that cannot be imported or is not a tool.
    """
    tools: list[Tool] = []
    for name, make in BUILTIN_TOOLS.items():
        entry = config.tools.get(name)
        if entry is None or (entry.enabled and entry.import_from is None):
            tools.append(make())
    for name, entry in config.tools.items():
        if not entry.enabled:
            continue
        if entry.import_from is not None:
            tools.append(_import_tool(name, entry.import_from, config))
        elif name not in BUILTIN_TOOLS:
            known = ", ".join(BUILTIN_TOOLS)
            raise config.mistake(f"tools.{name}: not a built-in tool ({known}); an own tool needs 'import:'")
    try:
        return Gateway(
            tools,
            defaults=config.defaults,
            overrides={name: entry.policy for name, entry in config.tools.items()},
        )
    except SchemaError as error:
        raise config.mistake(f"tools: a tool's input schema cannot be used: {error}") from error


def _import_tool(name: str, target: str, config: GatewayConfig) -> Tool:
    """Import what an `import:` key names, as a tool called `name`."""
    key = f"tools.{name}.import"
    module_name, _, attribute = target.rpartition(":")
    if not module_name or not attribute:
        raise config.mistake(f"{key}: expected 'module:name' or './file.py:name', found '{target}'")
    from_file = module_name.endswith(".py")
    try:
        module = _load_file(config.folder / module_name) if from_file else importlib.import_module(module_name)
        found = getattr(module, attribute)
    except AttributeError:
        raise config.mistake(f"{key}: '{module_name}' has no '{attribute}'") from None
    except Exception as error:
        hint = f" (a file beside the configuration: './{module_name}.py:{attribute}')" if not from_file else ""
        what = f"'{module_name}' cannot be imported: {type(error).__name__}: {error}"
        raise config.mistake(f"{key}: {what}{hint}") from error
    if isinstance(found, type):
        found = found()
    if not isinstance(found, Tool):
        if not callable(found):
            raise config.mistake(f"{key}: '{attribute}' is neither a function nor a tool")
        try:
            found = tool(found)
        except TypeError as error:
            raise config.mistake(f"{key}: {error}") from error
    return _Renamed(found, name) if found.spec.name != name else found


class _Renamed:
    """A tool under the name that the configuration gives it."""

    def __init__(self, inner: Tool, name: str) -> None:
        self.spec = inner.spec.model_copy(update={"name": safe_name(name)})
        self.run = inner.run
        self.end_session = inner.end_session


def _load_file(path: Path) -> ModuleType:
    """Import a Python file under a name that no installed module has."""
    module_name = f"turngate_user_{path.resolve().as_posix().encode().hex()}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module
