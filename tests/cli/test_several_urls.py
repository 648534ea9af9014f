"""Options of endpoints, orders and phases, from the command line to the prepared session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import orjson
import pytest
from typer.testing import CliRunner

from loadgen.cli.typer_application import application
from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.askable_questions import require_askable
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import PerfSettings, perf_settings, settings_from_stored
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.dataset import Dataset

if TYPE_CHECKING:
    from pathlib import Path

A, B = "http://a:1/v1", "http://b:2/v1"


def settings(**options: Any) -> PerfSettings:
    """Settings of a session."""
    return perf_settings(**({"url": [A], "model": "m"} | options))


@pytest.fixture
def talks(tmp_path: Path) -> str:
    """A file of two conversations of two turns."""
    rows = [
        [{"role": role, "content": f"{row} {place}"} for place, role in enumerate(["user", "assistant"] * 2)]
        for row in range(2)
    ]
    path = tmp_path / "talks.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps({"messages": row}) for row in rows))
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "variable"),
    [(["--url", A, "--url", "b:2"], None), ([], f"{A} b:2/v1"), (["--url", A, "--url", B], "http://c:3")],
)
def test_urls_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], variable: str | None
) -> None:
    """Or be in the variable, separated by blanks; the first is also in its own key."""
    seen: list[PerfSettings] = []

    def stop(perf: PerfSettings, **_: object) -> NoReturn:
        seen.append(perf)
        raise SystemExit

    monkeypatch.setattr("loadgen.sessions.run_session.run", stop)
    environment = {} if variable is None else {"LOADGEN_URL": variable}
    CliRunner().invoke(application("perf"), ["perf", *arguments, "--model", "m"], env=environment)
    prepared = prepare(seen[0])
    stored = prepared.settings()
    assert (stored["url"], stored["urls"], stored["balance"]) == (A, [A, B], "round-robin")
    assert [target.url for target in prepared.targets] == [A, B]


def test_each_endpoint_is_given_once() -> None:
    """However it is written; and a balance is about several."""
    with pytest.raises(UsageError, match=r"--url http://a:1/v1: given twice"):
        prepare(settings(url=[A, "a:1"]))
    with pytest.raises(UsageError, match=r"--balance is about several endpoints"):
        settings(balance="least-in-flight")


def test_the_key_goes_to_every_endpoint_and_into_no_log() -> None:
    """All requests carry the same headers."""
    prepared = prepare(settings(url=[A, B], api_key="sk-0123456789"))
    assert {target.headers["Authorization"] for target in prepared.targets} == {"Bearer sk-0123456789"}
    assert b"sk-0123456789" not in orjson.dumps(prepared.settings())


def test_options_reach_the_plan_and_the_log(talks: str) -> None:
    """Order, salt, history, conversations, warm-up and drain; and the log's options give the same again."""
    original = settings(
        url=[A, B],
        prompts=talks,
        conversations="all",
        passes=3,
        order="shuffle",
        history="recorded",
        salt=True,
        warmup="2s",
        drain=1.5,
        balance="least-in-flight",
    )
    prepared = prepare(original)
    plan, stored = prepared.plan, orjson.loads(orjson.dumps(prepared.settings()))
    assert (plan.requests, plan.sessions, plan.count) == (None, 6, 6)
    names = ("sessions", "order", "history", "salt", "balance", "warmup", "warmup_s", "drain_s")
    assert [stored[name] for name in names] == [
        6,
        "shuffle",
        "recorded",
        True,
        "least-in-flight",
        0,
        2.0,
        1.5,
    ]
    assert prepared.request_source().conversations
    again = prepare(settings_from_stored({**stored["options"], "url": stored["urls"]}))
    assert (again.plan, again.targets) == (plan, prepared.targets)


def test_the_first_requests_of_a_trace_are_its_warm_up(tmp_path: Path) -> None:
    """A number of them, or those of a time; the rest is measured, and must not be empty."""
    trace = tmp_path / "trace.csv"
    rows = [f"{second},5,2" for second in (100.0, 100.5, 101.0, 104.0)]
    trace.write_text("\n".join(["timestamp,input_tokens,output_tokens", *rows]))

    def planned(warmup: str, **more: Any) -> tuple[int, float | None, int | None]:
        plan = prepare(settings(trace=str(trace), warmup=warmup, **more)).plan
        return plan.warmup, plan.warmup_s, plan.requests

    assert planned("0") == (0, None, 4)
    assert planned("3") == (3, None, 1)
    assert planned("1s") == (2, None, 2)
    assert planned("1s", trace_speed=3.0) == (3, None, 1)
    for warmup in ("4", "1m"):
        with pytest.raises(
            UsageError, match=r"--warmup: the trace .* has 4 requests, all of which the warm-up would use"
        ):
            planned(warmup)


def test_prompts_that_cannot_be_sent_are_refused(talks: str, tmp_path: Path) -> None:
    """No answer was recorded, there is no text to put a salt ahead of, or another thing is to be counted."""
    later = FollowUp(({"role": "user", "content": "b"},))
    unanswered = Dataset("talks", [ConversationSample(0, "a", follow_ups=(later,))], "", synthetic=True)
    recorded = settings(prompts=talks, conversations="all", history="recorded")
    with pytest.raises(UsageError, match=r"talks, row 1: --history recorded: a turn has no recorded answer"):
        require_askable(unanswered, recorded.prompts, chat_completions, Generation("m"))
    ids = tmp_path / "ids.jsonl"
    ids.write_text('{"token_ids": [1, 2, 3]}')
    with pytest.raises(UsageError, match=r"row 1: --salt puts a text before each prompt"):
        prepare(settings(prompts=str(ids), protocol="completions", salt=True))
    with pytest.raises(UsageError, match=r"--sessions"):
        prepare(settings(prompts=talks, conversations="all", requests=3))
