"""Checks of what an endpoint supports beyond an answer: parameters, metrics, further protocols."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.probe import Prober
from loadgen.sessions.run.check_line import CheckLine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.driver.client.transport import Transport
    from loadgen.driver.probe import Probe

_OK: Final = 200
_CLIENT_ERRORS: Final = range(400, 500)

_TOOL: Final = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
_PARAMETERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ignore_eos": {"ignore_eos": True},
    "min_tokens": {"min_tokens": 2},
    "seed": {"seed": 0},
    "logprobs": {"logprobs": True},
    "tools": {"tools": [_TOOL]},
}
_OF_COMPLETIONS: Final[Mapping[str, Mapping[str, Any]]] = {"logprobs": {"logprobs": 1}}
_OPENAI: Final = ("chat", "completions", "responses", "messages")


async def feature_checks(
    protocol: str, transport: Transport, codec: Codec, generation: Generation, probe: Probe
) -> AsyncIterator[CheckLine]:
    """Check an endpoint that has answered."""
    entry = protocol_entry(protocol)
    if entry.seed:
        parameters = dict(_PARAMETERS)
        if protocol == "completions":
            parameters = {**parameters, **_OF_COMPLETIONS}
            del parameters["tools"]
        async for line in _parameters(Prober(transport, codec, generation), parameters, probe):
            yield line
    yield await _metrics(transport)
    if not entry.rooted:
        yield await _protocols(protocol, transport, generation)


async def _parameters(
    prober: Prober, parameters: Mapping[str, Mapping[str, Any]], probe: Probe
) -> AsyncIterator[CheckLine]:
    refused = dict.fromkeys(probe.refused, "")
    accepted = [] if "stream_options" in refused else ["stream_options"]
    for name, members in parameters.items():
        answer = await prober.completion(members)
        if answer.status in _CLIENT_ERRORS:
            refused[name] = f" (HTTP {answer.status}: {answer.message})"
        else:
            accepted.append(name)
    if accepted:
        yield CheckLine("accepts", "ok", ", ".join(accepted))
    for name, why in refused.items():
        yield CheckLine("refuses", "warning", f"{name}{why}")


async def _metrics(transport: Transport) -> CheckLine:
    from recorder.sensors.exposition import is_known
    from recorder.sensors.scrape import ScrapeError, ScrapeTarget, scrape

    target = transport.endpoint
    url = f"{target.origin}/metrics"
    try:
        page = await asyncio.to_thread(scrape, ScrapeTarget(url, target.headers, target.verify))
    except ScrapeError as error:
        return CheckLine("metrics", "warning", f"no {url}: {target.redact(str(error))}")
    if not is_known(page.text):
        return CheckLine("metrics", "warning", f"{url} has no metrics of a known server")
    return CheckLine("metrics", "ok", f"{url}: a run records them")


async def _protocols(own: str, transport: Transport, generation: Generation) -> CheckLine:
    """Ask in each of the usual protocols."""
    answering, silent = [own], []
    for name in _OPENAI:
        if name == own:
            continue
        try:
            probe = await Prober(transport, codec_of(name, {}), generation).completion()
        except (RejectedError, UnreachableError):
            silent.append(name)
            continue
        (answering if probe.status == _OK and probe.failure is None else silent).append(name)
    others = f"; not {', '.join(silent)}" if silent else ""
    return CheckLine("protocols", "ok", f"{', '.join(answering)}{others}")
