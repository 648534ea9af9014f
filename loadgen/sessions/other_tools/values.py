"""Values of other tools' options in this program's words: addresses, lengths, loads, objectives."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_OBJECTIVES: Final = {
    "ttft": "ttft",
    "time_to_first_token": "ttft",
    "tpot": "tpot",
    "inter_token_latency": "tpot",
    "e2el": "latency",
    "request_latency": "latency",
}
_PORT: Final = 8000
_STEPS: Final = "1,2,4,8,16,32"
_HUB: Final = re.compile(r"[\w-]+/[\w-]+")
_NUMBER: Final = re.compile(r"\d+(\.\d+)?")


def url(value: str) -> str:
    """`--url` of an address, which may lack its scheme."""
    return f"--url {shlex.quote(value if '://' in value else f'http://{value}')}"


def host(value: str) -> str:
    """`--url` of a host alone: at the port that vLLM serves by default."""
    return url(value if "://" in value or ":" in value else f"{value}:{_PORT}")


def objectives(value: str) -> str | None:
    """`--require` of objectives such as `ttft:200 tpot:50`, in milliseconds; None for anything else."""
    bounds = []
    for objective in value.split():
        name, _, limit = objective.partition(":")
        if name not in _OBJECTIVES or not _NUMBER.fullmatch(limit):
            return None
        bounds.append(f"{_OBJECTIVES[name]}<{limit}ms")
    rule = f"good({','.join(bounds)}):fraction>=0.95"
    return f"--require {shlex.quote(rule)}" if bounds else None


def tasks(value: str) -> str:
    """`--task` of each name of a list."""
    return " ".join(f"--task {shlex.quote(name)}" for name in value.split(","))


def inspect_task(value: str) -> str:
    """The name of a task of Inspect, which may name its package or file."""
    return shlex.quote(value.rpartition("/")[2].removesuffix(".py"))


def inspect_model(value: str) -> str:
    """`--model` of a model of Inspect, whose name begins with the provider."""
    return f"--model {value.partition('/')[2] or value}"


def per_second(value: str) -> str | None:
    """`--rate` of a rate such as `50/s` or `3000/1m`."""
    count, _, unit = value.partition("/")
    seconds = {"": 1, "s": 1, "1s": 1, "m": 60, "1m": 60}.get(unit)
    return f"--rate {float(count) / seconds:g}" if seconds and _NUMBER.fullmatch(count) else None


def model_args(value: str) -> str | None:
    """`--url` and `--model` of `model=NAME,base_url=URL`, and the number of requests in flight."""
    members = dict(part.partition("=")[::2] for part in value.split(","))
    name = members.get("model") or members.get("pretrained")
    typed = [f"--model {shlex.quote(name)}"] if name else []
    if address := members.get("base_url"):
        typed.append(url(re.sub(r"/(chat/)?completions/?$", "", address)))
    if users := members.get("num_concurrent"):
        typed.append(f"--concurrency {shlex.quote(users)}")
    return " ".join(typed) or None


_GENERATION: Final = {
    "temperature": "--temperature",
    "top_p": "--top-p",
    "max_gen_toks": "--max-tokens",
    "max_tokens": "--max-tokens",
}


def generation(value: str) -> str | None:
    """`--temperature` and others of `temperature=0,max_gen_toks=256`; None where there is another member."""
    members = dict(part.partition("=")[::2] for part in value.split(",") if part != "do_sample=false")
    if not members.keys() <= _GENERATION.keys():
        return None
    return " ".join(f"{_GENERATION[name]} {shlex.quote(text)}" for name, text in members.items())


def body_members(value: str) -> str | None:
    """`--extra-body` of `name:value` pairs, or of a JSON object."""
    members: dict[str, Any] = {}
    for pair in [value] if value.lstrip().startswith("{") else value.split():
        name, colon, text = pair.partition(":")
        if pair.lstrip().startswith("{"):
            return f"--extra-body {shlex.quote(pair)}"
        if not colon:
            return None
        try:
            members[name] = json.loads(text)
        except ValueError:
            members[name] = text
    return f"--extra-body {shlex.quote(json.dumps(members))}"


def prompts(value: str) -> str:
    """`--prompts` of a file, or of the name of a dataset on the hub: `OWNER/NAME` without an ending."""
    of_the_hub = _HUB.fullmatch(value) is not None
    return f"--prompts {shlex.quote(f'hf:{value}' if of_the_hub else value)}"


def models(value: str) -> str:
    """`--model` of one name, or `--models` of several, separated by blanks or commas, with equal weights."""
    names = value.replace(",", " ").split()
    mix = ",".join(f"{name}=1" for name in names)
    return f"--models {shlex.quote(mix)}" if len(names) > 1 else f"--model {shlex.quote(value)}"


def synthetic_data(value: str) -> str:
    """The lengths of `prompt_tokens=256,output_tokens=64`; `--prompts` of anything else."""
    try:
        members: Mapping[str, Any] = json.loads(value)
    except ValueError:
        members = dict(part.partition("=")[::2] for part in value.split(","))
    if not isinstance(members, dict) or "prompt_tokens" not in members:
        return prompts(value)
    typed = [f"--input-tokens {lengths(members['prompt_tokens'], _deviation(members, 'prompt'))}"]
    if "output_tokens" in members:
        typed.append(f"--output-tokens {lengths(members['output_tokens'], _deviation(members, 'output'))}")
    return " ".join(typed)


def _deviation(members: Mapping[str, Any], of: str) -> Any:
    return members.get(f"{of}_tokens_stdev") or members.get(f"{of}_tokens_std") or 0


def lengths(mean: Any, deviation: Any) -> str:
    """A distribution of lengths: one length, or a normal one with its deviation."""
    return str(mean) if float(deviation) == 0 else f"normal:{mean},{deviation}"


def _address(values: Mapping[str, str]) -> str:
    if "--base-url" in values:
        return url(values["--base-url"])
    name = values.get("--host", "127.0.0.1")
    port = values.get("--port", str(_PORT))
    return url(f"{'127.0.0.1' if name == '0.0.0.0' else name}:{port}")  # noqa: S104 (what others listen on)


def _ranged(values: Mapping[str, str]) -> str | None:
    """`--input-tokens` and `--output-tokens` of vLLM's lengths and their ratio."""
    typed = []
    ratio = values["--random-range-ratio"]
    for theirs, ours in (
        ("--random-input-len", "--input-tokens"),
        ("--random-output-len", "--output-tokens"),
    ):
        length = values.get(theirs, "")
        if not (_NUMBER.fullmatch(ratio) and length.isdigit()):
            continue
        low, high = (round(int(length) * (1 + sign * float(ratio))) for sign in (-1, 1))
        typed.append(f"{ours} {length if low == high else f'uniform:{max(low, 1)}..{high}'}")
    return " ".join(typed) or None


