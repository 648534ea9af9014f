"""From settings to requests for vectors or scores: synthetic, from a file, or from an earlier run."""

from __future__ import annotations

from array import array
from dataclasses import replace
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.vectors.vector_sample import MadeRequests, VectorSample
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.synthetic import synthetic_dataset
from loadgen.sessions.settings.concerns import set_flags
from reporter.log.database import open_log
from workloads.columns import cell, read_tags
from workloads.dataset import Dataset
from workloads.errors import ColumnError, PromptError, did_you_mean
from workloads.lengths import lengths
from workloads.sources import kind, read_rows, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.lengths import Lengths
    from workloads.sources import FileRow

MOST_INPUTS: Final = 8192
"""Of a request."""

_QUERY_TOKENS: Final = "32"
_BATCHES: Final = {"batch": "1", "query": "8"}
_INPUT_COLUMNS: Final = (
    *("inputs", "input", "documents", "passages", "texts", "text_2", "items"),
    *("document", "passage", "text", "prompt", "positive"),
)
_QUERY_COLUMNS: Final = ("query", "question", "text_1", "anchor")
_OF_TEXT: Final = (
    *("system_column", "output_column", "weight_column", "conversations", "history", "only_prompt", "salt"),
    *("output_tokens", "turns", "shared_prefix", "cache_hit", "agentic", "ignore_eos", "strict_prompts"),
)
"""Options of prompts and answers, which these requests have none of."""

_OF_FILES: Final = ("prompts", "prompt_column", "query_column", "batch", "tag")
_SYNTHETIC: Final = ("input_tokens", "query_tokens", "corpus")


def vector_dataset(settings: PerfSettings, count: int) -> Dataset:
    """The requests of a run for vectors or scores.

    Args:
        settings: The settings.
        count: How many synthetic requests to make.

    Raises:
        UsageError: The options contradict each other, or the earlier run has no results.
        WorkloadError: The file cannot be read.
    """
    prompts, form = settings.prompts, settings.endpoint.protocol_entry.inputs
    _require_fitting(settings)
    if prompts.expect is not None:
        return _of_run(prompts.expect, has_query=form == "query")
    batch = lengths("--batch", prompts.batch or _BATCHES[form], MOST_INPUTS)
    if prompts.prompts is not None:
        return _of_file(prompts, prompts.prompts, batch, settings.load.seed, has_query=form == "query")
    return _made(prompts, batch, count, settings.load.seed, has_query=form == "query")


def _require_fitting(settings: PerfSettings) -> None:
    """Refuse options that these requests have no place for."""
    prompts, name = settings.prompts, settings.endpoint.protocol
    chosen = [*set_flags(prompts, *_OF_TEXT), *set_flags(settings.tasks, "task")]
    chosen += ["--trace"] * (settings.load.trace is not None)
    chosen += ["--images, --audio and --videos"] * settings.media.is_wanted
    if chosen:
        raise UsageError(f"{' and '.join(chosen)}: has no place in requests of --protocol {name}; leave out")
    if settings.endpoint.protocol_entry.inputs == "batch" and (
        chosen := set_flags(prompts, "query_tokens", "query_column")
    ):
        raise UsageError(f"{' and '.join(chosen)}: --protocol {name} has no query; leave out")
    if prompts.expect is not None and (chosen := set_flags(prompts, *_OF_FILES, *_SYNTHETIC)):
        raise UsageError(f"{' and '.join(chosen)}: --expect sends the inputs of a run again; leave out")
    if prompts.prompts is not None and (chosen := set_flags(prompts, *_SYNTHETIC)):
        raise UsageError(f"{' and '.join(chosen)}: only for synthetic inputs; leave --prompts out, or these")
    if prompts.prompts is not None and prompts.prompts.startswith("hf:"):
        raise UsageError("--prompts hf:…: the inputs must be in a file; download the data set first")


def _made(prompts: PromptSettings, batch: Lengths, count: int, seed: int, *, has_query: bool) -> Dataset:
    """Synthetic inputs, and queries in their own texts."""
    firsts = _firsts(batch, count, seed)
    texts = synthetic_dataset(prompts, firsts[-1], seed)
    facts: dict[str, Any] = {"batch": batch.spec}
    queries: Sequence[Any] = ()
    if has_query:
        wanted = replace(
            prompts,
            input_tokens=prompts.query_tokens or _QUERY_TOKENS,
            text_seed=(prompts.text_seed or 0) + 1,
        )
        queries = synthetic_dataset(wanted, count, seed).samples
        facts["query_tokens"] = wanted.input_tokens
    requests = MadeRequests(texts=texts.samples, firsts=firsts, queries=queries, keeps=prompts.save_vectors)
    digest = sha256(f"{texts.sha256}\n{[*firsts]}\n{facts.get('query_tokens')}".encode()).hexdigest()
    return replace(texts, samples=requests, sha256=digest, facts={**texts.facts, "inputs": facts})


