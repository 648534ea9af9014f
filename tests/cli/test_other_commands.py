"""Commands of other tools, as they are typed there: each is answered with a line that this program takes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest
import typer

from loadgen.cli.typer_application import application
from loadgen.mock_endpoint import start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.other_tools.tables import OTHER_COMMANDS
from loadgen.sessions.other_tools.translation import COMMANDS, require_own_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URL = "http://h:8000"

LINES = {
    # vLLM
    "vllm bench serve --model m --request-rate inf --max-concurrency 16 --num-prompts 200": (
        "perf --model m --concurrency 16 --requests 200"
    ),
    "vllm bench serve --model m --num-prompts 200": "perf --model m --requests 200 --offline",
    f"vllm bench serve --backend openai-chat --base-url {URL} --endpoint /v1/chat/completions --model m "
    "--dataset-name random --random-input-len 512 --random-output-len 128 --num-prompts 100": (
        f"perf --model m --protocol chat --url {URL} --input-tokens 512 --output-tokens 128 --requests 100 "
        "--offline"
    ),
    "vllm bench serve --model m --host 10.0.0.1 --port 8001 --request-rate 4 --burstiness 0.5": (
        "perf --model m --url http://10.0.0.1:8001 --rate 4 --arrival gamma --burstiness 0.5"
    ),
    "bench serve --model m --dataset-name sharegpt --dataset-path S.json --num-prompts 10 --save-result "
    "--result-dir runs --result-filename x.json": (
        "perf --model m --prompts S.json --requests 10 --out runs/NAME --offline"
    ),
    "vllm bench serve --model m --dataset-name hf --dataset-path lmarena-ai/VisionArena-Chat": (
        "perf --model m --prompts hf:lmarena-ai/VisionArena-Chat --offline"
    ),
    "python benchmarks/benchmark_serving.py --backend vllm --model m --random-input-len 100 "
    "--random-range-ratio 0.2": (
        "perf --model m --protocol completions --input-tokens uniform:80..120 --offline"
    ),
    "vllm bench serve --model m --goodput ttft:200 tpot:50 --percentile-metrics ttft,tpot --seed 1": (
        "perf --model m --seed 1 --require 'good(ttft<200ms,tpot<50ms):fraction>=0.95' --offline"
    ),
    "vllm bench serve --model m --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 20": (
        "perf --model m --rate ramp:1..20,60s"
    ),
    "vllm bench serve --trust-remote-code --lora-modules a b --lora-assignment random --num-prompts 3": (
        "perf --models a=1,b=1 --requests 3 --offline"
    ),
    # SGLang
    "python -m sglang.bench_serving --backend sglang --num-prompts 50 --random-input 1024 --request-rate 2": (
        "perf --protocol sglang --requests 50 --input-tokens 1024 --rate 2"
    ),
    "python3 -m sglang.bench_serving --backend sglang-oai --host 127.0.0.1 --port 30000 --model m "
    "--random-output-len 128 --max-concurrency 8": (
        "perf --model m --protocol completions --url http://127.0.0.1:30000 --output-tokens 128 "
        "--concurrency 8"
    ),
    "sglang.bench_serving --model m --lora-name a b --lora-request-distribution skewed --lora-zipf-alpha 1.2 "
    "--request-rate 4": "perf --model m --models zipf:1.2:a,b --rate 4",
    "bench_serving --num_prompts 5 --max_concurrency=4 --disable-tqdm --model m": (
        "perf --model m --requests 5 --concurrency 4 --quiet"
    ),
    # GuideLLM
    f"guidellm benchmark --target {URL} --rate-type sweep --max-seconds 30 "
    "--data prompt_tokens=256,output_tokens=128": (
        f"sweep --url {URL} --concurrency 1,2,4,8,16,32 --duration 30 --input-tokens 256 --output-tokens 128"
    ),
    f"guidellm benchmark run --target {URL} --profile sweep --rate 10 "
    "--data prompt_tokens=256,prompt_tokens_stdev=16": (
        f"sweep --url {URL} --concurrency 1,2,4,8,16,32 --input-tokens normal:256,16"
    ),
    f"benchmark --target {URL} --rate-type constant --rate 5 --max-requests 100 "
    """--data '{"prompt_tokens": 256, "output_tokens": 128}'""": (
        f"perf --url {URL} --rate 5 --arrival constant --requests 100 --input-tokens 256 --output-tokens 128"
    ),
    f"guidellm benchmark --target {URL} --rate-type concurrent --rate 1,2,4 --data d.jsonl --processor p": (
        f"sweep --url {URL} --concurrency 1,2,4 --prompts d.jsonl --tokenizer p"
    ),
    f"guidellm benchmark --target {URL} --profile throughput --data openai/gsm8k": (
        f"perf --url {URL} --offline --prompts hf:openai/gsm8k"
    ),
    f"guidellm benchmark --target {URL} --profile synchronous --max-seconds 20": (
        f"perf --url {URL} --concurrency 1 --duration 20"
    ),
    # AIPerf, genai-perf
    "aiperf profile -m Qwen/Q --url localhost:8000 --endpoint-type chat --concurrency 10 "
    "--request-count 100 --streaming": (
        "perf --concurrency 10 --model Qwen/Q --url http://localhost:8000 --protocol chat --requests 100"
    ),
    f"aiperf profile --model m --url {URL} --request-rate 10 --isl 100 --isl-stddev 10 --osl 50 "
    "--osl-stddev 0 --benchmark-duration 30 --arrival-pattern constant": (
        f"perf --model m --url {URL} --rate 10 --input-tokens normal:100,10 --output-tokens 50 --duration 30 "
        "--arrival constant"
    ),
    "genai-perf profile -m m --service-kind openai -u localhost:8000 --synthetic-input-tokens-mean 200 "
    "--output-tokens-mean 100 --extra-inputs temperature:0.5 top_k:3": (
        "perf --model m --url http://localhost:8000 --input-tokens 200 --output-tokens 100 "
        """--extra-body '{"temperature": 0.5, "top_k": 3}'"""
    ),
    "aiperf profile -m m --input-file t.jsonl --fixed-schedule --custom-dataset-type mooncake_trace": (
        "perf --model m --trace t.jsonl"
    ),
    f"aiperf profile --model m --url {URL} --scenario inferencex-agentx-mvp --input-file traces "
    "--custom-dataset-type weka_trace --concurrency 32 --benchmark-duration 1800 --streaming": (
        f"perf --model m --concurrency 32 --url {URL} --salt --salt-at user --ignore-eos --start-window 0..1 "
        "--idle-cap 10s --ruleset agentx-like --scenario '*/agentx-mvp' --trace traces --duration 1800"
    ),
    f"agentx profile --model m --url {URL} --endpoint-type chat --streaming --concurrency 32 "
    "--public-dataset semianalysis_cc_traces_weka_062126 --warmup-requests-per-lane 1 "
    "--benchmark-duration 1200 --use-server-token-count --no-gpu-telemetry": (
        "perf --model m --concurrency 32 --salt --salt-at user --ignore-eos --start-window 0.25..0.75 "
        "--warmup-drain 1800s --idle-cap 10s --tree-idle-cap 300s --max-error-rate 0.1 --seed 42 "
        f"--ruleset agentx-like --scenario '*/agentx' --url {URL} --protocol chat "
        "--trace cc-traces-weka-062126 --trace-format weka --cache-pressure 1 --duration 1200"
    ),
    "aiperf profile -m m --input-file t --custom-dataset-type weka_trace --concurrency 2 "
    "--trajectory-start-min-ratio 0.1 --trajectory-start-max-ratio 0.6 --agentic-warmup-grace-period 60 "
    "--trace-idle-gap-cap-seconds 30 --system-idle-gap-cap-seconds 5 --failed-request-threshold 0.2 "
    "--cache-bust first_turn_prefix --unsafe-override --burst-phase-starts --replay-speedup 10": (
        "perf --concurrency 2 --model m --trace t --start-window 0.1..0.6 --warmup-drain 60s "
        "--tree-idle-cap 30s --idle-cap 5s --max-error-rate 0.2 --salt --salt-at user --trace-speed 10"
    ),
    "aiperf profile --model-names a,b --user-centric-rate 10 --num-users 25 --request-cancellation-rate 5 "
    "--request-cancellation-delay 0.5 --model-selection-strategy random": (
        "perf --models a=1,b=1 --concurrency 25 --think every:2.5s --abandon 5%:after=0.5s"
    ),
    "profile -m m --request-rate 10 --concurrency 20 --request-count 50": (
        "perf --max-concurrency 20 --model m --rate 10 --requests 50"
    ),
    "aiperf profile -m m --num-sessions 3 --output-artifact-dir artifacts --random-seed 4": (
        "perf --model m --sessions 3 --out artifacts/NAME --seed 4"
    ),
    # LLMPerf
    "python token_benchmark_ray.py --model m --mean-input-tokens 550 --stddev-input-tokens 150 "
    "--mean-output-tokens 150 --stddev-output-tokens 10 --max-num-completed-requests 2 --timeout 600 "
    "--num-concurrent-requests 1 --results-dir out --llm-api openai": (
        "perf --model m --timeout 600 --input-tokens normal:550,150 --output-tokens normal:150,10 "
        "--requests 2 --concurrency 1 --out out/NAME"
    ),
    # k6, Locust
    "k6 run --vus 10 --duration 30s script.js": "perf --duration 30s --concurrency 10",
    "k6 run -u 5 -i 100 script.js": "perf --concurrency 5 --requests 100",
    f"locust -f locustfile.py --host {URL} --users 20 --spawn-rate 5 --run-time 1m --headless": (
        f"perf --url {URL} --concurrency ramp:1..20,4s --duration 1m"
    ),
    f"locust -u 20 -r 2 -t 1m -H {URL}": f"perf --concurrency ramp:1..20,10s --duration 1m --url {URL}",
    # wrk, hey, vegeta
    f"wrk -t2 -c10 -d30s {URL}": f"perf --concurrency 10 --duration 30s --url {URL}",
    f"wrk2 -t2 -c10 -d30s -R100 --latency {URL}": (
        f"perf --max-concurrency 10 --duration 30s --rate 100 --url {URL}"
    ),
    f"hey -n 200 -c 50 {URL}": f"perf --requests 200 --concurrency 50 --url {URL}",
    f"hey -z 30s -c 5 -m POST -D body.json {URL}": (f"perf --duration 30s --concurrency 5 --url {URL}"),
    "vegeta attack -rate=50/1s -duration=30s": "perf --rate 50 --duration 30s",
    "vegeta attack -rate 3000/1m -duration 30s -targets t.txt": ("perf --rate 50 --duration 30s"),
    # benchmarks of answers
    "lm_eval --model local-chat-completions --model_args "
    f"model=m,base_url={URL}/v1/chat/completions,num_concurrent=4 --tasks gsm8k,ifeval --limit 10 "
    "--apply_chat_template": (
        f"accuracy --model m --url {URL}/v1 --concurrency 4 gsm8k ifeval --samples 10 --protocol chat"
    ),
    f"lm-eval run --model local-completions --model_args model=m,base_url={URL}/v1/completions "
    "--tasks mmlu_pro --batch_size 8 --num_fewshot 5 --gen_kwargs temperature=0,max_gen_toks=256": (
        f"accuracy --model m --url {URL}/v1 mmlu_pro --concurrency 8 --temperature 0 --max-tokens 256"
    ),
    "inspect eval gsm8k --model openai/m --limit 10 --max-connections 8": (
        "accuracy gsm8k --model m --samples 10 --concurrency 8"
    ),
    "inspect eval inspect_evals/math500 --model vllm/m --epochs 2": "accuracy math500 --model m --repeats 2",
    # MLPerf endpoints
    f"inference-endpoint benchmark offline --endpoints {URL} --model m --dataset d.jsonl": (
        f"perf --model m --url {URL} --prompts d.jsonl --offline"
    ),
    f"inference-endpoint benchmark online --endpoints {URL} --model m --dataset d.jsonl "
    "--load-pattern poisson --target-qps 100 --duration 10": (
        f"perf --model m --url {URL} --prompts d.jsonl --rate 100 --duration 10"
    ),
    # options of others behind our own commands
    "perf -m NAME --request-count 10": "perf --model NAME --requests 10",
    "perf --request-rate inf --max-concurrency 16 --model m": "perf --model m --concurrency 16",
    "perf --request-rate=inf --model m": "perf --model m --offline",
    "perf --rate inf --model m": "perf --model m --offline",
    "perf --n 5 --model m": "perf --model m --requests 5",
    "perf --model m --profile sweep": "sweep --model m --concurrency 1,2,4,8,16,32",
    "sweep --model m --rate-type concurrent --rate 1,2": "sweep --model m --concurrency 1,2",
    "perf --model m --data prompt_tokens=128,output_tokens=64": (
        "perf --model m --input-tokens 128 --output-tokens 64"
    ),
    "accuracy gsm8k --eval-fn a:b --batch_size 8 --model m": (
        "accuracy gsm8k --model m --eval a:b --concurrency 8"
    ),
    "accuracy --tasks gsm8k --model m": "accuracy --model m gsm8k",
}
"""What is typed, and the line to type instead, without the program."""

assert len(LINES) >= 40


def answered(typed: str) -> str:
    """The line that is to be typed instead."""
    with pytest.raises(UsageError) as refused:
        require_own_options(shlex.split(typed))
    return str(refused.value).rpartition("\ntype: loadgen ")[2]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The settings that a command makes of a line, without running it."""
    made: list[Any] = []

    def take(*settings: Any) -> None:
        """Stand in for the command."""
        made.append(settings)

    for name in ("perf", "accuracy", "sweep"):
        monkeypatch.setattr(f"loadgen.cli.{name}.{name}", take)

    def parse(line: str) -> Any:
        words = shlex.split(line)
        typer.main.get_command(application(words[0]))(words, standalone_mode=False)
        return made.pop()

    return parse


