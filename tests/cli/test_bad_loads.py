"""Loads and prompts that cannot be: one line says which option and why, before anything is made or sent."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest

from loadgen.cli.app import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Refused = Callable[..., str]

USAGE = 2
FILES = {
    "prompts.jsonl": '{"prompt": "one two", "class": "a", "weight": 1}\n{"prompt": "three", "class": "b"}\n',
    "zero.jsonl": '{"prompt": "one", "weight": 0}\n{"prompt": "two", "weight": 0.0}\n',
    "negative.jsonl": '{"prompt": "one", "weight": 2}\n{"prompt": "two", "weight": -1}\n',
    "words.jsonl": '{"prompt": "one", "weight": "heavy"}\n',
    "ids.jsonl": '{"prompt": [1, 2, 3]}\n',
    "chats.jsonl": '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, '
    '{"role": "user", "content": "c"}]}\n',
    "empty.csv": "",
    "text.csv": "value,weight\nmany,1\n",
    "weightless.csv": "value,weight\n10,0\n20,0\n",
    "overlap.yaml": "- {duration: 10s, rate: 1}\n- {name: noon, start: 5s, duration: 10s, rate: 2}\n",
    "below.yaml": "- {duration: 10s, rate: -1}\n",
    "typo.json": '[{"duration": "10s", "rate": 1}, {"duraton": "10s", "rate": 1}]',
    "ramp.toml": '[[stages]]\nduration = "10s"\nrate = "ramp:1..5,60s"\n',
    "unsaid.csv": "name,duration\nfirst,10s\n",
    "silent.yaml": "- {duration: 10s, rate: 0}\n",
    "none.yaml": "[]\n",
    "broken.yaml": "- {duration: 10s\n",
    "stages.txt": "10s at 5",
    "back.csv": "timestamp,input_tokens,output_tokens\n1.0,5,5\n0.5,5,5\n",
    "minus.csv": "timestamp,input_tokens,output_tokens\n0,-5,5\n",
    "words.csv": "timestamp,input_tokens,output_tokens\nsoon,5,5\n",
    "trace.csv": "timestamp,input_tokens,output_tokens\n0,5,5\n1,5,5\n",
    "strange.csv": "color,shape\nred,round\n",
}

LOADS: dict[str, tuple[tuple[object, ...], str]] = {
    "a negative rate": (("--rate", "-5"), "--rate '-5': a rate of -5"),
    "no rate": (("--rate", "0"), "--rate 0: must be from"),
    "a rate that is no number": (("--rate", "fast"), "--rate 'fast'"),
    "a rate beyond all": (("--rate", "1e9"), "--rate '1e9'"),
    "not a number": (("--rate", "nan"), "--rate 'nan'"),
    "a profile that is not known": (("--rate", "rmp:1..50,60s"), "did you mean 'ramp'"),
    "a profile without its time": (("--rate", "ramp:1..50"), "--rate 'ramp:1..50'"),
    "a ramp from below 0": (("--rate", "ramp:-1..50,60s"), "a rate of -1"),
    "a ramp of no time": (("--rate", "ramp:1..50,0s"), "must be above 0 s"),
    "a ramp that brings too few": (("--rate", "ramp:50..0,1s", "-n", 500), "--requests 500: with --seed 0"),
    "a ramp of nothing": (("--rate", "ramp:0..0,60s"), "never brings a request"),
    "an exponential ramp from 0": (("--rate", "ramp-exp:0..50,60s"), "at a rate of 0"),
    "one step": (("--rate", "steps:10..50x1,60s"), "must be from 2"),
    "half a step": (("--rate", "steps:10..50x2.5,60s"), "'2.5' is not a number of steps"),
    "a sine below 0": (("--rate", "sine:20,30,60s"), "has rates below 0"),
    "bursts longer than their period": (("--rate", "bursts:5,100,1s,10s"), "no time is left between"),
    "burstiness 0": (("--rate", 5, "--arrival", "gamma", "--burstiness", 0), "--burstiness 0: must be from"),
    "burstiness nan": (("--rate", 5, "--arrival", "gamma", "--burstiness", "nan"), "--burstiness nan"),
    "burstiness of a Poisson process": (("--rate", 5, "--burstiness", 2), "--arrival gamma"),
    "gamma without burstiness": (("--rate", 5, "--arrival", "gamma"), "--burstiness"),
    "an arrival without a rate": (("--arrival", "uniform"), "give --rate or --stages"),
    "rate and concurrency": (("--rate", 5, "-c", 2), "--concurrency and --rate contradict each other"),
    "rate and stages": (("--rate", 5, "--stages", "below.yaml"), "--rate and --stages contradict each other"),
    "two counts": (("-n", 5, "--passes", 2), "--requests and --passes contradict each other"),
    "no pass": (("--prompts", "prompts.jsonl", "--passes", 0), "--passes 0: must be 1 or more"),
    "no session": (("--sessions", 0), "--sessions 0"),
    "sessions without conversations": (("--prompts", "prompts.jsonl", "--sessions", 5), "--requests"),
    "sessions of last turns": (("--prompts", "chats.jsonl", "--sessions", 5), "--conversations all"),
    "requests of conversations": (
        ("--prompts", "chats.jsonl", "--conversations", "all", "-n", 5),
        "--sessions",
    ),
    "a think time that is none": (("--think", "soon"), "--think 'soon'"),
    "a negative think time": (("--think=-1s",), "--think '-1s'"),
    "a think time without a unit": (("--think", "2"), "has no unit"),
    "a think time of nobody": (("--rate", 5, "--think", "1s"), "--think 1s has no effect in an open loop"),
    "a think time offline": (("--offline", "-n", 5, "--think", "1s"), "--think: with --offline"),
    "a negative warm-up": (("--warmup", "-1"), "--warmup -1"),
    "a warm-up that is neither": (("--warmup", "1.5"), "--warmup '1.5'"),
    "a warm-up of a wrong unit": (("--warmup", "30x"), "--warmup '30x'"),
    "a negative drain": (("--drain=-1",), "--drain"),
    "overload of a closed loop": (("--stop-on-overload",), "give --rate"),
    "places in a closed loop": (("--max-concurrency", 4), "bounds an open loop"),
    "no place": (("--rate", 5, "--max-concurrency", 0), "--max-concurrency 0: must be from 1"),
    "more workers than places": (
        ("--rate", 5, "--max-concurrency", 2, "--workers", 3),
        "--workers 3: each needs a part of --max-concurrency 2",
    ),
    "places and overload": (
        ("--rate", 5, "--max-concurrency", 2, "--stop-on-overload"),
        "leave one out",
    ),
    "a steady state offline": (("--offline", "-n", 5, "--steady"), "--steady: an offline load"),
    "a duration before the first arrival": (("--rate", "0.001", "-d", 1), "the first request is due after"),
}

STAGES: dict[str, tuple[tuple[object, ...], str]] = {
    "missing": (("--stages", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
    "overlapping": (("--stages", "overlap.yaml"), "stage 2 ('noon'): start 5 s: overlaps"),
    "below 0": (("--stages", "below.yaml"), "stage 1: rate: '-1': a rate of -1"),
    "an unknown key": (
        ("--stages", "typo.json"),
        "stage 2: unknown key 'duraton'; did you mean 'duration'",
    ),
    "longer than its stage": (("--stages", "ramp.toml"), "takes longer than the stage"),
    "without a rate": (("--stages", "unsaid.csv"), "stage 1 ('first'): has no rate"),
    "silent": (("--stages", "silent.yaml"), "no stage has a rate above 0"),
    "none": (("--stages", "none.yaml"), "has no stages"),
    "broken": (("--stages", "broken.yaml"), "is not YAML"),
    "of another format": (("--stages", "stages.txt"), "*.yaml"),
}

TRACES: dict[str, tuple[tuple[object, ...], str]] = {
    "missing": (("--trace", "nowhere.csv"), "nowhere.csv"),
    "back in time": (("--trace", "back.csv"), "back.csv, line 3"),
    "a negative length": (("--trace", "minus.csv"), "minus.csv, line 2"),
    "a time that is none": (("--trace", "words.csv"), "words.csv, line 2"),
    "of no known format": (("--trace", "strange.csv"), "strange.csv"),
    "empty": (("--trace", "empty.csv"), "empty.csv"),
    "a folder without a run": (("--trace", "."), "--trace .: a folder without the log of a run (events.db)"),
    "speed 0": (("--trace", "trace.csv", "--trace-speed", 0), "--trace-speed 0: must be from"),
    "speed nan": (("--trace", "trace.csv", "--trace-speed", "nan"), "--trace-speed nan: must be from"),
    "speed of a closed loop": (
        ("--trace", "trace.csv", "-c", 2, "--trace-speed", 2),
        "--trace-speed 2: the requests of trace.csv do not leave at their recorded times",
    ),
    "speed without a trace": (("--trace-speed", 2), "give --trace"),
    "with prompts": (("--trace", "trace.csv", "--prompts", "prompts.jsonl"), "contradict each other"),
    "in another order": (("--trace", "trace.csv", "--order", "shuffle"), "a trace has its own order"),
    "with lengths": (("--trace", "trace.csv", "--input-tokens", "5"), "a trace has its own lengths"),
    "with a bound": (
        ("--trace", "trace.csv", "--max-tokens", 3),
        "--max-tokens: a trace has its own lengths",
    ),
    "more than it has": (("--trace", "trace.csv", "-n", 3), "--requests 3"),
    "several times": (("--trace", "trace.csv", "--passes", 2), "--passes"),
}

PROMPTS: dict[str, tuple[tuple[object, ...], str]] = {
    "missing": (("--prompts", "nowhere.jsonl"), "nowhere.jsonl"),
    "a tag that no row has": (("--prompts", "prompts.jsonl", "--tag", "color"), "'color'"),
    "a tag twice": (("--prompts", "prompts.jsonl", "--tag", "class", "--tag", "class"), "each column once"),
    "a tag of no file": (("--tag", "class"), "give --prompts"),
    "weights all 0": (
        ("--prompts", "zero.jsonl", "--order", "weighted", "--weight-column", "weight"),
        "zero.jsonl",
    ),
    "a negative weight": (
        ("--prompts", "negative.jsonl", "--order", "weighted", "--weight-column", "weight"),
        "negative.jsonl, line 2",
    ),
    "a weight that is none": (
        ("--prompts", "words.jsonl", "--order", "weighted", "--weight-column", "weight"),
        "words.jsonl, line 1",
    ),
    "a weight that is missing": (
        ("--prompts", "prompts.jsonl", "--order", "weighted", "--weight-column", "weight"),
        "prompts.jsonl, line 2",
    ),
    "weighted without weights": (("--prompts", "prompts.jsonl", "--order", "weighted"), "--weight-column"),
    "weights without an order": (
        ("--prompts", "prompts.jsonl", "--weight-column", "weight"),
        "--order weighted",
    ),
    "token ids in a chat": (("--prompts", "ids.jsonl"), "--protocol completions"),
    "recorded answers of nobody": (
        ("--prompts", "prompts.jsonl", "--history", "recorded"),
        "--conversations all",
    ),
    "recorded answers of what is made up": (("--turns", 2, "--history", "recorded"), "leave it out"),
    "answers without end": (("--ignore-eos",), "give --max-tokens"),
    "passes of what is drawn": (
        ("--prompts", "prompts.jsonl", "--order", "random", "--passes", 2),
        "--passes 2: sends each prompt equally often",
    ),
    "no column": (("--prompts", "prompts.jsonl", "--prompt-column="), "--prompt-column '': is empty"),
    "no folder": (("--prompts", "prompts.jsonl", "--out", ""), "--out '': is empty"),
    "two bounds": (("--max-tokens", 5, "--output-tokens", "5"), "contradict each other"),
}

SYNTHETIC: dict[str, tuple[tuple[object, ...], str]] = {
    "a length of 0": (("--input-tokens", "0"), "--input-tokens"),
    "a length of nothing": (("--input-tokens", ""), "--input-tokens '': is empty"),
    "a prefix of a blank": (("--shared-prefix", " "), "--shared-prefix ' ': is empty"),
    "a turn too many": (("--turns", "1001"), "--turns '1001': must be from 1 to 1000"),
    "a negative mean": (("--input-tokens", "normal:-5,1"), "--input-tokens"),
    "a mean that cannot be": (("--input-tokens", "normal:1,1000"), "--input-tokens"),
    "from high to low": (("--output-tokens", "uniform:9..3"), "--output-tokens"),
    "of no known shape": (("--turns", "pareto:3"), "--turns"),
    "a histogram that is missing": (("--input-tokens", "histogram:nowhere.csv"), "nowhere.csv"),
    "an empty histogram": (("--input-tokens", "histogram:empty.csv"), "empty.csv"),
    "a histogram of words": (("--input-tokens", "histogram:text.csv"), "text.csv"),
    "a histogram without weight": (("--input-tokens", "histogram:weightless.csv"), "weightless.csv"),
    "a prefix that is none": (("--shared-prefix", "many"), "--shared-prefix"),
    "a corpus that is missing": (("--corpus", "nowhere.txt"), "nowhere.txt"),
    "an empty corpus": (("--corpus", "empty.csv"), "empty.csv"),
    "with prompts": (
        ("--prompts", "prompts.jsonl", "--input-tokens", "5"),
        "cannot be combined with --prompts",
    ),
}


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Refused]:
    """The program's refusal, in this process and a folder with the `FILES` that the options name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    # No process listens there: a program that connected would end with 3.
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"

        def call(*arguments: object) -> str:
            command = [str(part).replace("ADDRESS", address) for part in arguments]
            named = {name for name in FILES if any(name in part for part in command)}
            for name in named:
                (tmp_path / name).write_text(FILES[name])
            monkeypatch.setattr(sys, "argv", ["loadgen", *command])
            code = main()
            printed = capfd.readouterr()
            assert code == USAGE, printed.err
            assert printed.out == ""
            assert {path.name for path in tmp_path.rglob("*")} == named
            return printed.err

        yield call


