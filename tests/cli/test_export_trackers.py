"""Experiment trackers against local stand-ins: what they keep is what the report has, and is there once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.exports.command import export
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.settings.export import ExportSettings
from tests.cli.stand_ins import ReceivedRequest, Reply, StandIn, stand_in
from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from urllib.parse import SplitResult

    from tests.preloaded import Preloaded


@pytest.fixture
def report(made_run: Path) -> Any:
    """The run's report.json."""
    return orjson.loads((made_run / "report.json").read_bytes())


@pytest.mark.slow
def test_mlflow(made_run: Path, tmp_path: Path, report: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with metrics, parameters and tags in its own store; the second export updates it."""
    pytest.importorskip("mlflow", reason="the extra `mlflow`")
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for _ in range(2):
        export(ExportSettings(run=made_run, to="mlflow", project="serving", tag=["nightly"], group="8b"))
    client = MlflowClient()
    experiment = client.get_experiment_by_name("serving")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.data.metrics["ttft_ms_p99"] == pytest.approx(report["ttft_ms"]["p99"])
    assert run.data.metrics["qps"] == pytest.approx(report["throughput"]["qps"])
    assert run.data.params["model"] == "small-model"
    assert run.data.params["load.concurrency"] == "2"
    assert (run.data.tags["nightly"], run.data.tags["group"]) == ("true", "8b")
    assert run.info.status == "FINISHED"


class WandbServer:
    """The part of the API of Weights & Biases that its library asks for a run that was not there."""

    def __init__(self) -> None:
        self.url = ""
        self.run: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}

    def answer(self, request: ReceivedRequest) -> Reply:
        """Answer one request."""
        if request.method == "PUT":
            self.files[request.path.rpartition("/")[2]] = request.body
        content = self._data(orjson.loads(request.body)) if request.path == "/graphql" else {}
        return 200, "application/json", orjson.dumps({"data": content})

    def _data(self, asked: Any) -> Any:
        of_run = asked["variables"]
        match asked["operationName"]:
            case "RunResumeStatus":
                return {"model": {"bucket": None}}
            case "UpsertBucket":
                self.run |= {name: value for name, value in of_run.items() if value is not None}
                project = {
                    "id": "p",
                    "name": of_run["project"],
                    "entity": {"id": "e", "name": of_run["entity"]},
                }
                bucket = {"id": "b", "name": of_run["name"], "project": project, "config": "{}"}
                return {"upsertBucket": {"bucket": bucket, "inserted": True}}
            case "CreateRunFiles":
                files = [{"name": name, "uploadUrl": f"{self.url}/{name}"} for name in of_run["files"]]
                return {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": files}}
        return {}


def export_to_wandb(preloaded: Preloaded, run: Path, folder: Path, url: str) -> Any:
    """Export a run to a server, by the library itself."""
    pytest.importorskip("wandb", reason="the extra `wandb`")
    return preloaded.run(
        *("export", run, "--to", "wandb", "--project", "serving", "--entity", "team"),
        *("--group", "8b", "--tag", "nightly"),
        cwd=folder,
        env=clean_environment(WANDB_BASE_URL=url, WANDB_API_KEY="0" * 40),
    )


@pytest.mark.slow
def test_weights_and_biases(preloaded: Preloaded, made_run: Path, tmp_path: Path, report: Any) -> None:
    """Its own library and an HTTP server: project, entity, group, tags, configuration and figures arrive."""
    server = WandbServer()
    with stand_in(server.answer) as listening:
        server.url = listening.url
        done = export_to_wandb(preloaded, made_run, tmp_path, listening.url)
    assert done.returncode == 0, done.stderr
    session = report["run"]["session_id"]
    assert f"{listening.url}/team/serving/runs/{session}" in done.stdout
    names = ("project", "entity", "groupName", "tags", "name")
    assert [server.run[name] for name in names] == ["serving", "team", "8b", ["nightly"], session]
    assert orjson.loads(server.run["config"])["load.concurrency"] == {"value": 2}
    figures = orjson.loads(server.files["wandb-summary.json"])
    assert figures["ttft_ms_p99"] == pytest.approx(report["ttft_ms"]["p99"])
    assert not {request.path for request in listening.requests if "0" * 40 in request.body.decode("latin-1")}


@pytest.mark.slow
def test_weights_and_biases_refuses(preloaded: Preloaded, made_run: Path, tmp_path: Path) -> None:
    """In one sentence, without the key."""
    with stand_in(lambda _: (401, "application/json", b'{"errors":[{"message":"who are you"}]}')) as server:
        done = export_to_wandb(preloaded, made_run, tmp_path, server.url)
    assert done.returncode == 3
    assert "error: --to wandb: " in done.stderr
    assert "who are you" in done.stderr
    assert "0" * 40 not in done.stderr


def records_of(file: Path) -> dict[str, Any]:
    """The records of a file of W&B by their kind: a log of LevelDB, in blocks, of protobuf messages."""
    from wandb.proto import wandb_internal_pb2

    content, place, message = file.read_bytes(), 7, b""
    records: dict[str, Any] = {}
    while place + 7 <= len(content):
        if (left := 32768 - place % 32768) < 7:
            place += left
            continue
        length, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        message += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in {1, 4}:  # a whole message, or the last part of one
            record = wandb_internal_pb2.Record.FromString(message)
            name = record.WhichOneof("record_type")
            records.setdefault(name, getattr(record, name))
            message = b""
    return records


@pytest.mark.slow
def test_the_file_of_weights_and_biases(
    preloaded: Preloaded, made_run: Path, tmp_path: Path, report: Any
) -> None:
    """By the library itself, without a server: it has the figures, and nothing of this machine."""
    pytest.importorskip("wandb", reason="the extra `wandb`")
    done = preloaded.run(
        *("export", made_run, "--to", "wandb", "--project", "serving", "--entity", "team"),
        *("--group", "8b", "--tag", "nightly"),
        cwd=tmp_path,
        env=clean_environment(WANDB_MODE="offline"),
    )
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    records = records_of(file)
    run = records["run"]
    assert (run.project, run.entity, run.run_group) == ("serving", "team", "8b")
    assert (run.run_id, list(run.tags)) == (report["run"]["session_id"], ["nightly"])
    config = {update.key: orjson.loads(update.value_json) for update in run.config.update}
    assert (config["model"], config["load.concurrency"]) == ("small-model", 2)
    summary = {update.key: orjson.loads(update.value_json) for update in records["summary"].update}
    assert summary["ttft_ms_p99"] == pytest.approx(report["ttft_ms"]["p99"])
    assert "environment" not in records
    assert not [path.name for path in file.parent.joinpath("files").iterdir()]


TRACKED = """\
[run]
wandb_project = "serving"
wandb_group = "8b"
[defaults]
url = "{url}"
requests = 4
[[models]]
name = "small-model"
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["offline", "online"])
def test_a_suite_publishes_each_run(preloaded: Preloaded, tmp_path: Path, mode: str) -> None:
    """Without a command after it; a tracker that refuses a run is a note, with the command to try again."""
    pytest.importorskip("wandb", reason="the extra `wandb`")
    refusing = stand_in(lambda _: (401, "application/json", b'{"errors":[{"message":"who are you"}]}'))
    with start_mock(models=("small-model",), ttft="1ms", itl="1ms", tokens="2") as mock, refusing as server:
        (tmp_path / "suite.toml").write_text(TRACKED.format(url=mock.url), encoding="utf-8")
        done = preloaded.run(
            *("run", "suite.toml", "--out", "runs", "--quiet"),
            cwd=tmp_path,
            env=clean_environment(WANDB_MODE=mode, WANDB_BASE_URL=server.url, WANDB_API_KEY="0" * 40),
        )
    assert done.returncode in {0, 4}, done.stderr
    files = list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    if mode == "offline":
        (file,) = files
        assert records_of(file)["run"].project == "serving"
        return
    (again,) = [line for line in done.stderr.splitlines() if "publish it again" in line]
    assert "--to wandb" in again
    assert "loadgen export" in again


