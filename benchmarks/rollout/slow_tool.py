"""A tool that takes its time, as a search or a code run does."""

import asyncio

SLEEP_S = 0.5


def add(left: str, right: str) -> str:
    return str(int(left) + int(right))


async def calculator(expression: str) -> str:
    """Evaluate an arithmetic expression."""
    await asyncio.sleep(SLEEP_S)
    return add(*expression.split("+"))
