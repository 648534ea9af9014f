"""The pages: which address shows what."""

from __future__ import annotations

from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import orjson
from aiohttp import web

from loadgen.plugins.viewing.bounded_memory import OneThread, ReportPages
from loadgen.plugins.viewing.linked_pages import (
    comparison_page,
    report_page,
    request_page,
    series_comparison_page,
    series_page,
)
from loadgen.plugins.viewing.live_figures import LiveRun, heading
from loadgen.plugins.viewing.live_moments import LIVE_PLOTS
from loadgen.plugins.viewing.live_stream import LiveRuns
from loadgen.plugins.viewing.queries import MOST_ROWS, first_rows
from loadgen.plugins.viewing.run_table import COLUMNS, address, row_of
from loadgen.sessions.error_exit_codes import exit_code, message_of
from loadgen.sessions.errors import UsageError, printable
from recorder.lock import is_held
from reporter.errors import QueryError
from reporter.log.query import VIEWS, QueryResult
from reporter.number_text import counted
from reporter.plots.make import PLOTS
from reporter.render.console_page import clean
from reporter.render.html.page_writer import asset, unbroken
from reporter.render.html.plot_data import as_json
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from loadgen.plugins.viewing.access import Handler
    from loadgen.plugins.viewing.folder import ViewedFolder

_OF_REPORTS: Final = ("page.css", "charts.min.js", "page.js")
_STATIC: Final = ("view.css", "view.js", *_OF_REPORTS)
"""The files of pages; style and plots are the files of reports."""
_FIRST_QUERY: Final = """\
SELECT status, error, count(*) AS requests, median(ttft_ms) AS ttft_p50_ms
FROM samples
GROUP BY ALL"""
_LEAST_SIDES: Final = 2