@pytest.mark.parametrize(
    ("options", "part"),
    [
        pytest.param(*case, id=f"{kind}: {name}")
        for kind, cases in {
            "load": LOADS,
            "stages": STAGES,
            "trace": TRACES,
            "prompts": PROMPTS,
            "synthetic": SYNTHETIC,
        }.items()
        for name, case in cases.items()
    ],
)
def test_it_is_refused_in_one_line(refused: Refused, options: tuple[object, ...], part: str) -> None:
    """Exit 2 before the first request, and before there is a folder; one line names what is wrong."""
    message = refused("perf", "--url", "ADDRESS", "--model", "m", "--quiet", *options)
    assert part in message
    assert message.startswith("error: ")
    assert message.splitlines()[1:] in ([], ["see `loadgen perf --help`"])


SERIES: dict[str, tuple[tuple[object, ...], str]] = {
    "a sweep of nothing": (("sweep",), "Nothing to sweep."),
    "a sweep of no value": (("sweep", "-c", ","), "--concurrency: no values given"),
    "a sweep backwards": (("sweep", "--rate", "5:1:1", "-n", 5), "--rate 5:1:1"),
    "a sweep without a step": (("sweep", "--rate", "1:5:0", "-n", 5), "--rate 1:5:0"),
    "a sweep of words": (("sweep", "-c", "1,2,x", "-n", 5), "--concurrency"),
    "a sweep below 0": (("sweep", "--rate", "-1,2", "-n", 5), "a rate of -1"),
    "the same point twice": (("sweep", "-c", "1,1", "-n", 5), "1 is there twice"),
    "two kinds of load": (("sweep", "-c", "1", "--rate", "2"), "contradict each other"),
    "an option that is none": (("sweep", "--vary", "nope=1,2"), "--vary nope"),
    "a search for nothing": (("search",), "nothing is required"),
    "a search for a wrong figure": (("search", "--require", "x<2"), "unknown metric 'x'"),
    "a search of one rate": (("search", "--require", "ttft:p(99)<2s", "--rate", "5"), "--rate 5"),
    "a search backwards": (("search", "--require", "ttft:p(99)<2s", "--rate", "9..5"), "--rate 9..5"),
    "a search of both": (
        ("search", "--require", "ttft:p(99)<2s", "--rate", "1..9", "-c", "1..9"),
        "--rate and --concurrency contradict each other",
    ),
}


