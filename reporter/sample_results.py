"""Results in one file: each measured request, or episode, with its texts, times, scores and cost."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from lazy_dataclasses import asdict, dataclass
from reporter.accuracy.asked import asked, passes
from reporter.errors import OptionError
from reporter.log.run_head import logged_settings
from reporter.log.sql_files import quoted
from reporter.telemetry.energy_figures import COLUMNS as ENERGY
from reporter.telemetry.energy_figures import CorrectBy, make_sample_energy
from reporter.values.scorer_definitions import defined
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reporter.accuracy.asked import ScorerPass
    from reporter.costs import PriceTable
    from reporter.log.database import OpenLog

_EPISODES: Final = """
    {judged},

    played AS (
        SELECT
            conversation_id,
            any_value(prompt_id) AS prompt_id,
            arg_max(sample_uuid, turn) AS sample_uuid,
            min(issued_ns) AS first_issued_ns,
            any_value(tags) AS tags,
            sum(cached_tokens) AS cached_tokens,
            sum(reasoning_tokens) AS reasoning_tokens
        FROM samples
        WHERE measured AND status <> 'abandoned' AND conversation_id IN (
            SELECT conversation_id FROM requests WHERE is_episode
        )
        GROUP BY conversation_id
    )

    SELECT
        played.conversation_id,
        played.prompt_id,
        questions.task,
        questions.question_id,
        asked.attempt,
        coalesce(to_json(questions.tags), played.tags::JSON) AS tags,
        coalesce(episodes.ending, 'none') AS ending,
        episodes.reason AS ending_reason,
        wall_time(coalesce(episodes.started_ns, first_issued_ns)) AS started_at_utc,
        {texts}
        judged.first.scorer AS scorer,
        judged.first.value AS score,
        judged.first.passed AS passed,
        judged.first.status AS score_status,
        judged.first.extracted AS extracted,
        judged.first.reason AS reason,
        judged.scores AS scores,
        episodes.reward,
        episodes.turns,
        episodes.user_turns,
        episodes.tool_calls,
        episodes.failed_tool_calls,
        episodes.input_tokens,
        episodes.output_tokens,
        played.reasoning_tokens,
        played.cached_tokens,
        episodes.duration_ms,
        episodes.waited_ms,
        episodes.setup_ms,
        episodes.wall_ms,
        episodes.model_ms,
        episodes.user_ms,
        episodes.tool_ms,
        episodes.own_ms,
        episodes.finish_ms
    FROM played
    LEFT JOIN episodes USING (conversation_id)
    LEFT JOIN questions ON questions.prompt_id = played.prompt_id
    LEFT JOIN asked ON asked.sample_uuid = played.sample_uuid
    LEFT JOIN judged ON judged.sample_uuid = played.sample_uuid
    {joins}"""

_EPISODE_TEXTS: Final = """
        prompts.prompt AS prompt,
        outputs.output AS output,
        question_references.reference AS reference,"""

_EPISODE_JOINS: Final = """
    LEFT JOIN prompts ON prompts.prompt_id = played.prompt_id AND prompts.turn = 0
    LEFT JOIN outputs ON outputs.sample_uuid = played.sample_uuid
    LEFT JOIN question_references ON question_references.prompt_id = played.prompt_id"""


TABLES: Final = ("outputs", "prompts", "questions", "question_references", "scores", "reported_passes")
"""What has to be loaded of a log first."""

FORMATS: Final[Mapping[str, str]] = {
    ".jsonl": "(FORMAT json)",
    ".ndjson": "(FORMAT json)",
    ".csv": "(FORMAT csv, HEADER)",
    ".parquet": "(FORMAT parquet, COMPRESSION zstd)",
}
"""By the ending of a file's name, how DuckDB writes it."""

_SHOWN: Final = """
    CREATE TEMP TABLE shown_passes (
        pass BIGINT, task VARCHAR, scorer VARCHAR, place INTEGER, threshold DOUBLE
    )"""

JUDGED: Final = """
    WITH judged AS (
        SELECT
            sample_uuid,
            min_by(
                {
                    'scorer': scorer, 'value': value, 'passed': value >= threshold,
                    'status': scores.status, 'extracted': extracted, 'reason': reason
                },
                place
            ) AS first,
            map_from_entries(list({
                'k': scorer,
                'v': {
                    'value': value, 'status': scores.status, 'extracted': extracted,
                    'reason': reason, 'metrics': metrics, 'details': details
                }
            } ORDER BY place)) AS scores
        FROM scores JOIN shown_passes USING (pass, task, scorer)
        GROUP BY sample_uuid
    )"""
