"""Local stand-ins for object stores, in separate processes: S3, and Google Cloud Storage.

    python -m tests.object_stores s3|gs

serves one with the bucket `runs` until its standard input ends; the first line that it prints is its address.
"""

from __future__ import annotations

import http.server
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUCKET: Final = "runs"

MODULES: Final = {"s3": "moto.server", "gs": "gcp_storage_emulator.server"}
"""What each store needs installed, by its scheme."""

SECRET: Final = "a-secret-key"  # noqa: S105 (of a stand-in)


@contextmanager
def object_store(scheme: str) -> Iterator[Mapping[str, str]]:
    """Serve a store while the context lasts; the environment variables by which it is used."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__, scheme],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if scheme == "gs":
            yield {"STORAGE_EMULATOR_HOST": address}
        else:
            yield {
                "AWS_ENDPOINT_URL": address,
                "AWS_ACCESS_KEY_ID": "an-id",
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_REGION": "us-east-1",
            }
        server.kill()


def _serve_s3() -> str:
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    store = fs.S3FileSystem(
        endpoint_override=f"{host}:{port}",
        scheme="http",
        access_key="an-id",
        secret_key=SECRET,
        region="us-east-1",
        allow_bucket_creation=True,
    )
    store.create_dir(BUCKET)
    return f"http://{host}:{port}"


def _serve_gs() -> str:
    from gcp_storage_emulator import server

    # A client keeps several connections open.
    server.server.HTTPServer = http.server.ThreadingHTTPServer
    emulator = server.create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    emulator.start()
    return f"http://127.0.0.1:{emulator._api._httpd.server_address[1]}"


if __name__ == "__main__":
    print(_serve_s3() if sys.argv[1] == "s3" else _serve_gs(), flush=True)  # noqa: T201 (its protocol)
    sys.stdin.read()
