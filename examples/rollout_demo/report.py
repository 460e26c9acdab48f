"""What the demo shows people: the table, the totals, one trajectory token by token, the files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from examples.rollout_demo.totals import Totals
from examples.rollout_demo.trajectory import Decode, Segment, Trajectory

# Neighbouring tokens alternate, so that their borders show.
_SAMPLED = ("green", "bold green")
_MASKED = ("white on dark_red", "bold white on dark_red")
_SEPARATOR = "·"
_INDENT = "    "
_CELL_CHARS = 120


def print_table(console: Console, trajectories: Sequence[Trajectory]) -> None:
    """One row for each trajectory; calls and observations in the order in which they were made."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("#", justify="right", style="dim")
    table.add_column("question", ratio=3, min_width=24)
    table.add_column("calls", ratio=2, min_width=16)
    table.add_column("observations", ratio=1, min_width=12)
    table.add_column("answer", justify="right", min_width=6)
    table.add_column("verdict", min_width=9)
    for number, one in enumerate(trajectories, start=1):
        calls = one.calls
        table.add_row(
            str(number),
            Text(one.task.question),
            _lines((_short(call.text), "") for call in calls),
            _lines(
                ("(not run)", "dim")
                if call.observation is None
                else (_short(call.observation), "" if call.status in (None, "ok") else "yellow")
                for call in calls
            ),
            "-" if one.answer is None else str(one.answer),
            _verdict(one),
        )
    console.print(table)
    _print_problems(console, trajectories)


def print_totals(console: Console, totals: Totals, trajectories: Sequence[Trajectory]) -> None:
    """The sums, and why trajectories ended."""
    endings = Counter(one.stop_reason for one in trajectories).most_common()
    rows = (
        ("trajectories", f"{totals.trajectories}: {totals.valid} valid, {totals.right} with the right answer"),
        ("ended by", ", ".join(f"{reason} {count}" for reason, count in endings)),
        ("calls", f"{totals.calls} in {totals.turns} turns, {totals.failed_calls} failed"),
        ("tokens", f"{totals.generated_tokens} generated (trained on), {totals.masked_tokens} masked (not trained on)"),
        ("seconds", f"{totals.batch_s:.1f} for the batch, {totals.start_s:.1f} to start the servers"),
    )
    console.print()
    for name, text in rows:
        console.print(Text.assemble((f"{name:>14}  ", "bold"), text))


def print_tokens(console: Console, trajectory: Trajectory, number: int, decode: Decode) -> None:
    """The response of one trajectory, token by token: what is trained on and what is masked.

    A terminal shows the mask in colours; without colours masked tokens stand in `[[ ]]`.
    """
    colours = console.color_system is not None and not console.no_color
    console.print()
    console.print(Text(f"Trajectory {number}, token by token", style="bold"))
    if colours:
        legend = Text.assemble(
            "  ", ("sampled by the model: mask 1, trained on", _SAMPLED[0]),
            "  ", ("appended by turngate: mask 0", _MASKED[0]),
        )  # fmt: skip
    else:
        legend = Text(
            f"  tokens are separated by {_SEPARATOR}; plain: sampled by the model, mask 1, trained on; "
            "[[in brackets]]: appended by turngate, mask 0"
        )
    console.print(legend)
    for message in trajectory.output["messages"][:-1]:
        if message["role"] == "user":
            console.print(Text(f"  the prompt ends with: {message['content']}", style="dim"))
    for segment in trajectory.segments:
        console.print(_segment_text(segment, decode, colours, console.width))


def print_files(console: Console, files: Iterable[tuple[str, Path]]) -> None:
    """Where everything lies."""
    console.print()
    for name, path in files:
        console.print(Text(f"{name:>14}  {path}"), soft_wrap=True)


def pick_for_tokens(trajectories: Sequence[Trajectory]) -> int:
    """Index of the trajectory worth showing: valid and right before others, then the most calls."""

    def worth(index: int) -> tuple[bool, bool, int, int]:
        one = trajectories[index]
        return one.valid, one.right, len(one.calls), -index

    return max(range(len(trajectories)), key=worth)


def _print_problems(console: Console, trajectories: Sequence[Trajectory]) -> None:
    """Each problem once, with the trajectories that have it: often all have the same."""
    numbers: defaultdict[str, list[str]] = defaultdict(list)
    for number, one in enumerate(trajectories, start=1):
        for problem in one.problems:
            numbers[problem].append(f"#{number}")
    for problem, those in numbers.items():
        console.print(Text(f"not valid: {problem} ({', '.join(those)})", style="red"))


def _segment_text(segment: Segment, decode: Decode, colours: bool, width: int) -> Text:
    """A heading, and the tokens in lines that break only between tokens."""
    count = len(segment.ids)
    kind = "sampled" if segment.sampled else "masked"
    text = Text(f"  {kind}, {count} token{'' if count == 1 else 's'}", style="dim" if colours else "")
    # A line break inside a token would tear the line apart, so it is spelled out.
    tokens = [decode([token]).replace("\n", "\\n") for token in segment.ids]
    if not colours:
        tokens = [token + _SEPARATOR for token in tokens[:-1]] + tokens[-1:]
        if not segment.sampled:
            tokens[0], tokens[-1] = f"[[{tokens[0]}", f"{tokens[-1]}]]"
    styles = ("", "") if not colours else _SAMPLED if segment.sampled else _MASKED
    column = width
    for place, token in enumerate(tokens):
        if column + cell_len(token) > width:
            text.append(f"\n{_INDENT}", style="not dim")
            column = len(_INDENT)
        text.append(token, style=f"not dim {styles[place % 2]}".strip())
        column += cell_len(token)
    return text


def _verdict(trajectory: Trajectory) -> Text:
    if not trajectory.valid:
        return Text("NOT VALID", style="bold red")
    if trajectory.right:
        return Text("right", style="green")
    if trajectory.answer is None:
        ending = "" if trajectory.stop_reason == "answered" else f": {trajectory.stop_reason}"
        return Text(f"no answer{ending}", style="yellow")
    return Text(f"wrong: {trajectory.task.answer}", style="yellow")


def _lines(parts: Iterable[tuple[str, str]]) -> Text:
    return Text("\n").join(Text(text, style=style) for text, style in parts)


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _CELL_CHARS else one_line[: _CELL_CHARS - 3] + "..."
