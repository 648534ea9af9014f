"""`loadgen view`: the pages of a folder of runs, for the browser of this machine alone."""

from __future__ import annotations

import http.client
import re
import shutil
import signal
from contextlib import closing, contextmanager
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import orjson
import pytest

from recorder import EventRecorder, EventType
from rulesets import of_expressions

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[..., subprocess.Popen[str]]

MS = 1_000_000
ALLOWED, SEE_OTHER, FORBIDDEN, NOT_FOUND = 200, 303, 403, 404


@dataclass
class Viewer:
    """A running `loadgen view`, and a browser that was let in."""

    process: subprocess.Popen[str]
    url: str
    cookie: str = ""

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        """The status, the headers and the text of an address; redirects are not followed."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Cookie": self.cookie, **headers})
            response = connection.getresponse()
            return response.status, dict(response.headers), response.read().decode()
        finally:
            connection.close()

    @contextmanager
    def stream(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """An open response with an endless body."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        with closing(connection):
            connection.request("GET", path, headers={"Cookie": self.cookie})
            yield connection.getresponse()

    def page(self, path: str) -> str:
        """The text of a page that is there."""
        status, _, text = self.get(path)
        assert status == ALLOWED, text
        return text


def next_event(events: http.client.HTTPResponse) -> tuple[str, Any]:
    """The name and the data of the next event of a stream."""
    lines = [events.readline().decode().rstrip("\n") for _ in range(3)]
    name, data, end = lines
    assert end == ""
    data = data.removeprefix("data:").strip()
    return name.removeprefix("event: "), orjson.loads(data) if data else None


@pytest.fixture
def viewer(start_loadgen: Start, made_run: Path, tmp_path: Path) -> Iterator[Viewer]:
    """A server over a folder with one run, `runs/first`."""
    shutil.copytree(made_run, tmp_path / "runs" / "first")
    process = start_loadgen("view", "runs", "--no-browser")
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    served = Viewer(process, url)
    status, headers, _ = served.get("/?" + urlsplit(url).query)
    assert (status, headers["Location"]) == (SEE_OTHER, "/")
    served.cookie = headers["Set-Cookie"].partition(";")[0]
    yield served
    process.terminate()
    process.communicate()


def test_a_folder_of_runs_is_listed(viewer: Viewer, tmp_path: Path) -> None:
    """A row for each run, with its figures and a link to its report; a signal ends the server in order."""
    listed = viewer.page("/")
    assert 'href="/run/first"' in listed
    assert "small-model" in listed
    assert "1 run<" in listed
    report = orjson.loads((tmp_path / "runs" / "first" / "report.json").read_bytes())
    row = listed.partition("<tbody>")[2].partition("</tbody>")[0]
    for value in (report["throughput"]["output_tps"], report["ttft_ms"]["p99"], report["counts"]["failed"]):
        assert f'data-value="{value!r}"' in row
    viewer.process.send_signal(signal.SIGINT)
    assert viewer.process.wait() == 0


@pytest.mark.parametrize("cookie", ["", "loadgen-view-1=guess"])
def test_no_token_no_page(viewer: Viewer, cookie: str) -> None:
    """Neither the list nor a run is shown without the token, nor with another one."""
    viewer.cookie = cookie
    for path in ("/", "/run/first", "/sql", "/static/view.js", "/?token=guess", "/?token=%C3%A9"):
        status, _, text = viewer.get(path)
        assert status == FORBIDDEN
        assert "small-model" not in text


def test_no_other_site_can_read_the_pages(viewer: Viewer) -> None:
    """The cookie stays on this site; a foreign host name is refused; no frame, no cross-origin access."""
    _, headers, _ = viewer.get("/?" + urlsplit(viewer.url).query)
    assert {"HttpOnly", "SameSite=Strict"} <= set(headers["Set-Cookie"].split("; "))
    assert viewer.get("/", Host="evil.example")[0] == FORBIDDEN
    _, headers, _ = viewer.get("/", Origin="http://evil.example")
    assert "Access-Control-Allow-Origin" not in headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "'unsafe" not in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    _, headers, page = viewer.get("/run/first")
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert "script-src &#39;sha256-" in page


