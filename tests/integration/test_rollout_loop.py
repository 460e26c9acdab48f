"""`GatewayToolScheduler` with ms-swift's real classes, Qwen's real template and a scripted engine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from examples.rollout_demo.validity import problems

pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore")]

MODEL = Path(__file__).parents[2] / "examples" / "tiny_model" / "model"
ADD = '<tool_call>\n{{"name": "calculator", "arguments": {{"expression": "{}"}}}}\n</tool_call><|im_end|>'


class ScriptedEngine:
    """Answers the turns of each trajectory from a script; an exception in the script is raised."""

    def __init__(self, template: Any, scripts: dict[str, list[Any]], max_model_len: int = 1024) -> None:
        self.template = template
        self.tokenizer = template.tokenizer
        self.max_model_len = max_model_len
        self.engine = None
        self._scripts = {name: list(turns) for name, turns in scripts.items()}
        self.prompts: dict[str, list[list[int]]] = {name: [] for name in scripts}

    async def infer_async(self, request: Any, config: Any, **kwargs: Any) -> Any:
        from swift.infer_engine.protocol import (
            ChatCompletionResponse,
            ChatCompletionResponseChoice,
            ChatMessage,
            UsageInfo,
        )

        assert config.return_details
        assert config.logprobs
        self.template.set_mode("vllm")
        prompt = list(self.template.encode(request)["input_ids"])
        self.prompts[request.uuid].append(prompt)
        text = self._scripts[request.uuid].pop(0)
        if isinstance(text, BaseException):
            raise text
        finish = "stop" if text.endswith("<|im_end|>") else "length"
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        logprobs = {"content": [{"logprob": -0.25} for _ in ids]}
        choice = ChatCompletionResponseChoice(
            index=0,
            message=ChatMessage(role="assistant", content=text.removesuffix("<|im_end|>")),
            finish_reason=finish,
            logprobs=logprobs,
            token_ids=ids,
        )
        usage = UsageInfo(prompt_tokens=len(prompt), completion_tokens=len(ids), total_tokens=len(prompt) + len(ids))
        return ChatCompletionResponse(model="scripted", choices=[choice], usage=usage, prompt_token_ids=prompt)


@pytest.fixture(scope="module")
def template() -> Any:
    from swift.model import get_model_processor
    from swift.template import get_template

    _, tokenizer = get_model_processor(str(MODEL), model_type="qwen2", load_model=False)
    return get_template(tokenizer, template_type="qwen2_5", agent_template="hermes")


def run(
    template: Any, scripts: dict[str, list[Any]], **engine_options: Any
) -> tuple[dict[str, Any], ScriptedEngine, Any]:
    """Roll out all scripts at the same time; outputs by name, as JSON."""
    from swift.infer_engine import RequestConfig
    from swift.infer_engine.protocol import RolloutInferRequest, RolloutOutput

    from turngate.scheduler.turngate_plugin import GatewayToolScheduler

    engine = ScriptedEngine(template, scripts, **engine_options)
    scheduler = GatewayToolScheduler(infer_engine=engine, max_turns=4)

    async def everything() -> list[Any]:
        requests = [
            RolloutInferRequest(messages=[{"role": "user", "content": "a question"}], uuid=name) for name in scripts
        ]
        return await asyncio.gather(*[scheduler.run(request, RequestConfig(max_tokens=64)) for request in requests])

    outputs = asyncio.run(everything())
    scheduler._gateway.close()
    received = [json.loads(output.model_dump_json()) for output in outputs]
    for output in received:
        RolloutOutput(**output)  # as the trainer reads it
    return dict(zip(scripts, received, strict=True)), engine, scheduler


def infos(output: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = output["rollout_infos"]
    return result


def test_the_next_prompt_holds_the_sampled_ids_and_the_delta(template: Any) -> None:
    outputs, engine, _ = run(template, {"a": [ADD.format("1+2"), ADD.format("3*5"), "It is 15.<|im_end|>"]})
    output = outputs["a"]
    assert problems(output) == []
    (ids,) = output["response_token_ids"]
    last_prompt = engine.prompts["a"][-1]
    first_prompt = engine.prompts["a"][0]
    assert last_prompt == first_prompt + ids[: len(last_prompt) - len(first_prompt)]
    assert "<tool_response>\n15\n</tool_response>" in output["messages"][-1]["content"]


class Panic(BaseException):
    """As native extensions raise it."""


def test_an_engine_error_in_one_trajectory_leaves_it_with_what_it_has_and_the_others_alone(template: Any) -> None:
    scripts = {
        "late": [ADD.format("1+2"), RuntimeError("engine fell over")],
        "early": [RuntimeError("engine fell over")],
        "panic": [Panic()],
        "fine": [ADD.format("2+2"), "It is 4.<|im_end|>"],
    }
    outputs, _, _ = run(template, scripts)
    assert infos(outputs["late"])["stop_reason"] == "error"
    assert infos(outputs["late"])["tool_stats"]["ok"] == 1
    assert infos(outputs["early"])["stop_reason"] == "error"
    assert infos(outputs["early"])["num_turns"] == 0
    assert infos(outputs["panic"])["stop_reason"] == "error"
    assert (outputs["early"]["response_loss_mask"], outputs["early"]["rollout_logprobs"]) == ([[0]], [])
    assert infos(outputs["fine"])["stop_reason"] == "answered"


def test_a_context_that_is_full_ends_the_trajectory_and_is_not_an_error(template: Any) -> None:
    full = ValueError("Input length (1030) leaves no room for generation with max_model_len (1024)")
    outputs, _, _ = run(template, {"a": [ADD.format("1+2"), full]})
    assert infos(outputs["a"])["stop_reason"] == "context"


def test_an_observation_is_shortened_to_the_window_and_left_out_when_there_is_no_room(template: Any) -> None:
    long = ADD.format("factorial(150)")
    outputs, engine, _ = run(template, {"a": [long, "Long.<|im_end|>"]}, max_model_len=160)
    assert infos(outputs["a"])["tool_turns"][0]["calls"][0]["truncated"]
    assert len(engine.prompts["a"][-1]) <= 160 - 16
    outputs, _, _ = run(template, {"a": [long]}, max_model_len=60)
    assert infos(outputs["a"])["stop_reason"] == "context"
    assert problems(outputs["a"]) == []


def test_the_last_turn_runs_nothing(template: Any) -> None:
    outputs, _, _ = run(template, {"a": [ADD.format("1+2")] * 4})
    assert infos(outputs["a"])["stop_reason"] == "max_turns"
    assert infos(outputs["a"])["tool_stats"]["calls"] == 3
    assert problems(outputs["a"]) == []


def test_malformed_calls_are_answered_and_several_calls_keep_their_order(template: Any) -> None:
    two = ADD.format("1+1").removesuffix("<|im_end|>") + "\n" + ADD.format("2+2")
    outputs, _, _ = run(template, {"a": ["<tool_call>\n{oops}\n</tool_call><|im_end|>", two, "Done.<|im_end|>"]})
    output = outputs["a"]
    assert problems(output) == []
    assert infos(output)["tool_stats"]["malformed"] == 1
    text = output["messages"][-1]["content"]
    assert "Error: Malformed call." in text
    assert "<tool_response>\n2\n</tool_response>\n<tool_response>\n4\n</tool_response>" in text


def test_half_a_character_from_the_model_is_a_malformed_call_and_harms_nothing(template: Any) -> None:
    broken = '<tool_call>\n{"name": "\\ud83d", "arguments": {}}\n</tool_call><|im_end|>'
    outputs, _, _ = run(template, {"a": [broken, ADD.format("\\ud83d"), "Done.<|im_end|>"]})
    assert problems(outputs["a"]) == []
    assert infos(outputs["a"])["stop_reason"] == "answered"
    assert infos(outputs["a"])["tool_stats"]["malformed"] == 2


def test_a_turn_without_text_ends_the_trajectory_with_its_tokens(template: Any) -> None:
    outputs, _, _ = run(template, {"a": ["<|im_end|>"]})
    assert problems(outputs["a"]) == []
    assert outputs["a"]["response_loss_mask"] == [[1]]


def test_the_session_of_a_trajectory_is_released_whichever_way_it_ends(
    template: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from turngate.gateway import GatewayThread

    released: list[str] = []
    monkeypatch.setattr(GatewayThread, "forget_session", lambda self, session: released.append(session))
    run(template, {"good": [ADD.format("1+2"), "3.<|im_end|>"], "bad": [ADD.format("1+2"), RuntimeError("fell over")]})
    assert sorted(session.partition("-")[0] for session in released) == ["bad", "good"]


def test_a_format_that_cannot_be_read_is_refused_when_the_server_starts(template: Any) -> None:
    from swift.template import get_template

    from turngate.gateway import ConfigError
    from turngate.scheduler.turngate_plugin import GatewayToolScheduler

    react = get_template(template.tokenizer, template_type="qwen2_5", agent_template="react_en")
    with pytest.raises(ConfigError, match="--agent_template hermes"):
        GatewayToolScheduler(infer_engine=ScriptedEngine(react, {}), max_turns=4)


def test_the_scheduler_is_registered_under_its_name(template: Any) -> None:
    from swift.rollout.multi_turn import multi_turns

    from turngate.scheduler.turngate_plugin import GatewayToolScheduler

    assert multi_turns["gateway_tool_scheduler"] is GatewayToolScheduler
