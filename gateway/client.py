"""A gateway in another process, over its REST face.

`RemoteGateway` offers what an embedded `Gateway` offers. Nothing that the network or the server does is
raised to a caller of a tool: it becomes a result for each call of the batch. Only `list_tools`, which a
person's program calls at start-up, raises, `GatewayUnreachable`.

A request is sent again only if the connection could not be opened, so that no call runs twice. A connection
that broke later leaves open whether the tool ran: the result is `unavailable` and retryable, and whoever made
the call decides. Idle connections are dropped sooner than any server drops them (uvicorn: 5 s unless
configured), since a request on a connection that is just being closed is such a broken one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from urllib.parse import quote
from weakref import WeakKeyDictionary

import anyio
import httpx
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError
from tenacity import AsyncRetrying, retry_if_exception, stop_before_delay, wait_random_exponential

from turngate.gateway.config import ENV_TOKEN
from turngate.gateway.errors import CallFailure, ConfigError
from turngate.gateway.faces.lanes import Lanes, connections_allowed
from turngate.gateway.faces.remote_failure import (
    RemoteFailure,
    mapped_httpx_errors,
    no_answer_in,
    not_understood,
    refused,
)
from turngate.gateway.policy import DEFAULT_POLICY
from turngate.tools import CallError, CallStats, Status, ToolCall, ToolResult, ToolSpec

__all__ = ["GatewayUnreachable", "RemoteGateway"]

_log = logging.getLogger("turngate.gateway")

_SLACK_S = 5.0
"""Beyond a call's deadline: the gateway answers `timeout` itself, and that answer must still arrive."""
_CONNECT_TIMEOUT_S = 30.0
"""Long, since a burst of calls from one busy event loop takes seconds to open its connections."""
_END_SESSION_TIMEOUT_S = 5.0
_LIST_TIMEOUT_S = 15.0
_CALLS_PER_REQUEST = 250
"""The gateway takes 1,000; at its default limits the results of 250 stay below `_MAX_ANSWER_BYTES`."""
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_BACKOFF = wait_random_exponential(multiplier=0.1, max=2.0)


class GatewayUnreachable(ConfigError):
    """The gateway at a URL does not answer as a gateway; the message says why. The person's to mend."""


