"""A log as it grows says of each request what its report will say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType, schema
from recorder.session import Session
from recorder.store import Store
from reporter.log.database import open_log
from reporter.log.definitions import define
from reporter.log.following import Following, followed
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = Definitions()


def eventful(run: Any) -> Any:
    """A run of all sorts of requests."""
    run.answers(20, 30, 45, at=5, usage=(7, 3), issue={"scheduled": 2, "about": {"free_ns": 3}})
    run.answers(40, 90, at=10, complete=95, usage=(7, 9), issue={"sent": 12})
    run.answers(50, at=11, usage=(None, 1))
    run.answers(51, 61, at=12, usage=(3, 0))
    run.answers(52, 62, at=12)
    run.answers(at=13, complete=70, usage=(4, 12), stream=False)
    run.answers(53, 63, at=14, usage=(10**9, 2**53)).answers(54, 64, at=14, usage=(5, 101))
    run.answers(55, 65, at=14, usage=(5, 200), issue={"about": {"max_tokens": 200}})
    run.answers(14, 15, at=13, usage=(1, 2), issue={"phase": "warmup"})
    run.fails(at=20, failed=33)
    run.answers(60, at=21, kind=EventType.CANCELLED)
    run.issues(30).happens(EventType.FIRST_CHUNK, 31).happens(EventType.RETRY, 32, attempt=1)
    run.happens(EventType.REQUEST_SENT, 40).happens(EventType.FIRST_CHUNK, 44)
    run.happens(EventType.COMPLETE, 50, status=200, chunks=1, stream=True, first_token_ns=None)
    return run.issues(40)


# What the server did not count is not guessed while the run goes on.
COUNTED = ("output_tokens", "tpot")


@pytest.mark.parametrize(
    "definitions",
    [
        PLAIN,
        replace(PLAIN, latency_origin="scheduled"),
        replace(PLAIN, latency_origin="issued", tpot_end="complete", tpot_n1="zero"),
        replace(PLAIN, tpot_denominator="tokens_after_first_chunk"),
        replace(PLAIN, token_source="server_usage"),  # noqa: S106 (who counts, and no secret)
    ],
)
def test_it_says_what_the_report_says(a_run: Callable[..., Any], definitions: Definitions) -> None:
    """Of every request that is over, by the same definitions."""
    folder = eventful(a_run().begins()).write()
    following, metrics = Following(folder / "events.db", definitions), sorted(followed(definitions))
    columns = {name: name if name.endswith("_tokens") else f"{name}_ms" for name in metrics}
    guessed = [
        f"CASE token_source WHEN 'server_usage' THEN {columns[name]} END"
        for name in COUNTED
        if name in columns
    ]
    plain = [column for name, column in columns.items() if name not in COUNTED]
    with open_log(folder) as connection:
        define(connection, definitions)
        chosen = ", ".join(["status", *plain, *guessed])
        over = "measured AND status <> 'in_flight'"
        told = connection.execute(f"SELECT {chosen} FROM samples WHERE {over}").fetchall()  # noqa: S608 (all ours)
    order = [name for name in metrics if name not in COUNTED] + [name for name in COUNTED if name in columns]
    said = [(one.how, *(one.figures.get(name) for name in order)) for one in following.new()]
    assert following.issued == len(told) + 1
    assert {how for how, *_ in said} == {"completed", "failed", "cancelled"}
    assert sorted(_plain(said)) == sorted(_plain(told))


def _plain(rows: list[Any]) -> list[str]:
    """As text, for what is not there has no order; only one that completed has figures."""
    return [
        " ".join([how, *(f"{one:.6f}" if one is not None else "-" for one in figures if how == "completed")])
        for how, *figures in rows
    ]


def test_each_look_brings_what_is_new(a_run: Callable[..., Any]) -> None:
    """While it is written: a request that was under way at one look is over at the next, and is told once."""
    run = a_run().begins().answers(20, 30, at=5).issues(40, uuid="slow")
    run.happens(EventType.COMPLETE, 90, "slow", status=200)
    *first, last = map(schema.row, run.events)
    log = run.folder / "events.db"
    store = Store.create(log, Session())
    try:
        store.append(first)
        following = Following(log, PLAIN)
        assert [one.how for one in following.new()] == ["completed"]
        assert list(following.new()) == []
        store.append([last])
        (slow,) = following.new()
    finally:
        store.close()
    assert (slow.how, slow.figures["latency"]) == ("completed", 50.0)
    assert (following.issued, list(following.new())) == (2, [])


def test_what_is_counted_here_cannot_be_followed() -> None:
    """Where a tokenizer of ours counts, or only some of the tokens, one request's events do not tell."""
    assert {"tpot", "output_tokens"} <= followed(PLAIN)
    for changed in ({"token_source": "client_tokenizer"}, {"token_categories": ("content",)}):
        assert not {"tpot", "output_tokens"} & followed(replace(PLAIN, **changed))
    assert "tpot" not in followed(replace(PLAIN, tpot_denominator="tokens_after_first_chunk"))
