"""The `vllm.general_plugins` entry point `turngate_cpu`, which vLLM calls in each of its processes."""


def register() -> None:
    """Patch this process if vLLM runs on the CPU, do nothing if not.

    vLLM loads every installed plugin unless VLLM_PLUGINS says otherwise, so this also runs where
    somebody installed the package beside a GPU build.

    Raises:
        MissingTargetError: another vLLM than this package was written for.
    """
    from turngate_cpu.processes import prepare_engine, runs_on_cpu

    if runs_on_cpu():
        prepare_engine()
