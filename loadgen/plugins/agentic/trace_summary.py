"""The summary of a trace: format, history, sessions, widths, tokens, and possible prefix hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.agentic.agentic_form import read_agentic_form
from loadgen.plugins.agentic.made_up import MadeUpSessions
from loadgen.plugins.agentic.prefix_hits import peak_width, prefix_hits
from loadgen.plugins.agentic.reading import read_sessions, session_format
from loadgen.plugins.agentic.session_tree import History
from reporter.number_text import counted, whole
from workloads.registry import entries, load
from workloads.traces.form import FORMATS, TraceForm, read_form
from workloads.traces.replayed_part import TracePart, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from workloads.traces.replayed_part import Trace


def trace_summary(path: Path, form: str | None = None, history: str | None = None) -> Mapping[str, Any]:
    """The summary of a trace, as JSON has it.

    Args:
        path: A file or a folder.
        form: `--trace-format`.
        history: `--history`.

    Returns:
        `format`, `unit`, `history`, `block_tokens`, `sessions`, `requests`, `streams`, `depth` (the most
        spawns between a main agent and a subagent), `width` (the most requests of a session at one time),
        `input_tokens`, `output_tokens`, `prefix_hit_blocks`, `blocks`, `prefix_hit_rate` (of a cache without
        bound, per session; of requests without sessions, of all), `shared_hit_rate` (of a cache that all
        sessions share, one after the other, where ids are shared), `left_out` (rows by reason) and `notes`.
        What the input does not say is None.

    Raises:
        WorkloadError: The input cannot be read; see `read_sessions` and `read_trace`.
    """
    shape = TraceForm() if form is None else read_form(form)
    if session_format(path, shape) is None:
        return _of_requests(read_trace(path, TracePart(), shape))
    return _of_sessions(read_sessions(path, shape, None if history is None else History(history)))


def agentic_summary(form: str, seed: int) -> Mapping[str, Any]:
    """The summary of made-up sessions; see `trace_summary`.

    Args:
        form: `--agentic`.
        seed: `--text-seed`.

    Raises:
        PromptError: The form cannot be read.
    """
    return _of_sessions(MadeUpSessions(read_agentic_form(form), seed))


def summary_text(summary: Mapping[str, Any]) -> str:
    """A summary as text for people, one fact a line."""
    rate, shared = summary["prefix_hit_rate"], summary["shared_hit_rate"]
    hits = (
        None
        if rate is None
        else f"{rate:.4f} ({whole(summary['prefix_hit_blocks'])} of {whole(summary['blocks'])} blocks)"
    )
    left_out = "; ".join(f"{why}: {counted(rows, 'row')}" for why, rows in summary["left_out"].items())
    facts = {
        "format": _title(summary["format"]),
        "times in": summary["unit"],
        "history": summary["history"],
        "tokens per block": summary["block_tokens"] or None,
        **{name: summary[name] for name in ("sessions", "requests", "streams", "depth", "width")},
        "input tokens": summary["input_tokens"],
        "output tokens": summary["output_tokens"],
        "prefix hits": hits,
        "across sessions": None if shared is None else f"{shared:.4f}",
        "left out": left_out or None,
        "note": "; ".join(summary["notes"]) or None,
    }
    shown = {name: value for name, value in facts.items() if value is not None}
    width = max(map(len, shown))
    return "".join(
        f"{name:<{width}}  {value:,}\n" if isinstance(value, int) else f"{name:<{width}}  {value}\n"
        for name, value in shown.items()
    )


def _title(name: str) -> str:
    entry = entries("traces").get(name)
    return FORMATS.get(name, name) if entry is None else load(entry).title


def _of_sessions(corpus: SessionCorpus) -> Mapping[str, Any]:
    facts = corpus.facts
    requests = streams = depth = hits = blocks = shared = block_tokens = 0
    cached: set[int] = set()
    tokens = [0, 0]
    widths: list[int] = []
    for number in range(len(corpus)):
        tree = corpus.tree(number)
        requests += len(tree.turns)
        streams += len(tree.streams)
        depth = max(depth, *(tree.depth(stream) for stream in range(len(tree.streams))))
        for turn in tree.turns:
            tokens[0] += turn.input_tokens or 0
            tokens[1] += turn.output_tokens or 0
        alone = prefix_hits(tree)
        hits, blocks, block_tokens = hits + alone.hits, blocks + alone.blocks, tree.block_tokens
        if corpus.shares_ids:
            shared += prefix_hits(tree, cached).hits
        if (width := peak_width(tree)) is not None:
            widths.append(width)
    return {
        "format": facts.format,
        "unit": facts.unit,
        "history": facts.history.value,
        "block_tokens": block_tokens or None,
        "sessions": len(corpus),
        "requests": requests,
        "streams": streams,
        "depth": depth,
        "width": max(widths, default=None),
        "input_tokens": tokens[0] or None,
        "output_tokens": tokens[1] or None,
        **_hits(hits, blocks),
        "shared_hit_rate": shared / blocks if corpus.shares_ids and blocks else None,
        "left_out": dict(facts.left_out.rows),
        "notes": facts.notes,
    }


def _of_requests(trace: Trace) -> Mapping[str, Any]:
    """The summary of a trace of requests without sessions, in which all requests share ids."""
    seen: set[int] = set()
    hits = 0
    for request in range(len(trace.inputs)):
        ids = trace.blocks[trace.first_blocks[request] : trace.first_blocks[request + 1]]
        hits += next((place for place, block in enumerate(ids) if block not in seen), len(ids))
        seen.update(ids)
    return {
        "format": trace.format,
        "unit": trace.unit,
        "history": None,
        "block_tokens": trace.block_tokens if trace.blocks else None,
        "sessions": None,
        "requests": len(trace.inputs),
        "streams": None,
        "depth": None,
        "width": None,
        "input_tokens": sum(trace.inputs),
        "output_tokens": sum(trace.outputs),
        **_hits(hits, len(trace.blocks)),
        "shared_hit_rate": None,
        "left_out": dict(trace.left_out.rows),
        "notes": [],
    }


def _hits(hits: int, blocks: int) -> Mapping[str, Any]:
    return {
        "prefix_hit_blocks": hits if blocks else None,
        "blocks": blocks or None,
        "prefix_hit_rate": hits / blocks if blocks else None,
    }
