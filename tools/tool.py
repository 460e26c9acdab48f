"""The seam between the gateway and a tool: one method that runs a call."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

import anyio
from pydantic import PydanticUserError, TypeAdapter, create_model

from turngate.tools.nouns import CallPolicy, Content, TextContent, ToolAnnotations, ToolSpec

__all__ = ["FunctionTool", "Tool", "ToolContext", "ToolOutput", "tool"]

_THREADS_PER_TOOL = 64


@dataclass(frozen=True)
class ToolContext:
    """What a tool may know about the call that it serves."""

    call_id: str = ""
    session: str | None = None
    """The trajectory, or None for a call that belongs to none."""
    timeout_s: float | None = None
    """Seconds that this attempt may take; the gateway cancels it then."""


@dataclass
class ToolOutput:
    """What a tool returns when it ran.

    `is_error` marks a run that failed but has something to show (a traceback that the model's own
    code produced, an MCP result with `isError`): status `tool_error`, content kept.
    """

    content: list[Content] = field(default_factory=list)
    structured: Any = None
    is_error: bool = False

    @classmethod
    def of(cls, value: object) -> ToolOutput:
        """Make an output of a plain Python value: text as it is, anything else as JSON."""
        if isinstance(value, ToolOutput):
            return value
        if isinstance(value, str):
            return cls([TextContent(text=value)])
        if value is None:
            return cls()
        plain = TypeAdapter(type(value)).dump_python(value, mode="json")
        return cls([TextContent(text=json.dumps(plain, ensure_ascii=False))], structured=plain)


@runtime_checkable
class Tool(Protocol):
    """Anything that the gateway can call."""

    @property
    def spec(self) -> ToolSpec:
        """The tool's description; constant while the tool is in a gateway."""
        ...

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """Run one call with arguments that have passed the schema.

        Raises ToolError for what the model or the environment did wrong. Must stop when it is
        cancelled: the gateway cancels at the timeout and when the caller gives up.
        """
        ...

    async def end_session(self, session: str) -> None:
        """Forget a trajectory's state. Called at most once per trajectory, also for unknown ones."""
        ...


class FunctionTool:
    """A Python function as a tool.

    An `async def` runs on the gateway's loop and must not block it. A plain function runs in a
    thread; at its timeout the call is answered and the thread is left to finish, since Python
    cannot end it. Such a thread keeps its place of `max_threads`, so a function that hangs for
    ever ends up refused (`overloaded`) instead of eating the machine. Code that must be killable
    belongs into the sandbox.
    """

    def __init__(self, function: Callable[..., Any], spec: ToolSpec, *, max_threads: int = _THREADS_PER_TOOL) -> None:
        self.function = function
        self._spec = spec
        self._max_threads = max_threads
        self._limiter: anyio.CapacityLimiter | None = None
        self._takes_context = "context" in inspect.signature(function).parameters

    @property
    def spec(self) -> ToolSpec:
        """The tool's description."""
        return self._spec

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """Call the function with the arguments as keywords."""
        keywords: dict[str, Any] = dict(arguments)
        if self._takes_context:
            keywords["context"] = context
        if inspect.iscoroutinefunction(self.function):
            return ToolOutput.of(await self.function(**keywords))
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._max_threads)
        return ToolOutput.of(await _run_in_thread(partial(self.function, **keywords), self._limiter))

    async def end_session(self, session: str) -> None:
        """Nothing to forget: functions keep no state by trajectory."""


async def _run_in_thread(work: Callable[[], Any], limiter: anyio.CapacityLimiter) -> Any:
    """Run `work` on a daemon thread: unlike a pool's, one that hangs does not keep the process from ending.

    The thread gives its place in `limiter` back when it ends, whether or not anybody still waits.
    """
    place = object()
    await limiter.acquire_on_behalf_of(place)
    loop = asyncio.get_running_loop()
    # A list, since a future refuses some exceptions (StopIteration).
    ended: asyncio.Future[list[Any]] = loop.create_future()

    def deliver(value: Any, raised: BaseException | None) -> None:
        limiter.release_on_behalf_of(place)
        if not ended.done():
            ended.set_result([value, raised])

    def serve() -> None:
        value, raised = None, None
        try:
            value = context.run(work)
        except BaseException as error:
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, value, raised)

    context = contextvars.copy_context()
    threading.Thread(target=serve, name="turngate-function", daemon=True).start()
    value, raised = await ended
    if isinstance(raised, BaseException):
        raise raised
    return value


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    annotations: ToolAnnotations | None = None,
    policy: CallPolicy | None = None,
    exclude: Sequence[str] = ("context",),
) -> Any:
    """Make a `FunctionTool` of a typed function; usable bare or with arguments.

    The schema comes from the annotations (pydantic), the description from the docstring. A
    parameter called `context` receives the `ToolContext` and is not part of the schema.

    Raises TypeError for a parameter that a schema cannot describe: one without a name of its own
    (`*args`, `**kwargs`), or of a type that JSON has no form for.
    """
    if function is None:
        return partial(
            tool, name=name, description=description, annotations=annotations, policy=policy, exclude=exclude
        )
    spec = ToolSpec(
        name=name or function.__name__,
        description=description or inspect.cleandoc(function.__doc__ or ""),
        input_schema=_schema_of(function, exclude),
        annotations=annotations or ToolAnnotations(),
        source="function",
        policy=policy or CallPolicy(),
    )
    return FunctionTool(function, spec)


def _schema_of(function: Callable[..., Any], exclude: Sequence[str]) -> dict[str, Any]:
    """JSON Schema of a function's parameters."""
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.name in exclude:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: parameter '{parameter}' cannot be described by a schema")
        kind = Any if parameter.annotation is parameter.empty else parameter.annotation
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (kind, default)
    try:
        schema = cast("dict[str, Any]", create_model(function.__name__, **fields).model_json_schema())
    except PydanticUserError as error:
        raise TypeError(f"{function.__name__}: a parameter's type has no JSON Schema: {error.message}") from None
    schema.pop("title", None)
    for member in schema.get("properties", {}).values():
        member.pop("title", None)
    schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    return schema
