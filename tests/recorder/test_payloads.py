"""Payloads: what `record_event` refuses, and the meaning of each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventRecorder, EventType, payloads
from recorder.errors import EventError
from recorder.payload_check import checked
from recorder.payloads import PAYLOADS
from recorder.store import LOG_NAME
from tests import payload_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ISSUED = {"scheduled_ns": 1, "phase": "performance"}


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("COMPLETE", {"output_tokens": "8"}, "COMPLETE: output_tokens must be an integer, not '8'"),
        ("COMPLETE", {"output_tokens": True}, "COMPLETE: output_tokens must be an integer, not True"),
        ("COMPLETE", {"bytes": 2**63}, f"COMPLETE: bytes must be an integer, not {2**63}"),
        (
            "COMPLETE",
            {"first_token_ns": 1.5},
            "COMPLETE: first_token_ns must be an integer: nanoseconds of CLOCK_MONOTONIC, not 1.5",
        ),
        ("COMPLETE", {"stream": 1}, "COMPLETE: stream must be true or false, not 1"),
        ("COMPLETE", {"texts": "Hi"}, "COMPLETE: texts must be a mapping with .*, not 'Hi'"),
        ("COMPLETE", {"texts": {"output": 5}}, "COMPLETE: texts.output must be a text, not 5"),
        (
            "COMPLETE",
            {"texts": {"outputs": ""}},
            "COMPLETE: texts.outputs is not a key; did you mean texts.out",
        ),
        ("COMPLETE", {"chunk_gaps_us": [1, 2]}, "COMPLETE: chunk_gaps_us must be bytes of uint32 microsec"),
        ("COMPLETE", {"chunk_gaps_us": b"123"}, "COMPLETE: chunk_gaps_us must be bytes of uint32 microsec"),
        ("COMPLETE", {"ouput_tokens": 8}, "COMPLETE: ouput_tokens is not a key; did you mean output_tokens"),
        ("COMPLETE", {"late_chunks": 4}, "COMPLETE: late_chunks must be a list, not 4"),
        ("ERROR", {"message": "reset"}, "ERROR: error is missing: a text"),
        ("ERROR", {"error": None}, "ERROR: error must be a text, not None"),
        ("REQUEST_SENT", {"dns_ms": "2"}, "REQUEST_SENT: dns_ms must be a number: milliseconds, not '2'"),
        (
            "REQUEST_SENT",
            {"dns_ms": float("nan")},
            "REQUEST_SENT: dns_ms must be a number: millisec.*, not nan",
        ),
        ("PHASE_ENDED", {}, "PHASE_ENDED: phase is missing: one of warmup, performance"),
        ("LOADGEN_ISSUE_CALLED", {"phase": "performance"}, "LOADGEN_ISSUE_CALLED: scheduled_ns is missing"),
        (
            "LOADGEN_ISSUE_CALLED",
            {**ISSUED, "phase": "perf"},
            "phase must be one of warmup, performance, drain",
        ),
        ("LOADGEN_ISSUE_CALLED", {**ISSUED, "tags": ["a"]}, "LOADGEN_ISSUE_CALLED: tags must be a mapping"),
        (
            "SCORED",
            {"pass": 1, "scorer": "s", "status": "right"},
            "SCORED: status must be one of scored, unp",
        ),
    ],
)
def test_a_wrong_payload_is_refused(kind: str, data: Mapping[str, Any], message: str) -> None:
    """With the event, the key, and what is expected."""
    with pytest.raises(EventError, match=message):
        checked(EventType[kind], 1, "a", data)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ((99, 1, "a"), "99 is not an event"),
        (("COMPLETE", 1, "a"), "'COMPLETE' is not an event; use a member of recorder.EventType"),
        ((EventType.COMPLETE, 1.5, "a"), "timestamp_ns must be an integer: nanoseconds of CLOCK_MONOTONIC"),
        ((EventType.COMPLETE, -1, "a"), "timestamp_ns must be an integer"),
        ((EventType.COMPLETE, 2**70, "a"), "timestamp_ns must be an integer"),
        ((EventType.COMPLETE, 1, 7), "sample_uuid must be a text that names the request, not 7"),
        ((EventType.COMPLETE, 1, ""), "sample_uuid must be a text"),
        ((EventType.COMPLETE, 1, "\ud800"), "sample_uuid must be a text"),
        ((EventType.COMPLETE, 1), "COMPLETE: sample_uuid, the name of the request, is missing"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(event: Any, message: str) -> None:
    """Before it is queued, for on the writer's thread it would end the log."""
    with pytest.raises(EventError, match=message):
        checked(*(*event, None, None)[:4])


def test_recording_continues_after_a_mistake(tmp_path: Path) -> None:
    """The log has everything but the event that was refused, and closes in order."""
    with EventRecorder(path=tmp_path / LOG_NAME) as recorder:
        assert recorder.record_event(EventType.FIRST_CHUNK, 1, "a")
        with pytest.raises(EventError):
            recorder.record_event(EventType.COMPLETE, 2, "a", data={"output_tokens": "8"})
        assert recorder.record_event(
            EventType.COMPLETE, 2, "a", data={"output_tokens": 8, "mine": {"x": [1]}}
        )
    assert (recorder.health.events, recorder.health.lost, recorder.failure) == (3, 0, None)


def test_an_empty_name_names_nothing(tmp_path: Path) -> None:
    """The metrics specification's default marks an event of the session; a request's event needs a name."""
    with EventRecorder(path=tmp_path / LOG_NAME) as recorder:
        assert recorder.record_event(EventType.TEST_STARTED, 1, "")
        with pytest.raises(EventError, match="COMPLETE: sample_uuid, the name of the request, is missing"):
            recorder.record_event(EventType.COMPLETE, 2, "")
    assert (recorder.health.events, recorder.failure) == (2, None)


def test_data_that_is_not_a_payload_is_kept() -> None:
    """Any JSON may be recorded, with None for what is not known."""
    for data in ("a text", 5, [1], {}, {"status": None, "texts": None, "my_own": 2}):
        assert checked(EventType.COMPLETE, 0, "a", data) is EventType.COMPLETE


def test_arrivals_are_stored_as_gaps() -> None:
    """In whole microseconds from REQUEST_SENT on, with the first and the last token."""
    assert payloads.arrivals(1_000, [6_000, 6_000, 9_400]) == {
        "first_token_ns": 6_000,
        "last_token_ns": 9_400,
        "chunks": 3,
        "chunk_gaps_us": b"\x05\0\0\0\0\0\0\0\x03\0\0\0",
    }
    assert payloads.arrivals(1_000, []) == {"chunks": 0}
    with pytest.raises(ValueError, match="5000 follows 6000"):
        payloads.arrivals(1_000, [6_000, 5_000])


def test_every_event_has_a_payload() -> None:
    """But for those that have nothing to say."""
    assert set(EventType) - set(PAYLOADS) == {EventType.TEST_STARTED, EventType.FIRST_CHUNK}


def test_every_key_has_a_meaning() -> None:
    """In its row; keys of `texts` that have separate rows say it there."""
    missing = {key for key, meaning in payload_files.meanings().items() if meaning is None}
    assert missing == {(kind, "texts") for kind in ("SensorReading", "Question", "Issued", "Response")}
