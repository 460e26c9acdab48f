"""The committed model and its task generator; needs neither torch nor transformers."""

import itertools
import random

import pytest

from examples.tiny_model.arithmetic import ArithmeticRefusal, answer_call, evaluate_expression, run_print
from examples.tiny_model.chat import Turn, call_text, read_answer, read_call, system_segment, turn_segments
from examples.tiny_model.checkpoint import CHECKSUMS, MAX_BYTES, MODEL_DIR, checksums
from examples.tiny_model.demonstrations import demonstration
from examples.tiny_model.tasks import CALCULATOR_KINDS, KINDS, Task, ToolCall, tasks
from examples.tiny_model.tool_lists import random_tools


def first(count: int, seed: int, split: str) -> list[Task]:
    return list(itertools.islice(tasks(seed, split), count))


def test_the_files_of_the_model_match_their_checksums():
    assert (MODEL_DIR / CHECKSUMS).read_text() == checksums(MODEL_DIR)


def test_the_whole_model_folder_stays_below_four_mebibytes():
    assert sum(path.stat().st_size for path in MODEL_DIR.iterdir()) <= MAX_BYTES


def test_the_same_seed_gives_the_same_tasks_and_another_seed_others():
    assert first(50, 7, "train") == first(50, 7, "train")
    assert first(50, 7, "train") != first(50, 8, "train")


def test_a_computation_is_never_in_both_splits():
    train = {str(task.calls) for task in first(3000, 1, "train")}
    held_out = {str(task.calls) for task in first(3000, 2, "held-out")}
    assert train.isdisjoint(held_out)
    assert {task.split for task in first(200, 3, "held-out")} == {"held-out"}


def test_every_family_occurs_and_every_answer_is_the_last_observation():
    sample = first(200, 4, "train")
    assert {task.kind for task in sample} == set(KINDS)
    for task in sample:
        assert task.observations[-1] == str(task.answer)
        assert len(task.calls) == len(task.observations) == (2 if task.kind == "chain" else 1)


def test_a_list_without_python_is_asked_only_what_the_calculator_can_answer():
    rng = random.Random(0)
    for _ in range(200):
        tools, kinds = random_tools(rng)
        if "python" not in {tool["function"]["name"] for tool in tools}:
            assert kinds == CALCULATOR_KINDS


@pytest.mark.parametrize(
    ("expression", "printed"),
    [("12*7+5", "89"), ("3-10", "-7"), ("-7*4", "-28"), ("999*999*999", "997002999"), ("2*(3+4)", "14")],
)
def test_expressions_print_as_plain_integers(expression, printed):
    assert evaluate_expression(expression) == printed


@pytest.mark.parametrize(
    ("code", "printed"),
    [("print(sum(range(3, 17+1)))", "150"), ("print(max([4, 81, 9]))", "81"), ("print(min([4, 81, 9]))", "4")],
)
def test_code_prints_one_integer(code, printed):
    assert run_print(code) == printed


@pytest.mark.parametrize(
    "code", ["import os", "print(open('x'))", "print(1, 2)", "print(max([]))", "1+", "print(True)"]
)
def test_anything_else_is_refused(code):
    with pytest.raises(ArithmeticRefusal):
        run_print(code)


def test_a_refused_call_becomes_an_error_text():
    assert answer_call("calculator", {"expression": "1/0"}).startswith("Error: ")
    assert answer_call("calculator", {"code": "1"}).startswith("Error: ")
    assert answer_call("calc", {"expression": "1"}).startswith("Error: ")


def test_a_dialogue_is_rendered_as_the_qwen_chat_format():
    call = ToolCall("calculator", {"expression": "1+2"})
    turns = [Turn("user", "What is 1+2?"), Turn("assistant", call_text(call)), Turn("tool", "3")]
    turns.append(Turn("assistant", "The answer is 3."))
    segments = [system_segment("Use the tools.", None), *turn_segments(turns)]
    assert "".join(segment.text for segment in segments) == (
        "<|im_start|>system\nUse the tools.<|im_end|>\n"
        "<|im_start|>user\nWhat is 1+2?<|im_end|>\n<|im_start|>assistant\n"
        '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1+2"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n3\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
        "The answer is 3.<|im_end|>"
    )
    assert "".join(segment.text for segment in segments if segment.trained) == (
        call_text(call) + "<|im_end|>" + "The answer is 3.<|im_end|>"
    )


def test_a_tool_list_becomes_one_json_line_per_tool():
    tools = [{"name": "a"}, {"name": "ä"}]
    text = system_segment("Hello.", tools).text
    assert text.startswith("<|im_start|>system\nHello.\n\n# Tools\n\n")
    assert '<tools>\n{"name": "a"}\n{"name": "ä"}\n</tools>' in text


def test_a_written_call_reads_back_and_other_texts_do_not():
    call = ToolCall("python", {"code": 'print("x")'})
    assert read_call(call_text(call)) == call
    assert read_call("The answer is 3.") is None
    assert read_call("<tool_call>\n{broken\n</tool_call>") is None
    assert read_call('<tool_call>\n{"name": 1, "arguments": {}}\n</tool_call>') is None


def test_only_the_exact_closing_sentence_counts_as_an_answer():
    assert read_answer("The answer is -12.") == -12
    assert read_answer("The answer is 12") is None


def test_clean_demonstrations_end_with_the_answer_or_admit_an_error():
    rng = random.Random(0)
    for task in first(300, 5, "train"):
        assert demonstration(rng, task)[-1].text in {task.final_text, "I cannot answer."}


def test_flawed_demonstrations_are_made_only_on_request():
    rng = random.Random(0)
    endings = [demonstration(rng, task, 1.0)[-1].text == task.final_text for task in first(300, 5, "train")]
    assert sum(endings) < 60
