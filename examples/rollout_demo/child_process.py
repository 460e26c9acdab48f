"""A program that is stopped together with everything it started."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from examples.rollout_demo.errors import StartError

TAIL_LINES = 30
_POLL_S = 0.1
_KILL_S = 10.0

# A shell that works with another gateway must not change what is started here.
_TURNGATE_VARIABLES = ("TURNGATE_URL", "TURNGATE_CONFIG", "TURNGATE_TOKEN")


class ChildProcess:
    """A program in a session of its own, with all its output in a file.

    The session is what makes `stop` thorough: it finds the program's children even after their
    parent has died, as vLLM's engine outlives a rollout server by several seconds.
    """

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, log_path: Path) -> None:
        """Start `command`; `env` is its whole environment. Raises OSError if it cannot be started."""
        self._name = " ".join([Path(command[0]).name, *command[1:2]])
        self.log_path = log_path
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def exit_code(self) -> int | None:
        """None while the program runs; negative: the signal that ended it."""
        return self._process.poll()

    def processes(self) -> list[int]:
        """Ids of the program and of everything it started that still runs."""
        self._process.poll()
        return sorted(_session_members(self._process.pid))

    def wait_for(
        self, ready: Callable[[str], str | None], *, timeout_s: float, on_wait: Callable[[float], None] = lambda s: None
    ) -> str:
        """Return what `ready` makes of the log, as soon as that is not None.

        `on_wait` gets the seconds waited, at each look. Raises StartError if the program ends first or
        `timeout_s` have passed.
        """
        started_s = time.monotonic()
        while True:
            code = self.exit_code
            if (found := ready(self.log())) is not None:
                return found
            waited_s = time.monotonic() - started_s
            if code is not None:
                raise StartError(f"`{self._name}` ended with exit code {code}.\n{self.log_tail()}")
            if waited_s > timeout_s:
                raise StartError(f"`{self._name}` was not ready after {waited_s:.0f} s.\n{self.log_tail()}")
            on_wait(waited_s)
            time.sleep(_POLL_S)

    def log(self) -> str:
        """Everything printed so far."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def log_tail(self, lines: int = TAIL_LINES) -> str:
        """The end of the log, with the log's path above it."""
        tail = "\n".join(f"  | {line}" for line in self.log().splitlines()[-lines:])
        return f"The end of {self.log_path}:\n{tail or '  | (nothing was printed)'}"

    def stop(self, grace_s: float = 5.0) -> None:
        """End the program and all its children; what is still there after `grace_s` is killed.

        Raises RuntimeError if something outlives even that.
        """
        try:
            self._signal(signal.SIGTERM, self.processes())
            self._wait_until_gone(grace_s)
        finally:
            # Also when Ctrl-C interrupts the wait: nothing may stay behind. Python's resource trackers
            # go last, since they remove the shared memory that the killed processes leave.
            self._signal(signal.SIGKILL, [pid for pid in self.processes() if not _is_resource_tracker(pid)])
            self._wait_until_gone(_KILL_S)
            self._signal(signal.SIGKILL, self.processes())
            if left := self._wait_until_gone(_KILL_S):
                raise RuntimeError(f"processes {left} of `{self._name}` could not be ended")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        self.stop()

    @staticmethod
    def _signal(number: signal.Signals, processes: Sequence[int]) -> None:
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _wait_until_gone(self, patience_s: float) -> list[int]:
        deadline_s = time.monotonic() + patience_s
        while (left := self.processes()) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return left


def command_path(name: str, remedy: str) -> str:
    """Where a command of this interpreter's environment lies, else of PATH. Raises StartError, with the remedy."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise StartError(f"there is no `{name}` command here; {remedy}")
    return found


def inherited_environment() -> dict[str, str]:
    """This process's environment without turngate's variables, and such that logs appear at once."""
    kept = {name: value for name, value in os.environ.items() if name not in _TURNGATE_VARIABLES}
    return kept | {"PYTHONUNBUFFERED": "1"}


def listening_url(pattern: str) -> Callable[[str], str | None]:
    """For `wait_for`: the URL that `pattern`'s first group finds in the log."""

    def find(log: str) -> str | None:
        match = re.search(pattern, log)
        return match[1] if match else None

    return find


def _session_members(session: int) -> Iterator[int]:
    """Processes of a session, zombies apart: those are dead and wait for a parent to notice."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # "pid (name) state ppid pgrp session ...": the name may hold anything, so read from its end.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in ("Z", "X"):
            yield int(entry.name)


def _is_resource_tracker(pid: int) -> bool:
    try:
        return b"multiprocessing.resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
