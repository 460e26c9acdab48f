"""`make demo`: a gateway process, a rollout server that calls it through TURNGATE_URL, a report for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from examples.rollout_demo.validity import problems

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


def test_the_demo_rolls_out_its_questions_through_a_gateway_of_its_own(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.rollout_demo", "--questions", "16", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for part in ("observations", "16 valid", "masked (not trained on)", "token by token", "trajectories.json"):
        assert part in done.stdout
    written = json.loads((tmp_path / "trajectories.json").read_text())
    outputs = [entry["output"] for entry in written["trajectories"]]
    assert len(outputs) == 16
    assert [problems(output) for output in outputs] == [[]] * 16
    statuses = [
        call["status"] for output in outputs for turn in output["rollout_infos"]["tool_turns"] for call in turn["calls"]
    ]
    assert statuses.count("ok") >= 16
