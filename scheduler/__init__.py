"""Turns: reading calls out of model text, running them, and the exact tokens of the result.

The ms-swift plugin is `turngate.scheduler.turngate_plugin`; only that module imports ms-swift when
it is imported.
"""

from turngate.scheduler.rollout_settings import RolloutSettings
from turngate.scheduler.token_ledger import TokenLedger
from turngate.scheduler.turn_engine import TurnEngine, TurnOutcome
from turngate.scheduler.turn_records import CallRecord, TrajectoryRecord, TurnRecord

__all__ = [
    "CallRecord",
    "RolloutSettings",
    "TokenLedger",
    "TrajectoryRecord",
    "TurnEngine",
    "TurnOutcome",
    "TurnRecord",
]
