"""Infinity: embeddings and rerank."""

from __future__ import annotations

from benchmarks.engines.engine import BUILD, CHECK, MODELS, Pair, Server, Step, environment, make_models

BIN = BUILD / "infinity" / "bin"


def steps(protocol: str, path: str) -> list[Step]:
    """Check, two equal runs and the comparison."""
    load = ("perf", "--protocol", protocol, "--batch", "4", "--input-tokens", "32", "-c", "4", "-n", "60")
    pairs = [
        Pair("requests", "SELECT count(*) FROM samples", [f"http_requests_total {path}"]),
        Pair(
            "latency, mean (ms)",
            "SELECT avg(latency_ms) FROM samples WHERE status = 'completed'",
            [f"http_request_duration_seconds_sum {path}"],
            per=f"http_request_duration_seconds_count {path}",
            scale=1000,
            exact=False,
        ),
    ]
    return [
        Step("check", (*CHECK, "--protocol", protocol, "--timeout", "120s")),
        Step("perf", load, pairs),
        Step("perf again", load, pairs),
        Step("compare", ("compare", "{perf}", "{perf again}"), allowed=(0, 1, 5)),
    ]


def serving(name: str, model: str, protocol: str, path: str) -> Server:
    """A server of one model."""
    return Server(
        f"Infinity, {name}",
        (str(BIN / "python"), "-c", "from importlib.metadata import version; print(version('infinity-emb'))"),
        (
            *(
                str(BIN / "infinity_emb"),
                "v2",
                "--model-id",
                str(MODELS / model),
                "--served-model-name",
                model,
            ),
            *("--host", "127.0.0.1", "--port", "{port}", "--device", "cpu", "--no-bettertransformer"),
            *("--no-model-warmup",),
        ),
        model,
        steps(protocol, path),
    )


SERVERS = (
    serving("embeddings", "bert", "infinity", "/embeddings"),
    serving("rerank", "reranker", "infinity-rerank", "/rerank"),
)


def install() -> None:
    """Make the environment and the models."""
    make_models(environment("infinity"), [("bert", "bert"), ("reranker", "reranker")])
