"""From settings to the requests of a trace, or of an earlier run."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import warmup_of
from loadgen.sessions.run.synthetic import corpus_of
from loadgen.sessions.settings.tokenizer_options import counter
from recorder.store import LOG_NAME
from reporter.replayed_requests import MeasuredRequest, asked, texts_asked
from workloads.conversation_sample import FollowUp, conversation_of
from workloads.dataset import Dataset
from workloads.registry import service
from workloads.sample import Sample, last_text
from workloads.traces.form import TraceForm, read_form
from workloads.traces.replayed import questions
from workloads.traces.replayed_part import TracePart, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.settings.load_options import LoadSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings


def replayed(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset:
    """The questions of a trace with arrival times, or those of an earlier run."""
    if source.is_dir() and not any(source.glob("*.json*")):
        _require_run(source)
    if _is_run(source):
        dataset = _of_run(load, prompts, source)
    else:
        sessions: Dataset | None = service("recorded_sessions")(load, prompts, source)
        dataset = _of_trace(load, prompts, source) if sessions is None else sessions
    if load.trace_model and not dataset.session_kind:
        raise UsageError(
            f"--trace-model: {source} has no sessions; give --model, and leave --trace-model out"
        )
    if load.has_recorded_times:
        if dataset.offsets_ns is None:
            raise UsageError(
                f"--trace {source}: the sessions have no arrival times; give --concurrency or --rate, which "
                "count sessions"
            )
        return dataset
    if load.trace_speed is not None and not dataset.session_kind:
        raise UsageError(
            f"--trace-speed {load.trace_speed:g}: the requests of {source} do not leave at their recorded "
            "times; leave --trace-speed out"
        )
    return replace(dataset, offsets_ns=None)


def _of_trace(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset:
    if source.is_dir():
        _require_run(source)
    form = TraceForm() if load.trace_format is None else read_form(load.trace_format)
    trace = read_trace(source, _part(load), form)
    return questions(trace, load.seed, counter(prompts.tokenizer), corpus_of(prompts), prompts.text_seed or 0)


def _of_run(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset:
    if load.trace_format is not None:
        raise UsageError(f"--trace {source} is a run, which has no other format; leave --trace-format out")
    if prompts.corpus is not None or prompts.tokenizer is not None:
        raise UsageError(
            f"--trace {source} is a run, whose prompts are sent again; leave --corpus and --tokenizer out"
        )
    return replayed_requests(source, _part(load))


def _part(load: LoadSettings) -> TracePart:
    """The part of a trace that can be sent: only this is read."""
    warmup, warmup_s = warmup_of(load)
    counted, span_ns = load.requests or load.sessions, None
    if load.duration is not None and load.has_recorded_times:
        span_ns = round((load.duration + (warmup_s or 0.0)) * (load.trace_speed or 1.0) * 1e9)
    if counted is None or warmup_s is not None:  # how many requests a warm-up of some time has is not known
        return TracePart(None, span_ns, warmup)
    return TracePart(counted + warmup, span_ns, warmup)


def _require_run(folder: Path) -> None:
    if (folder / LOG_NAME).exists():
        return
    runs = sorted(path.parent.name for path in folder.glob(f"*/{LOG_NAME}"))
    instead = (
        f"name one of the runs in it, such as {folder / runs[0]}"
        if runs
        else "name a trace, or the log of a run"
    )
    raise UsageError(f"--trace {folder}: a folder without the log of a run ({LOG_NAME}); {instead}")


def _is_run(source: Path) -> bool:
    return source.name == LOG_NAME or (source / LOG_NAME).exists()


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
        opening = self._opening(index, first)
        if not later:
            return opening
        follow_ups = tuple(map(self._follow_up, (first, *later), later))
        return replace(conversation_of(opening), follow_ups=follow_ups)

    def _opening(self, index: int, first: MeasuredRequest) -> Sample:
        text = self._of(first)
        more: dict[str, Any] = {
            "max_tokens": first.output_tokens or None,
            "tools": tuple(text.get("tools") or ()),
            "tags": first.tags,
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
        # Whole prompts of session trees are not in the log.
        if isinstance(text, dict) and (text.get("messages") or text.keys() & {"prompt", "token_ids"}):
            return text
        raise UsageError(
            f"--trace {self._run}: the log lacks the text of prompt {request.prompt_id}, so the run "
            "cannot be replayed"
        )


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
