"""Texts for the evaluation that training and tokenizer never see: tool descriptions and error messages."""

from examples.tiny_model.chat import ToolSchema

UNSEEN_TOOLS: list[ToolSchema] = [
    {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": (
                "Perform one computation and hand back its value. Give it an ordinary infix formula; whole numbers "
                "come back whole, fractions as decimals with fifteen places. Brackets nest, common functions such as "
                "sine, factorial and absolute value exist, and Unicode multiplication signs are read too. Nothing is "
                "remembered between invocations."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    "expression": {"type": "string", "description": "Formula, e.g. (17+4)*2", "maxLength": 500}
                },
                "required": ["expression"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "python",
            "description": (
                "Interpret a script inside an isolated container. Whatever it writes to stdout is handed back, errors "
                "included. Scripts that hang are killed; state is thrown away afterwards."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "description": "Script to interpret"},
                    "stdin": {"type": "string", "description": "Fed to the script", "default": ""},
                },
                "required": ["code"],
            },
        },
    },
]

UNSEEN_ERRORS: tuple[str, ...] = (
    "Error: deadline of 30 s exceeded",
    "Error: modulo by zero is undefined",
    "Error: rate limit reached; retry after 12 seconds",
    "Error: the backend crashed",
    "Error: unexpected character at column 7",
    "Error: quota exhausted",
    "RuntimeError: worker died",
    "Something went wrong while running the tool.",
)
