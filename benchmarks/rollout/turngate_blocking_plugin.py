"""The baseline: a scheduler that runs its tool in `step()`, as ms-swift's example `ToolCallScheduler` does.

That example is not part of the ms-swift package and reads another call format, so its structure is
written here for the Hermes format: the call is parsed out of the text, the tool runs
synchronously inside `step()`, its result is appended with loss mask 0.
"""

import re
import time

from swift.rollout.multi_turn import MultiTurnScheduler, multi_turns

from benchmarks.rollout.slow_tool import SLEEP_S, add

_CALL = re.compile(r'"expression": "(\d+)\+(\d+)"')


class BlockingToolScheduler(MultiTurnScheduler):
    """The tool runs on the engine's event loop."""

    def check_finished(self, infer_request, response_choice, current_turn):
        done = _CALL.search(response_choice.message.content) is None
        return done or super().check_finished(infer_request, response_choice, current_turn)

    def step(self, infer_request, response_choice, current_turn):
        ids, mask, logprobs = self.prepare_response_continuation(response_choice)
        left, right = _CALL.search(response_choice.message.content).groups()
        time.sleep(SLEEP_S)
        response = f"<tool_response>\n{add(left, right)}\n</tool_response>"
        turn = f"\n<|im_start|>user\n{response}<|im_end|>\n<|im_start|>assistant\n"
        delta = self.tokenizer.encode(turn, add_special_tokens=False)
        return {
            "infer_request": infer_request,
            "response_token_ids": ids + delta,
            "response_loss_mask": mask + [0] * len(delta),
            "rollout_logprobs": logprobs,
        }


multi_turns["blocking_tool_scheduler"] = BlockingToolScheduler