"""The scores of the passes in `shown_passes`, one row an answer; `first` is the official one, if any."""

_RESULTS: Final = """
    {judged}

    SELECT
        samples.sample_uuid,
        samples.prompt_id,
        questions.task,
        questions.question_id,
        asked.attempt,
        samples.conversation_id,
        samples.turn,
        coalesce(to_json(questions.tags), samples.tags::JSON) AS tags,
        samples.status,
        samples.error,
        samples.error_message,
        samples.http_status,
        samples.finish_reason,
        samples.endpoint,
        wall_time(samples.issued_ns) AS issued_at_utc,
        {texts}
        judged.first.scorer AS scorer,
        judged.first.value AS score,
        judged.first.passed AS passed,
        judged.first.status AS score_status,
        judged.first.extracted AS extracted,
        judged.first.reason AS reason,
        judged.scores AS scores,
        samples.input_tokens,
        samples.output_tokens,
        samples.reasoning_tokens,
        samples.cached_tokens,
        {metrics},
        samples.output_tokens / (nullif(samples.latency_ms, 0) / 1e3) AS output_tps,
        {energy}
    FROM samples
    LEFT JOIN questions USING (prompt_id)
    LEFT JOIN asked USING (sample_uuid)
    LEFT JOIN judged USING (sample_uuid)
    LEFT JOIN sample_energy USING (sample_uuid)
    {joins}
    WHERE samples.measured"""

METRICS: Final = tuple(metric.column for metric in REQUEST_METRICS if metric.in_parts or metric.in_samples)
"""The columns of the view `samples` that a row has as they are."""

_PRICED: Final = "SELECT *, {cost} AS cost_usd FROM ({rows}) ORDER BY {order}"

_TEXTS: Final = """
        prompts.prompt AS prompt,
        outputs.output AS output,
        outputs.reasoning AS reasoning,
        outputs.tool_calls AS tool_calls,
        question_references.reference AS reference,"""

_JOINS: Final = """
    LEFT JOIN prompts ON prompts.prompt_id = samples.prompt_id AND prompts.turn = coalesce(samples.turn, 0)
    LEFT JOIN outputs USING (sample_uuid)
    LEFT JOIN question_references ON question_references.prompt_id = samples.prompt_id"""

_NESTED: Final = frozenset({"scores"})
"""Columns with nested values: CSV has them as JSON."""

# The characters are those of OWASP's page on CSV injection; a number stays a number.
_HARMLESS: Final = r"""
    CASE WHEN regexp_matches({column}, '^[=+\-@\t\r\n＝＋－＠]')
        AND NOT regexp_full_match({column}, '[+-]\d+(\.\d+)?([eE][+-]?\d+)?')
    THEN '''' || {column} ELSE {column} END AS {column}"""  # noqa: RUF001 (full-width forms count too)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOptions:
    """How results are written.

    Attributes:
        texts: Whether prompts, outputs and references are in the file.
        raw: CSV: leave texts as they are that a spreadsheet would take for formulas.
        scoring_pass: The only scoring pass whose scores are in it; by default the last finished one of each
            scorer.
        prices: What tokens cost; without them `cost_usd` is NULL.
        episodes: Whether a row is an episode, and not a request.
    """

    texts: bool = True
    raw: bool = False
    scoring_pass: int | None = None
    prices: PriceTable | None = None
    episodes: bool = False


def write_results(log: OpenLog, path: Path, options: ResultOptions) -> int:
    """Write one row for each measured request, or episode, in the order in which they were issued.

    The columns are described in docs/export.md. The file appears whole or not at all.

    Args:
        log: An opened log with `TABLES`, by the definitions that are wanted.
        path: The file; its ending, one of `FORMATS`, is the format.
        options: What is in it.

    Returns:
        How many rows were written.

    Raises:
        OptionError: The ending is of no known format, the pass or price does not exist.
        OSError: The file cannot be written.
    """
    written_as = require_format(path)
    settings = logged_settings(log)
    log = _with_tables(log, settings, options.scoring_pass)
    rows, order = _rows_of_episodes(log, options) if options.episodes else _rows_of_requests(options)
    query = _PRICED.format(rows=rows, cost=_cost(options.prices, settings), order=order)
    if path.suffix.lower() == ".csv":
        query = _flat(log, query, raw=options.raw)
    unfinished = path.with_name(f".{uuid4().hex}{path.suffix}")
    try:
        unfinished.touch()  # an error of the file system keeps its number
        (count,) = log.execute(f"COPY ({query}) TO {quoted(str(unfinished))} {written_as}").fetchall()[0]
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return int(count)


