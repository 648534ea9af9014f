"""TLS from the command line to the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest
import trustme

from loadgen.mock_endpoint.process import MockProcess, start_mock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[MockProcess]:
    """An endpoint whose certificate no authority has signed."""
    path = tmp_path / "server.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(path)
    with start_mock(tls_cert=path, ttft="1ms", itl="1ms", tokens="2") as server:
        yield server


def test_an_unverified_endpoint_is_not_trusted_by_mistake(loadgen: Loadgen, stranger: MockProcess) -> None:
    """Without --insecure there is no run, and the error names the option; with it, the report says so."""
    run = ("perf", "--url", stranger.url, "--model", "m", "-n", 2, "--out", "run", "--json")
    refused = loadgen(*run)
    assert refused.returncode == 3
    assert "trust the issuer (SSL_CERT_FILE" in refused.stderr
    assert stranger.truth() == []
    report = orjson.loads(loadgen(*run, "--insecure").stdout)
    assert report["counts"]["completed"] == 2
    assert [f["severity"] for f in report["findings"] if f["code"] == "tls_not_verified"] == ["warning"]
