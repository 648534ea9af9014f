"""A client of a provider's model, for agent loops that run outside a measured session."""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
from typing import TYPE_CHECKING, Any, Final, Self

from loadgen.plugins.agents.contract import CompletionsResult, RolloutMetrics
from loadgen.sessions.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_LITELLM: Final = (
    "the model of a provider takes LiteLLM: pip install 'llm-loadgen[agents]'; or name an endpoint with "
    "api_base"
)


_OPENAI: Final = "openai"


class ProviderError(SetupError):
    """A provider rejected a request, or could not be reached."""


class ExternalLLMClient:
    """Asks a model: at an OpenAI-compatible endpoint where `api_base` names one, else through LiteLLM.

    An async context manager. Its answers are not measured, and not in any log.

    Args:
        model: As LiteLLM knows it, `PROVIDER/NAME`; without a provider, OpenAI's.
        api_key: The key; by default from the environment, as the provider's library reads it.
        api_base: The base URL, such as `http://127.0.0.1:8000/v1`, of an OpenAI-compatible endpoint; or of
            the provider, where LiteLLM is installed and knows the provider of the model.

    Raises:
        ProviderError: No endpoint is given, and LiteLLM is not installed.
    """

    def __init__(
        self, model: str = "gpt-4o", api_key: str | None = None, api_base: str | None = None
    ) -> None:
        self.model = model if "/" in model else f"{_OPENAI}/{model}"
        self.api_base = api_base
        self._is_direct = api_base is not None and not _is_of_other_provider(self.model)
        self._api_key = api_key
        self._tools: list[Any] = []
        self._metrics = RolloutMetrics()
        if api_base is None and importlib.util.find_spec("litellm") is None:
            raise ProviderError(_NO_LITELLM)

    def copy(self) -> ExternalLLMClient:
        """Another client of the same model, with its own tools and metrics."""
        return ExternalLLMClient(self.model, self._api_key, self.api_base)

    def set_tools(self, tools: Sequence[Any]) -> None:
        """Offer tools with each request."""
        from loadgen.plugins.agents.rollout import tool_schemas

        self._tools = list(tool_schemas(list(tools)))

    def clear_tools(self) -> None:
        """Offer none."""
        self._tools = []

    def reset_metrics(self) -> None:
        """Begin to count again."""
        self._metrics = RolloutMetrics()

    def get_metrics(self) -> RolloutMetrics:
        """What was asked since the last reset."""
        return self._metrics.model_copy()

    async def chat_completions(self, messages: list[dict[str, Any]], **kwargs: Any) -> CompletionsResult:
        """Ask the model; further arguments are members of the request's body.

        Raises:
            ProviderError: The request failed.
        """
        body = {"messages": messages, **kwargs}
        if self._tools and "tools" not in body:
            body["tools"] = self._tools
        started = time.monotonic()
        answer = await (self._ask_endpoint(body) if self._is_direct else self._ask_litellm(body))
        metrics, usage = self._metrics, answer.get("usage") or {}
        metrics.llm_latency_ms += (time.monotonic() - started) * 1e3
        metrics.num_llm_calls += 1
        metrics.prompt_tokens += usage.get("prompt_tokens") or 0
        metrics.response_tokens += usage.get("completion_tokens") or 0
        try:
            choice = answer["choices"][0]
            message = {name: value for name, value in choice["message"].items() if value is not None}
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ProviderError(f"{self.model}: the answer has no message") from error
        return CompletionsResult(
            message, usage=dict(usage), finish_reason=choice.get("finish_reason") or "stop"
        )

    async def _ask_endpoint(self, body: dict[str, Any]) -> dict[str, Any]:
        import aiohttp

        headers = {} if self._api_key is None else {"Authorization": f"Bearer {self._api_key}"}
        body = {"model": self.model.removeprefix(f"{_OPENAI}/"), **body}
        url = f"{str(self.api_base).rstrip('/')}/chat/completions"
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.post(url, json=body, headers=headers) as reply,
            ):
                if reply.status != 200:  # noqa: PLR2004 (HTTP's own number)
                    raise ProviderError(f"{self.model}: HTTP {reply.status}: {(await reply.text())[:200]}")
                answer: dict[str, Any] = await reply.json()
                return answer
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ProviderError(
                f"{self.model} at {self.api_base}: {error or type(error).__name__}"
            ) from error

    async def _ask_litellm(self, body: dict[str, Any]) -> dict[str, Any]:
        base = {} if self.api_base is None else {"api_base": self.api_base}
        try:
            answer = await _litellm().acompletion(
                **{"model": self.model, "api_key": self._api_key, **base, **body}
            )
        except Exception as error:
            raise ProviderError(f"{self.model}: {type(error).__name__}: {error}") from error
        plain: dict[str, Any] = answer.model_dump() if hasattr(answer, "model_dump") else dict(answer)
        return plain

    async def close(self) -> None:
        """End the use of the client."""
        self.clear_tools()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _litellm() -> Any:
    # Else it fetches a table of prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm: Any = importlib.import_module("litellm")
    # Errors are raised; it would print advice as well.
    litellm.suppress_debug_info = True
    return litellm


def _is_of_other_provider(model: str) -> bool:
    """Whether LiteLLM knows the provider of a model, and it is not OpenAI."""
    provider = model.partition("/")[0]
    if provider == _OPENAI or importlib.util.find_spec("litellm") is None:
        return False
    return provider in {str(getattr(entry, "value", entry)) for entry in _litellm().provider_list}
