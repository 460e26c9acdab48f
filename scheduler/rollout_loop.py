"""The rollout of one trajectory in `swift rollout`, from the first prompt to its `RolloutOutput`.

`GatewayRollout` holds everything that the scheduler does; `turngate_plugin` joins it with
ms-swift's `MultiTurnScheduler` and registers it. Nothing here imports ms-swift at import time.

The whole trajectory is kept in ONE assistant message whose content is the growing list of token
ids: the next prompt then holds exactly what was sampled, and the trainer's encoding equals it
position by position (role-separated tool messages add label tokens of their own in ms-swift 4.6).
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from turngate.gateway import ConfigError, GatewayConfig, GatewayThread, load_config
from turngate.scheduler.gateway_backend import open_gateway
from turngate.scheduler.observation_delta import DeltaEncoder
from turngate.scheduler.reading import READERS, CallReader
from turngate.scheduler.reading.calls import THINK_OPEN
from turngate.scheduler.rollout_settings import RolloutSettings, rollout_settings
from turngate.scheduler.token_ledger import TokenLedger
from turngate.scheduler.turn_engine import TurnEngine, TurnOutcome
from turngate.scheduler.turn_records import StopReason, TrajectoryRecord

__all__ = ["GatewayRollout"]

_log = logging.getLogger("turngate.scheduler")


@dataclasses.dataclass
class _Trajectory:
    """One trajectory while it runs."""

    request: Any
    session: str
    ledger: TokenLedger = dataclasses.field(default_factory=TokenLedger)
    record: TrajectoryRecord = dataclasses.field(default_factory=TrajectoryRecord)
    prompt_messages: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    response: Any = None
    """The engine's last answer, or None before the first."""
    prompt_tokens: int = 0