def _ramp(values: Mapping[str, str]) -> str:
    kind = "ramp-exp" if values.get("--ramp-up-strategy") == "exponential" else "ramp"
    start, end = values.get("--ramp-up-start-rps", "1"), values.get("--ramp-up-end-rps", "10")
    return f"--rate {kind}:{start}..{end},60s"


def _profile(values: Mapping[str, str]) -> str | None:
    """The load of GuideLLM's profile and its `--rate`: a strategy, and rates or numbers of users."""
    kind, rate = values.get("--profile") or values.get("--rate-type", ""), values.get("--rate")
    typed = _ALONE.get(kind) if rate is None or kind in {"sweep", "synchronous"} else _AT_A_RATE.get(kind)
    return None if typed is None else typed.replace("{}", shlex.quote(rate or ""))


_ALONE: Final = {
    "sweep": f"--concurrency {_STEPS}",
    "synchronous": "--concurrency 1",
    "throughput": "--offline",
}
_AT_A_RATE: Final = {
    "throughput": "--concurrency {}",
    "concurrent": "--concurrency {}",
    "constant": "--rate {} --arrival constant",
    "async": "--rate {} --arrival constant",
    "poisson": "--rate {}",
}


def _trace(values: Mapping[str, str]) -> str | None:
    return f"--trace {shlex.quote(values['--input-file'])}" if "--input-file" in values else None


def _abandon(values: Mapping[str, str]) -> str:
    """`--abandon` of AIPerf's rate in percent and delay in seconds, 0 by default."""
    delay = values.get("--request-cancellation-delay", "0")
    after = f"{delay}s" if _NUMBER.fullmatch(delay) and float(delay) else "1ms"
    return f"--abandon {values['--request-cancellation-rate']}%:after={after}"


