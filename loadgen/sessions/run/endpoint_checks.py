"""Checks of an endpoint with a few small requests: reachability, and the features of a run."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, replace
from loadgen.driver.checked_endpoint import CheckedEndpoint
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.probe import Probe, Prober
from loadgen.sessions.run.preparation import extra_body_of, targets_of, timeouts_of
from loadgen.sessions.run.protocol_options import options_of, protocol_of
from loadgen.sessions.run.served_model import served_model
from recorder.sensors.exposition import is_known
from recorder.sensors.scrape import ScrapeError, ScrapeTarget, scrape
from workloads.registry import entries, load, service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from loadgen.driver.client.transport import Transport
    from loadgen.sessions.settings.endpoint_options import CheckSettings


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line of the output: a check, the status, and details."""

    check: str
    status: Literal["ok", "warning", "failed"]
    detail: str


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
_MOST_NAMED: Final = 5
_OPENAI: Final = ("chat", "completions", "responses", "messages")


async def _checks(checked: CheckedEndpoint, probe: Probe, models: list[str]) -> AsyncIterator[CheckLine]:
    """Check an endpoint that has answered."""
    if len(models) > 1:
        mix = ",".join(f"{name}=1" for name in models[:_MOST_NAMED])
        yield CheckLine("models", "ok", f"{len(models)} listed: --models '{mix}' mixes them")
    checks = _vector_checks if protocol_entry(checked.protocol).inputs else _text_checks
    async for line in checks(checked, probe):
        yield line


async def _text_checks(checked: CheckedEndpoint, probe: Probe) -> AsyncIterator[CheckLine]:
    """Check an endpoint that has answered with text."""
    if checked.generation.stream:
        yield _stream(probe)
    yield _usage(probe)
    if protocol_entry(checked.protocol).checks:
        return
    transport, generation = checked.transport, checked.generation
    prober = Prober(transport, checked.codec, generation)
    if protocol_entry(checked.protocol).seed:
        parameters = dict(_PARAMETERS)
        if checked.protocol == "completions":
            parameters = {**parameters, **_OF_COMPLETIONS}
            del parameters["tools"]
        async for line in _parameters(prober, parameters, probe):
            yield line
    yield await _metrics(transport)
    yield await _statements(prober, probe)
    if protocol_entry(checked.protocol).rooted:
        return
    yield await _protocols(checked.protocol, transport, generation)
    for name, entry in entries("checks").items():
        passed, detail = await load(entry)(checked)
        yield CheckLine(name, "ok" if passed else "warning", detail)


async def _own_checks(checked: CheckedEndpoint, connected: Callable[[], None]) -> AsyncIterator[CheckLine]:
    """Ask what a protocol's servers say of themselves, before the first question."""
    if own := protocol_entry(checked.protocol).checks:
        async for check, passed, detail in service(own)(checked):
            if passed:
                connected()
            yield CheckLine(check, "ok" if passed else "warning", detail)


async def _vector_checks(checked: CheckedEndpoint, probe: Probe) -> AsyncIterator[CheckLine]:
    """Check an endpoint that has answered with a vector or a score."""
    del probe
    async for check, passed, detail in service("vector_checks")(checked):
        yield CheckLine(check, "ok" if passed else "warning", detail)
    yield await _metrics(checked.transport)


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
    target = transport.endpoint
    url = f"{target.origin}/metrics"
    try:
        page = await asyncio.to_thread(scrape, ScrapeTarget(url, target.headers, target.verify))
    except ScrapeError as error:
        return CheckLine("metrics", "warning", f"no {url}: {target.redact(str(error))}")
    if not is_known(page.text):
        return CheckLine("metrics", "warning", f"{url} has no metrics of a known server")
    # llama.cpp has the counters also without speculation: 0.
    has_drafts = re.search(r"(?m)^(?!llamacpp:\S+ 0$)\S*spec_(decode|accept)", page.text)
    drafts = ", of speculative decoding too (--require 'spec_acceptance_length>=2')" if has_drafts else ""
    return CheckLine("metrics", "ok", f"{url}: a run records them{drafts}")


async def _statements(prober: Prober, probe: Probe) -> CheckLine:
    """Look for the server's own times and drafts of a request, which SGLang states on demand."""
    stated = {*probe.stated}
    if "sglext" not in stated:
        asked = await prober.completion({"return_spec_tokens_details": True})
        if "sglext" in asked.stated:
            return CheckLine(
                "states", "ok", "drafts, with --extra-body '{\"return_spec_tokens_details\": true}'"
            )
    if not stated:
        return CheckLine("states", "ok", "no times of a request by the server's clock, and no drafts")
    return CheckLine("states", "ok", f"times or drafts of each request: {', '.join(sorted(stated))}")


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