class GatewayRollout:
    """The scheduler's behaviour, to be mixed into ms-swift's `MultiTurnScheduler`."""

    def __init__(self, infer_engine: Any = None, max_turns: int | None = None, *args: Any, **kwargs: Any) -> None:
        """Read the configuration and check the loaded template, before the first batch.

        Raises ConfigError for a configuration that cannot be used and TemplateNotSupported for a
        chat template that cannot be continued token by token: better at start-up than in a batch.
        """
        cast("Any", super()).__init__(infer_engine, max_turns, *args, **kwargs)
        # ms-swift answers None for unknown attributes once an engine is attached, so all are set here.
        self._config: GatewayConfig = load_config()
        self._settings: RolloutSettings = rollout_settings(self._config)
        self._lock = threading.Lock()
        self._gateway: GatewayThread | None = None
        self._turns: TurnEngine | None = None
        self._delta: DeltaEncoder | None = None
        self._encoders = ThreadPoolExecutor(max_workers=2, thread_name_prefix="turngate-encoder")
        if infer_engine is not None:
            self._delta = DeltaEncoder(infer_engine.template.tokenizer, infer_engine.template)
            self._engine_of_turns()

    async def run(self, infer_request: Any, request_config: Any, **kwargs: Any) -> Any:
        """Roll out one trajectory. Raises nothing but cancellation: what went wrong is in `rollout_infos`."""
        trajectory = _Trajectory(infer_request, session=f"{infer_request.uuid or 'trajectory'}-{uuid.uuid4().hex[:12]}")
        try:
            trajectory.record.stop_reason = await self._run_turns(trajectory, request_config, kwargs)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # the outermost handler: a panic of a native tokenizer is no Exception either
            _log.exception("trajectory %s ended by an error after %d turns", *_where(trajectory))
            trajectory.record.stop_reason = "error"
        finally:
            if self._gateway is not None and trajectory.response is not None:
                self._gateway.forget_session(trajectory.session)
        return self._output(trajectory)

    async def _run_turns(self, trajectory: _Trajectory, request_config: Any, kwargs: dict[str, Any]) -> StopReason:
        """Turn by turn until something ends the trajectory."""
        from swift.utils import remove_response

        request = trajectory.request
        remove_response(request.messages)
        trajectory.prompt_messages = list(request.messages)
        # The exact tokens and their logprobs are this scheduler's whole purpose, so they are always asked for.
        request_config = dataclasses.replace(request_config, return_details=True, logprobs=True)
        turn = 0
        while True:
            turn += 1
            try:
                response = await self._infer(request, request_config, kwargs)
            except ValueError as error:
                if _context_is_full(error):
                    return "context"
                raise
            outcome = await self._take_turn(trajectory, response, turn)
            if outcome.stop_reason is not None:
                return outcome.stop_reason
            if not await self._append_observations(trajectory, outcome):
                return "context"
            request.messages = [
                *trajectory.prompt_messages,
                {"role": "assistant", "content": list(trajectory.ledger.ids)},
            ]

    async def _infer(self: Any, request: Any, request_config: Any, kwargs: dict[str, Any]) -> Any:
        return await self.infer_engine.infer_async(request, request_config, **kwargs)

    async def _take_turn(self: Any, trajectory: _Trajectory, response: Any, turn: int) -> TurnOutcome:
        """Enter what was sampled, and let the turn engine handle it."""
        choice = response.choices[0]
        sampled = list(choice.token_ids or [])
        ids, mask = sampled, [1] * len(sampled)
        if turn == 1:
            ids, mask = self.get_response_token_data(trajectory.request, choice)
        prefix = mask.count(0)
        trajectory.ledger.add_masked(ids[:prefix])
        trajectory.ledger.add_sampled(ids[prefix:], self._extract_logprobs_from_choice(choice))
        trajectory.response = response
        trajectory.prompt_tokens = len(response.prompt_token_ids or [])
        outcome: TurnOutcome = await self._engine_of_turns().take(
            choice.message.content or "",
            turn=turn,
            finish_reason=choice.finish_reason or "",
            gen_tokens=len(sampled),
            session=trajectory.session,
            last_turn=bool(self.max_turns) and turn >= self.max_turns,
            think_prefilled=THINK_OPEN in self.tokenizer.decode(ids[:prefix]) if prefix else False,
        )
        trajectory.record.turns.append(outcome.record)
        return outcome

    async def _append_observations(self: Any, trajectory: _Trajectory, outcome: TurnOutcome) -> bool:
        """Append the tool turn, shortened to what the context window holds; False if not even that fits."""
        choice = trajectory.response.choices[0]
        used = trajectory.prompt_tokens + len(choice.token_ids)
        window = self.infer_engine.max_model_len or 0
        encode = functools.partial(
            self._delta.encode,
            outcome.observations,
            last_sampled_id=trajectory.ledger.ids[-1] if trajectory.ledger.ids else None,
            max_tokens_each=self._settings.max_observation_tokens,
            max_tokens=window - used - self._settings.min_answer_tokens if window else 1 << 30,
        )
        if self._delta.is_quick(outcome.observations):
            delta = encode()
        else:
            delta = await asyncio.get_running_loop().run_in_executor(self._encoders, encode)
        if delta is None:
            return False
        trajectory.ledger.add_masked(delta.ids)
        outcome.record.obs_tokens = len(delta.ids)
        for call, tokens, truncated in zip(
            outcome.record.calls, delta.observation_tokens, delta.truncated, strict=True
        ):
            call.obs_tokens = tokens
            call.truncated = call.truncated or truncated
        return True

    def _output(self: Any, trajectory: _Trajectory) -> Any:
        """The one `RolloutOutput` of the trajectory, with whatever it has."""
        from swift.infer_engine.protocol import RolloutOutput

        ledger = trajectory.ledger
        if not ledger.ids:
            # The trainer cannot encode an empty response: one masked end token stands for it.
            ledger.add_masked([self.tokenizer.eos_token_id])
        text = self.tokenizer.decode(ledger.ids, skip_special_tokens=False)
        logprobs = ledger.complete_logprobs()
        return RolloutOutput(
            response=trajectory.response or _empty_response(),
            messages=[*trajectory.prompt_messages, {"role": "assistant", "content": text}],
            response_token_ids=[ledger.ids],
            response_loss_mask=[ledger.mask],
            rollout_logprobs=[logprobs] if logprobs else [],
            rollout_infos=trajectory.record.infos(),
        )

    def _engine_of_turns(self) -> TurnEngine:
        """The turn engine with its gateway, opened at the first use."""
        with self._lock:
            if self._turns is None:
                self._gateway = open_gateway(self._config)
                self._turns = TurnEngine(self._gateway, self._reader(), self._settings)
            return self._turns

    def _reader(self: Any) -> CallReader:
        name = self._settings.format
        if name == "auto":
            name = self.infer_engine.template._agent_template
            if name not in READERS:
                raise ConfigError(
                    f"the template's call format '{name}' cannot be read yet; start `swift rollout` with "
                    f"--agent_template {' or '.join(READERS)}, or set rollout.format in turngate.yaml"
                )
        return READERS[name]()


def _where(trajectory: _Trajectory) -> tuple[str, int]:
    return trajectory.session, len(trajectory.record.turns)


def _context_is_full(error: ValueError) -> bool:
    """Whether the engine refused a prompt because it leaves no room to generate (ms-swift and vLLM say so in words)."""
    return "max_model_len" in str(error) or "maximum model length" in str(error)


def _empty_response() -> Any:
    """A response for a trajectory whose first prompt the engine refused."""
    from swift.infer_engine.protocol import ChatCompletionResponse, ChatCompletionResponseChoice, ChatMessage, UsageInfo

    choice = ChatCompletionResponseChoice(
        index=0, message=ChatMessage(role="assistant", content=""), finish_reason=None, logprobs=None, token_ids=[]
    )
    return ChatCompletionResponse(
        model="", choices=[choice], usage=UsageInfo(prompt_tokens=0, completion_tokens=0, total_tokens=0)
    )
