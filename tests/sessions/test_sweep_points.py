"""What a sweep varies, and every way in which that can be wrong: said before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.sweep.run_sweep import numbers, points_of, varied
from loadgen.sessions.settings.sweep import SweepSettings

PERF: dict[str, Any] = {"url": ["http://127.0.0.1:1"], "model": "small-model", "api_key": "sk-secret"}


def texts(axis: Any) -> list[str]:
    """The values of an axis as they were written."""
    return [text for text, _ in axis.values]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,4", ["1", "2", "4"]),
        ("10:50:20", ["10", "30", "50"]),
        ("0.1:0.5:0.1", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("5:5:1", ["5"]),
        ("1:10:4", ["1", "5", "9"]),
    ],
)
def test_a_list_or_a_range_of_numbers(text: str, values: list[str]) -> None:
    """A range has both ends, as far as its steps reach."""
    assert texts(numbers("rate", text)) == values


def test_any_option_has_its_own_kind_of_values() -> None:
    """They are read as on the command line; with semicolons where a value has a comma in it."""
    assert varied("max-tokens=64, 128").values == (("64", 64), ("128", 128))
    assert varied("--timeout=90s,2m").values == (("90s", 90.0), ("2m", 120.0))
    assert varied("stream=true,false").values == (("true", True), ("false", False))
    assert texts(varied("input-tokens=normal:100,10;normal:200,10")) == ["normal:100,10", "normal:200,10"]


def test_points_are_every_combination() -> None:
    """The last axis changes first; names and options say what each point is, and no secret is in them."""
    points = points_of(SweepSettings(concurrency="1,2", vary=["max-tokens=8,16"]), PERF)
    assert [point.name for point in points] == [
        "concurrency-1-max-tokens-8",
        "concurrency-1-max-tokens-16",
        "concurrency-2-max-tokens-8",
        "concurrency-2-max-tokens-16",
    ]
    assert points[1].axes == {"concurrency": 1, "max-tokens": 16}
    assert (points[1].options["concurrency"], points[1].options["max_tokens"]) == (1, 16)
    assert "sk-secret" not in str(points)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "Nothing to sweep. Use --concurrency 1,2,4, --rate 1:10:1 or --vary OPTION=…"),
        ({"concurrency": " , "}, "--concurrency: no values given"),
        ({"rate": "1,2,2"}, "--rate: 2 is there twice"),
        ({"rate": "50:10:5"}, "--rate 50:10:5: write FIRST:LAST:STEP with a step above 0"),
        ({"rate": "1:2:0"}, "--rate 1:2:0: write FIRST:LAST:STEP"),
        ({"rate": "1:1e9:1"}, "for 1000 values at most"),
        ({"rate": "ramp:1..5,60s"}, "one that changes: --vary 'rate=ramp:1..5,60s;"),
        ({"concurrency": "1:4"}, "--concurrency 1:4: write FIRST:LAST:STEP"),
        ({"vary": ["out=a,b"]}, "--vary out: an option that is the same in all runs of a sweep"),
        ({"vary": ["stream=maybe,true"]}, "--vary stream: must be true or false, not 'maybe'"),
        ({"vary": ["timeout=1s,soon"]}, "--vary timeout: cannot be read: 'soon'"),
        ({"concurrency": "1,x"}, "--concurrency: cannot be read: 'x' is neither a whole number nor a ramp"),
        ({"vary": ["max-tokens"]}, "--vary 'max-tokens': write OPTION=VALUE,VALUE"),
        ({"vary": ["max-token=1,2"]}, "--vary max-token: no option of a run that can be varied"),
        ({"vary": ["max-token=1,2"]}, "max-tokens"),
        ({"vary": ["max-tokens=1,two"]}, "--vary max-tokens: must be a whole number, not 'two'"),
        ({"vary": ["protocol=chat,chats"]}, "--vary protocol: cannot be read: 'chats' is not a protocol"),
        ({"vary": ["header=A: 1,B: 2"]}, "--vary header: an option that is the same in all runs of a sweep"),
        ({"vary": ["seed=1,2", "seed=3"]}, "seed is varied twice"),
        ({"concurrency": "1", "rate": "1,2"}, "--concurrency and --rate contradict each other"),
        (
            {
                "vary": [
                    f"seed={','.join(map(str, range(40)))}",
                    f"max-tokens={','.join(map(str, range(1, 40)))}",
                ]
            },
            "1560 runs",
        ),
    ],
)
def test_what_cannot_be_varied_is_refused(settings: Any, message: str) -> None:
    """The message names the option and the value."""
    with pytest.raises(UsageError) as error:
        points_of(SweepSettings(**settings), PERF)
    assert message in str(error.value)
