"""The file for `swift rollout --external_plugins`.

It lies in a folder of its own because ms-swift puts the plugin's folder first on sys.path.
"""

from pathlib import Path


def plugin_path() -> Path:
    """Return the absolute path of the plugin file."""
    return Path(__file__).resolve().parent / "turngate_cpu_plugin.py"
