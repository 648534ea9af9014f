"""`loadgen mock`, and the page that describes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from loadgen.mock_endpoint import MockOptions, Truth
from loadgen.mock_endpoint.truth import PlayedTruth
from loadgen.sessions.settings.mock import MockSettings
from tests import doc_pages, golden
from tests.for_each import for_each

PAGE = Path(__file__).parents[2] / "docs" / "mock.md"


def test_the_defaults_are_those_of_the_options() -> None:
    """The command says the same defaults as the options that it fills in."""
    assert MockSettings().options() == MockOptions()


def test_every_option_reaches_the_endpoint() -> None:
    """Each setting is the option of the same name; `--model` is one of `models`."""
    numbers = {"port": 1, "tokens_per_chunk": 2, "slots": 3, "seed": 4, "fault_share": 0.5}
    numbers |= {"block_tokens": 5}
    left_out = dict.fromkeys(("scenario", "replies", "stall", "cache", "cache_blocks"))
    chosen = {field.name: field.name for field in fields(MockSettings)}
    chosen |= {**numbers, **left_out, "model": ["m"], "refuse": ["r"], "statements": ["vllm"]}  # type: ignore[dict-item]
    chosen |= {"role_chunk": "none", "tokens_per_chunk": 1}  # type: ignore[dict-item]
    options = MockSettings(**chosen).options()  # type: ignore[arg-type]
    expected = {**chosen, "models": ("m",), "refuse": ("r",), "statements": ("vllm",)}
    del expected["model"]
    assert {field.name: getattr(options, field.name) for field in fields(MockOptions)} == expected


def test_the_command_serves() -> None:
    """The command passes its options on: the key from the environment, two models, a slot."""
    arguments = ["--port", "0", "--model", "a", "--model", "b", "--role-chunk", "early", "--slots", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "loadgen", "mock", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LOADGEN_MOCK_API_KEY": "k"},
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("listening on ").strip()
        with urlopen(f"http://{urlsplit(url).netloc}/metrics") as response:
            assert b'model_name="a"' in response.read()
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=120)
    assert server.returncode == 0


def test_the_page_has_the_table_of_the_truth() -> None:
    """The table has every field of the truth file with the meaning; `make golden` writes the table."""
    meanings = doc_pages.attributes(Truth) | doc_pages.attributes(PlayedTruth)
    assert list(meanings) == [field.name for field in fields(PlayedTruth)]
    rows = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in meanings.items())
    table = f"\n| field | meaning |\n|---|---|\n{rows}\n"
    golden.check_part(PAGE, "<!-- truth -->\n", "<!-- /truth -->", table)


@for_each("name", ["match", "reply", "ttft", "itl", "status", "error"])
def test_every_key_of_a_reply_is_documented(name: str) -> None:
    """The page names every key of the replies file."""
    assert f"`{name}`" in PAGE.read_text()
