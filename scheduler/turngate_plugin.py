"""For ms-swift's ``--external_plugins``: registers turngate's scheduler. ``turngate plugin`` prints this file's path.

ms-swift puts this file's folder first on `sys.path` and imports the file by itself, apart from the
`turngate` package: so it holds registrations only, and imports by absolute names.
"""

from swift.rollout.multi_turn import MultiTurnScheduler, multi_turns

from turngate.scheduler.rollout_loop import GatewayRollout


class GatewayToolScheduler(GatewayRollout, MultiTurnScheduler):
    """Reads the model's calls, runs them through the gateway, appends the observations."""


multi_turns["gateway_tool_scheduler"] = GatewayToolScheduler
