"""A model for Triton's Python backend: answers of `max_tokens` words, one word a response where decoupled."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import triton_python_backend_utils as backend


class TritonPythonModel:
    """The model, by the name that the backend looks for."""

    def initialize(self, args: dict[str, str]) -> None:
        """Read from the configuration whether responses are a stream."""
        config = json.loads(args["model_config"])
        self._streams = backend.using_decoupled_model_transaction_policy(config)

    def execute(self, requests: list[Any]) -> list[Any] | None:
        """Answer requests: by the sender of each, or with the list that is returned."""
        if not self._streams:
            return [answer("".join(words(request))) for request in requests]
        for request in requests:
            sender = request.get_response_sender()
            for word in words(request):
                sender.send(answer(word))
            sender.send(flags=backend.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None


def words(request: Any) -> list[str]:
    """The words of an answer."""
    tensor = backend.get_input_tensor_by_name(request, "max_tokens")
    return [f"w{number} " for number in range(tensor.as_numpy().item())]


def answer(text: str) -> Any:
    """A response with a text."""
    values = np.array([[text.encode()]], dtype=object)
    return backend.InferenceResponse([backend.Tensor("text_output", values)])
