"""The real LiteLLM, where it is installed, against an endpoint of this machine."""

from __future__ import annotations

import asyncio
import importlib
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import orjson
import pytest

import loadgen
from loadgen.agents import ExternalLLMClient, ProviderError
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.errors import UsageError
from tests.forking import CHILDREN, fork_children
from tests.sessions.test_agent_example import FOLDER, REPLIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Its import takes 2 s, which a process pays that runs these tests, and no other.
pytestmark = [
    pytest.mark.skipif(
        find_spec("litellm") is None,
        reason="LITELLM IS NOT TESTED: pip install 'llm-loadgen[agents]'",
    ),
    pytest.mark.filterwarnings("ignore"),  # its own models warn
]
QUESTION = [{"role": "user", "content": "hello"}]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM takes its table of prices from its package."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


@pytest.fixture
def _forked_provider() -> Iterator[None]:
    """The process that translates is forked from this one, which has imported LiteLLM."""
    importlib.import_module("litellm")
    fork_children(*CHILDREN, "loadgen.driver.providers")
    yield
    fork_children(*CHILDREN)


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("_forked_provider")
def test_requests_to_a_provider_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`--url litellm:` translates in a separate process; errors have the provider's status."""
    with start_mock(ttft="1ms", itl="0", tokens="4", api_key="sk-own-key") as mock:
        monkeypatch.setenv("OPENAI_API_BASE", mock.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-own-key")
        run = loadgen.perf(
            url="litellm:", model="openai/gpt-4o", requests=3, concurrency=1, warmup=0, out=tmp_path / "run"
        )
        report = run.report()
        assert (report.counts.completed, report.tokens.output) == (3, 12)
        assert report.run.url == "litellm:"
        assert {truth.model for truth in mock.truth(3)} == {"gpt-4o"}
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
        with pytest.raises(UsageError, match="HTTP 401"):
            loadgen.perf(url="litellm:", model="openai/gpt-4o", requests=1, out=tmp_path / "refused")


@pytest.mark.slow
def test_an_agent_works_through_litellm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The example's agent: calls of tools and their results pass LiteLLM in both directions."""
    script = tmp_path / "replies.jsonl"
    script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    with start_mock(ttft="1ms", itl="0", replies=script) as mock:
        monkeypatch.setenv("OPENAI_API_BASE", mock.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-own-key")
        run = loadgen.accuracy(
            "questions.jsonl",
            url="litellm:",
            model="openai/gpt-4o",
            agent="stock_clerk:StockClerk",
            eval_function=["graders:looked_up"],
            workers=1,
            out=tmp_path / "run",
        )
    (score,) = run.report().accuracy
    assert (score.scored, score.value) == (2, 1.0)
    assert [row for (row,) in run.sql("SELECT tool_calls FROM episodes ORDER BY 1").fetchall()] == [1, 2]
