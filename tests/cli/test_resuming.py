"""What `loadgen resume` makes of a log: the rest of its session, or a reason why there is none."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.resume import resume
from loadgen.driver.load import Closed, load_record
from loadgen.driver.requests.order import order_of
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import load_of
from loadgen.sessions.run.resumption import prepare_resumption, resumable, resumed_settings
from loadgen.sessions.settings.perf import perf_settings
from loadgen.sessions.settings.resume import ResumeSettings
from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.errors import BeingWrittenError, NotALogError
from recorder.session import Session
from recorder.store import Store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from loadgen.sessions.run.preparation import Prepared

KEY = "sk-right-key"
TEN = list(range(10))


def change(run: Path, statement: str, *values: object) -> None:
    """Change what a log says."""
    with closing(sqlite3.connect(run / "events.db")) as log, log:
        log.execute(statement, values)


def cut_off(run: Path, prompts: list[int]) -> None:
    """Let a log be one of a run that was killed when only these prompts had been answered."""
    change(
        run,
        "DELETE FROM events WHERE code > 20 AND sample_uuid NOT IN (SELECT sample_uuid FROM events "
        "WHERE code = 20 AND json_extract(data, '$.prompt_id') IN (SELECT value FROM json_each(?)))",
        schema.encode(prompts),
    )
    change(run, "DELETE FROM events WHERE code IN (3, 4, 5)")


def setting(run: Path, **values: Any) -> None:
    """Let a log say that the session had other settings; `a__b` is member b of a."""
    for name, value in values.items():
        place = "$." + name.replace("__", ".")
        change(
            run,
            "UPDATE session SET settings = json_set(settings, ?, json(?))",
            place,
            orjson.dumps(value).decode(),
        )


def again(settings: ResumeSettings) -> Prepared:
    """The rest of a run."""
    return prepare_resumption(settings, resumable(settings.run))


def left(run: Path, **more: Any) -> list[int]:
    """The prompts that are left to ask, in their order."""
    prepared = again(ResumeSettings(run=run, **({"api_key": KEY} | more)))
    assert prepared.left is not None
    return list(prepared.left)


def asked_since(mock: MockProcess, moment_ns: int) -> int:
    """How many requests have come since; the end of earlier ones may be written down later."""
    return sum(record.received_ns >= moment_ns for record in mock.truth())


def test_what_has_no_answer_is_left(a_run: Path) -> None:
    """By its folder or by its log; the plan is that of the first segment but for its number."""
    cut_off(a_run, [0, 1, 2, 5])
    assert left(a_run) == left(a_run / "events.db") == [3, 4, 6, 7, 8, 9]
    prepared = again(ResumeSettings(run=a_run, api_key=KEY))
    assert (prepared.plan.requests, prepared.plan.load, prepared.workers) == (6, Closed(2), 1)
    assert prepared.targets[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("code", "data", "again"),
    [
        (EventType.ERROR, {"error": "http_500"}, False),
        (EventType.ERROR, {"error": "total_timeout"}, False),
        (EventType.ERROR, {"error": "worker_lost"}, True),
        (EventType.ERROR, {"error": "client_bug"}, True),
        (EventType.CANCELLED, {"reason": "given up"}, True),
    ],
)
def test_a_failure_is_a_result_unless_it_is_our_own(
    a_run: Path, code: EventType, data: dict[str, str], *, again: bool
) -> None:
    """What the server or the network did stands; what we gave up is asked again."""
    cut_off(a_run, TEN)
    change(a_run, "UPDATE events SET code = ?, data = ? WHERE code = 23", code, schema.encode(data))
    assert left(a_run) == (TEN if again else [])


def test_the_warm_up_is_repeated(a_run: Path) -> None:
    """Nothing cold is measured in any segment; the prompts of the warm-up are those of the first one."""
    cut_off(a_run, [3, 4])
    setting(a_run, warmup=2, requests=8, options__warmup="2", options__requests=8)
    assert left(a_run) == [0, 3, 4, 5, 6, 7]


def test_in_another_order_other_requests_are_left(a_run: Path) -> None:
    """Those that the seed gives the prompts to that have no answer."""
    cut_off(a_run, [0, 1, 2, 5])
    setting(a_run, order="shuffle", options__order="shuffle")
    order = order_of("shuffle", 10, 0)
    assert sorted(map(order, left(a_run))) == [3, 4, 6, 7, 8, 9]
    assert left(a_run) == [request for request in range(10) if order(request) not in {0, 1, 2, 5}]


def test_a_rate_that_changes_goes_on_where_it_was(a_run: Path) -> None:
    """The rest of the profile, for what is left of the requests."""
    cut_off(a_run, [0])
    rate: dict[str, Any] = {"rate": "ramp:1..50,60s", "concurrency": None}
    prepared = again(ResumeSettings(run=a_run, api_key=KEY))
    assert prepared.elapsed_s > 0
    load = load_of(perf_settings(url=["http://h"], model="m", **rate).load)
    setting(a_run, load=load_record(load), **{f"options__{name}": value for name, value in rate.items()})
    prepared = again(ResumeSettings(run=a_run, api_key=KEY))
    whole, rest = load.rate, prepared.plan.load.rate
    assert whole is not None
    assert rest is not None
    assert rest.rate(0.0) == pytest.approx(whole.rate(prepared.elapsed_s))


def test_a_duration_goes_on_where_it_stopped(a_run: Path) -> None:
    """Of a number of requests in a limited time, the time that has passed has passed."""
    cut_off(a_run, [3])
    setting(a_run, duration_s=60.0, options__duration=60.0)
    prepared = again(ResumeSettings(run=a_run, api_key=KEY))
    assert prepared.plan.duration_s is not None
    assert 50.0 < prepared.plan.duration_s < 60.0
    setting(a_run, duration_s=0.002, options__duration=0.002)
    with pytest.raises(UsageError, match=r"duration of 0\.002 s is over, with 9 requests left"):
        again(ResumeSettings(run=a_run, api_key=KEY))


def test_a_log_does_not_give_up_isolation(a_run: Path) -> None:
    """`--sandbox none` counts from the user who resumes, not from the log."""
    cut_off(a_run, [0])
    setting(a_run, options__sandbox="none")
    run = resumable(a_run)
    assert resumed_settings(ResumeSettings(run=a_run, api_key=KEY), run).tasks.scoring.sandbox == "local"
    with pytest.raises(UsageError, match="--sandbox: applies to benchmarks"):
        resumed_settings(ResumeSettings(run=a_run, api_key=KEY, sandbox="none"), run)


def test_a_complete_run_is_not_resumed(a_run: Path) -> None:
    """There is nothing to do; the message says what can be done."""
    with pytest.raises(UsageError, match=r"is complete: there is nothing to resume; `loadgen report "):
        left(a_run)


def test_a_run_that_is_limited_by_time_alone_is_not_resumed(a_run: Path) -> None:
    """Half a duration twice is not a duration."""
    cut_off(a_run, [0])
    setting(a_run, requests=None, duration_s=60)
    with pytest.raises(UsageError, match=r"was to last 1m\. Duration-based runs cannot be resumed"):
        left(a_run)


def test_a_running_run_is_not_resumed(a_run: Path) -> None:
    """Another process holds it."""
    cut_off(a_run, [0])
    store = reopen(a_run / "events.db", Session())
    with pytest.raises(BeingWrittenError, match="is still running; `loadgen watch "):
        left(a_run)
    store.close()


def test_a_log_of_something_else_is_not_resumed(tmp_path: Path) -> None:
    """A log that was written from Python says nothing of how to go on."""
    Store.create(tmp_path / "events.db", Session()).close()
    with pytest.raises(UsageError, match="only a run of `loadgen perf` can be resumed"):
        left(tmp_path)
    with pytest.raises(NotALogError):
        left(tmp_path / "nowhere")


def test_a_header_that_the_run_had_is_asked_for_by_name(a_run: Path) -> None:
    """Its value is a secret, and not in the log; one that the run did not have is not sent either."""
    cut_off(a_run, [0])
    with pytest.raises(
        UsageError, match=r"lacks the value of the header Authorization; give the header again, with --header"
    ):
        left(a_run, api_key=None)
    assert left(a_run, api_key=None, header=[f"authorization: Bearer {KEY}"])
    with pytest.raises(UsageError, match="did not send the header X-Team: leave it out"):
        left(a_run, header=["X-Team: us"])


def test_prompts_must_be_those_of_the_run(a_run: Path, tmp_path: Path) -> None:
    """Where the file was, or where it is now; and with the same bytes in it."""
    cut_off(a_run, [0, 1])
    sample = '{"prompt": "why?"}\n' * 10
    setting(
        a_run,
        options__prompts=str(tmp_path / "why.jsonl"),
        dataset__name="why.jsonl",
        options__text_seed=None,
        dataset__sha256="c6f8d0" + 58 * "0",
    )
    with pytest.raises(UsageError, match=r"why.jsonl, are not there: say where why.jsonl is with --prompts"):
        left(a_run)
    moved = tmp_path / "moved.jsonl"
    moved.write_text(sample)
    with pytest.raises(UsageError, match=r"differ from the run's: why.jsonl had the checksum c6f8d0"):
        left(a_run, prompts=moved)
    from hashlib import sha256

    setting(a_run, dataset__sha256=sha256(sample.encode()).hexdigest())
    assert left(a_run, prompts=moved) == [2, 3, 4, 5, 6, 7, 8, 9]


def test_a_trace_must_be_that_of_the_run(a_run: Path, tmp_path: Path) -> None:
    """`--prompts` says where it is now; of synthetic prompts it says nothing."""
    cut_off(a_run, [0, 1])
    moved = tmp_path / "moved.csv"
    moved.write_text(
        "timestamp,input_tokens,output_tokens\n" + "".join(f"{second},5,5\n" for second in range(10))
    )
    setting(a_run, options__prompts=None, options__trace=None)
    with pytest.raises(UsageError, match=r"--prompts .*moved.csv: the run had synthetic prompts"):
        left(a_run, prompts=moved)
    setting(
        a_run,
        options__trace=str(tmp_path / "trace.csv"),
        options__concurrency=None,
        options__max_tokens=None,
        dataset__name="trace.csv",
    )
    with pytest.raises(UsageError, match=r"trace.csv, is not there: say where trace.csv is with --prompts"):
        left(a_run)
    with pytest.raises(
        UsageError, match=r"differ from the run's: trace.csv had .*same file is with --prompts"
    ):
        left(a_run, prompts=moved)


def test_stages_must_be_those_of_the_run(a_run: Path, tmp_path: Path) -> None:
    """A file that says something else by now is named."""
    cut_off(a_run, [0, 1])
    (tmp_path / "day.csv").write_text("duration,rate\n1h,5\n")
    setting(a_run, options__concurrency=None, options__stages=str(tmp_path / "day.csv"))
    with pytest.raises(UsageError, match=r"the stages in .*day.csv differ from the run's: restore"):
        left(a_run)


def test_another_version_does_not_finish_it_differently(a_run: Path) -> None:
    """An unknown option, or one with another meaning, is refused."""
    cut_off(a_run, [0])
    setting(a_run, temperature=0.5)
    with pytest.raises(
        UsageError, match=r"had temperature 0.5, and now it would be None: resume it with the version"
    ):
        left(a_run)
    setting(a_run, options__teleport=True)
    with pytest.raises(UsageError, match=r"options unknown to this version \(teleport\)"):
        left(a_run)


@pytest.mark.slow
def test_a_log_that_lacks_only_its_end_is_completed(
    a_run: Path, loadgen: Callable[..., subprocess.CompletedProcess[str]], mock: MockProcess
) -> None:
    """Nothing is asked; the run is complete, and cannot be resumed again."""
    cut_off(a_run, TEN)
    before_ns = time.monotonic_ns()
    answer = loadgen("resume", "run", "--json", LOADGEN_API_KEY=KEY)
    assert answer.returncode in {0, 4}, answer.stderr  # 4: the client was late, on a busy machine
    report = orjson.loads(answer.stdout)
    assert report["run"]["ended"] == "completed"
    assert [segment["ended"] for segment in report["run"]["segments"]] == ["cut_off", "completed"]
    assert report["counts"]["completed"] == 10
    assert not asked_since(mock, before_ns)
    again = loadgen("resume", "run", LOADGEN_API_KEY=KEY)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("error: run is complete")


@pytest.mark.parametrize("answered", [TEN, [0, 1]], ids=["only the end", "requests"])
def test_who_is_overtaken_asks_nothing(
    a_run: Path, mock: MockProcess, monkeypatch: pytest.MonkeyPatch, answered: list[int]
) -> None:
    """Two resume at once: what the second one knows is not so any more when the first has gone on."""
    cut_off(a_run, answered)
    before_ns, held = time.monotonic_ns(), reopen

    def overtaken(path: Path, segment: Session, after_seq: int | None = None) -> Store:
        first = held(path, Session())
        first.append([schema.row(Event(EventType.TEST_STARTED, 1))])
        first.close()
        return held(path, segment, after_seq)

    monkeypatch.setattr("recorder.continued_log.reopen", overtaken)
    with pytest.raises(BeingWrittenError, match="has continued this run meanwhile"):
        resume(ResumeSettings(run=a_run, api_key=KEY, quiet=True))
    assert not asked_since(mock, before_ns)
    with closing(sqlite3.connect(a_run / "events.db")) as log:
        assert log.execute("SELECT count(*) FROM sittings").fetchone() == (2,)


@pytest.mark.parametrize(
    "damage",
    [
        {"headers": None},
        {"headers": [7]},
        {"dataset": []},
        {"dataset__sha256": None},
        {"dataset__name": 7},
        {"workers": "two"},
        {"url": None},
        {"options": 7},
        {"requests": None, "duration_s": "long"},
    ],
    ids=str,
)
def test_a_log_that_does_not_say_how_to_go_on(a_run: Path, damage: dict[str, Any]) -> None:
    """Whatever of it is missing, or is something else: it is said, and nothing is asked."""
    cut_off(a_run, [0])
    setting(a_run, **damage)
    with pytest.raises(UsageError, match="does not say how it was started"):
        left(a_run)
