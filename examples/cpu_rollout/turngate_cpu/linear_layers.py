"""Obstacle: vLLM's CPU linear layers repack their weights at load and can't be loaded again.

Repacking replaces each weight by one without `weight_loader`, so the first weight update from the
trainer fails. The replacement keeps the weight as it is and multiplies with torch's own linear.
Slower for large models; the models that run here are tiny.
"""

from typing import Any

from turngate_cpu.replacement import replace


def apply() -> None:
    """Keep linear weights loadable. Must run before the engine loads its model."""
    replace("vllm.model_executor.layers.utils", "dispatch_cpu_unquantized_gemm", keep_weights)


def keep_weights(layer: Any, remove_weight: bool) -> None:
    """Give `layer` a plain matrix product; `remove_weight` is ignored, which is the point."""
    from torch.nn.functional import linear

    layer.cpu_linear = linear
