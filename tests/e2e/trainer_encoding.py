"""What ms-swift's trainer makes of rollout outputs; run as a program in the rollout environment.

Reads ``{"model": path, "requests": [...], "outputs": [...]}`` on standard input, writes a list of
``{"input_ids": [...], "labels": [...]}``, one for each output. A program of its own, so that
torch and its warnings stay out of the test process.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def encode(model: str, requests: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`swift.rlhf_trainers.utils.encode_sample` of each sample after `apply_rollout_output`."""
    from swift.infer_engine.protocol import RolloutOutput
    from swift.model import get_model_processor
    from swift.rl_core.data import OnPolicySample
    from swift.rlhf_trainers.utils import encode_sample
    from swift.template import get_template

    _, tokenizer = get_model_processor(model, model_type="qwen2", load_model=False)
    template = get_template(tokenizer, template_type="qwen2_5", agent_template="hermes")
    template.set_mode("train")
    encodings = []
    for index, (request, output) in enumerate(zip(requests, outputs, strict=True)):
        row = {"messages": request["messages"], "request_id": f"r{index}", "prompt_id": f"p{index}"}
        if request.get("tools"):
            row["tools"] = json.dumps(request["tools"])
        sample = OnPolicySample.from_row(row)
        sample.apply_rollout_output(rollout_output=RolloutOutput(**output))
        encoded = encode_sample(sample, template)
        encodings.append({"input_ids": list(encoded["input_ids"]), "labels": list(encoded["labels"])})
    return encodings


if __name__ == "__main__":
    result = encode(**json.load(sys.stdin))
    sys.stdout.write("ENCODINGS " + json.dumps(result))