@pytest.mark.parametrize(
    "name", ["none", "..", "%2e%2e", "first/events.db", "../runs/first/../../etc", "%00", "a" * 999]
)
def test_only_runs_of_the_folder_are_shown(viewer: Viewer, tmp_path: Path, name: str) -> None:
    """A path that leads elsewhere, or to no run, is an error page that names it."""
    shutil.copytree(tmp_path / "runs" / "first", tmp_path / "outside")
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "outside")
    for path in (
        f"/run/{name}",
        "/run/link",
        f"/sql?run={name}&query=select+1",
        f"/compare?run=first&run={name}",
    ):
        status, _, text = viewer.get(path)
        assert status == NOT_FOUND
        assert "Traceback" not in text


@pytest.mark.slow
def test_queries_are_answered(viewer: Viewer) -> None:
    """The rows of a run's views; an error of DuckDB is shown as such; nothing but the log can be read."""

    def asked(query: str) -> str:
        return viewer.page("/sql?" + urlencode({"run": "first", "query": query}))

    assert "<td>10</td>" in asked("SELECT count(*) FROM samples")
    assert "the first 1,000 rows" in asked("SELECT * FROM range(5000)")
    assert "Referenced column" in asked("SELECT nothing FROM samples")
    assert 'role="alert"' in asked("SELECT * FROM read_text('/etc/passwd')")
    assert "&lt;script&gt;" in asked("SELECT '<script>alert(1)</script>' AS text")
    assert "\\x1b[2J" in asked("SELECT chr(27) || '[2J'")
    assert ">0 rows<" in asked("SELECT 1 WHERE false")


def test_a_request_has_a_page(viewer: Viewer) -> None:
    """The report leads to it, by id; a number does too; another one is explained."""
    report = viewer.page("/run/first")
    path = re.search(r'href="(/request\?run=first&amp;id=[^"]+)"', report)
    assert path
    page = viewer.page(unescape(path[1]))
    assert '<a href="/run/first">first</a>' in page
    assert "last token" in page
    assert "Request 3 of 10" in viewer.page("/request?run=first&id=3")
    status, _, text = viewer.get("/request?run=first&id=11")
    assert (status, "one of 10 requests by number" in text) == (NOT_FOUND, True)


@pytest.mark.slow
def test_a_run_in_progress_is_a_stream(viewer: Viewer, tmp_path: Path) -> None:
    """Events follow the log, also past a page that reads none; the last one says that the run has ended."""
    settings: dict[str, Any] = {
        "command": "perf",
        "model": "<b>llama</b>",
        "load": {"kind": "closed", "concurrency": 1},
        "ruleset": of_expressions(["error<1%", "latency:p(95)<1s"]).to_dict(),
    }
    with EventRecorder(path=tmp_path / "runs" / "now" / "events.db", settings=settings) as recorder:
        record = recorder.record_event
        record(EventType.TEST_STARTED, 0)
        record(EventType.PHASE_STARTED, 0, data={"phase": "performance", "requests": 2})
        for at_ms, uuid in ((1, "a"), (2, "b")):
            issued = {"phase": "performance", "scheduled_ns": at_ms * MS}
            record(EventType.LOADGEN_ISSUE_CALLED, at_ms * MS, uuid, data=issued)
            record(EventType.REQUEST_SENT, at_ms * MS, uuid, data={"reused": True})
        data = {"first_byte_ns": 9 * MS, "output_tokens": 1, "input_tokens": 1, "stream": False}
        record(EventType.COMPLETE, 1009 * MS, "a", data=data)
        recorder.wait_for_writes()
        page = viewer.page("/run/now")
        assert 'data-stream="/live/now"' in page
        assert "&lt;b&gt;llama&lt;/b&gt;" in page
        assert "running" in viewer.page("/")
        with viewer.stream("/live/now"), viewer.stream("/live/now") as events:
            assert events.headers["Cache-Control"] == "no-store"
            name, shown = next_event(events)
            assert (name, "1 of 2" in shown["figures"]) == ("figures", True)
            assert re.search(r"error:rate&lt;1%<.*?>0 %<.*?holds so far", shown["figures"], re.DOTALL)
            assert re.search(r"latency:p\(95\)&lt;1s<.*?>1.01 s<.*?fails so far", shown["figures"], re.DOTALL)
            assert shown["plots"]["plots"]["latency-over-time"]["series"][0]["name"] == "p50"
            record(EventType.ERROR, 1010 * MS, "b", data={"error": "reset", "message": "x"})
            recorder.wait_for_writes()
            while "1 reset" not in shown["figures"]:
                name, shown = next_event(events)
            record(EventType.STOP_PERFORMANCE_TRACKING, 10 * MS, data={"scheduled": 2, "reason": "requests"})
            record(EventType.PHASE_ENDED, 1010 * MS, data={"phase": "performance"})
            record(EventType.TEST_ENDED, 1010 * MS, data={"reason": "completed"})
            recorder.close()
            while name != "ended":
                name, _ = next_event(events)
            assert events.read() == b""
    with viewer.stream("/live/now") as events:
        assert next_event(events)[0] == "ended"
    assert "data-stream" not in viewer.page("/run/now")
    shutil.rmtree(tmp_path / "runs" / "now")
    assert viewer.get("/live/now")[0] == NOT_FOUND


