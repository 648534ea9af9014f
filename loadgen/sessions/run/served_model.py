"""The model of an endpoint that lists one model only, for runs that name none."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.errors import UnreachableError
from loadgen.driver.probe import Prober
from loadgen.sessions.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.client.timeouts import Timeouts

_SHOWN: Final = 5


def served_model(target: Endpoint, timeouts: Timeouts, protocol: str, options: Mapping[str, Any]) -> str:
    """Return the only model that an endpoint lists."""

    async def listed() -> tuple[list[str] | None, str]:
        transport = HttpTransport(target, timeouts)
        prober = Prober(transport, codec_of(protocol, options), Generation(""))
        try:
            return await prober.models(), prober.no_list
        finally:
            await transport.close()

    where = printable(target.url)
    try:
        # The caller may be in an event loop already.
        with ThreadPoolExecutor(1) as threads:
            models, no_list = threads.submit(asyncio.run, listed()).result()
    except UnreachableError as error:
        raise UsageError(f"--model is missing: {error}") from error
    if not models:
        raise UsageError(f"--model is missing: {where} lists no model{no_list and f' ({no_list})'}; name it")
    if len(models) > 1:
        names = ", ".join(map(printable, models[:_SHOWN])) + (", …" if len(models) > _SHOWN else "")
        raise UsageError(f"--model is missing: {where} lists {names}; choose one with --model NAME")
    return models[0]
