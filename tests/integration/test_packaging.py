"""The wheel: everything that is in the tree, nothing under a generic name."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ["gateway", "scheduler", "tools", "sandbox"]

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    # Built from a copy, so that neither an old build folder nor the build's leftovers matter.
    copy = folder / "tree"
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in files.stdout.splitlines():
        source, target = ROOT / name, copy / name
        if source.is_symlink() or not source.is_file():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(folder),
        str(copy),
    ]
    built = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("turngate-*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_module_of_the_four_rooms(wheel: zipfile.ZipFile) -> None:
    in_tree = {f"turngate/{path.relative_to(ROOT)}" for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    in_tree |= {f"turngate/{room}/py.typed" for room in ROOMS}
    in_wheel = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert in_wheel == in_tree


def test_no_generic_name_lands_in_site_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"turngate"}


def test_the_licence_and_the_command_are_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
    assert b"turngate = turngate.scheduler.command_line:main" in wheel.read(entry_points)


def test_outside_the_checkout_the_rooms_have_no_bare_names(tmp_path: Path) -> None:
    program = f"import importlib.util as u; print([n for n in {ROOMS!r} if u.find_spec(n)])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