def _paced(values: Mapping[str, str]) -> str | None:
    """The users of AIPerf's user-centric rate: each of N users has 1/N of the rate."""
    rate, users = values["--user-centric-rate"], values.get("--num-users", "")
    if not (_NUMBER.fullmatch(rate) and float(rate) and users.isdigit()):
        return None
    return f"--concurrency {users} --think every:{int(users) / float(rate):g}s"


def _spawned(users: str, rate: str) -> Callable[[Mapping[str, str]], str | None]:
    """The ramp of Locust's users and of how many begin each second."""

    def typed(values: Mapping[str, str]) -> str | None:
        number, a_second = values.get(users, ""), values[rate]
        if not (number.isdigit() and _NUMBER.fullmatch(a_second) and float(a_second)):
            return None
        return f"--concurrency ramp:1..{number},{int(number) / float(a_second):g}s"

    return typed


def _zipf(values: Mapping[str, str]) -> str | None:
    """`--models` of SGLang's adapters, by a Zipf distribution where SGLang's is skewed."""
    names = values.get("--lora-name", "").replace(",", " ").split()
    if values["--lora-request-distribution"] != "skewed" or not names:
        return models(" ".join(names)) if names else None
    return f"--models {shlex.quote('zipf:' + values.get('--lora-zipf-alpha', '1.5') + ':' + ','.join(names))}"


def _lengths_of(option: str, deviation: str) -> Callable[[Mapping[str, str]], str | None]:
    def typed(values: Mapping[str, str]) -> str | None:
        mean = next((value for name, value in values.items() if name != deviation), None)
        if mean is None or not _NUMBER.fullmatch(values[deviation]):
            return None
        return f"{option} {lengths(mean, values[deviation])}"

    return typed


_INPUTS: Final = ("--isl", "--synthetic-input-tokens-mean", "--mean-input-tokens")
_OUTPUTS: Final = ("--osl", "--output-tokens-mean", "--mean-output-tokens")


def _recorded(values: Mapping[str, str]) -> str | None:
    """`--trace` of a file that is a trace by its type; None for prompts."""
    return _trace(values) if "trace" in values["--custom-dataset-type"] else None


_START_END: Final = "--trajectory-start-max-ratio"


def _start_window(values: Mapping[str, str]) -> str | None:
    """`--start-window` of the ends of AIPerf's window."""
    if _START_END not in values:
        return None
    return f"--start-window {values['--trajectory-start-min-ratio']}..{values[_START_END]}"


TOGETHER: Final[tuple[tuple[str, tuple[str, ...], Callable[[Mapping[str, str]], str | None]], ...]] = (
    ("--port", ("--base-url", "--host"), _address),
    ("--random-range-ratio", ("--random-input-len", "--random-output-len"), _ranged),
    ("--ramp-up-end-rps", ("--ramp-up-strategy", "--ramp-up-start-rps"), _ramp),
    ("--fixed-schedule", ("--input-file",), _trace),
    ("--custom-dataset-type", ("--input-file",), _recorded),
    ("--trajectory-start-min-ratio", (_START_END,), _start_window),
    ("--request-cancellation-rate", ("--request-cancellation-delay",), _abandon),
    ("--user-centric-rate", ("--num-users",), _paced),
    ("--spawn-rate", ("--users",), _spawned("--users", "--spawn-rate")),
    ("-r", ("-u",), _spawned("-u", "-r")),
    ("--lora-request-distribution", ("--lora-name", "--lora-zipf-alpha"), _zipf),
    ("--profile", ("--rate",), _profile),
    ("--rate-type", ("--rate",), _profile),
    ("--isl-stddev", _INPUTS, _lengths_of("--input-tokens", "--isl-stddev")),
    ("--osl-stddev", _OUTPUTS, _lengths_of("--output-tokens", "--osl-stddev")),
    (
        "--synthetic-input-tokens-stddev",
        _INPUTS,
        _lengths_of("--input-tokens", "--synthetic-input-tokens-stddev"),
    ),
    ("--output-tokens-stddev", _OUTPUTS, _lengths_of("--output-tokens", "--output-tokens-stddev")),
    ("--stddev-input-tokens", _INPUTS, _lengths_of("--input-tokens", "--stddev-input-tokens")),
    ("--stddev-output-tokens", _OUTPUTS, _lengths_of("--output-tokens", "--stddev-output-tokens")),
)
"""An option, those that it is read with where they are given, and what to type for all of them."""
