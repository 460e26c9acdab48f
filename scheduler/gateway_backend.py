"""Which gateway the scheduler calls: an embedded one, or the one at $TURNGATE_URL."""

from __future__ import annotations

import os
from typing import Final

from turngate.gateway import GatewayConfig, GatewayThread, build_gateway
from turngate.gateway.config import ENV_TOKEN

__all__ = ["ENV_URL", "open_gateway"]

ENV_URL: Final = "TURNGATE_URL"
"""Environment variable: the base URL of a running gateway. Unset: the gateway runs inside the rollout server."""


def open_gateway(config: GatewayConfig) -> GatewayThread:
    """Open the gateway on a thread of its own, so that no call ever runs on the caller's event loop.

    Raises ConfigError for tools that cannot be built: the person's fault.
    """
    url = os.environ.get(ENV_URL)
    if not url:
        return GatewayThread(lambda: build_gateway(config))

    from turngate.gateway.client import RemoteGateway

    return GatewayThread(lambda: RemoteGateway(url, token=os.environ.get(ENV_TOKEN)))
