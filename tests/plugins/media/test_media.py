"""Images, audio and video in prompts, against the mock's own counts; and media as values."""

from __future__ import annotations

import pickle
from io import BytesIO
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions, server_json
from loadgen.driver.client.codec import Generation
from loadgen.mock_endpoint.media_tokens import media_tokens
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.media import made_up
from loadgen.plugins.media.media_plan import sizes
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.run.resumption import resumed_settings
from loadgen.sessions.run_session import run
from loadgen.sessions.settings.perf import perf_settings
from loadgen.sessions.settings.resume import ResumeSettings
from reporter.log.database import open_log
from reporter.log.so_far import so_far
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads.sample import Sample

USUAL: dict[str, Any] = {"url": ["http://127.0.0.1:9"], "model": "m"}


def body(sample: Sample) -> dict[str, Any]:
    """The body of a sample's request, as the server reads it."""
    read: dict[str, Any] = orjson.loads(orjson.dumps(chat_completions.request(sample, Generation("m"))))
    return read


def urls(samples: Sequence[Sample]) -> list[str]:
    """The images of samples in order."""
    parts = [
        part for sample in samples for message in body(sample)["messages"] for part in message["content"]
    ]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


@given(width=st.integers(16, 4000), height=st.integers(16, 4000), seed=st.integers(0, 9))
def test_a_size_is_a_name_numbers_distributions_or_a_mix(width: int, height: int, seed: int) -> None:
    """Every draw is within what the text says."""
    rng = Random(seed)  # noqa: S311 (no secret)
    assert sizes("--image-size", f"{width}x{height}")(rng) == (width, height)
    drawn = sizes("--image-size", f"uniform:16..{width}xuniform:{height}..4000")(rng)
    assert 16 <= drawn[0] <= width
    assert height <= drawn[1] <= 4000
    assert sizes("--image-size", f"{width}x{height}=2,720p=0")(rng) == (width, height)
    assert sizes("--image-size", f"4k=1,{width}x{height}=0")(rng) == (3840, 2160)
    for wrong in (f"{width}", f"{width}x", f"720p={width},", "720p=0", "x"):
        with pytest.raises(WorkloadError, match="--image-size"):
            sizes("--image-size", wrong)


def test_made_up_media_are_what_their_names_say() -> None:
    """Sizes, lengths and rates are as given; a seed makes equal bytes, another seed makes others."""
    image = pytest.importorskip("PIL.Image")
    for form in ("jpeg", "png"):
        encoded = made_up.image(1, 120, 80, form)
        with image.open(BytesIO(encoded)) as opened:
            assert (opened.format, opened.size) == (form.upper(), (120, 80))
        assert encoded == made_up.image(1, 120, 80, form) != made_up.image(2, 120, 80, form)
    assert len(made_up.audio(1, 1.5, "wav")) == 44 + 2 * 24_000
    av = pytest.importorskip("av")
    with av.open(BytesIO(made_up.audio(1, 1.5, "mp3"))) as file:
        assert file.streams.audio[0].rate == made_up.SAMPLE_RATE
        assert file.duration == pytest.approx(1_500_000, abs=100_000)
    with av.open(BytesIO(made_up.video(1, 2, 120, 80))) as file:
        frames = list(file.decode(video=0))
    assert [(frame.width, frame.height) for frame in frames] == [(120, 80)] * 8


def test_media_are_unique_but_for_the_declared_share_and_held_once() -> None:
    """Reuse, and a bound on memory, repeat media; a worker's copy of the samples sends the same bytes."""
    pytest.importorskip("PIL")
    asked = {**USUAL, "requests": 40, "images": "uniform:1..3", "image_size": "64x48"}
    prepared = prepare(perf_settings(**asked, text_seed=1))
    images = urls(prepared.dataset.samples)
    facts = prepared.settings()["dataset"]["facts"]
    assert len(set(images)) == len(images) == facts["media"]["unique"] >= 40
    assert sum(map(len, images)) + 2 * len(images) == facts["media"]["bytes"]
    assert facts["findings"] == []
    sent = pickle.loads(pickle.dumps(prepared.dataset.samples[:5]))  # noqa: S301 (our own)
    assert urls(sent) == urls(prepared.dataset.samples[:5])
    assert urls(prepare(perf_settings(**asked, text_seed=1)).dataset.samples) == images
    assert not set(urls(prepare(perf_settings(**asked, text_seed=2)).dataset.samples)) & set(images)
    again = urls(prepare(perf_settings(**asked, text_seed=1, media_reuse=0.5)).dataset.samples)
    assert 0.3 < len(set(again)) / len(again) < 0.7
    bounded = prepare(perf_settings(**asked, text_seed=1, media_memory=1)).dataset
    assert len(set(urls(bounded.samples))) < len(images)
    assert [finding["code"] for finding in bounded.facts["findings"]] == ["media_repeated"]