class Pages:
    """Answers the requests of a browser."""

    def __init__(self, folder: ViewedFolder) -> None:
        from jinja2 import ChoiceLoader, Environment, PackageLoader

        self._folder = folder
        self._templates = Environment(
            loader=ChoiceLoader(
                [PackageLoader("loadgen.plugins.viewing"), PackageLoader("reporter.render.html")]
            ),
            autoescape=True,
            trim_blocks=True,
        )
        self._templates.filters["unbroken"] = unbroken
        place = resources.files("loadgen.plugins.viewing") / "static"
        self._static = {
            name: asset(name) if name in _OF_REPORTS else (place / name).read_text() for name in _STATIC
        }
        self._lists, self._figures = OneThread(), OneThread()
        self._live = LiveRuns(self._live_data)
        self.reports = ReportPages()

    def routes(self) -> list[web.RouteDef]:
        """All addresses; reading one changes nothing."""
        return [
            web.get("/", self.runs),
            web.get("/run/{name:.+}", self.run),
            web.get("/request", self.request),
            web.get("/live/{name:.+}", self.live),
            web.get("/compare", self.compare),
            web.get("/sql", self.sql),
            web.get("/static/{name}", self.static),
        ]

    @web.middleware
    async def explain(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Show an error that explains itself as a page."""
        try:
            return await handler(request)
        except Exception as error:
            code = exit_code(error)
            if code is None:
                raise
            status = web.HTTPNotFound if code == ExitCode.USAGE else web.HTTPInternalServerError
            text = printable(message_of(error))
            return self._page("error.html", "Not possible", status=status.status_code, error=text)

    async def static(self, request: web.Request) -> web.Response:
        """The style sheet and the script."""
        name = request.match_info["name"]
        if name not in self._static:
            raise web.HTTPNotFound
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return web.Response(text=self._static[name], content_type=kind)

    async def runs(self, _: web.Request) -> web.Response:
        """The list of runs."""
        rows = await self._lists.run(self._folder.runs)
        series = sum(row.runs is not None for row in rows)
        count = counted(len(rows) - series, "run") + (f", {series} series" if series else "")
        runs = [row_of(row) for row in rows]
        return self._page("runs.html", "Runs", runs=runs, columns=COLUMNS, count=count)

    async def run(self, request: web.Request) -> web.Response:
        """A run: its report, or its figures while it is in progress; a series: its runs so far."""
        name = request.match_info["name"]
        if (series := self._folder.series(name)) is not None:
            return await self._kept_page([series], lambda: series_page(series, address(name)))
        folder = self._folder.run(name)
        if not is_held(folder) or "whole" in request.query:
            return await self._report_page(folder, name)
        title, *lines = heading(folder)
        plots = {of: PLOTS[of].title for of in LIVE_PLOTS}
        return self._page(
            "live.html",
            title,
            lines=(clean(name), *lines),
            plots=plots,
            stream=f"/live/{quote(name)}",
            report=f"{address(name)}?whole",
        )

    async def request(self, request: web.Request) -> web.Response:
        """One request of a run, `?run=A&id=B`; the id may be a number, from 1."""
        name, named = request.query.get("run", ""), request.query.get("id", "")
        folder = self._folder.run(name)
        page = await self._figures.run(lambda: request_page(folder, name, named))
        return _one_file(page.encode())

    async def live(self, request: web.Request) -> web.StreamResponse:
        """A run in progress as server-sent events."""
        return await self._live.stream(request, self._folder.run(request.match_info["name"]))

    def _live_data(self, live: LiveRun) -> bytes:
        cards, targets, plots = live.read()
        figures = self._templates.get_template("live_figures.html").render(cards=cards, targets=targets)
        return orjson.dumps({"figures": figures, "plots": orjson.Fragment(as_json([plots]))})

    async def compare(self, request: web.Request) -> web.Response:
        """Two or more runs, or two series, `?run=A&run=B`; the oldest is the reference."""
        chosen = {
            name: self._folder.series(name) or self._folder.run(name)
            for name in request.query.getall("run", [])
        }
        newest_first = await self._lists.run(self._folder.runs)
        sides = [run for run in reversed(newest_first) if run.folder in chosen]
        if len(sides) < _LEAST_SIDES:
            raise UsageError("choose two or more runs in the list to compare them")
        folders, names = [chosen[side.folder] for side in sides], [side.folder for side in sides]
        has_series = any(side.runs is not None for side in sides)
        return await self._kept_page(
            folders,
            lambda: series_comparison_page(folders, names) if has_series else comparison_page(folders),
        )

    async def sql(self, request: web.Request) -> web.Response:
        """The SQL box: `?run=A&query=SELECT …`."""
        rows = await self._lists.run(self._folder.runs)
        runs = [row.folder for row in rows if row.why is None and row.runs is None]
        query, chosen = request.query.get("query", ""), request.query.get("run", "")
        values: dict[str, Any] = {}
        if query.strip():
            folder = self._folder.run(chosen)
            try:
                result = await self._figures.run(lambda: first_rows(folder, query))
                values = _shown(result)
            except QueryError as error:
                values = {"error": printable(str(error), longest=None)}
        shown_query = query or _FIRST_QUERY
        return self._page(
            "sql.html", "SQL", runs=runs, chosen=chosen, query=shown_query, views=VIEWS, **values
        )

    async def _report_page(self, run: Path, name: str) -> web.Response:
        series = name.rpartition("/")[0]
        series = series if series and self._folder.series(series) is not None else ""
        return await self._kept_page([run], lambda: report_page(run, name, series))

    async def _kept_page(self, folders: Sequence[Path], make: Callable[[], str]) -> web.Response:
        """A page of runs or series, made once for each state of the logs."""

        def made() -> bytes:
            # Another request may have made it meanwhile.
            page = self.reports.get(key)
            return make().encode() if page is None else page

        key = tuple(folders), tuple(chain.from_iterable(map(self._folder.identity, folders)))
        page = self.reports.get(key)
        if page is None:
            page = await self._figures.run(made)
            self.reports.keep(key, page)
        return _one_file(page)

    def _page(self, template: str, title: str, *, status: int = 200, **values: Any) -> web.Response:
        text = self._templates.get_template(template).render(
            title=clean(title), folder=clean(self._folder.top), **values
        )
        return web.Response(text=text, status=status, content_type="text/html")


def _shown(result: QueryResult) -> dict[str, Any]:
    """What a query answered, for the template: texts, and a sentence that says how many rows there are."""
    rows = [["" if value is None else clean(value) for value in row] for row in result.rows[:MOST_ROWS]]
    is_cut = len(result.rows) > MOST_ROWS
    count = f"the first {counted(MOST_ROWS, 'row')}" if is_cut else counted(len(rows), "row")
    return {"columns": [clean(name) for name in result.columns], "rows": rows, "count": count}


def _one_file(page: bytes) -> web.Response:
    """A page that is complete in itself: its policy is in it, and stricter than that of the other pages."""
    headers = {"Content-Security-Policy": "frame-ancestors 'self'", "X-Frame-Options": "SAMEORIGIN"}
    return web.Response(body=page, content_type="text/html", charset="utf-8", headers=headers)