@pytest.mark.parametrize("typed", LINES)
def test_each_is_answered_with_a_line_that_is_taken(typed: str, taken: Callable[[str], Any]) -> None:
    """The line is the expected one, and the command makes its settings of it."""
    line = answered(typed)
    assert line == LINES[typed]
    assert taken(line)


@pytest.mark.parametrize("name", OTHER_COMMANDS)
def test_every_command_of_another_tool_has_a_line(name: str) -> None:
    """Also with a path, an interpreter and an ending."""
    line = answered(f"{name} --model m")
    assert line.split()[0] in COMMANDS
    first, _, rest = name.partition(" ")
    assert answered(f"python3 tools/{first.replace('-', '_')}.py {rest} --model m") == line


@pytest.mark.parametrize(
    "typed",
    [
        f'hey -H "Authorization: Bearer sk-very-secret" {URL}',
        'vegeta attack -header="Authorization: Bearer sk-very-secret"',
        "vllm bench serve --hf-token sk-very-secret --model m",
    ],
)
def test_a_secret_is_not_repeated(typed: str) -> None:
    """Neither is a value that is left out because nothing is known of it."""
    with pytest.raises(UsageError) as refused:
        require_own_options(shlex.split(typed))
    assert "sk-very-secret" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        "vllm bench serve --model m --base-url {} --request-rate inf --max-concurrency 4 --num-prompts 8",
        "guidellm benchmark --target {} --rate-type concurrent --rate 1,2 --max-requests 4 --model m",
        "aiperf profile -m m -u {} --request-count 6 --concurrency 2 --output-artifact-dir artifacts",
        "hey -n 6 -c 2 {}",
        "vegeta attack -rate=40 -duration=200ms --url {}",
    ],
)
def test_the_lines_run(loadgen: Any, tmp_path: Path, typed: str) -> None:
    """Against an endpoint, as they are."""
    with start_mock(ttft="5ms", itl="1ms", tokens="4") as mock:
        line = answered(typed.format(mock.url))
        done = loadgen(*shlex.split(line), "--on-invalid", "warn", "-q")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("events.db"))
