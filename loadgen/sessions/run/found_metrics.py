"""The metrics page of a server, found before a run that names none."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.sessions.run.sensors import own_page

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.sessions.run.preparation import Prepared

PATIENCE_S: Final = 0.5
"""How long a run waits for a page that it does not need."""


async def with_found_metrics(prepared: Prepared) -> Prepared:
    """Look for the metrics of the endpoints, by one request each, unless options decide about them.

    No failure is an error, and a page without metrics of a known server is not one. A resumed run has the
    pages of its beginning, so that its parts are comparable.
    """
    is_resumed, decided = prepared.left is not None, bool(prepared.perf.telemetry.server_metrics)
    if is_resumed or decided or not prepared.perf.endpoint.probe:
        return prepared
    pages = {own_page(target): target for target in prepared.targets}
    looks = [asyncio.to_thread(has_metrics, url, target) for url, target in pages.items()]
    try:
        answers = await asyncio.wait_for(asyncio.gather(*looks), 2 * PATIENCE_S)
    except TimeoutError:  # a name that is not resolved in time
        return prepared
    urls = tuple(url for url, has in zip(pages, answers, strict=True) if has)
    return replace(prepared, metrics_pages=urls)


def has_metrics(url: str, target: Endpoint, timeout_s: float = PATIENCE_S) -> bool:
    """Whether a page has metrics of a known server.

    Args:
        url: The page's URL.
        target: The endpoint, with its headers.
        timeout_s: How long the page may take.
    """
    from recorder.sensors.exposition import is_known
    from recorder.sensors.scrape import ScrapeError, ScrapeTarget, scrape

    try:
        return is_known(scrape(ScrapeTarget(url, target.headers, target.verify, timeout_s)).text)
    except ScrapeError:
        return False
