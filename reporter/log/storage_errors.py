"""Messages for errors of pyarrow's filesystems: the failure, and the remedy."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Final

_NUMBER: Final = re.compile(r"\[errno \d+\] ", re.IGNORECASE)
_GOOGLE: Final = re.compile(
    r"google::cloud::Status\(\w+: (?:.*?, with a last message of )?(.*?)(?: error_info=|\)$)"
)
_NO_TOKEN: Final = "Could not create a OAuth2 access token"  # noqa: S105 (Google's message)
_KEY_FILE: Final = "GOOGLE_APPLICATION_CREDENTIALS"


def reason(error: Exception, address: str) -> str:
    """The message of a filesystem error at an address, without quoted parts of a request."""
    number = getattr(error, "errno", None)
    if number in {errno.ENOSPC, errno.EDQUOT} and "://" not in address:
        return (
            f"the archive cannot be written ({os.strerror(number)}). Free disk space, or choose another "
            "place with --out; the next archive there replaces what was written"
        )
    lines = str(error).strip().splitlines()
    text = _NUMBER.sub("", lines[0]) if lines else type(error).__name__
    if google := _GOOGLE.search(text):
        text = google[1]
        if _NO_TOKEN in text:
            return _no_token(text.rpartition("The underlying error message was: ")[2])
    return text


def _no_token(why: str) -> str:
    """The message about missing credentials of Google: the places tried, and how to set credentials."""
    well_known = Path("~/.config/gcloud/application_default_credentials.json").expanduser()
    if named := os.environ.get(_KEY_FILE):
        tried = f"with the credentials in {named} ({_KEY_FILE})"
    elif well_known.exists():
        tried = f"with the credentials in {well_known}"
    else:
        tried = (
            f"from the metadata server of Google's machines; {_KEY_FILE} is not set, and {well_known} is "
            "missing"
        )
    return (
        f"no access token for Google Cloud Storage {tried}: {why}. Set {_KEY_FILE} to the JSON file of a "
        "service account, or type `gcloud auth application-default login`; for a public bucket, set "
        "STORAGE_EMULATOR_HOST=https://storage.googleapis.com, which sends no credentials"
    )
