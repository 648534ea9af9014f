"""A server whose prefix cache is emptied, by the request that the server knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.driver.errors import UnreachableError
from loadgen.sessions.errors import SetupError
from loadgen.sessions.run.preparation import targets_of
from recorder.sensors.scrape import ScrapeError, ScrapeTarget, scrape

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.settings.perf import PerfSettings

PATHS: Final = ("/reset_prefix_cache", "/flush_cache")
"""vLLM's, served with VLLM_SERVER_DEV_MODE=1, and SGLang's."""

TIMEOUT_S: Final = 30.0
_NO_SUCH_PATH: Final = frozenset({"http_404", "http_405", "http_501"})


def reset_caches(settings: PerfSettings, observer: Observer) -> None:
    """Empty the prefix cache of each endpoint.

    Raises:
        UnreachableError: An endpoint cannot be reached.
        SetupError: An endpoint has no reset, or refuses it.
    """
    for target in targets_of(settings.endpoint):
        observer.progress(f"{target.origin}: prefix cache emptied by POST {_reset(target)}")


def _reset(target: Endpoint) -> str:
    """Empty the cache of an endpoint; return the path that did."""
    for path in PATHS:
        url = f"{target.origin}{path}"
        try:
            scrape(ScrapeTarget(url, target.headers, target.verify, TIMEOUT_S, "POST"))
        except ScrapeError as error:
            if error.name in _NO_SUCH_PATH:
                continue
            if error.name == "unreachable":
                raise UnreachableError(f"--reset-cache: {url} cannot be reached: {error}") from error
            raise SetupError(
                f"--reset-cache: {url} was refused: {target.redact(str(error))}; a server may refuse while "
                "requests run"
            ) from error
        return path
    raise SetupError(
        f"--reset-cache: {target.origin} has neither {' nor '.join(PATHS)}: start vLLM with "
        "VLLM_SERVER_DEV_MODE=1, or leave --reset-cache out and restart the server before each run"
    )
