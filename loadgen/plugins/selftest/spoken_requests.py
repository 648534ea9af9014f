"""Speech and transcripts, compared with the mock's record of each piece of audio."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.selftest.row_result import TOLERANCE_MS, Miss, RowResult, Times, closest
from loadgen.plugins.selftest.run_rows import run_rows
from loadgen.plugins.selftest.selftest_row import ConformanceRow
from loadgen.plugins.speech.mock_speech import PIECES, SPEECH_SECONDS, TRANSCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.truth import Truth

SPOKEN: Final = replace(
    SCENARIOS["plain"],
    name="speech",
    about="text to speech in four pieces, and transcripts of recordings of 2 s",
    protocols=("json",),
)
_REQUESTS: Final = 4
_RECORDING_S: Final = 2.0
_NS_PER_MS: Final = 1e6
_ASKED: Final = """
    SELECT
        sample_uuid, coalesce(samples.error, samples.status) AS seen, output, audio_in_s, audio_out_s,
        first_audio_ns, samples.sent_ns
    FROM samples JOIN requests USING (sample_uuid) LEFT JOIN outputs USING (sample_uuid)
    ORDER BY samples.issued_ns
"""


def try_speech(transport: str, folder: Path) -> RowResult:
    """Ask for speech and transcripts over a transport, and compare the log with the mock's record.

    Args:
        transport: The transport.
        folder: A new folder for the logs.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: The log could not be written, or read.
    """
    folder.mkdir(parents=True)
    streamed = {"extra_body": '{"stream": true}'}
    with start_mock(ttft="20ms", itl="10ms") as mock:
        spoken = _asked(mock.url, transport, folder / "speech", protocol="speech", **streamed)
        truth = {each.request_id or "": each for each in mock.truth(_REQUESTS)}
        heard = _asked(mock.url, transport, folder / "heard", protocol="transcription", audio_seconds="2")
    true = [(each.chunk_ns[0] - each.received_ns) / _NS_PER_MS for each in truth.values() if each.chunk_ns]
    seen = [(row["first_audio_ns"] - row["sent_ns"]) / _NS_PER_MS for row in spoken if row["first_audio_ns"]]
    return RowResult(
        ConformanceRow(SPOKEN, "json", transport),
        Times(ttft=median(true) if true else None),
        Times(ttft=median(seen) if seen else None),
        Counter(row["seen"] for row in (*spoken, *heard)),
        (),
        tuple(_misses(spoken, heard, truth)),
    )


def _asked(url: str, transport: str, folder: Path, **options: Any) -> list[dict[str, Any]]:
    """The requests of a run."""
    common = {"model": "mock", "requests": _REQUESTS, "concurrency": 1}
    return run_rows(folder, _ASKED, ("outputs",), url=[url], transport=transport, **common, **options)


def _misses(
    spoken: Sequence[Mapping[str, Any]], heard: Sequence[Mapping[str, Any]], truth: Mapping[str, Truth]
) -> Iterator[Miss]:
    """Each way in which the logs differ from the mock's record."""
    for name, rows in (("speech", spoken), ("transcripts", heard)):
        if [row["seen"] for row in rows] != ["completed"] * _REQUESTS:
            yield Miss(f"{name}: not {_REQUESTS} requests that are completed")
            return
    errors = []
    for row in spoken:
        served = truth[row["sample_uuid"]]
        if row["audio_out_s"] != SPEECH_SECONDS or len(served.chunk_ns) != PIECES:
            yield Miss(f"speech of {row['audio_out_s']} s, not of {SPEECH_SECONDS} s in {PIECES} pieces")
        if not served.chunk_ns[0] <= row["first_audio_ns"]:
            yield Miss("first audio before the server sent it")
        errors.append((row["first_audio_ns"] - served.chunk_ns[0]) / _NS_PER_MS)
    if abs(closest(errors)) > TOLERANCE_MS:
        yield Miss(f"first audio off by {closest(errors):.1f} ms", only_time=True)
    for row in heard:
        if (row["output"] or "").strip() != TRANSCRIPT or row["audio_in_s"] != _RECORDING_S:
            yield Miss(f"{row['output']!r} of {row['audio_in_s']} s is not the server's transcript")
