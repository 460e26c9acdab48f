"""`python -m examples.rollout_demo`: tool-calling rollouts with the real `swift rollout`, shown to people.

Exit codes: 0 every trajectory came back valid; 1 one did not, or a server failed; 2 the command
line is wrong; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from examples.rollout_demo import report
from examples.rollout_demo.errors import DemoError, StartError
from examples.rollout_demo.gateway_process import GatewayProcess
from examples.rollout_demo.progress import Progress
from examples.rollout_demo.rollout_client import gateway_tools, infer_request, request_config
from examples.rollout_demo.server import MODEL, ROOT, RolloutServer, has_gpu
from examples.rollout_demo.totals import Totals
from examples.rollout_demo.trajectory import Decode, Trajectory
from examples.tiny_model.chat import SYSTEM
from examples.tiny_model.tasks import CALCULATOR_KINDS, Task, tasks

FORMAT = "turngate-demo/1"
MAX_TURNS = 4
ROLLOUT_LOG = "rollout.log"
GATEWAY_LOG = "gateway.log"
_LOG_WIDTH = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit code."""
    options = _parser().parse_args(arguments)
    console = _console()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(options, console)
    except DemoError as error:
        console.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("interrupted; all servers are stopped")
        return 130


def _run(options: argparse.Namespace, console: Console) -> int:
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    decode = _decoder(MODEL)
    chosen = list(itertools.islice(tasks(options.seed, "held-out", CALCULATOR_KINDS), options.questions))
    where = "the GPU" if has_gpu() else "the CPU (there is no GPU here)"
    console.print(f"{len(chosen)} questions for the tiny model, on {where}\n", highlight=False)

    outputs, start_s, batch_s = _roll_out(chosen, options, Progress(console))
    trajectories = [Trajectory.of_output(*pair, decode) for pair in zip(chosen, outputs, strict=True)]
    totals = Totals.of(trajectories, start_s=start_s, batch_s=batch_s)
    written = out / "trajectories.json"
    written.write_text(json.dumps(_document(options, trajectories, totals), indent=1), encoding="utf-8")

    console.print()
    report.print_table(console, trajectories)
    report.print_totals(console, totals, trajectories)
    shown = report.pick_for_tokens(trajectories)
    if trajectories[shown].generated_tokens:
        report.print_tokens(console, trajectories[shown], shown + 1, decode)
    files = [("trajectories", written)]
    if options.keep_log or totals.valid < totals.trajectories:
        files += [("server log", out / ROLLOUT_LOG), ("gateway log", out / GATEWAY_LOG)]
    else:
        for name in (ROLLOUT_LOG, GATEWAY_LOG):
            (out / name).unlink(missing_ok=True)
    report.print_files(console, files)
    return 0 if totals.valid == totals.trajectories else 1


def _roll_out(
    chosen: Sequence[Task], options: argparse.Namespace, progress: Progress
) -> tuple[list[dict[str, Any]], float, float]:
    """Start both servers, post the batch, stop both; the outputs, and the seconds for the first two."""
    started_s = time.monotonic()
    with contextlib.ExitStack() as servers:
        with progress.phase("starting the gateway"):
            gateway = servers.enter_context(GatewayProcess(cwd=ROOT, log_path=options.out / GATEWAY_LOG))
            tools = gateway_tools(gateway.url)
        with progress.phase("starting `swift rollout`") as say:
            server = RolloutServer(
                env={"TURNGATE_URL": gateway.url},
                max_turns=MAX_TURNS,
                log_path=options.out / ROLLOUT_LOG,
                on_progress=say,
            )
            servers.enter_context(server)
        ready_s = time.monotonic()
        with progress.phase(f"rolling out {len(chosen)} trajectories"):
            outputs = server.infer(
                [infer_request(task.question, tools=tools, system=SYSTEM) for task in chosen],
                request_config(temperature=options.temperature, seed=options.seed),
                timeout_s=options.timeout,
            )
        done_s = time.monotonic()
        with progress.phase("stopping both"):
            servers.close()
    return outputs, ready_s - started_s, done_s - ready_s


def _document(options: argparse.Namespace, trajectories: Sequence[Trajectory], totals: Totals) -> dict[str, Any]:
    """What is kept: the settings, the totals and every output as the server sent it."""
    return {
        "format": FORMAT,
        "settings": {"seed": options.seed, "temperature": options.temperature, "max_turns": MAX_TURNS},
        "totals": asdict(totals),
        "trajectories": [
            {
                "question": one.task.question,
                "expected_answer": one.task.answer,
                "answer": one.answer,
                "right": one.right,
                "problems": one.problems,
                "calls": [asdict(call) for call in one.calls],
                "output": one.output,
            }
            for one in trajectories
        ],
    }


def _decoder(model: Path) -> Decode:
    """The model's own tokenizer. Raises StartError if it is not there."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise StartError("the rollout environment is not installed here; `make demo` installs it first") from None
    path = model / "tokenizer.json"
    if not path.is_file():
        raise StartError(f"there is no tokenizer at {path}; `python -m examples.tiny_model.train` makes the model")
    tokenizer = Tokenizer.from_file(str(path))
    return lambda ids: str(tokenizer.decode(list(ids), skip_special_tokens=False))


def _console() -> Console:
    """Standard output; a log gets a width of its own and no character that it cannot hold."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace", line_buffering=True)
    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def _interrupt(*_: Any) -> None:
    """SIGTERM, such as from `timeout` or a CI runner, must stop the servers as Ctrl-C does."""
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.rollout_demo",
        description="Tool-calling rollouts with the real `swift rollout`, a turngate gateway and a tiny model.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--questions", type=_positive, default=24, help="how many questions to post")
    parser.add_argument("--seed", type=int, default=0, help="chooses the questions and seeds the sampling")
    parser.add_argument("--temperature", type=float, default=1.0, help="sampling temperature; 0 is greedy")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds to wait for the batch")
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for trajectories.json and logs")
    parser.add_argument("--keep-log", action="store_true", help="keep the servers' logs of a run without problems")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


if __name__ == "__main__":
    sys.exit(main())
