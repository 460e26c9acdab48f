"""The house rules that a reader relies on: who imports whom, and what files may be called."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ["sandbox", "tools", "gateway", "scheduler"]
"""From the lowest to the highest: each may import only itself and those before it."""

MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def imported(path: Path, *, at_import_time: bool = False) -> set[str]:
    """Absolute names of the modules that a file imports; with `at_import_time` only outside functions."""
    names: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if at_import_time and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
        nodes.extend(ast.iter_child_nodes(node))
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rooms_import_only_downwards(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    above = ROOMS[ROOMS.index(room) + 1 :]
    for name in imported(path):
        assert not any(name == f"turngate.{other}" or name.startswith(f"turngate.{other}.") for other in above), name


def test_only_the_plugin_imports_ms_swift_and_nothing_heavy_is_imported_with_the_package() -> None:
    heavy = {"swift", "torch", "vllm", "transformers"}
    importers = {
        path.name
        for path in MODULES
        if {name.partition(".")[0] for name in imported(path, at_import_time=True)} & heavy
    }
    assert importers == {"turngate_plugin.py"}


def test_no_file_beside_the_plugin_hides_a_module_of_somebody_else() -> None:
    """ms-swift puts the plugin's folder first on sys.path."""
    names = {path.stem for path in (ROOT / "scheduler").iterdir() if path.suffix == ".py" or path.is_dir()}
    names -= {"__init__", "__pycache__"}
    clashes = {name for name in names if name in sys.stdlib_module_names}
    for name in names - clashes:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin and ROOT not in Path(spec.origin).parents:
            clashes.add(name)
    assert clashes == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_one_thing_and_says_what_is_public(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text)), "no module docstring"
    if path.name not in {"__init__.py", "__main__.py", "turngate_plugin.py"}:
        assert "\n__all__" in text
