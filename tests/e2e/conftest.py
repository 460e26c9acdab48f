"""One real rollout server for all e2e tests: it takes most of their time to start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.rollout_demo.rollout_client import infer_request
from examples.rollout_demo.server import RolloutServer

HERE = Path(__file__).parent
MODEL = HERE.parents[1] / "examples" / "tiny_model" / "model"
SYSTEM = "You are a helpful assistant. Use the tools."


class Rollouts:
    """Asks the server questions and the trainer what it would train on."""

    def __init__(self, server: RolloutServer) -> None:
        self.server = server

    def ask(self, questions: list[str], **request_config: Any) -> list[dict[str, Any]]:
        """The RolloutOutputs of a batch, greedy unless told otherwise."""
        self.requests = [infer_request(question, system=SYSTEM) for question in questions]
        config = {"max_tokens": 64, "temperature": 0.0, "logprobs": True, "return_details": True, **request_config}
        return self.server.infer(self.requests, config, timeout_s=180)

    def trainer_encodings(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the trainer makes of the last batch's outputs."""
        job = json.dumps({"model": str(MODEL), "requests": self.requests, "outputs": outputs})
        done = subprocess.run(
            [sys.executable, str(HERE / "trainer_encoding.py")],
            input=job,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        encodings: list[dict[str, Any]] = json.loads(done.stdout.partition("ENCODINGS ")[2])
        return encodings


@pytest.fixture(scope="session")
def rollouts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rollouts]:
    """A server whose calculator has the faults of `fault_tools`."""
    log = tmp_path_factory.mktemp("rollout") / "server.log"
    with RolloutServer(env={"TURNGATE_CONFIG": str(HERE / "turngate.yaml")}, log_path=log) as server:
        yield Rollouts(server)
