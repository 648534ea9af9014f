"""What the program of an episode is answered: the errors of the endpoint, and all that an answer has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
from loadgen.plugins.agents.asking import EpisodeAsk
from loadgen.plugins.agents.episode import Reply, TurnFailedError
from loadgen.plugins.agents.episode_plan import EpisodeLimits
from loadgen.plugins.agents.proxy import ProxyAnswer, RecordingProxy
from loadgen.plugins.agents.rollout import AskingClient
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from recorder.event import Event

KEY = "sk-0123456789abcdef"
TOKENS = [{"token": "Hi", "logprob": -0.25, "top_logprobs": []}, {"token": "!", "logprob": -1.5}]


class Turns:
    """Issues turns without a session."""

    def __init__(self, runner: RequestRunner) -> None:
        self._runner = runner

    async def __call__(
        self, sample: Sample, more: Mapping[str, Any], members: Mapping[str, Any] | None, asked_ns: int
    ) -> TurnOutcome:
        """Issue a turn."""
        body = orjson.dumps({**orjson.loads(self._runner.prepare(sample)), **(members or {})})
        return await self._runner.run(sample, body, asked_ns, "performance", more=more, use=AnswerUse.READ)

    async def user(self, sample: Sample, more: Mapping[str, Any]) -> TurnOutcome:
        """Ask the same model."""
        return await self(sample, more, None, 0)


@pytest.fixture
def asked(run: Any, serve: Any) -> Callable[..., Any]:
    """Do something with the `ask` of an episode whose endpoint answers with these bytes."""

    def asked(
        script: Any, do: Callable[[EpisodeAsk], Coroutine[Any, Any, Any]], *, stream: bool = True
    ) -> Any:
        events: list[Event] = []

        async def scenario() -> Any:
            async with serve([script]) as server:
                target = endpoint(server.url, {"Authorization": f"Bearer {KEY}"})
                transport = HttpTransport(target, Timeouts(10))
                runner = RequestRunner(
                    transport, chat_completions, Generation("m", stream=stream), events.append
                )
                ask = EpisodeAsk(Sample(0, "go"), Turns(runner), EpisodeLimits(), events.append, "x")
                try:
                    return await do(ask)
                finally:
                    await transport.close()

        return run(scenario())

    return asked


async def by_proxy(ask: EpisodeAsk, **more: Any) -> ProxyAnswer:
    """The answer to a program."""
    proxy = RecordingProxy(ask, "m")
    body = orjson.dumps({"messages": [{"role": "user", "content": "go"}], **more})
    return await proxy.answer("POST", f"{proxy.base}/chat/completions", body)


@pytest.mark.parametrize(
    ("status", "code", "headers"),
    [
        (400, "context_length_exceeded", {}),
        (429, "rate_limit", {"Retry-After": "7", "x-ratelimit-reset-tokens": "6s"}),
        (503, "overloaded", {"retry-after-ms": "250"}),
    ],
)
def test_an_error_of_the_endpoint_reaches_the_program(
    asked: Callable[..., Any], wire: Any, status: int, code: str, headers: dict[str, str]
) -> None:
    """With its status, its body and what says when to try again, but no other header and no key."""
    error = {"error": {"message": f"no: {KEY}", "code": code}}
    body = orjson.dumps(error)
    script = wire.sized(body, status, content_type="application/json", server="x", **headers)
    answer = asked(script, by_proxy)
    assert (answer.status, answer.content_type, dict(answer.headers)) == (status, "application/json", headers)
    assert orjson.loads(answer.body)["error"]["code"] == code
    assert KEY.encode() not in answer.body

    async def by_agent(ask: EpisodeAsk) -> TurnFailedError:
        with pytest.raises(TurnFailedError) as failed:
            await ask([{"role": "user", "content": "go"}])
        return failed.value

    rejection = asked(script, by_agent).rejection
    assert (rejection.status, rejection.headers) == (status, headers)


def test_without_an_http_error_the_gateway_is_bad(asked: Callable[..., Any], wire: Any) -> None:
    """A stream that breaks off has no status that a program could be given."""
    answer = asked(wire.sized(wire.events({"choices": []})), by_proxy)
    assert answer.status == 502
    assert b"turn 1 failed" in answer.body


def answered(wire: Any, *, stream: bool) -> Any:
    """A response with reasoning, log probabilities and cached tokens."""
    details = {"prompt_tokens_details": {"cached_tokens": 3}}
    usage = {"prompt_tokens": 5, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 2}}
    usage |= details
    if not stream:
        message = {"role": "assistant", "content": "Hi!", "reasoning_content": "Hm."}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": TOKENS}}
        return wire.json({"choices": [choice], "usage": usage})
    deltas: list[dict[str, Any]] = [{"delta": {"role": "assistant", "reasoning_content": "Hm."}}]
    deltas += [{"delta": {"content": token["token"]}, "logprobs": {"content": [token]}} for token in TOKENS]
    frames = [{"choices": [{"index": 0, **delta}]} for delta in deltas]
    return wire.sized(
        wire.events(*frames) + wire.STOP + wire.events({"choices": [], "usage": usage}) + wire.DONE
    )


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("for_program", [True, False])
def test_an_answer_keeps_all_that_it_has(
    asked: Callable[..., Any], wire: Any, *, stream: bool, for_program: bool
) -> None:
    """Reasoning, log probabilities and cached tokens, whichever way either side has it."""

    async def ask_for_all(ask: EpisodeAsk) -> ProxyAnswer:
        return await by_proxy(ask, logprobs=True, stream=for_program)

    answer = asked(answered(wire, stream=stream), ask_for_all, stream=stream)
    if for_program:
        events = [
            orjson.loads(line[6:]) for line in answer.body.split(b"\n\n") if line.startswith(b"data: {")
        ]
        choice, usage = events[0]["choices"][0], events[-1]["usage"]
        message = choice["delta"]
    else:
        whole = orjson.loads(answer.body)
        choice, usage = whole["choices"][0], whole["usage"]
        message = choice["message"]
    assert (message["content"], message["reasoning_content"]) == ("Hi!", "Hm.")
    assert choice["logprobs"] == {"content": TOKENS}
    assert usage["prompt_tokens_details"] == {"cached_tokens": 3}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 2}
    assert usage["total_tokens"] == 9


def test_a_loop_has_log_probabilities_where_it_asks_for_them(asked: Callable[..., Any], wire: Any) -> None:
    """As numbers; without being asked for, they are not kept."""
    messages = [{"role": "user", "content": 'say "logprobs":true'}]

    async def plain(ask: EpisodeAsk) -> Reply:
        return await ask(messages)

    async def loop(ask: EpisodeAsk) -> Any:
        return await AskingClient(ask, ()).chat_completions(messages, logprobs=True)

    assert asked(answered(wire, stream=True), plain).details.logprobs is None
    result = asked(answered(wire, stream=True), loop)
    assert result.logprobs == [-0.25, -1.5]
    assert result.usage["prompt_tokens_details"] == {"cached_tokens": 3}
