"""The demo's checks and its report, on hand-made outputs; needs neither a server nor torch."""

import contextlib
import copy
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from examples.rollout_demo import __main__ as demo
from examples.rollout_demo import report, rollout_client
from examples.rollout_demo.child_process import ChildProcess, listening_url
from examples.rollout_demo.errors import InferError, StartError
from examples.rollout_demo.rollout_client import RolloutClient, infer_request, request_config
from examples.rollout_demo.totals import Totals
from examples.rollout_demo.trajectory import Trajectory
from examples.rollout_demo.validity import problems
from examples.tiny_model.tasks import Task, ToolCall

TASK = Task("calc", "What is 6*7?", (ToolCall("calculator", {"expression": "6*7"}),), ("42",), 42)
CALL = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "6*7"}}\n</tool_call>'
RUN = (
    (1, [CALL, "<|im_end|>"]),
    (0, ["\n", "<|im_start|>user\n", "<tool_response>\n", "42", "\n</tool_response>", "<|im_end|>"]),
    (1, ["The answer is ", "42", ".", "<|im_end|>"]),
)


class Vocabulary:
    """Numbers texts as they come; the tests write tokens as texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def ids(self, texts: list[str]) -> list[int]:
        self.texts += [text for text in dict.fromkeys(texts) if text not in self.texts]
        return [self.texts.index(text) for text in texts]

    def decode(self, ids: Any) -> str:
        return "".join(self.texts[token] for token in ids)


WORDS = Vocabulary()


def rollout_output(run: Any = RUN, *, status: str = "ok", stop_reason: str = "answered") -> dict[str, Any]:
    """The output of a trajectory that sampled and appended these tokens, one call for each appended run."""
    prompt = WORDS.ids(["<|im_start|>user\n", TASK.question, "<|im_end|>"])
    ids = [token for _, texts in run for token in WORDS.ids(texts)]
    mask = [sampled for sampled, texts in run for _ in texts]
    sampled_runs = [texts for sampled, texts in run if sampled]
    appended_runs = [texts for sampled, texts in run if not sampled]
    turns = [
        {
            "turn": number, "finish_reason": "stop", "gen_tokens": len(texts), "obs_tokens": 0, "wall_s": 0.1,
            "format_ok": True, "calls": [],
        }
        for number, texts in enumerate(sampled_runs, start=1)
    ]  # fmt: skip
    for turn, texts in zip(turns, appended_runs, strict=False):
        turn["obs_tokens"] = len(texts)
        turn["calls"] = [
            {
                "name": "calculator", "call_id": f"call_{turn['turn']}_0", "status": status, "error_type": None,
                "attempts": 1, "queue_s": 0.0, "run_s": 0.1, "cached": False, "truncated": False, "obs_tokens": 1,
            }
        ]  # fmt: skip
    calls, ok = len(appended_runs), len(appended_runs) if status == "ok" else 0
    stats = {
        "turns_with_calls": calls, "calls": calls, "ok": ok, "failed": calls - ok, "malformed": 0,
        "invalid_arguments": 0, "unknown_tool": 0, "timeouts": 0, "retries": 0, "cached": 0, "queue_s": 0.0,
        "run_s": 0.1, "obs_tokens": mask.count(0),
        "by_tool": {"calculator": {"calls": calls}} if calls else {},
    }  # fmt: skip
    last = len(sampled_runs[-1])
    return {
        "response": {
            "prompt_token_ids": prompt + ids[:-last],
            "choices": [{"index": 0, "finish_reason": "stop", "token_ids": ids[-last:]}],
        },
        "messages": [
            {"role": "user", "content": TASK.question},
            {"role": "assistant", "content": WORDS.decode(ids)},
        ],
        "response_token_ids": [ids],
        "response_loss_mask": [mask],
        "rollout_logprobs": [[-0.5] * mask.count(1)],
        "rollout_infos": {
            "num_turns": len(turns), "stop_reason": stop_reason, "tool_turns": turns, "tool_stats": stats,
        },
    }  # fmt: skip


def trajectory(output: dict[str, Any]) -> Trajectory:
    return Trajectory.of_output(TASK, output, WORDS.decode)


def printed(write: Any, *, colours: bool = False) -> str:
    screen = io.StringIO()
    write(Console(file=screen, width=100, force_terminal=colours, color_system="truecolor" if colours else None))
    return screen.getvalue()


def test_an_output_as_the_scheduler_makes_it_has_no_problems():
    assert problems(rollout_output()) == []


def test_an_answer_without_any_call_has_no_problems():
    assert problems(rollout_output([(1, ["The answer is ", "42", ".", "<|im_end|>"])])) == []


def test_a_failed_call_does_not_make_the_output_invalid():
    assert problems(rollout_output(status="tool_error")) == []


def test_a_context_end_may_return_observations_that_the_engine_never_took_in():
    output = rollout_output(stop_reason="context")
    output["rollout_infos"]["tool_turns"].pop()
    output["rollout_infos"]["num_turns"] = 1
    ids, mask = output["response_token_ids"][0], output["response_loss_mask"][0]
    output["response"]["prompt_token_ids"] = WORDS.ids([TASK.question])
    output["response"]["choices"][0]["token_ids"] = ids[:2]
    del ids[8:], mask[8:], output["rollout_logprobs"][0][2:]
    assert problems(output) == []
    output["rollout_infos"]["stop_reason"] = "max_turns"
    assert problems(output) == ["the tokens returned are not the ones that the engine's last turn ended with"]


def changed(path: str, value: Any) -> dict[str, Any]:
    """A valid output but for one place; `path` names it with dots."""
    output = copy.deepcopy(rollout_output())
    *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place: Any = output
    for key in above:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return output


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("response_loss_mask.0.3", None, "12 token ids but 11 mask entries"),
        ("response_loss_mask.0.3", 2, "mask entries other than 0 and 1: [2]"),
        ("response_loss_mask.0", [0] * 12, "no token was sampled"),
        ("rollout_logprobs.0.3", None, "6 sampled tokens but 5 logprobs"),
        ("rollout_logprobs.0.3", 0.5, "a logprob that is no number up to 0"),
        ("rollout_logprobs.0.3", float("-inf"), "a logprob that is no number up to 0"),
        ("response_token_ids.0.3", 999, "are not the ones that the engine's last turn ended with"),
        ("response.choices.0.token_ids", [999], "are not the ones that the engine's last turn ended with"),
        ("rollout_infos.tool_stats", None, "rollout_infos lacks tool_stats"),
        ("rollout_infos.stop_reason", "tired", "unknown stop_reason 'tired'"),
        ("rollout_infos.stop_reason", "error", "the trajectory ended by an error"),
        ("rollout_infos.num_turns", 3, "num_turns and the turns recorded differ: 3 and 2"),
        ("rollout_infos.tool_stats.retries", None, "tool_stats lacks retries"),
        ("rollout_infos.tool_stats.failed", 1, "tool_stats.calls and ok + failed differ: 1 and 2"),
        ("rollout_infos.tool_stats.calls", 2, "tool_stats.calls and the calls recorded differ: 2 and 1"),
        ("rollout_infos.tool_stats.by_tool", {}, "by_tool's calls and the named calls differ: 0 and 1"),
        ("rollout_infos.tool_turns.1.turn", 1, "turn 2 is numbered 1"),
        ("rollout_infos.tool_turns.0.wall_s", None, "turn 1 lacks wall_s"),
        ("rollout_infos.tool_turns.0.gen_tokens", 3, "sampled tokens in the mask and in the turns differ: 6 and 7"),
        ("rollout_infos.tool_turns.0.calls.0.run_s", None, "a call of turn 1 lacks run_s"),
        ("rollout_infos.tool_turns.0.calls.0.status", "odd", "a call of turn 1 has the unknown status 'odd'"),
        ("messages.1.role", "user", "the last message is not the assistant's text"),
    ],
)
def test_each_kind_of_damage_is_named(path: str, value: Any, problem: str):
    assert any(problem in found for found in problems(changed(path, value)))


def test_an_empty_output_is_described_and_does_not_raise():
    assert "no token was sampled" in problems({})


def test_an_output_for_another_question_is_not_valid():
    other = Task("calc", "What is 2+2?", (), (), 4)
    assert Trajectory.of_output(other, rollout_output(), WORDS.decode).problems == (
        "the output belongs to another question",
    )


def test_a_trajectory_shows_its_calls_its_observations_and_its_answer():
    one = trajectory(rollout_output())
    [call] = one.calls
    assert (call.text, call.observation, call.status) == ("calculator(6*7)", "42", "ok")
    assert (one.answer, one.right, one.valid) == (42, True, True)
    assert (one.generated_tokens, one.masked_tokens) == (6, 6)


def test_a_call_that_was_not_run_has_no_observation_and_the_trajectory_no_answer():
    [call] = trajectory(rollout_output([(1, ["<tool_call>", "broken"])], stop_reason="length")).calls
    assert (call.text, call.observation, call.status) == ("broken", None, None)
    assert trajectory(rollout_output([(1, ["The answer is 4"])])).answer is None


def test_totals_add_up_calls_tokens_and_right_answers():
    wrong = rollout_output([*RUN[:2], (1, ["The answer is ", "41", ".", "<|im_end|>"])], status="tool_error")
    totals = Totals.of([trajectory(rollout_output()), trajectory(wrong)], start_s=1.0, batch_s=2.0)
    assert (totals.trajectories, totals.valid, totals.right) == (2, 2, 1)
    assert (totals.turns, totals.calls, totals.failed_calls) == (4, 2, 1)
    assert (totals.generated_tokens, totals.masked_tokens) == (12, 12)


def test_the_table_has_a_row_for_each_trajectory_and_says_what_is_not_valid():
    wrong = trajectory(rollout_output([*RUN[:2], (1, ["The answer is ", "41", ".", "<|im_end|>"])]))
    bad = trajectory(rollout_output(stop_reason="error"))
    text = printed(lambda console: report.print_table(console, [trajectory(rollout_output()), wrong, bad]))
    rows = [line.split() for line in text.splitlines()]
    assert ["1", "What", "is", "6*7?", "calculator(6*7)", "42", "42", "right"] in rows
    assert ["2", "What", "is", "6*7?", "calculator(6*7)", "42", "41", "wrong:", "42"] in rows
    assert ["3", "What", "is", "6*7?", "calculator(6*7)", "42", "42", "NOT", "VALID"] in rows
    assert "not valid: the trajectory ended by an error; the server's log says more (#3)" in text


def test_no_line_of_the_report_is_wider_than_a_hundred_columns():
    long = rollout_output([(1, [CALL.replace("6*7", "6*7+" * 60 + "1")]), (0, ["<tool_response>", "é" * 300])])
    one = trajectory(long)

    def write(console: Console) -> None:
        report.print_table(console, [one])
        report.print_totals(console, Totals.of([one], start_s=1.0, batch_s=2.0), [one])
        report.print_tokens(console, one, 1, WORDS.decode)

    assert max(len(line) for line in printed(write).splitlines()) <= 100


def test_without_colours_masked_tokens_stand_in_brackets():
    one = trajectory(rollout_output())
    text = printed(lambda console: report.print_tokens(console, one, 1, WORDS.decode))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[lines.index("masked, 6 tokens") + 1] == (
        "[[\\n·<|im_start|>user\\n·<tool_response>\\n·42·\\n</tool_response>·<|im_end|>]]"
    )
    assert lines[lines.index("sampled, 4 tokens") + 1] == "The answer is ·42·.·<|im_end|>"
    assert "\x1b" not in text


def test_lines_of_tokens_break_between_tokens_only():
    words = [f"word{number}" for number in range(60)]
    one = trajectory(rollout_output([(1, words)]))
    text = printed(lambda console: report.print_tokens(console, one, 1, WORDS.decode))
    shown = [line.strip() for line in text.splitlines() if "word" in line]
    assert len(shown) > 3
    assert "".join(shown).split("·") == words
    assert all(line.endswith("·") for line in shown[:-1])


def test_with_colours_masked_tokens_have_a_background_and_no_brackets():
    one = trajectory(rollout_output())
    text = printed(lambda console: report.print_tokens(console, one, 1, WORDS.decode), colours=True)
    assert "[[" not in text
    assert re.search(r"\x1b\[[\d;]*32mThe answer is \x1b\[0m", text)
    assert re.search(r"\x1b\[[\d;]*48;[\d;]+m\\n\x1b\[0m", text)


def test_the_trajectory_shown_is_a_right_one_with_the_most_calls():
    wrong = trajectory(rollout_output([*RUN, *RUN[1:2], (1, ["I cannot answer."])]))
    assert report.pick_for_tokens([wrong, trajectory(rollout_output()), trajectory(rollout_output())]) == 1


def test_a_request_carries_its_tools_as_a_list_and_asks_for_tokens_and_logprobs():
    tool = {"type": "function", "function": {"name": "calculator"}}
    request = infer_request("What is 6*7?", tools=[tool], system="Use the tools.", data_dict={"seed": 1})
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert (request["tools"], request["data_dict"]) == ([tool], {"seed": 1})
    assert infer_request("What is 6*7?")["tools"] is None
    config = request_config(temperature=0.0, seed=5)
    assert (config["logprobs"], config["return_details"], config["seed"]) == (True, True, 5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (httpx.Response(500, text="Internal Server Error"), "/infer/ answered 500"),
        (httpx.Response(200, json=[]), "to a batch of 1"),
        (httpx.ReadTimeout(""), "within 3 s"),
        (httpx.RemoteProtocolError("disconnected"), "broke off: disconnected"),
    ],
)
def test_a_batch_that_fails_raises_infer_error(monkeypatch: pytest.MonkeyPatch, answer: Any, message: str):
    def post(*args: Any, **kwargs: Any) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(rollout_client.httpx, "post", post)
    with pytest.raises(InferError, match=message):
        RolloutClient("http://127.0.0.1:1").infer([infer_request("?")], request_config(), timeout_s=3)


def test_the_command_line_refuses_a_batch_without_questions():
    with contextlib.redirect_stderr(io.StringIO()), pytest.raises(SystemExit) as ended:
        demo.main(["--questions", "0"])
    assert ended.value.code == 2


def child(log_path: Path, code: str) -> ChildProcess:
    return ChildProcess([sys.executable, "-c", code], env=dict(os.environ), cwd=log_path.parent, log_path=log_path)


@pytest.mark.process
def test_stopping_ends_children_that_ignore_sigterm(tmp_path: Path):
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "subprocess.Popen([sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(60)']);"
        "print('up at http://here', flush=True); time.sleep(60)"
    )
    with child(tmp_path / "log", code) as process:
        assert process.wait_for(listening_url(r"at (\S+)"), timeout_s=30) == "http://here"
        assert len(process.processes()) == 2
        process.stop(grace_s=0.1)
        assert process.processes() == []


@pytest.mark.process
def test_a_program_that_ends_early_is_reported_with_the_end_of_its_log(tmp_path: Path):
    expected = pytest.raises(StartError, match=r"ended with exit code 1(.|\n)*no model here")
    with child(tmp_path / "log", "import sys; sys.exit('no model here')") as process, expected:
        process.wait_for(listening_url(r"at (\S+)"), timeout_s=30)
