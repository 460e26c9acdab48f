"""The REST face: calls, batches of calls, the catalogue, sessions, health.

HTTP 200 says that there is a `ToolResult`; it says nothing about how the tool fared. Any other status
says that the request never became a call: 400 not JSON, 422 a field is wrong (named) or
a batch has more than 1,000 calls, 413 too large.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from turngate.gateway.faces.disconnect import until_disconnect
from turngate.gateway.faces.formats import FORMATS, tool_list
from turngate.gateway.faces.problem import CLIENT_GONE, problem
from turngate.gateway.gateway import Gateway
from turngate.tools import CallError, Status, ToolCall, ToolResult

__all__ = ["RestFace", "result_json"]

_log = logging.getLogger("turngate.gateway")


_MAX_BATCH_CALLS = 1000
"""Reading and starting the calls of one batch holds the event loop: more would stall everybody else."""

_Calls = Annotated[list[ToolCall], Field(max_length=_MAX_BATCH_CALLS)]


class _Batch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    calls: _Calls


_BARE_BATCH: TypeAdapter[list[ToolCall]] = TypeAdapter(_Calls)


class RestFace:
    """The routes of one gateway."""

    def __init__(self, gateway: Gateway, version: str) -> None:
        self._gateway = gateway
        self._version = version
        self._started_s = time.monotonic()

    def routes(self) -> list[BaseRoute]:
        """The routes, to be mounted at the root."""
        return [
            Route("/v1/call", self.call, methods=["POST"]),
            Route("/v1/calls", self.call_many, methods=["POST"]),
            Route("/v1/tools", self.list_tools, methods=["GET"]),
            Route("/v1/sessions/{session:path}", self.end_session, methods=["DELETE"]),
            Route("/health", self.health, methods=["GET"]),
        ]

    async def call(self, request: Request) -> Response:
        """`POST /v1/call`: a `ToolCall`, answered by its `ToolResult`. A client that leaves cancels it."""
        try:
            call = ToolCall.model_validate_json(await request.body())
        except ValidationError as error:
            return _bad_body(error)
        result = await until_disconnect(request.receive, lambda: self._gateway.call(call))
        if result is None:
            return Response(status_code=CLIENT_GONE)
        return Response(result_json(result), media_type="application/json")

    async def call_many(self, request: Request) -> Response:
        """`POST /v1/calls`: `{"calls": [ToolCall…]}` or the bare list, run at the same time; 1,000 calls at most.

        Answered by `{"results": [ToolResult…]}` in the order of the calls.
        """
        body = await request.body()
        try:
            bare = body.lstrip()[:1] == b"["
            calls = _BARE_BATCH.validate_json(body) if bare else _Batch.model_validate_json(body).calls
        except ValidationError as error:
            return _bad_body(error)
        results = await until_disconnect(request.receive, lambda: self._gateway.call_many(calls))
        if results is None:
            return Response(status_code=CLIENT_GONE)
        return Response(_results_json(results), media_type="application/json")

    async def list_tools(self, request: Request) -> Response:
        """`GET /v1/tools?format=openai|mcp|anthropic`: `{"tools": [...]}`; without a format, `ToolSpec`s."""
        asked = request.query_params.get("format")
        chosen = next((format for format in FORMATS if format == asked), None)
        if asked is not None and chosen is None:
            return problem(422, "format", f"format: expected one of {', '.join(FORMATS)}, or none at all.")
        return JSONResponse({"tools": tool_list(await self._gateway.list_tools(), chosen)})

    async def end_session(self, request: Request) -> Response:
        """`DELETE /v1/sessions/{id}`: 204, also for a session that nobody knows."""
        await self._gateway.end_session(request.path_params["session"])
        return Response(status_code=204)

    async def health(self, request: Request) -> Response:
        """`GET /health`: the process answers; asks no tool."""
        return JSONResponse(
            {
                "status": "ok",
                "version": self._version,
                "tools": len(self._gateway.catalogue),
                "calls_in_flight": self._gateway.calls_in_flight,
                "uptime_s": round(time.monotonic() - self._started_s, 3),
            }
        )


def result_json(result: ToolResult) -> bytes:
    """The result on the wire; content blocks have MCP's own field names (`mimeType`)."""
    try:
        return result.__pydantic_serializer__.to_json(result, by_alias=True)
    except PydanticSerializationError:
        _log.exception("the result of tool '%s' cannot be written as JSON", result.name)
    error = CallError(
        type="internal",
        message="The tool's output cannot be written as JSON: it is nested too deeply or not valid text. "
        "Ask for something simpler, or go on without it.",
    )
    broken = result.model_copy(update={"status": Status.INTERNAL, "error": error, "content": [], "structured": None})
    return broken.__pydantic_serializer__.to_json(broken, by_alias=True)


def _results_json(results: Sequence[ToolResult]) -> bytes:
    return b'{"results":[' + b",".join(map(result_json, results)) + b"]}"


def _bad_body(error: ValidationError) -> Response:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    if found[0]["type"] == "json_invalid":
        return problem(400, "json", f"The body is not JSON: {found[0]['msg']}.")
    if found[0]["type"] == "too_long" and found[0]["loc"] in ((), ("calls",)):
        told = f"calls: more than {_MAX_BATCH_CALLS} calls in one batch; send them in several requests."
        return problem(422, "body", told)
    lines = []
    for item in found[:5]:
        field = ".".join(map(str, item["loc"])) or "body"
        lines.append(f"{field}: {'unknown field' if item['type'] == 'extra_forbidden' else item['msg']}")
    return problem(422, "body", "; ".join(lines))
