"""Command line: `python -m turngate_cpu COMMAND`.

rollout ARGS   the real `swift rollout`, patched for the CPU
rlhf ARGS      the real `swift rlhf`, patched for the CPU
plugin         print the path for `swift rollout --external_plugins`
env            print `export NAME=value` lines for a shell
"""

import os
import shlex
import sys

from turngate_cpu import environment, plugin_path, prepare_server, prepare_trainer


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status; `arguments` are the words after the module name."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command == "plugin":
        print(plugin_path())
    elif command == "env":
        for name, value in environment().items():
            print(f"export {name}={shlex.quote(value)}")
    elif command == "rollout":
        _run_rollout(rest)
    elif command == "rlhf":
        _run_rlhf(rest)
    else:
        known = command in ("help", "--help", "-h")
        print((__doc__ or "").strip(), file=sys.stdout if known else sys.stderr)
        return 0 if known else 2
    return 0


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
