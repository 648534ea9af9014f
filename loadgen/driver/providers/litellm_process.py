"""LiteLLM as an endpoint: `--url litellm:` with a model such as `openai/gpt-4o`.

A separate process translates, and the client measures that process: what LiteLLM takes is in the server's
figures.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from select import select
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.endpoint import LITELLM, LITELLM_HOST
from loadgen.driver.errors import EndpointError, UnreachableError
from loadgen.driver.system.child_process import exit_status, start_child

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.driver.client.endpoint import Endpoint

_MODULE: Final = "loadgen.driver.providers"
_START_TIMEOUT_S: Final = 120.0
_END_TIMEOUT_S: Final = 5.0


def url_of(url: str) -> str:
    """The URL that a user's URL stands for; raise `EndpointError` if LiteLLM is needed and not installed."""
    internal = f"http://{LITELLM_HOST}"
    if url.strip() not in {LITELLM, internal, f"{internal}/v1"}:
        return url
    if find_spec("litellm") is None:
        raise EndpointError(
            f"--url {LITELLM}: models of providers take LiteLLM: pip install 'llm-loadgen[agents]'"
        )
    return internal


@contextmanager
def reached(targets: Sequence[Endpoint]) -> Iterator[tuple[Endpoint, ...]]:
    """The endpoints with local addresses, while LiteLLM runs, or raise `UnreachableError`."""
    if not any(target.host == LITELLM_HOST for target in targets):
        yield tuple(targets)
        return
    process = start_child(
        _MODULE,
        environment=os.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a Ctrl-C must not end it before the answers have come
    )
    try:
        port = _port_of(process)
        yield tuple(
            replace(target, host="127.0.0.1", port=port) if target.host == LITELLM_HOST else target
            for target in targets
        )
    finally:
        _end(process)


def _port_of(process: subprocess.Popen[bytes]) -> int:
    line = b""
    if process.stdout is not None and select([process.stdout], [], [], _START_TIMEOUT_S)[0]:
        line = process.stdout.readline()
    if line.strip().isdigit():
        return int(line)
    process.kill()
    _, errors = process.communicate()
    reason = errors.decode(errors="replace").strip().splitlines()[-1:] or [exit_status(process.returncode)]
    raise UnreachableError(f"LiteLLM did not start: {reason[0]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        try:
            process.communicate(timeout=_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
