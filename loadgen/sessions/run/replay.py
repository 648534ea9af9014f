"""From settings to the requests of a trace, or of an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import warmup_of
from loadgen.sessions.run.synthetic import corpus_of

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.settings.load_options import LoadSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.dataset import Dataset
    from workloads.traces.replayed_part import TracePart


def replayed(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset:
    """The questions of a trace with arrival times, or those of an earlier run."""
    if source.is_dir():
        _require_run(source)
    return _of_run(load, prompts, source) if _is_run(source) else _of_trace(load, prompts, source)


def _of_trace(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset:
    from loadgen.sessions.settings.tokenizer_options import counter
    from workloads.traces.form import TraceForm, read_form
    from workloads.traces.replayed import questions
    from workloads.traces.replayed_part import read_trace

    form = TraceForm() if load.trace_format is None else read_form(load.trace_format)
    trace = read_trace(source, _part(load), form)
    return questions(trace, load.seed, counter(prompts.tokenizer), corpus_of(prompts), prompts.text_seed or 0)


def _of_run(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset:
    from loadgen.sessions.run.earlier_run import replayed_requests

    if load.trace_format is not None:
        raise UsageError(f"--trace {source} is a run, which has no other format; leave --trace-format out")
    if prompts.corpus is not None or prompts.tokenizer is not None:
        raise UsageError(
            f"--trace {source} is a run, whose prompts are sent again; leave --corpus and --tokenizer out"
        )
    return replayed_requests(source, _part(load))


def _part(load: LoadSettings) -> TracePart:
    """The part of a trace that can be sent: only this is read."""
    from workloads.traces.replayed_part import TracePart

    warmup, warmup_s = warmup_of(load)
    counted, span_ns = load.requests or load.sessions, None
    if load.duration is not None:
        span_ns = round((load.duration + (warmup_s or 0.0)) * (load.trace_speed or 1.0) * 1e9)
    if counted is None or warmup_s is not None:  # how many requests a warm-up of some time has is not known
        return TracePart(None, span_ns, warmup)
    return TracePart(counted + warmup, span_ns, warmup)


def _require_run(folder: Path) -> None:
    from recorder.store import LOG_NAME

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
    from recorder.store import LOG_NAME

    return source.is_dir() or source.name == LOG_NAME
