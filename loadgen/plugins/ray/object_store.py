"""The object store to which a session's nodes upload logs at the end (`--shards s3://…`)."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.driver.errors import UnreachableError
from recorder.errors import LogError
from recorder.store import LOG_NAME
from reporter.log.storage_place import place

if TYPE_CHECKING:
    from pathlib import Path

NOTE: Final = "node.json"
"""Next to a node's log: the host and the path where the log is until it is uploaded."""


def note_in_store(store: str, node: str, log: Path) -> None:
    """Check, before the session, that a node can write to the store; leave a note with the log's path.

    Raises:
        UnreachableError: It cannot.
    """
    note = {"host": socket.gethostname(), "log": str(log)}
    try:
        place(store).write(f"{node}/{NOTE}", orjson.dumps(note))
    except LogError as error:
        raise UnreachableError(
            f"its log could not be left there: {error}: give the node credentials for that store, or another "
            "--shards"
        ) from error


def upload_log(log: Path, store: str, node: str) -> None:
    """Upload a node's log, which was closed.

    Raises:
        LogError: The store did not take it as a whole.
    """
    place(store).upload(log, f"{node}/{LOG_NAME}")
