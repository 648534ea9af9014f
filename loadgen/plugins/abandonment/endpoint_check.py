"""Whether an endpoint stops a request whose client leaves, by the server's number of running requests."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from http import HTTPStatus
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.endpoint import Request
from recorder.sensors.exposition import UnreadableError, naming_of, observed
from recorder.sensors.names import SERVER
from recorder.sensors.scrape import ScrapeError, ScrapeTarget, scrape
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.driver.checked_endpoint import CheckedEndpoint
    from loadgen.driver.client.exchange import Exchange

_LONG: Final = Sample(index=-1, prompt="Count from 1 to 1000 in words, without a pause.")
_TOKENS: Final = 512
_LOOKS: Final = 20
_PAUSE_S: Final = 0.1
_OPTION: Final = "--abandon 5%:after=first-token"
_RUNNING: Final = [quantity for quantity in SERVER if quantity.name == "running_requests"]


async def abandoning_check(endpoint: CheckedEndpoint) -> tuple[bool, str]:
    """Leave a long answer after the first token, and wait until no request runs.

    Returns:
        Whether the server does what a client expects, and details with the option of a run.
    """
    running = await _running(endpoint)
    if running is None:
        return True, f"unknown without the server's number of running requests; {_OPTION} leaves some early"
    if running:
        return True, f"unknown while {running:g} requests of other clients run; {_OPTION} leaves some early"
    for ignores_eos in (True, False):
        sending, exchange = await _begun(endpoint, ignores_eos=ignores_eos)
        if not sending.done() and not exchange.stream.answer.done:
            break
        await asyncio.gather(sending, return_exceptions=True)
    else:
        status = exchange.response.status if exchange.response else None
        why = "a long answer was complete at once" if status == HTTPStatus.OK else f"HTTP {status}"
        return True, f"unknown: {why}; {_OPTION} leaves some early"
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    for _ in range(_LOOKS):
        await asyncio.sleep(_PAUSE_S)
        if not await _running(endpoint):
            return True, f"a request whose client leaves is stopped: {_OPTION}"
    return (
        False,
        f"a request whose client left still ran {_LOOKS * _PAUSE_S:g} s later: {_OPTION} shows the waste",
    )


async def _begun(endpoint: CheckedEndpoint, *, ignores_eos: bool) -> tuple[asyncio.Future[Any], Exchange]:
    """A long answer that has begun, or that is over."""
    body = endpoint.codec.request(
        _LONG, replace(endpoint.generation, max_tokens=_TOKENS, ignore_eos=ignores_eos)
    )
    if isinstance(body, dict):
        # Some servers refuse the member, which only `usage` needs.
        body.pop("stream_options", None)
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    has_begun = asyncio.Event()
    exchange = endpoint.exchange(lambda _: has_begun.set())
    request = Request("POST", endpoint.codec.path, token_hex(12), data)
    sending = asyncio.ensure_future(endpoint.transport.send(request, exchange))
    beginning = asyncio.ensure_future(has_begun.wait())
    await asyncio.wait({sending, beginning}, return_when=asyncio.FIRST_COMPLETED)
    beginning.cancel()
    return sending, exchange


async def _running(endpoint: CheckedEndpoint) -> float | None:
    """The server's number of running requests; None without such a metric."""
    target = endpoint.transport.endpoint
    try:
        page = await asyncio.to_thread(
            scrape, ScrapeTarget(f"{target.origin}/metrics", target.headers, target.verify)
        )
        naming = naming_of(page.text)
        things = [] if naming is None else observed(page.text, naming, _RUNNING, whole=False)
    except (ScrapeError, UnreadableError):
        return None
    values = [value for thing in things for value in thing.values.values()]
    return sum(values) if values else None
