"""Object stores that cannot be reached: an error within seconds, with what was tried and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from pyarrow import fs

from recorder.errors import LogError
from recorder.file_checks import no_run_at
from reporter.log import object_stores
from reporter.log.storage_errors import reason
from reporter.log.storage_place import archive_of, place
from reporter.references import runs_of

if TYPE_CHECKING:
    from datetime import timedelta

_ASKED: Final = (
    "google::cloud::Status(UNAVAILABLE: Retry policy exhausted, with a last message of Could not create a "
    "OAuth2 access token to authenticate the request. The request was not sent. Learn more about it. "
    "The underlying error message was: PerformWork() - CURL error [6]=Could not resolve hostname "
    "error_info={reason=, domain=, metadata={gcloud-cpp.retry.reason=retry-policy-exhausted}})"
)
_REMEDY: Final = "Set GOOGLE_APPLICATION_CREDENTIALS to the JSON file"


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    object_stores.require_answer.cache_clear()


class _Store:
    """Google's filesystem, which answers the first question with an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.limits: list[timedelta | None] = []
        self.asked: list[str] = []

    def __call__(self, *, retry_time_limit: timedelta | None = None) -> _Store:
        self.limits.append(retry_time_limit)
        return self

    def get_file_info(self, name: str) -> None:
        self.asked.append(name)
        raise self.error


def test_google_is_asked_for_seconds_and_not_for_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first question has a limit; its error says what was tried and what to set."""
    store = _Store(OSError(_ASKED))
    monkeypatch.setattr(fs, "GcsFileSystem", store)
    with pytest.raises(LogError) as refused:
        archive_of(Path("gs://bucket/a/run"))
    assert (store.limits, store.asked) == ([object_stores.FIRST_ANSWER], ["bucket"])
    message = str(refused.value)
    assert message.startswith(
        "gs://bucket: no access token for Google Cloud Storage from the metadata server"
    )
    for part in (
        "is not set",
        "is missing: PerformWork() - CURL error [6]",
        _REMEDY,
        "gcloud auth",
        "public bucket",
    ):
        assert part in message
    assert "error_info" not in message


def test_a_bucket_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket may refuse to be looked at; Google is asked once for each bucket."""
    store = _Store(
        OSError("google::cloud::Status(PERMISSION_DENIED: Permanent error, with a last message of no)")
    )
    monkeypatch.setattr(fs, "GcsFileSystem", store)
    assert place("gs://bucket/a").path == "bucket/a"
    assert place("gs://bucket/b").path == "bucket/b"
    assert store.limits == [object_stores.FIRST_ANSWER, None, None]
    assert reason(store.error, "gs://bucket/a") == "no"


def test_the_credentials_that_were_tried_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file of the environment variable, or else that of Google's command line."""
    error = OSError(_ASKED)
    file = tmp_path / ".config/gcloud/application_default_credentials.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    assert f"with the credentials in {file}: PerformWork()" in reason(error, "gs://bucket")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "key.json")
    assert "with the credentials in key.json (GOOGLE_APPLICATION_CREDENTIALS): " in reason(
        error, "gs://bucket"
    )


def test_addresses_without_an_archive() -> None:
    """Addresses of stores are not searched as folders; `compare` reads archives in stores."""
    for scheme in ("gs", "az"):
        message = no_run_at(Path(f"{scheme}://bucket/run"))
        assert message.startswith(f"{scheme}:/bucket/run: no archive is there; addresses of object stores")
    assert runs_of(Path("gs://bucket/run")) == [Path("gs://bucket/run")]