class Spreadsheet:
    """The part of the Sheets API that a worksheet needs, over rows of cells."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.titles: list[str] = ["Sheet1"]
        self.inputs: set[str] = set()

    def answer(self, request: ReceivedRequest) -> Reply:
        """Answer one request."""
        from urllib.parse import parse_qs, unquote, urlsplit

        parts: SplitResult = urlsplit(request.path)
        self.inputs |= set(parse_qs(parts.query).get("valueInputOption", ()))
        path, body = (
            unquote(parts.path),
            orjson.loads(request.body or b"{}") if request.body[:1] == b"{" else {},
        )
        return 200, "application/json", orjson.dumps(self._reply(request.method, path, body))

    def _reply(self, method: str, path: str, body: Any) -> Any:
        if path == "/token":
            return {"access_token": "t", "expires_in": 3600, "token_type": "Bearer"}
        if path.endswith(":batchUpdate"):
            return {"replies": [self._changed(request) for request in body["requests"]]}
        if path.endswith(":append"):
            self.rows += body["values"]
            return {"updates": {}}
        if "/values/" in path:
            return self._cells(method, path.rsplit("!", 1)[-1], body)
        return {
            "spreadsheetId": "abc",
            "properties": {"title": "Runs"},
            "sheets": [self._sheet(title) for title in self.titles],
        }

    def _changed(self, request: Any) -> Any:
        if "addSheet" in request:
            self.titles.append(request["addSheet"]["properties"]["title"])
            return {"addSheet": self._sheet(self.titles[-1])}
        return {}

    def _cells(self, method: str, place: str, body: Any) -> Any:
        if method == "PUT":
            row = int(place.partition(":")[0].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) - 1
            self.rows[row : row + 1] = body["values"]
            return {}
        if place == "A1:1":
            return {"values": self.rows[:1]}
        return {"values": [[row[0] for row in self.rows]]}

    def _sheet(self, title: str) -> Any:
        place = self.titles.index(title)
        size = {"rowCount": 1000, "columnCount": 26}
        return {"properties": {"title": title, "sheetId": place, "index": place, "gridProperties": size}}


@pytest.fixture
def sheets(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[StandIn, Spreadsheet]]:
    """A stand-in of the API, to which the client library is pointed."""
    pytest.importorskip("gspread", reason="the extra `sheets`")
    import gspread

    # Where there is such a lookup, it goes to Google's own host.
    lookup = "_maybe_start_regional_access_boundary_refresh"
    boundary = "google.auth.credentials.CredentialsWithRegionalAccessBoundary"
    monkeypatch.setattr(f"{boundary}.{lookup}", lambda *_: None, raising=False)
    spreadsheet = Spreadsheet()
    with stand_in(spreadsheet.answer) as server:
        for module in (gspread.http_client, gspread.client, gspread.urls):
            for name, value in list(vars(module).items()):
                if isinstance(value, str) and value.startswith("https://sheets.googleapis.com"):
                    monkeypatch.setattr(
                        module, name, value.replace("https://sheets.googleapis.com", server.url)
                    )
        yield server, spreadsheet


@pytest.fixture
def credentials(tmp_path: Path, sheets: tuple[StandIn, Spreadsheet]) -> Path:
    """The key file of a service account, whose tokens come from the stand-in."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "client_email": "ci@example.iam.gserviceaccount.com",
        "private_key": pem.decode(),
        "token_uri": f"{sheets[0].url}/token",
    }
    file = tmp_path / "key.json"
    file.write_bytes(orjson.dumps(account))
    return file


