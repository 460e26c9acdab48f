"""What the trainer sends to a rollout server and gets back: ms-swift's `/infer/` wire format."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from examples.rollout_demo.errors import InferError, StartError

_ERROR_CHARS = 500


class RolloutClient:
    """A client of the rollout server at `url`."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def infer(
        self, requests: Sequence[Mapping[str, Any]], request_config: Mapping[str, Any], timeout_s: float = 300.0
    ) -> list[dict[str, Any]]:
        """Post a batch and return one RolloutOutput (as JSON) per request, in the order of the requests.

        The server answers when the whole batch is done; `timeout_s` bounds that wait.
        Raises InferError: no answer in time, a status other than 200, or another number of outputs.
        """
        body = {"infer_requests": list(requests), "request_config": dict(request_config)}
        try:
            answer = httpx.post(f"{self._url}/infer/", json=body, timeout=timeout_s, trust_env=False)
        except httpx.TimeoutException:
            raise InferError(f"the rollout server did not answer the batch within {timeout_s:g} s") from None
        except httpx.TransportError as error:
            raise InferError(f"the rollout server broke off: {error or type(error).__name__}") from error
        if answer.status_code != httpx.codes.OK:
            raise InferError(f"/infer/ answered {answer.status_code}: {answer.text[:_ERROR_CHARS]}")
        outputs = answer.json()
        if not isinstance(outputs, list) or len(outputs) != len(requests):
            raise InferError(f"/infer/ answered {answer.text[:_ERROR_CHARS]} to a batch of {len(requests)}")
        return outputs


def infer_request(
    question: str,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    system: str | None = None,
    data_dict: Mapping[str, Any] | None = None,
    request_id: str | None = None,
) -> dict[str, Any]:
    """One sample as the trainer would send it. `tools` in OpenAI function form; the template renders them."""
    messages = [{"role": "system", "content": system}] if system is not None else []
    return {
        "messages": [*messages, {"role": "user", "content": question}],
        "tools": [dict(tool) for tool in tools] or None,
        "data_dict": dict(data_dict or {}),
        "uuid": request_id or uuid.uuid4().hex,
    }


def request_config(*, max_tokens: int = 64, temperature: float = 1.0, seed: int | None = None) -> dict[str, Any]:
    """How to sample each turn; asks for token ids and logprobs, as the trainer does."""
    return {
        "max_tokens": max_tokens,
        "temperature": temperature,
        "seed": seed,
        "n": 1,
        "logprobs": True,
        "return_details": True,
    }


def gateway_tools(gateway_url: str, timeout_s: float = 10.0) -> list[dict[str, Any]]:
    """A gateway's catalogue in OpenAI function form. Raises StartError if it cannot be had."""
    try:
        answer = httpx.get(
            f"{gateway_url.rstrip('/')}/v1/tools", params={"format": "openai"}, timeout=timeout_s, trust_env=False
        )
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise StartError(f"the gateway at {gateway_url} does not list its tools: {error}") from error
    tools: list[dict[str, Any]] = answer.json()["tools"]
    return tools
