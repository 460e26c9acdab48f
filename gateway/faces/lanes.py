"""HTTP connections for thousands of requests at once: many small pools instead of a big one.

httpx looks through its whole pool for each request, so that with hundreds in flight the looking costs more
than the requests. Here a request goes to the first pool (lane) that has a free connection: as few lanes are
used as the load needs, and the cost of a request does not grow with their number.
"""

from __future__ import annotations

import resource
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpx

__all__ = ["Lanes", "connections_allowed"]

_LANE_CONNECTIONS: Final = 8
_KEEPALIVE_S: Final = 4.0
"""Idle seconds before a connection is dropped: fewer than any server's (uvicorn: 5 unless configured)."""
_MAX_CONNECTIONS = 4096


@dataclass
class _Lane:
    client: httpx.AsyncClient
    in_flight: int = 0


class Lanes:
    """The connections of one event loop to one server. Proxy variables of the environment are not used."""

    def __init__(self, *, tls: bool, max_connections: int, transport: httpx.AsyncBaseTransport | None = None) -> None:
        # Building a TLS context costs 25 ms; a plain URL needs none.
        self._verify = ssl.create_default_context() if tls else False
        self._max_lanes = max(1, max_connections // _LANE_CONNECTIONS)
        self._transport = transport
        self._lanes: list[_Lane] = []

    @contextmanager
    def client(self) -> Iterator[httpx.AsyncClient]:
        """A client for one request; where every connection is busy, the request waits for one."""
        lane = next((lane for lane in self._lanes if lane.in_flight < _LANE_CONNECTIONS), None)
        if lane is None and len(self._lanes) < self._max_lanes:
            lane = self._open()
        elif lane is None:
            lane = min(self._lanes, key=lambda lane: lane.in_flight)
        lane.in_flight += 1
        try:
            yield lane.client
        finally:
            lane.in_flight -= 1

    async def aclose(self) -> None:
        """Close every connection; requests in flight fail."""
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            await lane.client.aclose()

    def _open(self) -> _Lane:
        limits = httpx.Limits(
            max_connections=_LANE_CONNECTIONS,
            max_keepalive_connections=_LANE_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
        )
        client = httpx.AsyncClient(limits=limits, verify=self._verify, transport=self._transport, trust_env=False)
        self._lanes.append(_Lane(client))
        return self._lanes[-1]


def connections_allowed() -> int:
    """Half of the files that this process may open, 4,096 at most: the rest is the caller's."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft // 2
    return max(_LANE_CONNECTIONS, min(_MAX_CONNECTIONS, allowed))
