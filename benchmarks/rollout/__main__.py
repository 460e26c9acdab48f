"""Wall time of a batch of rollouts whose every call takes 0.5 s.

    python -m benchmarks.rollout [--trajectories 16] [--rounds 5]

Two real rollout servers with the same model run at the same time and are asked in turn (A B A B …);
what differs is the scheduler. The ideal is the batch with a tool that takes no time (turngate's
overhead included) plus one call's 0.5 s: every trajectory makes one call, all at the same time.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.rollout.slow_tool import SLEEP_S
from examples.rollout_demo.rollout_client import infer_request
from examples.rollout_demo.server import RolloutServer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SYSTEM = "You are a helpful assistant. Use the tools."
CONFIG = {"max_tokens": 64, "temperature": 0.0, "logprobs": True, "return_details": True}


def servers(folder: Path) -> dict[str, RolloutServer]:
    environment = {"PYTHONPATH": str(ROOT)}
    slow = {**environment, "TURNGATE_CONFIG": str(HERE / "turngate.yaml")}
    blocking = HERE / "turngate_blocking_plugin.py"
    return {
        "no-tool-time": RolloutServer(env=environment, log_path=folder / "instant.log"),
        "turngate": RolloutServer(env=slow, log_path=folder / "turngate.log"),
        "tool in step()": RolloutServer(
            env=environment,
            external_plugins=[blocking],
            scheduler="blocking_tool_scheduler",
            log_path=folder / "blocking.log",
        ),
    }


def batch_s(server: RolloutServer, trajectories: int) -> float:
    requests = [infer_request(f"What is {20 + n}+11?", system=SYSTEM) for n in range(trajectories)]
    started = time.monotonic()
    outputs = server.infer(requests, CONFIG, timeout_s=600)
    elapsed = time.monotonic() - started
    wrong = [
        n
        for n, output in enumerate(outputs)
        if output["response"]["choices"][0]["message"]["content"] != f"The answer is {31 + n}."
    ]
    if wrong:
        raise SystemExit(f"{len(wrong)} trajectories did not call the tool as expected: the figures would mean nothing")
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trajectories", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="turngate-bench-"))
    with contextlib.ExitStack() as stack:
        running = {}
        for name, server in servers(folder).items():
            print(f"starting the server '{name}' …", flush=True)
            running[name] = stack.enter_context(server)
            batch_s(running[name], options.trajectories)  # the first batch compiles
        times: dict[str, list[float]] = {name: [] for name in running}
        for _ in range(options.rounds):
            for name, server in running.items():
                times[name].append(batch_s(server, options.trajectories))
    ideal = statistics.median(times["no-tool-time"]) + SLEEP_S
    print(f"\n{options.trajectories} trajectories, one call of {SLEEP_S} s each, {options.rounds} rounds")
    print(f"{'':16} {'median s':>9} {'min':>7} {'max':>7} {'ideal/time':>11}")
    for name, values in times.items():
        share = "" if name == "no-tool-time" else f"{ideal / statistics.median(values):11.2f}"
        print(f"{name:16} {statistics.median(values):9.2f} {min(values):7.2f} {max(values):7.2f} {share}")
    print(f"ideal: {ideal:.2f} s")


if __name__ == "__main__":
    main()