LIST_TIMEOUT_S: Final = 10.0
"""The time limit of the model list, which a server has at hand."""

_OK: Final = 200

_TOO_MANY: Final = 429

_OF_THE_SERVER: Final = frozenset({"error_frame", "malformed_frame"})
"""Failures with a status of 200 that may be a server's way to refuse a request, such as a login page."""


async def ask_endpoint(settings: CheckSettings, emit: Callable[[CheckLine], None]) -> None:
    """Run the checks, and emit each line as soon as available."""
    (target,) = targets_of(settings)
    codec = codec_of(protocol_of(settings), options_of(settings))
    can_stream = protocol_entry(settings.protocol).stream != "never"
    timeouts, model = timeouts_of(settings), settings.model
    if not model:
        name, options = protocol_of(settings), options_of(settings)
        model = served_model(target, timeouts.within(LIST_TIMEOUT_S), name, options)
    generation = Generation(model, stream=can_stream, extra_body=extra_body_of(settings.extra_body))
    transports = [
        HttpTransport(target, limits)
        for limits in (replace(timeouts.within(LIST_TIMEOUT_S), named="for a model list"), timeouts)
    ]
    reached: list[CheckLine] = []

    def connected() -> None:
        if not reached:
            reached.append(CheckLine("reachable", "ok", target.url))
            emit(reached[0])

    listing, asking = (Prober(transport, codec, generation, connected) for transport in transports)
    try:
        opened = partial(HttpTransport, timeouts=timeouts)
        checked = CheckedEndpoint(settings.protocol, transports[1], codec, generation, opened)
        models = await listing.models()
        listed_model = _known_model(models, model, listing.no_list)
        if listed_model is not None:
            emit(listed_model)
        async for line in _own_checks(checked, connected):
            emit(line)
        probe = await asking.completion()
        asking.require_accepted(probe, models)
        answer = _answer(probe, key_sent=asking.key_sent)
        if listed_model is None:
            emit(_unlisted_model(models or [], model, accepted=answer.status == "ok"))
        emit(answer)
        # Without an answer there is nothing to check.
        if answer.status == "ok":
            async for line in _checks(checked, probe, models or []):
                emit(line)
    finally:
        for transport in transports:
            await transport.close()


def _known_model(models: list[str] | None, model: str, no_list: str) -> CheckLine | None:
    """The check of the model by the list alone; None where only a request can decide."""
    if models is None:
        return CheckLine("model", "warning", f"no model list: {no_list}")
    return CheckLine("model", "ok", f"{model} is listed") if model in models else None


def _unlisted_model(models: list[str], model: str, *, accepted: bool) -> CheckLine:
    listed = f"it lists {', '.join(models[:5])}" if models else "the list is empty"
    if accepted:
        return CheckLine("model", "warning", f"the server accepts {model!r} but does not list it; {listed}")
    return CheckLine("model", "warning", f"the server does not list {model!r}; {listed}")


def _answer(probe: Probe, *, key_sent: bool) -> CheckLine:
    """Whether a run would count this answer as completed; if not, why."""
    if probe.failure is None:
        return CheckLine("answers", "ok", "a short question is answered")
    if probe.status is None:
        return CheckLine("answers", "failed", probe.message)
    why = f"{probe.failure if probe.status == _OK else f'HTTP {probe.status}'}: {probe.message}"
    if probe.status == _TOO_MANY:
        why += "; the server limits the rate of requests: wait, or raise its limit"
    elif not key_sent and (probe.status != _OK or probe.failure in _OF_THE_SERVER):
        why += "; no API key was sent (--api-key or LOADGEN_API_KEY)"
    return CheckLine("answers", "failed", why)


def _stream(probe: Probe) -> CheckLine:
    if probe.streams and probe.ttft_ms is not None:
        return CheckLine("streams", "ok", f"first token after {probe.ttft_ms:.1f} ms")
    return CheckLine("streams", "warning", "the response is not a stream: there will be no TTFT, TPOT or ITL")


def _usage(probe: Probe) -> CheckLine:
    if probe.usage:
        return CheckLine("usage", "ok", "the server counts its tokens")
    return CheckLine(
        "usage", "warning", "no usage: tokens are counted by --tokenizer at report time, else by chunks"
    )
