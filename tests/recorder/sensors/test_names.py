"""The table of names: consistent in itself, and in the docs."""

from __future__ import annotations

from recorder.sensors.names import DCGM, ENGINES, SERVER
from tests import golden

TITLES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tgi": "TGI",
    "tensorrt_llm": "TensorRT-LLM",
    "llama.cpp": "llama.cpp",
    "triton": "Triton",
}


def test_names_have_the_prefix_of_their_engine() -> None:
    """The prefix is what an engine is known by."""
    for quantity in SERVER:
        for engine, names in quantity.names.items():
            assert all(name.startswith(ENGINES[engine]) for name in names)


def test_the_page_has_the_table() -> None:
    """docs/telemetry.md has a row for each quantity, and a column for each engine."""
    rows = [("recorded", *TITLES.values()), ("---",) * (1 + len(TITLES))]
    for quantity in SERVER:
        ours = f"`{quantity.name}`"
        if quantity.kind == "histogram":
            ours = f"`{quantity.name}_sum_s`, `{quantity.name}_requests_total`"
        theirs = [", ".join(f"`{name}`" for name in quantity.names.get(engine, ())) for engine in ENGINES]
        rows.append((ours, *theirs))
    lines = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    golden.check_part(golden.ROOT / "docs/telemetry.md", "<!-- names -->\n", "<!-- /names -->", lines)


def test_names_are_unique() -> None:
    """No quantity is there twice."""
    for table in (SERVER, DCGM):
        names = [quantity.name for quantity in table]
        assert len(names) == len(set(names))