@pytest.mark.parametrize("case", SERIES)
def test_a_series_is_refused_in_one_line(refused: Refused, case: str) -> None:
    """As above, before the first of several runs, and before there is a folder for them."""
    (command, *options), part = SERIES[case]
    message = refused(command, "--url", "ADDRESS", "--model", "m", *options)
    assert part in message
    assert message.startswith("error: ")
    assert message.count("\n") == 1


SUITES: dict[str, tuple[str, str]] = {
    "an unknown key": ('[[loads]]\nname = "a"\nconcurency = 1\nrequests = 5\n', "concurency"),
    "a load that cannot be": ('[[loads]]\nname = "a"\nrate = -1\nrequests = 5\n', "a rate of -1"),
    "two that contradict": ('[[loads]]\nname = "a"\nrate = 1\nconcurrency = 2\n', "contradict each other"),
    "the same name twice": ('[[loads]]\nname = "a"\nrate = 1\n[[loads]]\nname = "a"\nrate = 2\n', "'a'"),
    "what is not TOML": ("[[loads]\n", "is not TOML"),
}


@pytest.mark.parametrize("case", SUITES)
def test_a_suite_is_refused_in_one_line(refused: Refused, tmp_path: Path, case: str) -> None:
    """The file is named, with the table where there is one."""
    loads, part = SUITES[case]
    models = (
        '[[models]]\nname = "m"\nurl = "http://127.0.0.1:9"\n[[benchmarks]]\nname = "b"\ninput_tokens = 9\n'
    )
    suite = tmp_path.with_name(f"{tmp_path.name}-suite.toml")
    suite.write_text(models + loads)
    message = refused("run", suite)
    assert part in message
    assert suite.name in message
    assert message.startswith("error: ")
    assert message.count("\n") == 1