def test_a_missing_folder_and_a_taken_port_are_explained(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], viewer: Viewer, tmp_path: Path
) -> None:
    """Both say what to do."""
    missing = loadgen("view", "elsewhere", "--no-browser")
    assert (missing.returncode, "name the one with your runs" in missing.stderr) == (2, True)
    port = urlsplit(viewer.url).port
    taken = loadgen("view", str(tmp_path / "runs"), "--no-browser", "--port", str(port))
    assert (taken.returncode, f"port {port}" in taken.stderr) == (3, True)


@pytest.mark.slow
def test_names_of_runs_may_have_any_character(viewer: Viewer, tmp_path: Path) -> None:
    """A name with blanks, quotes, markup and a percent sign is a link that works."""
    name = "a <b> & 'c' \"d\" 50%"
    shutil.copytree(tmp_path / "runs" / "first", tmp_path / "runs" / name)
    assert "<b>" not in viewer.page("/")
    assert "small-model" in viewer.page("/run/" + quote(name))


def test_a_sweep_has_a_row_and_a_page(viewer: Viewer, swept: Path, tmp_path: Path) -> None:
    """A sweep's page has runs and a result; two sweeps are compared, also by curves."""
    shutil.copytree(swept, tmp_path / "runs" / "swept")
    listed = viewer.page("/")
    assert 'href="/run/swept"' in listed
    assert 'href="/run/swept/01-concurrency-1"' in listed
    assert "3 runs, 1 series<" in listed
    page = viewer.page("/run/swept")
    assert '<a href="/run/swept/01-concurrency-1">' in page
    assert "small-model" in viewer.page("/run/swept/01-concurrency-1")
    assert "Highest concurrency that held: 2 (02-concurrency-2)" in page
    assert "01-concurrency-1" in page
    shutil.copytree(swept, tmp_path / "runs" / "swept <b>")
    compared = viewer.page("/compare?run=swept&run=swept+%3Cb%3E")
    curves = orjson.loads(compared.partition('id="curves-data">')[2].partition("</script>")[0])["curves"]
    links = [point["link"] for curve in curves for point in curve["points"]]
    assert [link.rpartition("/")[0] for link in links] == 2 * ["/run/swept"] + 2 * ["/run/swept%20%3Cb%3E"]
    assert "<b>" not in compared.partition("<main")[2].partition("<script")[0]
    status, _, text = viewer.get("/compare?run=first&run=swept")
    assert (status, "a series is compared with a series" in text) == (NOT_FOUND, True)
    (tmp_path / "runs" / "other").mkdir()
    assert viewer.get("/run/other")[0] == NOT_FOUND


def test_an_overloaded_run_is_shown_as_such(viewer: Viewer, tmp_path: Path) -> None:
    """The list marks bad states, and scores have a unit."""
    report = tmp_path / "runs" / "first" / "report.json"
    content = orjson.loads(report.read_bytes())
    content["validity"] |= {"valid": False, "overloaded": True, "accepted": False, "reasons": ["It grew."]}
    content["accuracy"] = [{"headlines": {"accuracy": {"value": 0.0, "unit": "share"}}}]
    report.write_bytes(orjson.dumps(content))
    shown = viewer.page("/")
    assert '<span class="mark bad">OVERLOADED</span>' in shown
    assert ">0.00 %<" in shown
