"""TTFT after the upload, against the stamps of a server that reads slowly.

    python -m benchmarks.uploads [--bytes N] [--rate N] [--requests N] [--transport NAME] [--tls]

Prompts of N bytes go to a server that reads at a limited rate, stamps the read of each last byte, and answers
20 ms later. Printed are the errors of TTFT and of TTFT after upload: the client's figures minus the server's.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from loadgen.mock_endpoint.scenarios.listeners import certificate_file
from loadgen.plugins.selftest.uploads import slow_server, true_ttft_ms
from loadgen.sessions.run_session import run
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.database import open_log


def main() -> None:
    """Send the requests, and print the errors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=20_000_000)
    parser.add_argument("--rate", type=float, default=40e6)
    parser.add_argument("--requests", type=int, default=10)
    parser.add_argument("--transport", default="native")
    parser.add_argument("--tls", action="store_true")
    chosen = parser.parse_args()
    certificate = certificate_file("self_signed") if chosen.tls else None
    with TemporaryDirectory() as folder, slow_server(chosen.rate, certificate) as served:
        url, records = served
        prompts = Path(folder, "prompts.jsonl")
        prompts.write_bytes(orjson.dumps({"prompt": "word " * (chosen.bytes // 5)}))
        settings = perf_settings(
            url=[url],
            model="slow",
            prompts=str(prompts),
            requests=chosen.requests,
            concurrency=1,
            transport=chosen.transport,
            server_metrics=["none"],
            probe=False,
            insecure=chosen.tls,
            on_invalid="warn",
            out=Path(folder, "run"),
        )
        run(settings)
        true = {record["id"]: true_ttft_ms(record) for record in records(chosen.requests)}
        with open_log(Path(folder, "run")) as log:
            rows = log.execute(
                "SELECT sample_uuid, ttft_ms, ttft_after_upload_ms, upload_ms FROM samples"
            ).fetchall()
    sys.stdout.write("server TTFT    TTFT error    after upload    upload (ms)\n")
    for uuid, ttft_ms, after_ms, upload_ms in rows:
        errors = (ttft_ms - true[uuid], None if after_ms is None else after_ms - true[uuid], upload_ms)
        shown = "".join("             -" if each is None else f"{each:14.2f}" for each in errors)
        sys.stdout.write(f"{true[uuid]:11.2f}{shown}\n")


if __name__ == "__main__":
    main()
