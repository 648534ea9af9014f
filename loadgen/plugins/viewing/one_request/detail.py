"""All that a log has about one request: figures, moments, chunks, attempts, texts, server times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.report_of_log import started_with
from loadgen.sessions.settings.definition_options import chosen, definitions_of
from reporter.contents import example_requests
from reporter.contents.texts import Excerpt
from reporter.json_values import document, members
from reporter.log.database import open_log, rows_of
from reporter.log.settings import settings
from reporter.log.sql_files import quoted
from reporter.number_text import counted
from reporter.statements import as_sql
from reporter.stored_answers import texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reporter.contents.example_requests import RequestExcerpt
    from reporter.log.database import OpenLog

_REQUEST_NAMED: Final = """
    SELECT sample_uuid, number, requests
    FROM (
        SELECT sample_uuid, row_number() OVER (ORDER BY issued_ns, sample_uuid) AS number,
            count(*) OVER () AS requests
        FROM requests
    )
    WHERE sample_uuid = $named OR number = try_cast($named AS BIGINT)
    ORDER BY sample_uuid <> $named"""

FIGURES: Final = "SELECT * FROM samples WHERE sample_uuid = {uuid}"
CHUNKS: Final = """\
SELECT chunk_index, (at_ns - sent_ns) / 1e6 AS at_ms, gap_ms
FROM chunks JOIN samples USING (sample_uuid)
WHERE sample_uuid = {uuid}
ORDER BY chunk_index"""
SERVER_TIMES: Final = "SELECT * FROM server_times WHERE sample_uuid = {uuid}"
ATTEMPTS: Final = "SELECT at_ns, data FROM events WHERE sample_uuid = {uuid} AND type = 'RETRY' ORDER BY seq"


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """One request.

    Attributes:
        number: The place by time of issue, from 1.
        requests: The requests of the run.
        figures: The row of the view `samples`.
        texts: Prompt, answer and timeline.
        chunks: Index, time since sending and interval, in ms; the first chunk has no interval.
        server_times: Rows of the view `server_times`.
        attempts: The attempts that failed before the last one, as the log has them, with `at_ns`.
        definitions: SQL in front of every query; empty with the default definitions.
    """

    number: int
    requests: int
    figures: Mapping[str, Any]
    texts: RequestExcerpt
    chunks: Sequence[tuple[int, float, float | None]]
    server_times: Sequence[Mapping[str, Any]]
    attempts: Sequence[Mapping[str, Any]]
    definitions: str

    @property
    def uuid(self) -> str:
        """The id of the request."""
        return self.texts.sample_uuid

    def sql(self, query: str) -> str:
        """One of the queries of this module, for this request."""
        return query.format(uuid=quoted(self.uuid))


def request_detail(run: Path, named: str) -> RequestDetail:
    """Read one request of a run.

    Args:
        run: The run's folder, or the log itself.
        named: The id of the request, or the number by time of issue, from 1.

    Raises:
        UsageError: The run has no such request.
        LogError: The log cannot be read.
    """
    rules, _ = started_with(run)
    definitions = definitions_of(rules, chosen(members(settings(run).get("options"))))
    with open_log(run, also=example_requests.TABLES).with_definitions(definitions) as log:
        rows = log.execute(_REQUEST_NAMED, {"named": named}).fetchall()
        if not rows:
            ((requests,),) = log.execute("SELECT count(*) FROM requests").fetchall()
            raise UsageError(
                f"{named}: no such request; name one of {counted(requests, 'request')} by number, from 1, "
                "or by id, which `samples` has: loadgen sql RUN 'FROM samples'"
            )
        ((uuid, number, requests), *_) = rows
        return _read(log, uuid, number, requests)


def _read(log: OpenLog, uuid: str, number: int, requests: int) -> RequestDetail:
    def answer(query: str) -> list[dict[str, Any]]:
        return rows_of(log.execute(query.format(uuid=quoted(uuid))))

    (figures,) = answer(FIGURES)
    attempts: list[dict[str, Any]] = []
    if (figures["attempts"] or 1) > 1:
        log.load({"events"})
        attempts = [{"at_ns": row["at_ns"], **members(document(row["data"]))} for row in answer(ATTEMPTS)]
    log.load({"server_times"})
    with texts_of(log.run) as read:
        (texts,) = example_requests.excerpts(log, [uuid], read)
    return RequestDetail(
        number,
        requests,
        figures,
        replace(
            texts, prompt=_whole(texts.prompt), response={k: _whole(v) for k, v in texts.response.items()}
        ),
        [tuple(row.values()) for row in answer(CHUNKS)],
        answer(SERVER_TIMES),
        attempts,
        as_sql(log.definitions.to_dict()),
    )


def _whole(text: Excerpt) -> Excerpt:
    """The text with the rest, as much as a page keeps."""
    return Excerpt(text.text + text.rest, text.length)
