"""Triton: a model of Python that streams, and one that does not, over HTTP and gRPC.

The wheel of PyTriton has the server; its backend needs libpython of the environment's version.
"""

from __future__ import annotations

import os
import sys
from shutil import copy2

from benchmarks.engines.engine import BUILD, CHECK, HERE, MODELS, Pair, Server, Step, environment

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
FOLDER = BUILD / "triton"
SERVER = FOLDER / "lib" / f"python{VERSION}" / "site-packages" / "pytriton" / "tritonserver"
REPOSITORY = MODELS / "triton"
CONFIG = """backend: "python"
max_batch_size: 8
input [
  {{ name: "text_input" data_type: TYPE_STRING dims: [ 1 ] }},
  {{ name: "max_tokens" data_type: TYPE_INT32 dims: [ 1 ] }},
  {{ name: "temperature" data_type: TYPE_FP32 dims: [ 1 ] optional: true }},
  {{ name: "stream" data_type: TYPE_BOOL dims: [ 1 ] optional: true }}
]
output [ {{ name: "text_output" data_type: TYPE_STRING dims: [ 1 ] }} ]
model_transaction_policy {{ decoupled: {decoupled} }}
instance_group [ {{ kind: KIND_CPU }} ]
"""
STUB = "triton_python_backend_stub"
STREAMS = {"stream": "true", "whole": "false"}
PAIRS = (
    Pair(
        "requests",
        "SELECT count(*) FROM samples WHERE status = 'completed'",
        ["nv_inference_request_success_total"],
    ),
)


def steps(protocol: str, model: str) -> list[Step]:
    """Check, and a run."""
    url = "grpc://127.0.0.1:{port2}" if protocol.endswith("grpc") else f"{{url}}/v2/models/{model}"
    endpoint = ("--protocol", protocol, "--url", url, "--model", model)
    shape = (
        *("--input-tokens", "32", "--max-tokens", "16", "-c", "4", "-n", "50", "--no-probe"),
        *("--server-metrics", "{metrics}"),
    )
    return [
        Step(f"check, {protocol}", (*CHECK, *endpoint)),
        Step(f"perf, {protocol}", ("perf", *endpoint, *shape), PAIRS),
    ]


SERVERS = (
    Server(
        "Triton",
        (
            *(str(FOLDER / "bin" / "python"), "-c"),
            "from importlib.metadata import version; print('PyTriton', version('nvidia-pytriton'))",
        ),
        (
            *(str(SERVER / "bin" / "tritonserver"), "--model-repository", str(REPOSITORY)),
            *("--backend-directory", str(SERVER / "backends"), "--http-port", "{port}"),
            *("--grpc-port", "{port2}", "--metrics-port", "{port3}", "--allow-gpu-metrics", "false"),
        ),
        "stream",
        [
            *steps("triton", "stream"),
            *steps("triton-grpc", "stream"),
            *steps("kserve", "whole"),
            *steps("kserve-grpc", "whole"),
        ],
        {"PATH": f"{FOLDER / 'bin'}{os.pathsep}{os.environ['PATH']}"},
        ready="/v2/health/ready",
        metrics="http://127.0.0.1:{port3}/metrics",
    ),
)


def install() -> None:
    """Make the environment and the models; the backend looks for the stub of a version of Python there."""
    environment("triton")
    copy2(SERVER / "python_backend_stubs" / VERSION / STUB, SERVER / "backends" / "python" / STUB)
    for name, decoupled in STREAMS.items():
        version = REPOSITORY / name / "1"
        version.mkdir(parents=True, exist_ok=True)
        copy2(HERE / "triton_model.py", version / "model.py")
        (REPOSITORY / name / "config.pbtxt").write_text(CONFIG.format(decoupled=decoupled))
