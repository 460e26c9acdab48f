"""The scheduler's settings: the `rollout:` section of `turngate.yaml`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turngate.gateway import GatewayConfig
from turngate.scheduler.reading import READERS

__all__ = ["RolloutSettings", "rollout_settings"]


class RolloutSettings(BaseModel):
    """Every field may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = "auto"
    """Call format; `auto` takes the one of the template's agent template."""
    max_calls_per_turn: int = Field(default=32, ge=1)
    """Calls of one turn that are run; one more is answered with an error and counted as failed."""
    max_observation_tokens: int = Field(default=2048, ge=16)
    """Tokens of one observation's text; more is cut out of its middle."""
    turn_deadline_s: float = Field(default=120.0, gt=0)
    """Seconds for all calls of one turn together; a call that is not back by then counts as timed out."""
    min_answer_tokens: int = Field(default=16, ge=1)
    """Room that an observation leaves for the model's next turn in the context window."""


def rollout_settings(config: GatewayConfig) -> RolloutSettings:
    """Check the `rollout:` section. Raises ConfigError, which names the key: the person's fault."""
    try:
        settings = RolloutSettings.model_validate(config.rollout)
    except ValidationError as error:
        first = error.errors()[0]
        what = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        raise config.mistake(f"rollout.{'.'.join(str(part) for part in first['loc'])}: {what}") from None
    if settings.format != "auto" and settings.format not in READERS:
        raise config.mistake(f"rollout.format: '{settings.format}' is not one of auto, {', '.join(READERS)}")
    return settings
