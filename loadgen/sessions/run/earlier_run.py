"""An earlier run as a dataset: equal questions and times, with answers of equal length."""

from __future__ import annotations

from array import array
from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from reporter.replayed_requests import asked, texts_asked
from workloads.dataset import Dataset
from workloads.sample import FollowUp, Sample, last_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reporter.replayed_requests import MeasuredRequest
    from workloads.traces.replayed_part import TracePart


def replayed_requests(run: Path, part: TracePart) -> Dataset:
    """The measured requests of a run, of any outcome; conversations keep their starting times."""
    begun: list[MeasuredRequest] = []
    later: dict[str, list[MeasuredRequest]] = defaultdict(list)
    is_whole = True
    for request in asked(run):
        if request.turn:
            later[request.conversation or ""].append(request)
        elif is_whole and _is_wanted(request, begun, part):
            begun.append(request)
        else:
            is_whole = False
    if not begun:
        raise UsageError(f"--trace {run}: no request was measured in this run")
    texts = _PromptTexts(run, texts_asked(run))
    samples = tuple(
        texts.sample(index, first, later.get(first.conversation or "", ()))
        for index, first in enumerate(begun)
    )
    offsets_ns = array("q", (first.at_ns - begun[0].at_ns for first in begun))
    facts = {"trace": {"format": "run", "whole": is_whole}}
    name = run.resolve().name if run.is_dir() else run.resolve().parent.name
    return Dataset(
        *(name, samples, _checksum(samples, offsets_ns)), synthetic=False, offsets_ns=offsets_ns, facts=facts
    )


def _is_wanted(request: MeasuredRequest, begun: Sequence[MeasuredRequest], part: TracePart) -> bool:
    if part.requests is not None and len(begun) >= part.requests:
        return False
    if part.span_ns is not None and len(begun) > part.ahead:
        return request.at_ns - begun[part.ahead].at_ns <= part.span_ns
    return True


class _PromptTexts:
    """The prompts of a run; see `reporter.replayed_requests.texts_asked`."""

    def __init__(self, run: Path, texts: Mapping[tuple[int, int], Any]) -> None:
        self._run = run
        self._texts = texts

    def sample(self, index: int, first: MeasuredRequest, later: Sequence[MeasuredRequest]) -> Sample:
        """A question, or a conversation that begins with the question."""
        text = self._of(first)
        more: dict[str, Any] = {
            "max_tokens": first.output_tokens or None,
            "tools": tuple(text.get("tools") or ()),
            "tags": first.tags,
            "follow_ups": tuple(map(self._follow_up, (first, *later), later)),
        }
        if "token_ids" in text:
            return Sample(index, token_ids=tuple(text["token_ids"]), **more)
        if "prompt" in text:
            return Sample(index, text["prompt"], **more)
        messages = tuple(text["messages"])
        plain = _plain(messages)
        if plain is not None:
            return Sample(index, *plain, **more)
        return Sample(index, last_text(messages), chat=messages, **more)

    def _follow_up(self, before: MeasuredRequest, request: MeasuredRequest) -> FollowUp:
        recorded = {"role": "assistant", **before.answer}
        return FollowUp(tuple(self._of(request)["messages"]), recorded, request.output_tokens or None)

    def _of(self, request: MeasuredRequest) -> Mapping[str, Any]:
        text: Any = self._texts.get((request.prompt_id, request.turn))
        if not isinstance(text, dict) or not text.keys() & {"messages", "prompt", "token_ids"}:
            raise UsageError(
                f"--trace {self._run}: the log lacks the text of prompt {request.prompt_id}, so the run "
                "cannot be replayed"
            )
        return text


def _plain(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str | None] | None:
    """The prompt and the system prompt, where messages consist of these alone; None for others."""
    match messages:
        case [{"role": "user", "content": str(prompt), **rest}] if not rest:
            return prompt, None
        case [
            {"role": "system", "content": str(system), **others},
            {"role": "user", "content": str(prompt), **rest},
        ] if not rest and not others:
            return prompt, system
        case _:
            return None


def _checksum(samples: Sequence[Sample], offsets_ns: Sequence[int]) -> str:
    digest = sha256()
    for sample, offset_ns in zip(samples, offsets_ns, strict=True):
        digest.update(f"{offset_ns} {sample}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()