def _firsts(batch: Lengths, count: int, seed: int) -> Sequence[int]:
    """The place of the first input of each request, and the end."""
    random = Random(f"{seed}/batch")  # noqa: S311 (reproducible draws, no secrets)
    return array("Q", accumulate((batch.drawn(random) for _ in range(count)), initial=0))


def _of_file(prompts: PromptSettings, source: str, batch: Lengths, seed: int, *, has_query: bool) -> Dataset:
    """The requests of a file: a row with a list is a request, rows with one text share requests."""
    path = Path(source)
    stored = read_stored(path)
    rows = list(read_rows(path, stored))
    names = rows[0].value
    inputs = prompts.prompt_column or _usual("--prompt-column", rows[0], _INPUT_COLUMNS)
    query = None
    if has_query:
        if isinstance(names, str):
            raise ColumnError(f"{rows[0].place}: a plain string, where a query and documents should be")
        query = prompts.query_column or _usual("--query-column", rows[0], _QUERY_COLUMNS)
    random = Random(f"{seed}/batch")  # noqa: S311 (reproducible draws, no secrets)
    read = [_texts(row, inputs) for row in rows]
    made: list[VectorSample] = []
    place = 0
    while place < len(rows):
        row, texts = rows[place], read[place]
        size = 1
        if query is None and not isinstance(cell(row, inputs)[0], list):
            size = batch.drawn(random)
            texts = tuple(text for some in read[place : place + size] for text in some)
        made.append(
            VectorSample(
                index=len(made),
                inputs=texts,
                query=None if query is None else _text(row, query),
                keeps=prompts.save_vectors,
                tags=read_tags(row, tuple(prompts.tag)),
            )
        )
        place += size
    facts = {"inputs": {"batch": batch.spec}}
    return Dataset(path.name, made, sha256(stored).hexdigest(), synthetic=False, facts=facts)


def _usual(option: str, row: FileRow, usual: Sequence[str]) -> str | None:
    """The first usual name of a column; None for plain strings."""
    if isinstance(row.value, str):
        return None
    names = {name.lower(): name for name in row.value}
    usual_name = next((names[name] for name in usual if name in names), None)
    if usual_name is None:
        raise ColumnError(
            f"{row.place}: no column of a usual name ({', '.join(row.value)})"
            f"{did_you_mean(usual[0], row.value)}; name one with {option}"
        )
    return usual_name


def _texts(row: FileRow, column: str | None) -> tuple[str, ...]:
    """The inputs of a row: a text or a list of texts."""
    value, place = cell(row, column)
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise PromptError(f"{place}: {kind(value)}, where a text or a list of texts should be")
    if len(texts) > MOST_INPUTS:
        raise PromptError(f"{place}: {len(texts)} texts; a request has at most {MOST_INPUTS}")
    return tuple(texts)


def _text(row: FileRow, column: str) -> str:
    value, place = cell(row, column)
    if not isinstance(value, str) or not value:
        raise PromptError(f"{place}: {kind(value)}, where the text of a query should be")
    return value


_ASKED: Final = """
    SELECT prompt_id, any_value(inputs)::VARCHAR, any_value(query), any_value(results)::VARCHAR
    FROM prompts JOIN samples USING (prompt_id) JOIN outputs USING (sample_uuid)
    WHERE status = 'completed' AND inputs IS NOT NULL AND results IS NOT NULL
    GROUP BY prompt_id ORDER BY prompt_id"""


def _of_run(run: str, *, has_query: bool) -> Dataset:
    """The inputs of an earlier run, with the results that it has."""
    with open_log(Path(run), also=("outputs", "prompts")) as log:
        rows = log.execute(_ASKED).fetchall()
    if not rows:
        raise UsageError(
            f"--expect {run}: has no vectors or scores; make one with --save-vectors, which keeps vectors"
        )
    if any((query is not None) is not has_query for _, _, query, _ in rows):
        raise UsageError(
            f"--expect {run}: its protocol asks another question; give the --protocol of the run"
        )
    made = [
        VectorSample(
            index=number,
            inputs=tuple(orjson.loads(inputs)),
            query=query,
            keeps=True,
            expected=tuple(orjson.loads(results)),
        )
        for number, (_, inputs, query, results) in enumerate(rows)
    ]
    texts = (orjson.dumps([sample.query, *sample.inputs]) for sample in made)
    return Dataset(Path(run).name, made, _digest(texts), synthetic=False, facts={"inputs": {"expect": run}})


def _digest(parts: Iterable[bytes]) -> str:
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
