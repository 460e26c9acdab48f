"""The Muon optimizer in float32.

torch.optim.Muon orthogonalizes in bfloat16, which a CPU without bfloat16 instructions emulates at a crawl.
"""

import torch

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
_NEWTON_SCHULZ_STEPS = 5


class Muon(torch.optim.Optimizer):
    """Nesterov momentum whose update is made (nearly) orthogonal and scaled to the size of an AdamW update."""

    def __init__(
        self, params: list[torch.nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Update every matrix once; matrices of one shape share the work."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[torch.Tensor]] = {}
            for parameter in group["params"]:
                by_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in by_shape.items():
                directions = torch.stack([self._direction(p, group["momentum"]) for p in parameters])
                scale = 0.2 * max(shape) ** 0.5
                for parameter, update in zip(parameters, orthogonalized(directions), strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.add_(update, alpha=-group["lr"] * scale)

    def _direction(self, parameter: torch.Tensor, momentum: float) -> torch.Tensor:
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(state["momentum"], momentum)


def orthogonalized(matrices: torch.Tensor) -> torch.Tensor:
    """Replace each matrix (N, rows, columns) by one with the same singular vectors and singular values near one."""
    a, b, c = _NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x