def _rows_of_requests(options: ResultOptions) -> tuple[str, str]:
    """The query, and the order of its rows."""
    rows = _RESULTS.format(
        judged=JUDGED,
        texts=_TEXTS if options.texts else "",
        metrics=", ".join(f"samples.{column}" for column in METRICS),
        energy=", ".join(f"sample_energy.{column}" for column in ENERGY),
        joins=_JOINS if options.texts else "",
    )
    return rows, "issued_at_utc, sample_uuid"


def _rows_of_episodes(log: OpenLog, options: ResultOptions) -> tuple[str, str]:
    """The query, and the order of its rows.

    Raises:
        OptionError: The run has no episodes.
    """
    if not log.execute("SELECT 1 FROM requests WHERE is_episode LIMIT 1").fetchall():
        raise OptionError("the run has no episodes: leave --episodes out, and use --samples")
    log.load(("episodes",))
    texts, joins = (_EPISODE_TEXTS, _EPISODE_JOINS) if options.texts else ("", "")
    return _EPISODES.format(judged=JUDGED, texts=texts, joins=joins), "started_at_utc, conversation_id"


def require_format(path: Path) -> str:
    """How DuckDB writes a file of this name.

    Raises:
        OptionError: Its ending is of no known format.
    """
    written_as = FORMATS.get(path.suffix.lower())
    if written_as is None:
        raise OptionError(f"{path}: unknown format; name a file that ends in {', '.join(FORMATS)}")
    return written_as


def _with_tables(log: OpenLog, settings: Mapping[str, Any], scoring_pass: int | None) -> OpenLog:
    """The same log with `sample_energy`, and `shown_passes`: of each scorer one pass, the official first."""
    tasks = {task.task: task for task in asked(settings)}
    chosen = passes(log, scoring_pass) if tasks or scoring_pass is not None else []
    rows = []
    for scored in chosen:
        task = tasks.get(scored.task)
        definition = defined(task.name if task else scored.task, scored.scorer)
        is_share = definition.headlines[0].unit == "share"
        threshold = task.pass_threshold if task and is_share else None
        rows.append((not definition.official, scored, threshold))
    shown = log.with_room()
    shown.execute(_SHOWN)
    for place, (_, scored, threshold) in enumerate(_in_order(rows)):
        values = [scored.number, scored.task, scored.scorer, place, threshold]
        shown.execute("INSERT INTO shown_passes VALUES (?, ?, ?, ?, ?)", values)
    make_sample_energy(shown, _correct_by(rows))
    return shown


def _correct_by(rows: Sequence[tuple[bool, ScorerPass, float | None]]) -> Iterator[CorrectBy]:
    for _, scored, threshold in _in_order(rows):
        if threshold is not None:
            yield CorrectBy(threshold, scored.number, scored.task, scored.scorer)


def _in_order(
    rows: Sequence[tuple[bool, ScorerPass, float | None]],
) -> list[tuple[bool, ScorerPass, float | None]]:
    return sorted(rows, key=lambda row: (row[0], row[1].number, row[1].scorer))


def _cost(prices: PriceTable | None, settings: Mapping[str, Any]) -> str:
    """SQL for the dollars that a request cost.

    Raises:
        OptionError: The table has no price for the model of the run.
    """
    if prices is None:
        return "NULL::DOUBLE"
    model = str(settings.get("model"))
    price = prices.of(model)
    if price is None:
        raise OptionError(f"{prices.file} has no price for the model {model}")
    from reporter.costs import dollars_sql

    return dollars_sql(asdict(price))


def _flat(log: OpenLog, query: str, *, raw: bool) -> str:
    """The same rows with plain values only, and without texts that a spreadsheet would calculate."""
    columns = log.execute(f"DESCRIBE {query}").fetchall()
    replaced = [f"to_json({name}) AS {name}" for name, *_ in columns if name in _NESTED]
    if not raw:
        replaced += [_HARMLESS.format(column=name) for name, kind, *_ in columns if kind == "VARCHAR"]
    return f"SELECT * REPLACE ({', '.join(replaced)}) FROM ({query})"  # noqa: S608 (our own names)
