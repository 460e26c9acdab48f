"""The real `turngate serve`, as a context manager."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from examples.rollout_demo.child_process import ChildProcess, command_path, inherited_environment, listening_url

_START_TIMEOUT_S = 60.0


class GatewayProcess:
    """A running gateway on a free port of loopback. Entering starts it and waits until it listens."""

    def __init__(
        self, *, config: Path | None = None, env: Mapping[str, str] | None = None, cwd: Path, log_path: Path
    ) -> None:
        """Describe the gateway; nothing is started yet.

        `config` None: `turngate.yaml` in `cwd` if there is one, else the built-in tools. `env` is added
        to this process's environment, of which the `TURNGATE_*` variables are left out.
        """
        self._config = config
        self._env = dict(env or {})
        self._cwd = cwd
        self.log_path = log_path
        self._process: ChildProcess | None = None
        self.url = ""
        """Base URL, once entered."""

    def __enter__(self) -> Self:
        """Start and wait. Raises StartError, whose message ends with the log's last lines."""
        command = [command_path("turngate", "`pip install -e .` brings it"), "serve", "--port", "0"]
        if self._config is not None:
            command += ["--config", str(self._config.resolve())]
        env = inherited_environment() | self._env
        self._process = ChildProcess(command, env=env, cwd=self._cwd, log_path=self.log_path)
        try:
            self.url = self._process.wait_for(listening_url(r"\bat (http://\S+)"), timeout_s=_START_TIMEOUT_S)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *raised: Any) -> None:
        self.stop()

    def stop(self) -> None:
        """End the gateway; once is enough, twice does no harm."""
        if self._process is not None:
            self._process.stop()

    def log_tail(self) -> str:
        """The end of the gateway's log."""
        return "" if self._process is None else self._process.log_tail()
