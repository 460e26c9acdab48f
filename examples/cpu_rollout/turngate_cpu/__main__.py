"""Command line: `python -m turngate_cpu COMMAND`.

rollout ARGS   the real `swift rollout`, patched for the CPU
rlhf ARGS      the real `swift rlhf`, patched for the CPU
plugin         print the path for `swift rollout --external_plugins`
check          import what server, engine and trainer import, and print the versions in use
env            print `export NAME=value` lines for a shell
"""

import os
import shlex
import sys
from importlib import import_module

from turngate_cpu import environment, plugin_path, prepare_server, prepare_trainer
from turngate_cpu.replacement import installed_versions

USED = (
    "swift.pipelines",
    "swift.pipelines.infer.rollout",
    "swift.pipelines.train.rlhf",
    "swift.rlhf_trainers.grpo_trainer",
    "swift.rlhf_trainers.vllm_client",
    "transformers.models.qwen2.modeling_qwen2",
    "vllm.model_executor.models.qwen2",
    "vllm.v1.engine.async_llm",
    "vllm.v1.engine.core",
    "vllm.v1.worker.cpu_worker",
)
"""What `check` imports."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status; `arguments` are the words after the module name."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command == "plugin":
        print(plugin_path())
    elif command == "env":
        for name, value in environment().items():
            print(f"export {name}={shlex.quote(value)}")
    elif command == "check":
        _check()
    elif command == "rollout":
        _run_rollout(rest)
    elif command == "rlhf":
        _run_rlhf(rest)
    else:
        known = command in ("help", "--help", "-h")
        print((__doc__ or "").strip(), file=sys.stdout if known else sys.stderr)
        return 0 if known else 2
    return 0


def _check() -> None:
    os.environ.update(environment())
    prepare_server()
    prepare_trainer()
    for module in USED:
        import_module(module)
    print(", ".join(f"{name} {number}" for name, number in installed_versions().items()))


def _run_rollout(arguments: list[str]) -> None:
    # Before the first import of torch: OMP_NUM_THREADS is read only once.
    os.environ.update(environment())
    prepare_server()
    from swift.pipelines import rollout_main

    rollout_main(arguments)


def _run_rlhf(arguments: list[str]) -> None:
    os.environ.update(environment())
    prepare_trainer()
    from swift.pipelines import rlhf_main

    rlhf_main(arguments)


# The rollout server's worker is a fresh interpreter that imports this file again.
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
