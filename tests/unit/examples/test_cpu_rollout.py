"""examples/cpu_rollout without torch, vLLM or ms-swift: stand-in modules take their place."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "cpu_rollout"


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make turngate_cpu importable, which the core environment doesn't install."""
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Return a function that puts a module with the given attributes into sys.modules."""

    def make(name: str, **attributes: object) -> ModuleType:
        module = ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return make


def platform(*, cpu: bool) -> SimpleNamespace:
    return SimpleNamespace(is_cpu=lambda: cpu)


def test_importing_the_package_loads_none_of_the_heavy_libraries() -> None:
    already = {"torch", "vllm", "swift"} & set(sys.modules)
    package = import_module("turngate_cpu")
    assert {"torch", "vllm", "swift"} & set(sys.modules) == already
    assert all(hasattr(package, name) for name in package.__all__)


def test_environment_keeps_what_is_set_and_lists_our_engine_plugin() -> None:
    environment = import_module("turngate_cpu").environment
    plain = environment({})
    assert plain["VLLM_PLUGINS"] == "turngate_cpu"
    assert plain["HF_HUB_OFFLINE"] == "1"
    given = environment({"OMP_NUM_THREADS": "4", "VLLM_PLUGINS": "mine", "PATH": "/bin"})
    assert given["OMP_NUM_THREADS"] == "4"
    assert given["VLLM_PLUGINS"] == "mine,turngate_cpu"
    assert "PATH" not in given
    assert environment(given) == {**plain, **given}


def test_the_engine_plugin_is_declared_under_the_name_that_the_environment_lists() -> None:
    declared = (FOLDER / "pyproject.toml").read_text()
    name = import_module("turngate_cpu.environment").ENGINE_PLUGIN
    assert f'[project.entry-points."vllm.general_plugins"]\n{name} = "turngate_cpu.engine_process:register"' in declared


def test_the_plugin_file_has_a_folder_to_itself() -> None:
    # ms-swift puts that folder first on sys.path, where other files could shadow modules.
    plugin = import_module("turngate_cpu").plugin_path()
    assert plugin.is_file()
    assert {path.name for path in plugin.parent.glob("*.py")} == {"__init__.py", plugin.name}


def test_the_server_sees_one_device(stand_in: Callable[..., ModuleType]) -> None:
    stand_in("vllm.platforms", current_platform=platform(cpu=True))
    arguments = stand_in("swift.arguments.deploy_args", get_device_count=lambda: 0)
    import_module("turngate_cpu").prepare_server()
    assert arguments.get_device_count() == 1


def test_the_engine_gets_every_patch_and_copies_of_the_communicator_are_replaced_too(
    stand_in: Callable[..., ModuleType],
) -> None:
    stand_in("vllm.platforms", current_platform=platform(cpu=True))
    layers = stand_in("vllm.model_executor.layers.utils", dispatch_cpu_unquantized_gemm=None)
    original = stand_in("vllm.distributed.device_communicators.pynccl", PyNcclCommunicator=None)
    copy = stand_in("swift.rlhf_trainers.vllm_client", PyNcclCommunicator=None)
    cuda = stand_in("torch.cuda", synchronize=None)
    cpu = stand_in("torch.cpu")
    register = import_module("turngate_cpu.engine_process").register
    register()
    register()
    communicator = import_module("turngate_cpu.communicator").StoreCommunicator
    assert original.PyNcclCommunicator is communicator
    assert copy.PyNcclCommunicator is communicator
    assert layers.dispatch_cpu_unquantized_gemm is import_module("turngate_cpu.linear_layers").keep_weights
    assert cuda.synchronize("cpu") is None
    with cpu.device("cpu"):
        pass


def test_beside_a_gpu_build_of_vllm_the_engine_plugin_changes_nothing(stand_in: Callable[..., ModuleType]) -> None:
    stand_in("vllm.platforms", current_platform=platform(cpu=False))
    cuda = stand_in("torch.cuda", synchronize="untouched")
    import_module("turngate_cpu.engine_process").register()
    assert cuda.synchronize == "untouched"


def test_the_wrapper_refuses_a_gpu_build_of_vllm(stand_in: Callable[..., ModuleType]) -> None:
    stand_in("vllm.platforms", current_platform=platform(cpu=False))
    package = import_module("turngate_cpu")
    with pytest.raises(package.NotACpuMachineError, match="swift rollout"):
        package.prepare_server()


def test_a_missing_name_is_reported_with_the_versions_expected_and_found(
    stand_in: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("vllm.platforms", current_platform=platform(cpu=True))
    stand_in("swift.arguments.deploy_args")
    replacement = import_module("turngate_cpu.replacement")
    monkeypatch.setattr(replacement, "version", lambda name: "9.9.9")
    package = import_module("turngate_cpu")
    with pytest.raises(package.MissingTargetError) as raised:
        package.prepare_server()
    message = str(raised.value)
    assert "swift.arguments.deploy_args.get_device_count" in message
    assert "ms-swift 4.6.0" in message
    assert "ms-swift 9.9.9" in message


def test_a_missing_module_is_reported_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    replacement = import_module("turngate_cpu.replacement")
    monkeypatch.setattr(replacement, "version", lambda name: "9.9.9")
    with pytest.raises(import_module("turngate_cpu").MissingTargetError, match="no_such_module"):
        replacement.replace("no_such_module", "name", None)


def test_the_command_line_prints_the_plugin_path_and_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    main = import_module("turngate_cpu.__main__").main
    assert main(["plugin"]) == 0
    assert capsys.readouterr().out.strip().endswith("turngate_cpu_plugin.py")
    assert main(["env"]) == 0
    assert "export VLLM_CPU_KVCACHE_SPACE=" in capsys.readouterr().out


def test_an_unknown_command_explains_itself_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert import_module("turngate_cpu.__main__").main(["dance"]) == 2
    assert "python -m turngate_cpu COMMAND" in capsys.readouterr().err
