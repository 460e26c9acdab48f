"""The real `swift rollout` with turngate's scheduler, as a context manager."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx

import turngate.scheduler
from examples.rollout_demo.child_process import ChildProcess, command_path, inherited_environment, listening_url
from examples.rollout_demo.errors import InferError, StartError
from examples.rollout_demo.rollout_client import RolloutClient

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "tiny_model" / "model"
SCHEDULER_PLUGIN = Path(turngate.scheduler.__path__[0]).resolve() / "turngate_plugin.py"

START_TIMEOUT_S = 600.0
_PROGRESS_EVERY_S = 5.0
_GRACE_S = 2.0
"""Nothing is lost when the server is killed, and its worker does not heed SIGTERM."""
# What the log shows when a stage begins, the latest stage first.
_STAGES = (
    ("Application startup complete", "first answer"),
    ("Loading safetensors", "loading the model"),
    ("Setting max_model_len", "starting the engine"),
    ("rank: ", "starting the worker"),
)


def has_gpu() -> bool:
    """Whether there is an NVIDIA GPU that the driver can use; scripts/venv.py installs by the same rule."""
    try:
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listing.returncode == 0 and bool(listing.stdout.strip())


class RolloutServer:
    """A running rollout server. Entering starts it and waits until it answers; leaving ends all its processes."""

    def __init__(
        self,
        port: int | None = None,
        *,
        env: Mapping[str, str] | None = None,
        extra_args: Sequence[str] = (),
        external_plugins: Sequence[str | Path] = (),
        scheduler: str = "gateway_tool_scheduler",
        max_turns: int = 4,
        model: str | Path = MODEL,
        max_model_len: int = 1024,
        torch_dtype: str = "float32",
        log_path: Path,
        on_progress: Callable[[str], None] = lambda text: None,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        """Describe the server; nothing is started yet.

        `port` None takes a free one. `env` is added to this process's environment, of which the
        `TURNGATE_*` variables are left out: without TURNGATE_URL in `env` the gateway runs inside
        the server. `external_plugins` come after turngate's own (and turngate_cpu's, where there is
        no GPU). `extra_args` go to `swift rollout` last, so they win over the arguments set here.
        `on_progress` gets the stage every few seconds while the server starts.
        """
        self._port = port
        self._env = dict(env or {})
        self._extra_args = list(extra_args)
        self._plugins = [SCHEDULER_PLUGIN, *external_plugins]
        self._scheduler = scheduler
        self._max_turns = max_turns
        self._model = Path(model)
        self._max_model_len = max_model_len
        self._torch_dtype = torch_dtype
        self.log_path = log_path
        self._on_progress = on_progress
        self._start_timeout_s = start_timeout_s
        self._process: ChildProcess | None = None
        self.url = ""
        """Base URL, once entered."""

    def __enter__(self) -> Self:
        """Start and wait. Raises StartError, whose message ends with the log's last lines."""
        if not (self._model / "config.json").is_file():
            raise StartError(f"no model at {self._model}; `python -m examples.tiny_model.train` makes the tiny one")
        port = self._port or _free_port()
        gpu = has_gpu()
        command, env = self._command(port, gpu), self._environment(gpu)
        self._process = ChildProcess(command, env=env, cwd=ROOT, log_path=self.log_path)
        try:
            self.url = self._wait_until_healthy(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *raised: Any) -> None:
        self.stop()

    def infer(
        self, requests: Sequence[Mapping[str, Any]], request_config: Mapping[str, Any], timeout_s: float = 300.0
    ) -> list[dict[str, Any]]:
        """Post a batch and return one RolloutOutput per request, in their order. See `RolloutClient.infer`."""
        try:
            return RolloutClient(self.url).infer(requests, request_config, timeout_s)
        except InferError as error:
            raise InferError(f"{error}\n{self.log_tail()}") from error

    def stop(self) -> None:
        """End the server and its engine; once is enough, twice does no harm."""
        if self._process is not None:
            self._process.stop(_GRACE_S)

    def processes(self) -> list[int]:
        """Ids of the server's processes, the engine's included."""
        return [] if self._process is None else self._process.processes()

    def log_tail(self) -> str:
        """The end of the server's log."""
        return "" if self._process is None else self._process.log_tail()

    def _command(self, port: int, gpu: bool) -> list[str]:
        arguments: dict[str, Any] = {
            "--model": self._model,
            "--model_type": "qwen2",
            "--template": "qwen2_5",
            "--agent_template": "hermes",
            "--torch_dtype": self._torch_dtype,
            "--multi_turn_scheduler": self._scheduler,
            "--max_turns": self._max_turns,
            "--vllm_use_async_engine": "true",
            "--vllm_enforce_eager": "true",
            "--vllm_max_model_len": self._max_model_len,
            "--host": "127.0.0.1",
            "--port": port,
        }
        plugins = list(self._plugins)
        if gpu:
            # The model needs megabytes; the rest of the GPU belongs to others.
            arguments["--vllm_gpu_memory_utilization"] = 0.3
        else:
            plugins.insert(0, _turngate_cpu().plugin_path())
            # vLLM 0.32 on a CPU dies of a seeded request whose prompt it takes in by pieces.
            arguments["--vllm_engine_kwargs"] = '{"enable_chunked_prefill": false}'
        words = [str(word) for pair in arguments.items() for word in pair]
        return [
            command_path("swift", "`pip install ms-swift` brings it"),
            "rollout",
            *words,
            "--external_plugins",
            *map(str, plugins),
            *self._extra_args,
        ]

    def _environment(self, gpu: bool) -> dict[str, str]:
        env = inherited_environment() | {"HF_HUB_OFFLINE": "1"}
        if not gpu:
            env |= _turngate_cpu().environment(env)
        return env | self._env

    def _wait_until_healthy(self, process: ChildProcess) -> str:
        """Where the server listens: ms-swift moves on to another port if the wanted one was taken."""
        find_url = listening_url(r"Uvicorn running on (http://\S+)")
        next_report_s = 0.0

        def ready(log: str) -> str | None:
            url = find_url(log)
            return url if url and _is_healthy(url) else None

        def report(waited_s: float) -> None:
            nonlocal next_report_s
            if waited_s >= next_report_s:
                next_report_s = waited_s + _PROGRESS_EVERY_S
                self._on_progress(f"starting `swift rollout`: {_stage(process.log())}")

        return process.wait_for(ready, timeout_s=self._start_timeout_s, on_wait=report)


def _stage(log: str) -> str:
    return next((stage for mark, stage in _STAGES if mark in log), "importing ms-swift and vLLM")


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/", timeout=5, trust_env=False).is_success
    except httpx.TransportError:
        return False


def _turngate_cpu() -> Any:
    try:
        import turngate_cpu
    except ImportError:
        raise StartError(
            "there is no GPU here, and without one examples/cpu_rollout must be installed: "
            "`pip install --no-deps -e examples/cpu_rollout`"
        ) from None
    return turngate_cpu


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
