"""The tokenizer of a model: from a folder, the local cache of Hugging Face, or the hub."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from workloads.errors import ExtraError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

CONNECT_S: Final = 4.0
"""How long the hub may take to accept a connection before it counts as unreachable."""

_LONGEST: Final = 300
_PORTS: Final = {"http": 80, "https": 443}
_NOISY: Final = ("transformers", "huggingface_hub")


def tokenizer(name: str) -> Any:
    """Load a tokenizer; raise `ExtraError` without the packages, `SourceError` for an unknown name."""
    try:
        return load_tokenizer(name)
    except (ExtraError, SourceError) as error:
        raise type(error)(f"tokenizer={name}: {error}") from error


def load_tokenizer(name: str) -> Any:
    """Load a tokenizer, from local files before the hub is asked.

    Where the hub cannot be reached, that is known after `CONNECT_S` seconds. A proxy in the environment and
    the settings of `huggingface_hub` (`HF_HUB_OFFLINE`, `HF_ENDPOINT`, `HF_HOME`, `HF_TOKEN`), are heeded.

    Raises:
        ExtraError: The packages of tokenizers are not installed.
        SourceError: It cannot be loaded; the message has no name in it.
    """
    # The library advises at its import to install PyTorch, which no tokenizer needs.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    for library in _NOISY:
        logging.getLogger(library).setLevel(logging.ERROR)
    try:
        from huggingface_hub import constants
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise ExtraError(
            f"needs {error.name}, which is not installed: pip install 'llm-loadgen[tokenizers]'"
        ) from error

    def load(**options: Any) -> Any:
        return AutoTokenizer.from_pretrained(name, **options)

    try:
        return load(local_files_only=True)
    except Exception as error:  # noqa: BLE001 (whatever a library raises, the hub may still have it)
        local = error
    if Path(name).exists() or name.startswith((".", "/")):
        reason = _shown(local) if Path(name).exists() else "no folder has this name"
        raise SourceError(f"cannot be loaded ({reason}); name a folder with a tokenizer") from local
    if constants.HF_HUB_OFFLINE:
        raise SourceError("not in the local cache, and HF_HUB_OFFLINE is set: unset it, or name a folder")
    if not _is_reachable(constants.ENDPOINT):
        raise SourceError(
            f"not in the local cache, and {constants.ENDPOINT} cannot be reached; load the tokenizer once "
            "on a machine with a network, or name a folder"
        )
    return _from_hub(load)


def _from_hub(load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:
        raise SourceError(
            f"cannot be loaded ({_shown(error)}); name a tokenizer of the hub, or a folder with one"
        ) from error


def _is_reachable(url: str) -> bool:
    """Whether a server accepts a connection in time; True behind a proxy."""
    parts = urlsplit(url)
    if getproxies().get(parts.scheme):
        return True
    accepted: list[bool] = []

    def connect() -> None:
        try:
            address = (parts.hostname or "", parts.port or _PORTS.get(parts.scheme, _PORTS["https"]))
            socket.create_connection(address, timeout=CONNECT_S).close()
        except OSError:
            return
        accepted.append(True)

    # A name server that does not answer holds a look-up for longer than any timeout of a socket.
    thread = Thread(target=connect, daemon=True)
    thread.start()
    thread.join(CONNECT_S)
    return bool(accepted)


def _shown(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST]
