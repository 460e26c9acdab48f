"""Where two readings of an expression differ, it is refused, and both spellings are shown."""

from __future__ import annotations

from turngate.tools.calculator.cursor import Cursor
from turngate.tools.calculator.errors import fail
from turngate.tools.calculator.lexer import Token
from turngate.tools.calculator.syntax import Chain, Negate, Node, Number, Percent

__all__ = ["check_of", "check_product", "check_sum", "is_remainder", "two_readings"]


def two_readings(shown: str, first: str, second: str) -> Exception:
    """Return the error that shows both spellings."""
    return fail("ambiguous", f"`{shown}` can be read in two ways. Write `{first}` or `{second}`.")


def is_remainder(cursor: Cursor, token: Token) -> bool:
    """Tell whether a `%` after an operand is a remainder (`7 % 3`) and not a percentage (`50%`).

    It is one when an operand follows and the blanks around the sign do not say otherwise.
    """
    following = cursor.ahead()
    shown = cursor.slice(max(0, cursor.position - 1), min(cursor.position + 3, len(cursor.tokens) - 1))
    if following.text in ("+", "-") and following.kind == "operator":
        operand_spaced = cursor.ahead(2).spaced
        if not token.spaced and following.spaced:
            return False
        if token.spaced and following.spaced and not operand_spaced:
            return True
    elif following.kind == "number":
        if token.spaced == following.spaced:
            return True
    elif following.kind == "name" and following.text.lower() in ("x", "deg", "degree", "degrees"):
        return False
    elif cursor.begins_operand(following):
        if token.spaced and following.spaced:
            return True
    else:
        return False
    raise fail(
        "ambiguous",
        f"In `{shown}` the `%` may be a percentage or a remainder. Write `50% of x` or `(50%) * x` for a percentage, "
        "`a mod b` for a remainder.",
    )


def check_of(cursor: Cursor, operand: Node, start: int, middle: int) -> None:
    """Refuse `of` after anything but a part: `50% of`, `1/2 of`, `½ of`. Refuse `10 / 50% of 4` as well."""
    if isinstance(operand, Chain) and not operand.grouped and (sign := _sign_before_part(operand)) is not None:
        shown, before = cursor.slice(start, cursor.position), cursor.slice(start, middle)
        after = cursor.slice(middle + 1, cursor.position)
        raise two_readings(shown, f"({before}) * {after}", f"… {sign} (… of {after})")
    last = operand.rest[-1][1] if isinstance(operand, Chain) and not operand.grouped else operand
    divided = isinstance(operand, Chain) and operand.rest[-1][0] == "/"
    whole = isinstance(last, Number) and isinstance(last.value, int)
    if not divided and (whole or not isinstance(last, Number | Percent)):
        raise fail("syntax", "`of` follows a part, as in `50% of 80` or `1/2 of 80`. Otherwise write `*`.")


def _sign_before_part(chain: Chain) -> str | None:
    """Return the `/`, `//` or `%` that stands before the part at the end of a chain, or None."""
    signs = [sign for sign, _ in chain.rest]
    last = chain.rest[-1][1]
    while isinstance(last, Negate):
        last = last.operand
    alone = isinstance(last, Percent) or (isinstance(last, Number) and not isinstance(last.value, int))
    # Otherwise the part is the quotient of the last two operands.
    if not alone and (signs.pop() != "/" or not signs):
        return None
    return {"/": "/", "//": "//", "rem": "%"}.get(signs[-1])


def check_product(cursor: Cursor, operator: str, left: Node, right: Node, start: int, middle: int) -> None:
    """Refuse `1/2π`, `6/2(1+2)` and `7 mod 3 * 2`."""
    if not isinstance(right, Chain) and not isinstance(left, Chain):
        return
    if isinstance(right, Chain) and right.split and not right.grouped and operator != "*" and operator != "of":
        before, shown = cursor.slice(start, middle), cursor.slice(start, cursor.position)
        sign = cursor.slice(middle, middle + 1)
        factor = cursor.slice(middle + 1, right.split)
        rest = cursor.slice(right.split, cursor.position)
        raise two_readings(shown, f"({before} {sign} {factor}) * {rest}", f"{before} {sign} ({factor} * {rest})")
    if isinstance(left, Chain) and not left.grouped and left.rest[-1][0] == "mod":
        before, shown = cursor.slice(start, middle), cursor.slice(start, cursor.position)
        after = cursor.slice(middle, cursor.position)
        raise two_readings(shown, f"({before}) {after}", f"… mod (… {after})")


def check_sum(cursor: Cursor, operator: str, left: Node, right: Node, start: int, middle: int) -> None:
    """Refuse `80 + 10%` and `2 + 5 mod 3`."""
    if isinstance(right, Percent) and not right.grouped and not _is_percentage(left) and not _is_one(left):
        before, part = cursor.slice(start, middle), cursor.slice(middle + 1, cursor.position)
        if not isinstance(left, Number):
            before = f"({before})"
        raise fail(
            "ambiguous",
            f"`{cursor.slice(start, cursor.position)}`: percent of what? Write `{before} * (1 {operator} {part})` "
            f"for percent of the amount before it, or `{before} {operator} ({part})` for the plain percentage.",
        )
    if isinstance(right, Chain) and not right.grouped and any(name == "mod" for name, _ in right.rest):
        before, after = cursor.slice(start, middle), cursor.slice(middle + 1, cursor.position)
        shown = cursor.slice(start, cursor.position)
        raise two_readings(shown, f"{before} {operator} ({after})", f"({before} {operator} …) mod …")


def _is_one(node: Node) -> bool:
    return isinstance(node, Number) and node.value == 1


def _is_percentage(node: Node) -> bool:
    """Tell whether a node is a percentage, or a sum of them."""
    if isinstance(node, Percent):
        return True
    return (
        isinstance(node, Chain)
        and _is_percentage(node.first)
        and all(name in ("+", "-") and isinstance(operand, Percent) for name, operand in node.rest)
    )
