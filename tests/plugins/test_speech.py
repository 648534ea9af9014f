"""Speech and image generation: figures against the mock's record, lengths of audio, a player that waits."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.errors import MalformedResponseError
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.media import made_up
from loadgen.plugins.speech.audio_length import PCM_BYTES_A_SECOND, audio_seconds
from loadgen.plugins.speech.mock_speech import PIECES, SPEECH_SECONDS, TRANSCRIPT
from loadgen.plugins.speech.multipart import form, multipart
from loadgen.plugins.speech.text_to_speech import SPEECH
from loadgen.sessions.run_session import run
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.database import open_log

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A mock endpoint that records what was sent, and when."""
    truth = tmp_path_factory.mktemp("speech") / "truth.jsonl"
    with start_mock(ttft="20ms", itl="5ms", truth=truth) as started:
        yield started


def measured(mock: MockProcess, folder: Path, columns: str, **options: Any) -> tuple[list[Any], Any]:
    """The rows and the report of four requests."""
    usual: dict[str, Any] = {
        "requests": 4,
        "concurrency": 2,
        "server_metrics": ["none"],
        "on_invalid": "warn",
    }
    outcome, _ = run(perf_settings(**{**usual, "url": [mock.url], "model": "mock", "out": folder, **options}))
    with open_log(folder) as log:
        sql = f"SELECT {columns} FROM samples JOIN requests USING (sample_uuid) ORDER BY samples.issued_ns"  # noqa: S608 (ours)
        return log.execute(sql).fetchall(), outcome


@pytest.mark.parametrize("stream", [True, False])
def test_a_transcription_has_its_real_time_factor(mock: MockProcess, tmp_path: Path, *, stream: bool) -> None:
    """RTFx is the length of the recording divided by the latency, streamed and not; rules read it."""
    rows, _ = measured(
        mock,
        tmp_path / "run",
        "audio_in_s, latency_ms, requests.status, samples.ttft_ms IS NOT NULL",
        protocol="transcription",
        stream=stream,
        audio_seconds="2",
        require=["rtfx>0.001"],
    )
    assert [(row[0], row[2], row[3]) for row in rows] == [(2.0, "completed", stream)] * 4
    report = orjson.loads((tmp_path / "run" / "report.json").read_bytes())
    figures = report["sections"]["speech"]["figures"]
    assert figures["rtfx_mean"] == pytest.approx(sum(2e3 / row[1] for row in rows) / 4)
    assert figures["transcribed"] == 4
    assert report["verdict"]["rows"][-1]["status"] == "PASS"
    with open_log(tmp_path / "run") as log:
        log.load(("outputs", "prompts"))
        assert {text.strip() for (text,) in log.execute("SELECT output FROM outputs").fetchall()} == {
            TRANSCRIPT
        }
        assert all("audio/wav" in text for (text,) in log.execute("SELECT prompt FROM prompts").fetchall())


@pytest.mark.parametrize("pieces", [1, PIECES])
def test_speech_begins_when_the_first_audio_arrives(mock: MockProcess, tmp_path: Path, pieces: int) -> None:
    """No earlier than the server wrote it, and before the end of a response that is sent in pieces."""
    rows, _ = measured(
        mock,
        tmp_path / "run",
        "sample_uuid, first_audio_ns, audio_out_s, playout_gap_ms, samples.complete_ns",
        protocol="speech",
        **({"extra_body": '{"stream": true}'} if pieces > 1 else {}),
    )
    truth = {each.request_id: each for each in mock.truth()}
    for uuid, first_ns, seconds, gap_ms, complete_ns in rows:
        served = truth[uuid]
        assert len(served.chunk_ns) == pieces
        assert served.chunk_ns[0] <= first_ns <= complete_ns
        assert seconds == pytest.approx(SPEECH_SECONDS)
        assert gap_ms >= 0


def test_images_are_counted(mock: MockProcess, tmp_path: Path) -> None:
    """As many as a response has."""
    rows, _ = measured(
        mock,
        tmp_path / "run",
        "images_out, requests.status",
        protocol="image-generation",
        extra_body='{"n": 3}',
    )
    assert rows == [(3, "completed")] * 4


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3 * SECOND)), min_size=1, max_size=20))
def test_a_player_waits_for_what_has_not_arrived(arrivals: list[tuple[int, int]]) -> None:
    """The waits are those of a player that is simulated piece by piece; nothing is waited for at once."""
    pieces = [bytes(tenths * PCM_BYTES_A_SECOND // 10) for tenths, _ in arrivals]
    moments = [*accumulate((delay for _, delay in arrivals), initial=SECOND)][1:]
    facts = SPEECH.timed(pieces, moments).facts or {}
    ends, waited = moments[0], 0
    for (tenths, _), moment in zip(arrivals, moments, strict=True):
        waited += max(0, moment - ends)
        ends = max(ends, moment) + tenths * SECOND // 10
    assert facts["playout_gap_ms"] == pytest.approx(waited / 1e6, abs=1e-3)
    assert facts["audio_out_s"] == pytest.approx(sum(tenths for tenths, _ in arrivals) / 10)
    together = SPEECH.timed(pieces, [moments[0]] * len(pieces)).facts or {}
    assert together["playout_gap_ms"] == 0


def test_text_in_place_of_audio_is_a_failure() -> None:
    """An error is read, anything else is malformed; a header alone has no audio."""
    assert SPEECH.timed([b'{"error": {"message": "no voice"}}'], [1]).error == "no voice"
    with pytest.raises(MalformedResponseError, match="where audio belongs"):
        SPEECH.timed([b"<html>"], [1])
    assert SPEECH.timed([made_up.audio(0, 1, "wav")[:44]], [1]).facts is None


def test_the_length_of_audio_follows_from_its_bytes() -> None:
    """WAV, MP3 and PCM; other formats are unknown."""
    assert audio_seconds(made_up.audio(0, 1.5, "wav")) == pytest.approx(1.5)
    assert audio_seconds(bytes(PCM_BYTES_A_SECOND)) == 1.0
    assert audio_seconds(b"OggS" + bytes(100)) is None
    pytest.importorskip("av")
    assert audio_seconds(made_up.audio(0, 20, "mp3")) == pytest.approx(20, rel=0.02)


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.text("abc \n", max_size=9)), st.binary()
)
def test_a_form_has_its_fields_and_its_file(fields: dict[str, str], content: bytes) -> None:
    """As they were."""
    assert form(multipart(fields, "speech.wav", content, "audio/wav")) == (fields, content)
