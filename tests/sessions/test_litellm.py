"""The real LiteLLM, where it is installed, against an endpoint of this machine."""

from __future__ import annotations

import asyncio
import os

import pytest

from loadgen.agents import ExternalLLMClient, ProviderError
from loadgen.mock_endpoint.process import start_mock

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytest.importorskip("litellm", reason="LITELLM IS NOT TESTED: pip install 'llm-loadgen[agents]'")

# Its own models warn.
pytestmark = pytest.mark.filterwarnings("ignore")
QUESTION = [{"role": "user", "content": "hello"}]


def test_a_provider_is_asked_through_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment, or where another provider than OpenAI is at `api_base`."""
    with start_mock(ttft="1ms", itl="0", api_key="sk-own-key") as mock:
        monkeypatch.setenv("OPENAI_API_BASE", mock.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-own-key")

        async def ask(client: ExternalLLMClient) -> None:
            async with client:
                answer = await client.chat_completions(QUESTION, max_tokens=3)
                assert answer.message["role"] == "assistant"
                assert answer.usage["completion_tokens"] == client.get_metrics().response_tokens == 3

        asyncio.run(ask(ExternalLLMClient("gpt-4o")))
        asyncio.run(ask(ExternalLLMClient("hosted_vllm/m", "sk-own-key", mock.url)))
        with pytest.raises(ProviderError, match="key is missing or wrong"):
            asyncio.run(ask(ExternalLLMClient("openai/gpt-4o", "sk-wrong")))
