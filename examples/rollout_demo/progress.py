"""Progress for people: a spinner in a terminal, a line now and then in a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

_HEARTBEAT_S = 10.0


class Progress:
    """Says which phase runs and for how long."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text = ""

    @contextmanager
    def phase(self, text: str) -> Iterator[Callable[[str], None]]:
        """Show `text` while the block runs; what it gets lets it say more. Ends with a line that stays."""
        started_s = time.monotonic()
        self._text = text
        with self._spinner() if self._console.is_terminal else self._heartbeat(started_s):
            yield self._say
        self._console.print(f"{text}: {time.monotonic() - started_s:.1f} s", highlight=False)

    def _say(self, text: str) -> None:
        self._text = text

    @contextmanager
    def _spinner(self) -> Iterator[None]:
        columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        with Bar(*columns, console=self._console, transient=True) as bar:
            task = bar.add_task(self._text)
            with _every(0.5, lambda: bar.update(task, description=self._text)):
                yield

    @contextmanager
    def _heartbeat(self, started_s: float) -> Iterator[None]:
        self._console.print(f"{self._text} ...", highlight=False)

        def beat() -> None:
            waited_s = time.monotonic() - started_s
            self._console.print(f"  [{waited_s:4.0f} s] {self._text}", highlight=False, markup=False)

        with _every(_HEARTBEAT_S, beat):
            yield


@contextmanager
def _every(interval_s: float, action: Callable[[], None]) -> Iterator[None]:
    """Repeat an action beside the block: the block may be one long blocking request."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(interval_s):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
