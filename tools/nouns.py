"""The nouns that every room speaks: a tool's description, a call, a result.

They live in the lowest room that needs them; `turngate.gateway` exports them again. All are
pydantic models, so that their JSON is the wire format of ``POST /v1/call`` and friends.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AudioContent",
    "CallError",
    "CallPolicy",
    "CallStats",
    "Content",
    "ImageContent",
    "ResourceContent",
    "Status",
    "TextContent",
    "ToolAnnotations",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "TruncateMode",
]

TruncateMode = Literal["head", "tail", "middle"]
"""Which part of an overlong text is kept: its head, its tail, or both ends (the middle is cut)."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(StrEnum):
    """How a call ended."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    """The tool ran and failed."""
    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"
    """The queue of the tool was full, or the deadline passed while the call waited in it."""
    UNAVAILABLE = "unavailable"
    """The upstream is down."""
    DENIED = "denied"
    """Policy forbids the call."""
    CANCELLED = "cancelled"
    INTERNAL = "internal"
    """A fault of turngate or of a tool's code, not of the call."""


class TextContent(BaseModel):
    """MCP text block."""

    type: Literal["text"] = "text"
    text: str


class ImageContent(BaseModel):
    """MCP image block; `data` is base64."""

    model_config = ConfigDict(populate_by_name=True)

    type: Literal["image"] = "image"
    data: str
    mime_type: str = Field(alias="mimeType")


class AudioContent(BaseModel):
    """MCP audio block; `data` is base64."""

    model_config = ConfigDict(populate_by_name=True)

    type: Literal["audio"] = "audio"
    data: str
    mime_type: str = Field(alias="mimeType")


class ResourceContent(BaseModel):
    """MCP embedded resource or resource link, kept as the tool sent it."""

    model_config = ConfigDict(extra="allow")

    type: Literal["resource", "resource_link"]


Content = Annotated[
    TextContent | ImageContent | AudioContent | ResourceContent,
    Field(discriminator="type"),
]


class ToolAnnotations(BaseModel):
    """MCP's hints about what a call does to the world. None: the tool does not say."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    title: str | None = None
    read_only: bool | None = Field(default=None, alias="readOnlyHint")
    destructive: bool | None = Field(default=None, alias="destructiveHint")
    idempotent: bool | None = Field(default=None, alias="idempotentHint")
    open_world: bool | None = Field(default=None, alias="openWorldHint")


class CallPolicy(_Frozen):
    """What the gateway allows one tool. Every field: None means "take the next wider setting".

    Merged field by field: the configuration of the tool wins over the tool's own policy, which
    wins over the configuration's defaults for all tools.
    """

    timeout_s: float | None = Field(default=None, gt=0)
    """Seconds for one attempt."""
    deadline_s: float | None = Field(default=None, gt=0)
    """Seconds for the whole call: queue, attempts and waits between them."""
    max_attempts: int | None = Field(default=None, ge=1)
    """Attempts in all; only a replay-safe tool is ever tried again."""
    max_concurrency: int | None = Field(default=None, ge=1)
    """Calls of this tool that run at the same time."""
    max_queue: int | None = Field(default=None, ge=0)
    """Calls that may wait for a free place; one more is answered `overloaded`."""
    max_output_bytes: int | None = Field(default=None, ge=64)
    """UTF-8 bytes of text (and of structured JSON) in a result; more is cut."""
    truncate: TruncateMode | None = None
    """Which part of an overlong text is kept."""
    idempotent: bool | None = None
    """Overrides the tool's own hint: a failed call may be replayed."""


class ToolSpec(_Frozen):
    """What a model and a client need to know of one tool."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str = ""
    input_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    """JSON Schema of the arguments, kept verbatim."""
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations = ToolAnnotations()
    source: str = "builtin"
    """Where the tool comes from: `builtin`, `function`, or an upstream's name."""
    policy: CallPolicy = CallPolicy()


class ToolCall(BaseModel):
    """One call, as a model or a client asks for it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    call_id: str = ""
    session: str | None = None
    """The trajectory that the call belongs to; stateful tools keep their state under it."""
    deadline_s: float | None = Field(default=None, gt=0)
    """Seconds from now for the whole call; the tool's own deadline applies if it is nearer."""


class CallError(_Frozen):
    """Why a call did not succeed, written for the model that made it."""

    type: str
    """Short machine-readable kind, for example `schema`, `timeout`, `division_by_zero`."""
    message: str
    """What was wrong and what to do next. Never a stack trace."""
    retryable: bool = False
    """The same call may succeed later."""


class CallStats(BaseModel):
    """What a call cost."""

    queue_s: float = 0.0
    """Seconds that the call waited for a free place."""
    run_s: float = 0.0
    """Seconds in the tool, over all attempts and the waits between them."""
    attempts: int = 0
    cached: bool = False
    truncated: bool = False
    bytes: int = 0
    """UTF-8 bytes of text content before truncation."""


class ToolResult(BaseModel):
    """How a call ended, and what came back."""

    call_id: str = ""
    name: str = ""
    status: Status
    content: list[Content] = Field(default_factory=list)
    structured: Any = None
    error: CallError | None = None
    stats: CallStats = Field(default_factory=CallStats)

    @property
    def ok(self) -> bool:
        """Whether the tool ran and succeeded."""
        return self.status is Status.OK

    @property
    def text(self) -> str:
        """The text that a model reads: the text blocks, or the error's message.

        A failed call that still brought content (a tool that ran and failed) shows the content.
        """
        texts = [block.text for block in self.content if isinstance(block, TextContent)]
        if texts:
            return "\n".join(texts)
        return self.error.message if self.error is not None else ""
