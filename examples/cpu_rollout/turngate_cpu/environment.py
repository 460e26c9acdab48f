"""Environment variables that the CPU engine, and everything that starts it, should run with."""

import os
from collections.abc import Mapping

ENGINE_PLUGIN = "turngate_cpu"
"""Name of our `vllm.general_plugins` entry point, as in pyproject.toml."""

_DEFAULTS = {
    # Cache for attention keys and values, in GiB. Without it vLLM takes a large part of the memory.
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # vLLM would pin its threads to cores, which hurts when trainer and server share few of them.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    # The engine's worker in the engine's own process: one process less to start.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # Otherwise the first request waits half a minute for a C++ compiler, which must be installed.
    "TORCHDYNAMO_DISABLE": "1",
    # Model and data are local files: a look-up on a hub could only fail or wait.
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables to set, and only those: merge them over the process's own.

    What `given` (by default os.environ) already sets is kept. VLLM_PLUGINS becomes an explicit
    list with our plugin on it: without a list vLLM also loads ms-swift's plugin, which imports
    torchvision, and torchvision is not part of the CPU set-up.
    """
    present = os.environ if given is None else given
    wanted = {name: present.get(name, value) for name, value in _DEFAULTS.items()}
    plugins = [name for name in present.get("VLLM_PLUGINS", "").split(",") if name]
    if ENGINE_PLUGIN not in plugins:
        plugins.append(ENGINE_PLUGIN)
    wanted["VLLM_PLUGINS"] = ",".join(plugins)
    return wanted
