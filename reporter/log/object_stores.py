"""The filesystems of object stores: Amazon's S3, stores like it, and Google Cloud Storage."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from recorder.errors import LogError
from reporter.log.storage_errors import reason

_ENDPOINT: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")

FIRST_ANSWER: Final = timedelta(seconds=3)
"""The time limit of a store's first answer. Google's client tries for 15 minutes, as long for a token."""


def filesystem(address: str) -> Any:
    """The filesystem of an address in a store.

    Raises:
        LogError: The store does not answer, or credentials are missing.
    """
    from pyarrow import fs

    scheme, _, path = address.partition("://")
    if scheme == "gs":
        options = _gcs_options()
        require_answer(path.partition("/")[0], **options)
        return fs.GcsFileSystem(**options)
    endpoint = next((os.environ[name] for name in _ENDPOINT if os.environ.get(name)), None)
    parts = urlsplit(endpoint) if endpoint else None
    return fs.S3FileSystem(**{"scheme": parts.scheme, "endpoint_override": parts.netloc} if parts else {})


def _gcs_options() -> dict[str, Any]:
    """The options of an emulator, which needs no credentials; empty without one."""
    emulator = os.environ.get("STORAGE_EMULATOR_HOST")
    if not emulator:
        return {}
    parts = urlsplit(emulator if "//" in emulator else f"http://{emulator}")
    return {"anonymous": True, "scheme": parts.scheme, "endpoint_override": parts.netloc}


@cache
def require_answer(bucket: str, **options: Any) -> None:
    """Ask Google once for a bucket; a refusal is reported later, for the requested file."""
    from pyarrow import ArrowException, fs

    try:
        fs.GcsFileSystem(retry_time_limit=FIRST_ANSWER, **options).get_file_info(bucket)
    except (OSError, ArrowException) as error:
        if "Retry policy exhausted" in str(error):
            address = f"gs://{bucket}"
            raise LogError(f"{address}: {reason(error, address)}") from error
