"""The configuration: one frozen tree, read once from `turngate.yaml`, passed down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turngate.gateway.errors import ConfigError
from turngate.tools import CallPolicy

__all__ = ["ENV_CONFIG", "ENV_TOKEN", "GatewayConfig", "ServerConfig", "ToolConfig", "find_config", "load_config"]

ENV_CONFIG: Final = "TURNGATE_CONFIG"
"""Environment variable that names the configuration file."""

ENV_TOKEN: Final = "TURNGATE_TOKEN"
"""Environment variable that holds the bearer token for a running gateway, on the side of its clients."""

DEFAULT_FILE: Final = "turngate.yaml"


class ServerConfig(BaseModel):
    """Where and how the gateway listens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(default=8900, ge=0, le=65535)
    """0 takes a free port and prints it."""
    allowed_hosts: tuple[str, ...] = ()
    """Host headers that are accepted besides loopback's (`name` or `name:port`)."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of web pages that may call the gateway, besides loopback's."""
    token_env: str | None = None
    """Environment variable that holds the bearer token; None: no token is asked for."""
    max_request_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)


class ToolConfig(CallPolicy):
    """One entry under `tools:`: a policy for a tool, and for an own tool where it comes from."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    enabled: bool = True
    import_from: str | None = Field(default=None, alias="import")
    """`package.module:name` or `./file.py:name` (relative to the configuration file): a function or a `Tool`."""

    @property
    def policy(self) -> CallPolicy:
        """The policy part of the entry."""
        return CallPolicy.model_validate(self.model_dump(include=set(CallPolicy.model_fields)))


class GatewayConfig(BaseModel):
    """The whole file. Every section may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: ServerConfig = ServerConfig()
    defaults: CallPolicy = CallPolicy()
    """Policy for every tool that does not say otherwise."""
    tools: dict[str, ToolConfig] = Field(default_factory=dict)
    """By tool name; built-in tools are on unless `enabled: false`."""
    rollout: dict[str, Any] = Field(default_factory=dict)
    """The scheduler's settings; read and checked by `turngate.scheduler`."""
    path: Path | None = Field(default=None, exclude=True)
    """The file itself; set by `load_config`. None: there is none."""

    @property
    def folder(self) -> Path:
        """What relative paths in the file are relative to."""
        return self.path.resolve().parent if self.path is not None else Path()

    def mistake(self, text: str) -> ConfigError:
        """A person's mistake in this configuration; `text` begins with the key."""
        return ConfigError(f"{self.path}: {text}" if self.path is not None else text)


def find_config(path: str | os.PathLike[str] | None = None) -> Path | None:
    """The file to read: the argument, else $TURNGATE_CONFIG, else ./turngate.yaml if it exists, else None."""
    if path is not None:
        return Path(path)
    if named := os.environ.get(ENV_CONFIG):
        return Path(named)
    default = Path(DEFAULT_FILE)
    return default if default.is_file() else None


def load_config(path: str | os.PathLike[str] | None = None) -> GatewayConfig:
    """Read the file that `find_config` finds, or take the defaults if there is none.

    Raises ConfigError, which names the file and the key: the person's fault.
    """
    found = find_config(path)
    if found is None:
        return GatewayConfig()
    try:
        document = yaml.safe_load(found.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{found}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{found}: not valid YAML: {error}") from error
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise ConfigError(f"{found}: expected keys such as 'tools:' at the top, found a {type(document).__name__}")
    if "path" in document:
        raise ConfigError(f"{found}: path: unknown key")
    try:
        return GatewayConfig.model_validate({**document, "path": found})
    except ValidationError as error:
        raise ConfigError("\n".join(f"{found}: {line}" for line in _lines(error))) from None


def _lines(error: ValidationError) -> list[str]:
    """One line for each problem: the key's path and what is wrong with it."""
    lines: list[str] = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"])
        unknown = problem["type"] == "extra_forbidden"
        lines.append(f"{key}: {'unknown key' if unknown else problem['msg']}")
    return lines
