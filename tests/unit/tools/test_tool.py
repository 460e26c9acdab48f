"""A Python function as a tool."""

from typing import Annotated, Literal

import anyio
import pytest
from pydantic import BaseModel, Field

from turngate.tools import FunctionTool, TextContent, ToolContext, ToolOutput, tool


@tool
def convert(value: Annotated[float, Field(gt=0)], unit: Literal["m", "km"] = "m", *, context: ToolContext) -> str:
    """Convert a length.

    Second paragraph.
    """
    return f"{value} {unit} {context.session}"


def test_the_schema_comes_from_the_annotations_and_the_description_from_the_docstring() -> None:
    assert convert.spec.name == "convert"
    assert convert.spec.description == "Convert a length.\n\nSecond paragraph."
    assert convert.spec.input_schema == {
        "type": "object",
        "properties": {
            "value": {"type": "number", "exclusiveMinimum": 0},
            "unit": {"type": "string", "enum": ["m", "km"], "default": "m"},
        },
        "required": ["value"],
        "additionalProperties": False,
    }


def run(made: FunctionTool, **arguments: object) -> ToolOutput:
    async def once() -> ToolOutput:
        return await made.run(arguments, ToolContext(session="s1"))

    return anyio.run(once)


def test_a_parameter_called_context_receives_the_calls_context() -> None:
    assert run(convert, value=2.0).content == [TextContent(text="2.0 m s1")]


class Point(BaseModel):
    x: int


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("é", "é", None),
        (None, None, None),
        (3, "3", 3),
        ({"a": [1]}, '{"a": [1]}', {"a": [1]}),
        (Point(x=1), '{"x": 1}', {"x": 1}),
    ],
)
def test_plain_values_become_text_and_structured_content(value: object, text: str | None, structured: object) -> None:
    output = run(tool(lambda: value, name="give"))
    assert [block.text for block in output.content if isinstance(block, TextContent)] == ([text] if text else [])
    assert output.structured == structured


def test_a_function_whose_parameters_have_no_names_is_refused() -> None:
    def variadic(**anything: int) -> None: ...

    with pytest.raises(TypeError, match="anything"):
        tool(variadic)
