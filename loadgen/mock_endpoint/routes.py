"""The paths of the server, and the access check."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.mock_endpoint import wire
from loadgen.mock_endpoint.ask import RefusedRequest, read_chat, read_completion
from loadgen.mock_endpoint.options import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.options import MockOptions

GENERATION: Final = {
    "/v1/chat/completions": (wire.CHAT, read_chat),
    "/v1/completions": (wire.COMPLETION, read_completion),
}
"""Where answers are made: the protocol spoken there, and what reads its requests."""

RESULTS: Final = frozenset(
    {
        *("/v1/embeddings", "/embeddings", "/v2/embed", "/pooling", "/classify"),
        *("/rerank", "/v1/rerank", "/v2/rerank", "/v1/ranking", "/score", "/v1/score"),
    }
)
"""Where vectors and scores are made."""

SPEECH: Final = frozenset(
    ("/v1/audio/transcriptions", "/v1/audio/translations", "/v1/audio/speech", "/v1/images/generations")
)
"""Where speech is read or made, and images are made."""

ANSWERED: Final = RESULTS.union(GENERATION, SPEECH)

HEALTH: Final = "/health"
METRICS: Final = "/metrics"
MODELS: Final = "/v1/models"
RESETS: Final = ("/reset_prefix_cache", "/flush_cache")
"""Where vLLM's and SGLang's prefix caches are emptied."""


class Doorkeeper:
    """The check of the API key.

    Args:
        options: Which key is asked for.
        methods: The method that each path takes.
    """

    def __init__(self, options: MockOptions, methods: Mapping[str, str]) -> None:
        self._wanted = None if options.api_key is None else f"Bearer {options.api_key}"
        self._methods = methods

    def admit(self, authorization: str | None) -> None:
        """Admit a request by the Authorization header.

        Raises:
            RefusedRequest: The key is missing or wrong.
        """
        if self._wanted is not None and authorization != self._wanted:
            raise RefusedRequest(401, "The API key is missing or wrong", code="invalid_api_key")

    def page(self, method: str, path: str, authorization: str | None) -> str:
        """Find the page that a request asks for.

        Returns:
            One of the pages.

        Raises:
            RefusedRequest: There is none, it takes another method, or the key is missing or wrong.
        """
        if path.startswith("/v1/"):
            self.admit(authorization)
        if path not in self._methods and path not in ANSWERED:
            raise RefusedRequest(404, f"There is nothing at {path}")
        if self._methods.get(path) != method:
            raise RefusedRequest(405, f"{path} does not take {method}")
        return path


def model_list(options: MockOptions) -> bytes:
    """The JSON that lists the known models, as made now."""
    created_s = int(time.time())
    models = [
        {"id": name, "object": "model", "created": created_s, "owned_by": "loadgen"}
        for name in options.models or (DEFAULT_MODEL,)
    ]
    return orjson.dumps({"object": "list", "data": models})