def test_google_sheets(
    made_run: Path,
    credentials: Path,
    sheets: tuple[StandIn, Spreadsheet],
    report: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A row per run in the worksheet `Results`, which is made; columns of others keep their place."""
    server, sheet = sheets
    settings = {"to": "sheets", "spreadsheet": "abc", "credentials": credentials}
    export(ExportSettings(run=made_run, **settings))
    assert "worksheet Results" in capsys.readouterr().out
    assert sheet.titles == ["Sheet1", "Results"]
    header, row = sheet.rows
    assert header[:2] == ["run", "name"]
    cells = dict(zip(header, row, strict=True))
    assert cells["run"] == report["run"]["session_id"]
    assert cells["ttft_ms_p99"] == pytest.approx(report["ttft_ms"]["p99"])
    assert cells["model"] == "small-model"
    export(ExportSettings(run=made_run, name="=again", **settings))
    assert len(sheet.rows) == 2
    assert sheet.rows[1][1] == "=again"
    assert sheet.inputs == {"RAW"}
    assert server.requests[0].path == "/token"


def test_what_is_refused(
    made_run: Path, credentials: Path, sheets: tuple[StandIn, Spreadsheet], tmp_path: Path
) -> None:
    """In one sentence, and without what is in the key file."""
    server, _ = sheets
    with pytest.raises(UsageError, match="give --spreadsheet ID and --credentials FILE"):
        export(ExportSettings(run=made_run, to="sheets"))
    broken = tmp_path / "broken.json"
    broken.write_text('{"private_key": "sk-hidden"}')
    with pytest.raises(UsageError, match="not the key file of a service account") as refused:
        export(ExportSettings(run=made_run, to="sheets", spreadsheet="abc", credentials=broken))
    assert "sk-hidden" not in str(refused.value)
    with pytest.raises(UsageError, match="--entity applies only to --to wandb"):
        export(ExportSettings(run=made_run, to="mlflow", entity="team"))
    with pytest.raises(UsageError, match="--project applies only to --to"):
        export(ExportSettings(run=made_run, otlp=server.url, project="x"))
    denied = {"error": {"code": 403, "message": "The caller does not have permission", "status": "DENIED"}}

    def deny(request: ReceivedRequest) -> Reply:
        if request.path == "/token":
            return 200, "application/json", b'{"access_token": "t", "expires_in": 3600}'
        return 403, "application/json", orjson.dumps(denied)

    server.answer = deny
    with pytest.raises(SetupError, match=r"--to sheets: .*permission"):
        export(ExportSettings(run=made_run, to="sheets", spreadsheet="abc", credentials=credentials))


@pytest.mark.parametrize("tracker", ["wandb", "mlflow", "sheets"])
def test_a_missing_extra_is_named(
    made_run: Path, tracker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the line that installs it."""
    for module in ("wandb", "mlflow", "gspread"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    options = {"spreadsheet": "abc", "credentials": tmp_path} if tracker == "sheets" else {}
    with pytest.raises(UsageError, match=rf"pip install 'llm-loadgen\[{tracker}\]'"):
        export(ExportSettings(run=made_run, to=tracker, **options))
