"""The evaluator behind the demonstrations: integers only, pure standard library.

It covers what the tasks ask for (`+ - *`, unary minus; for code one `print` of `sum`, `max` or `min`) and prints
integers as a calculator does. Everything else raises `ArithmeticRefusal`. It is no sandbox and no calculator tool.
"""

import ast
import operator
from collections.abc import Callable

MAX_ABS_OPERAND = 10**12
MAX_RANGE_ITEMS = 100_000

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_FUNCTIONS: dict[str, Callable[[list[int]], int]] = {"sum": sum, "max": max, "min": min}


class ArithmeticRefusal(ValueError):
    """The text is not one of the few forms this evaluator knows."""


def evaluate_expression(expression: str) -> str:
    """Return the decimal text of an integer expression such as `12*7+5`."""
    return str(_integer(_parse(expression)))


def run_print(code: str) -> str:
    """Return what `print(...)` of one integer value prints, without the line end."""
    match _parse(code):
        case ast.Call(func=ast.Name(id="print"), args=[value], keywords=[]):
            return str(_integer(value))
    raise ArithmeticRefusal("expected one print(...) call")


def answer_call(name: str, arguments: dict[str, str]) -> str:
    """Return the observation of one call of `calculator` or `python`, or an `Error: ...` text."""
    try:
        match name, arguments:
            case "calculator", {"expression": str(expression), **rest} if not rest:
                return evaluate_expression(expression)
            case "python", {"code": str(code), **rest} if not rest:
                return run_print(code)
    except ArithmeticRefusal as refusal:
        return f"Error: {refusal}"
    return f"Error: no tool {name} with these arguments"


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ArithmeticRefusal("invalid syntax") from error


def _integer(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_integer(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            a, b = _integer(left), _integer(right)
            if max(abs(a), abs(b)) > MAX_ABS_OPERAND:
                raise ArithmeticRefusal("number too large")
            return _OPERATORS[type(op)](a, b)
        case ast.Call(func=ast.Name(id=name), args=[items], keywords=[]) if name in _FUNCTIONS:
            values = _integers(items)
            if not values and name != "sum":
                raise ArithmeticRefusal("empty list")
            return _FUNCTIONS[name](values)
    raise ArithmeticRefusal("unsupported expression")


def _integers(node: ast.expr) -> list[int]:
    match node:
        case ast.List(elts=elements):
            return [_integer(element) for element in elements]
        case ast.Call(func=ast.Name(id="range"), args=[first, stop], keywords=[]):
            values = range(_integer(first), _integer(stop))
            if len(values) > MAX_RANGE_ITEMS:
                raise ArithmeticRefusal("range too long")
            return list(values)
    raise ArithmeticRefusal("unsupported list")