class RemoteGateway:
    """The gateway at `url` (such as `http://127.0.0.1:8900`), for any event loop."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        default_deadline_s: float = DEFAULT_POLICY.deadline_s or 60.0,
        connect_retry_s: float = 10.0,
        max_connections: int | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Prepare a client; it connects with the first call.

        `default_deadline_s` bounds the wait for calls that name no deadline of their own. For
        `connect_retry_s` a connection that cannot be opened is tried again (a gateway that restarts); 0: never.
        `max_connections` None: as many as half of the process's open files allow, 4,096 at most; further
        calls wait. `transport` takes the place of the network, for tests.

        Raises ConfigError if `url` is no HTTP URL or `token` cannot be sent in a header. White space around
        the token is dropped, as the server does. Proxy variables of the environment are not used.
        """
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ConfigError(f"gateway URL: {error}") from None
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ConfigError("gateway URL: expected something like 'http://127.0.0.1:8900'")
        self._url = parsed.copy_with(path=parsed.path.rstrip("/") + "/", query=None, fragment=None)
        # Not compressed: the limit on an answer is then a limit on what it takes to read it.
        self._headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if token := (token or "").strip():
            if not (token.isascii() and token.isprintable()):
                raise ConfigError(f"gateway token ({ENV_TOKEN}): only printable ASCII characters can be sent")
            self._headers["authorization"] = f"Bearer {token}"
        self._default_deadline_s = default_deadline_s
        self._connect_retry_s = connect_retry_s
        self._max_connections = max_connections or connections_allowed()
        self._transport = transport
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, Lanes] = WeakKeyDictionary()
        self._closed = False

    async def list_tools(self) -> list[ToolSpec]:
        """Every tool of the gateway.

        Raises GatewayUnreachable if it cannot be reached, refuses, or is something else.
        """
        shown = self._url.copy_with(userinfo=b"")
        try:
            response = await self._exchange("GET", "v1/tools", None, _LIST_TIMEOUT_S)
            return _ToolList.model_validate_json(response.content).tools
        except RemoteFailure as failure:
            raise GatewayUnreachable(f"the gateway at {shown} cannot be used: {failure.detail}") from failure
        except ValidationError as error:
            raise GatewayUnreachable(
                f"what answers at {shown} is not a turngate gateway, or one of another version"
            ) from error

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        return (await self.call_many([call]))[0]

    async def call_many(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run the calls of one model turn, in one request up to 250; results in the order of the calls."""
        started_s = anyio.current_time()
        results: list[ToolResult | None] = [None] * len(calls)
        bodies: dict[int, bytes] = {}
        for index, call in enumerate(calls):
            try:
                bodies[index] = call.__pydantic_serializer__.to_json(call)
            except PydanticSerializationError:
                results[index] = _failed(call, Status.INVALID_ARGUMENTS, _NOT_JSON, 0.0)

        async def send(indexes: Sequence[int]) -> None:
            answers = await self._run([calls[n] for n in indexes], [bodies[n] for n in indexes], started_s)
            for index, result in zip(indexes, answers, strict=True):
                results[index] = result

        sendable = list(bodies)
        if len(sendable) > _CALLS_PER_REQUEST:
            async with anyio.create_task_group() as group:
                for first in range(0, len(sendable), _CALLS_PER_REQUEST):
                    group.start_soon(send, sendable[first : first + _CALLS_PER_REQUEST])
        elif sendable:
            await send(sendable)
        return [result for result in results if result is not None]

    async def end_session(self, session: str) -> None:
        """Ask the gateway to free a trajectory's state; best effort, in a few seconds, never raises."""
        try:
            await self._exchange("DELETE", f"v1/sessions/{quote(session, safe='')}", None, _END_SESSION_TIMEOUT_S)
        except Exception as raised:  # the gateway frees an idle session by itself
            _log.info("session %r was not ended: %s", session, raised)

    async def aclose(self) -> None:
        """Close this loop's connections; calls in flight end as `unavailable`."""
        self._closed = True
        lanes = self._lanes.pop(asyncio.get_running_loop(), None)
        if lanes is not None:
            await lanes.aclose()

    async def _run(self, calls: Sequence[ToolCall], bodies: Sequence[bytes], started_s: float) -> list[ToolResult]:
        """Send calls and read their results; whatever goes wrong is each call's result."""
        budget_s = _SLACK_S + max(
            self._default_deadline_s if call.deadline_s is None else call.deadline_s for call in calls
        )
        try:
            if len(calls) == 1:
                response = await self._exchange("POST", "v1/call", bodies[0], budget_s)
                results = [ToolResult.model_validate_json(response.content)]
            else:
                body = b'{"calls":[' + b",".join(bodies) + b"]}"
                response = await self._exchange("POST", "v1/calls", body, budget_s)
                results = _Results.model_validate_json(response.content).results
            if len(results) != len(calls):
                raise not_understood(f"{len(results)} results for {len(calls)} calls")
        except RemoteFailure as raised:
            failure = raised
        except ValidationError as raised:
            failure = not_understood(f"an answer that is no result ({raised.error_count()} problems)")
        except Exception as raised:  # the outermost handler: a fault of the client costs these calls, no more
            _log.exception("calling the gateway failed")
            failure = not_understood(type(raised).__name__)
        else:
            return _named(results, calls)
        waited_s = anyio.current_time() - started_s
        _log.warning("%d calls to the gateway failed after %.1f s: %s", len(calls), waited_s, failure.detail)
        return [_failed(call, failure.status, failure.error, waited_s) for call in calls]

    async def _exchange(self, method: str, path: str, body: bytes | None, budget_s: float) -> httpx.Response:
        """One request and its successful answer, within `budget_s` in all.

        Raises RemoteFailure for everything else.
        """
        if self._closed:
            raise RemoteFailure(Status.UNAVAILABLE, "closed", "The tool gateway is shutting down.", "client closed")
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda raised: isinstance(raised, CallFailure) and raised.never_sent),
            stop=stop_before_delay(min(self._connect_retry_s, max(0.0, budget_s - _SLACK_S))),
            wait=_BACKOFF,
            sleep=anyio.sleep,
            reraise=True,
        )
        with anyio.move_on_after(budget_s):
            return await retrying(self._exchange_once, method, path, body, budget_s)
        raise no_answer_in(budget_s)

    async def _exchange_once(self, method: str, path: str, body: bytes | None, budget_s: float) -> httpx.Response:
        with mapped_httpx_errors(), self._lanes_here().client() as client:
            timeout = httpx.Timeout(budget_s, connect=_CONNECT_TIMEOUT_S)
            url = self._url.join(path)
            async with client.stream(method, url, content=body, headers=self._headers, timeout=timeout) as streamed:
                response = httpx.Response(streamed.status_code, content=await _read(streamed))
        if response.status_code >= 300:
            raise refused(response)
        return response

    def _lanes_here(self) -> Lanes:
        """The running loop's connections: they cannot move between loops."""
        loop = asyncio.get_running_loop()
        lanes = self._lanes.get(loop)
        if lanes is None:
            tls = self._url.scheme == "https"
            lanes = Lanes(tls=tls, max_connections=self._max_connections, transport=self._transport)
            self._lanes[loop] = lanes
        return lanes


async def _read(response: httpx.Response) -> bytes:
    """The body of an answer. Raises RemoteFailure if it is larger than any that a gateway gives."""
    declared = response.headers.get("content-length", "")
    size = int(declared) if declared.isdecimal() else 0
    chunks: list[bytes] = []
    if size <= _MAX_ANSWER_BYTES:
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > _MAX_ANSWER_BYTES:
                break
            chunks.append(chunk)
        else:
            return b"".join(chunks)
    raise not_understood(f"an answer larger than {_MAX_ANSWER_BYTES} bytes")


class _ToolList(BaseModel):
    tools: list[ToolSpec]


class _Results(BaseModel):
    results: list[ToolResult]


_NOT_JSON = CallError(
    type="schema", message="The arguments are not valid JSON (a broken character?). Send plain text and numbers."
)


def _named(results: list[ToolResult], calls: Sequence[ToolCall]) -> list[ToolResult]:
    """The results under the ids and names that the caller gave, whatever the server made of them."""
    for call, result in zip(calls, results, strict=True):
        result.call_id, result.name = call.call_id, call.name
    return results


def _failed(call: ToolCall, status: Status, error: CallError, waited_s: float) -> ToolResult:
    return ToolResult(call_id=call.call_id, name=call.name, status=status, error=error, stats=CallStats(run_s=waited_s))