def test_a_run_with_media_has_their_tokens_and_uploads(tmp_path: Path) -> None:
    """Folder, column and made-up media in conversations: tokens as the mock counts, no base64 in the log."""
    pytest.importorskip("PIL")
    folder = tmp_path / "media"
    folder.mkdir()
    picture = made_up.image(7, 640, 480, "png")
    (folder / "seen.png").write_bytes(picture)
    (folder / "notes.txt").write_text("not a medium")
    talk = [{"role": role, "content": f"say {role}"} for role in ("user", "assistant", "user")]
    rows = [{"messages": talk, "shown": ["media/seen.png"]}, {"messages": talk, "shown": None}]
    (tmp_path / "rows.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    with start_mock(
        ttft="1ms", itl="1ms", tokens="4", statements=("vllm",), truth=tmp_path / "truth.jsonl"
    ) as mock:
        settings = perf_settings(
            url=[mock.url],
            model="mock",
            prompts=str(tmp_path / "rows.jsonl"),
            conversations="all",
            media_column=["shown"],
            media_folder=folder,
            images="1",
            sessions=2,
            concurrency=1,
            server_metrics=["none"],
            on_invalid="warn",
            require=["ttft_after_upload:p(50)<60s", "request_bytes:min>64kB", "media_tokens:max<=2000"],
            out=tmp_path / "run",
        )
        outcome = run(settings)
        truth = {each.request_id: each for each in mock.truth()}
    with open_log(tmp_path / "run") as log:
        answer = log.execute(
            "SELECT sample_uuid, turn, input_tokens, media_tokens, request_bytes, uploaded_ns, sent_ns, "
            "upload_ms, ttft_after_upload_ms FROM samples ORDER BY issued_ns"
        ).fetchall()
    tokens = dict(media_tokens([{"type": "image_url", "image_url": {"url": _url(picture)}}]))["image_tokens"]
    assert tokens == 23 * 18
    # The first conversation has the column's image and one of the folder, and one more in its second turn.
    assert [row[3] for row in answer] == [2 * tokens, 3 * tokens, tokens, 2 * tokens]
    assert [row[2] for row in answer] == [truth[row[0]].input_tokens for row in answer]
    for _, _, _, media, size, uploaded_ns, sent_ns, upload_ms, ttft_ms in answer:
        assert media // tokens * len(_url(picture)) < size < media // tokens * len(_url(picture)) + 2000
        assert uploaded_ns > sent_ns
        assert upload_ms > 0
        assert ttft_ms > 0
    assert (tmp_path / "run" / "events.db").stat().st_size < len(picture)
    report = orjson.loads((tmp_path / "run" / "report.json").read_bytes())
    assert [row["status"] for row in report["verdict"]["rows"][-3:]] == ["PASS"] * 3
    assert report["media_tokens"]["mean"] == 2 * tokens
    assert outcome is not None
    # A drawn seed is in the log: the rest of a run that is resumed has the same media.
    progress = so_far(tmp_path / "run")
    resumed = prepare(resumed_settings(ResumeSettings(run=tmp_path / "run"), progress)).dataset
    assert resumed.facts["media"]["seed"] == progress.settings["dataset"]["facts"]["media"]["seed"]


@pytest.mark.parametrize(
    ("details", "tokens"),
    [
        ({"cached_tokens": 0, "multimodal_tokens": {"image": 15, "audio": 25}}, 40),
        ({"image_tokens": 15, "audio_tokens": 25}, 40),
        ({"multimodal_tokens": None, "image_tokens": -1}, None),
    ],
)
def test_the_tokens_of_media_in_usage(details: dict[str, Any], tokens: int | None) -> None:
    """VLLM counts by kind in one member, others in a member for each kind."""
    assert server_json.media_tokens({"prompt_tokens_details": details}) == tokens


def _url(picture: bytes) -> str:
    from base64 import b64encode

    return f"data:image/png;base64,{b64encode(picture).decode()}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_format": "png"}, "--image-format: give --images"),
        ({"images": "1", "protocol": "completions"}, "needs --protocol chat"),
        ({"images": "2x"}, "--images '2x'"),
        ({"audio": "1", "media_folder": Path("docs")}, "has no audio file for --audio"),
        ({"media_column": ["image"]}, "give --prompts"),
    ],
)
def test_a_mistake_names_the_option(options: dict[str, Any], message: str) -> None:
    """The message says what to give instead."""
    with pytest.raises((WorkloadError, UsageError), match=message):
        prepare(perf_settings(**{**USUAL, "requests": 1, **options}))
