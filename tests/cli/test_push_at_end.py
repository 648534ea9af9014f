"""`--push-gateway` of `perf` and `accuracy`: the figures are pushed when a run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.target_url import AUTHORIZATION
from loadgen.sessions.settings.output import OutputSettings
from tests.cli.stand_ins import StandIn, stand_in
from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from tests.preloaded import Preloaded

KEY = "Bearer gw-very-secret"


@pytest.fixture
def gateway() -> Iterator[StandIn]:
    """A Pushgateway that takes everything."""
    with stand_in(lambda _: (200, "text/plain", b"")) as server:
        yield server


def perf(preloaded: Preloaded, mock: MockProcess, folder: Path, *options: object) -> tuple[int, str]:
    """Run five requests; the exit code and all that was printed."""
    run = preloaded.run(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", 5),
        *("--on-invalid", "warn", "--out", "run", *options),
        cwd=folder,
        env=clean_environment(**{AUTHORIZATION: KEY}),
    )
    return run.returncode, run.stdout + run.stderr


def test_figures_are_pushed_when_a_run_is_over(
    preloaded: Preloaded, mock: MockProcess, gateway: StandIn, tmp_path: Path
) -> None:
    """Those of its report, with the key, which is in no output, report or log."""
    code, printed = perf(preloaded, mock, tmp_path, "--push-gateway", gateway.url, "--push-job", "nightly")
    assert code == 0, printed
    (request,) = gateway.requests
    assert (request.method, request.path) == ("PUT", "/metrics/job/nightly/model/small-model")
    assert request.headers["authorization"] == KEY
    report = orjson.loads((tmp_path / "run" / "report.json").read_bytes())
    lines = dict(line.rsplit(" ", 1) for line in request.body.decode().splitlines() if line[0] != "#")
    (qps,) = (float(value) for name, value in lines.items() if name.startswith("loadgen_qps{"))
    assert qps == pytest.approx(report["throughput"]["qps"])
    assert f"pushed to {gateway.url}/metrics/job/nightly/model/small-model" in printed
    for path in (tmp_path / "run").iterdir():
        assert b"very-secret" not in path.read_bytes(), path
    assert "very-secret" not in printed


def test_a_gateway_that_refuses_fails_no_run(
    preloaded: Preloaded, mock: MockProcess, gateway: StandIn, tmp_path: Path
) -> None:
    """A note says why, without the key that it repeats, and how to push again."""
    gateway.answer = lambda request: (401, "text/plain", f"no: {request.headers['authorization']}".encode())
    code, printed = perf(preloaded, mock, tmp_path, "--push-gateway", gateway.url)
    assert code == 0, printed
    assert "the gateway answered 401 Unauthorized: no: ***" in printed
    assert f"loadgen export run --push-gateway {gateway.url} --job loadgen" in printed
    assert "very-secret" not in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"push_gateway": "http://me:secret@gateway"}, AUTHORIZATION),
        ({"push_gateway": "gateway:9091"}, "not a URL"),
        ({"push_job": "nightly"}, "--push-job applies only to --push-gateway"),
    ],
)
def test_what_is_refused_before_a_run(options: dict[str, str], message: str) -> None:
    """No message has a secret."""
    with pytest.raises(UsageError, match=message) as refused:
        OutputSettings(**options)  # type: ignore[arg-type]  # texts only
    assert "me:secret" not in str(refused.value)
