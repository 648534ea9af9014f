"""The keyword arguments of `loadgen.perf` and the other functions, as types.

Generated from the settings of the command line: change those, and run `make golden`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

class ScoringOptions(TypedDict, total=False):
    """How answers are scored."""

    scorer: str | Sequence[str] | None
    """Score by this definition in place of the official one; repeatable."""
    eval_function: str | Sequence[str] | None
    """Score by your own function as well; repeatable."""
    allow_code_execution: bool | None
    """Run the programs that the model wrote, and the commands of episodes, in a sandbox."""
    sandbox: Literal["local", "docker", "none"] | None
    """Where to run model-written programs and commands: in isolated processes of this machine, or in
    containers. none: also where the kernel cannot isolate programs, so that they can do whatever you
    can.
    """
    sandbox_image: str | None
    """For containers: an image's name, a Dockerfile or its folder, or a root file system as .tar. Default:
    python:3.12-slim.
    """
    judge_url: str | None
    """Endpoint of the judge model, for benchmarks with a judge."""
    judge_model: str | None
    """Name of the judge model."""
    judge_api_key: str | None
    """The judge's API key, preferably in the environment; @FILE reads a file. Never logged."""
    judge_concurrency: int | None
    """At most N requests to the judge in flight."""
    judge_timeout: float | str | None
    """Time limit of a request to the judge."""
    judge_temperature: float | None
    """Sampling temperature of the judge. Default: as in the benchmark's prompts."""
    judge_max_tokens: int | None
    """The most output tokens of the judge, in place of the limit of the benchmark's prompts."""

class SessionOptions(ScoringOptions, total=False):
    """The options of all functions that measure."""

    url: str | Sequence[str] | None
    """Base URL, with or without /v1, or litellm:; repeatable. Default: http://localhost:8000."""
    model: str | None
    """Name of the model, as the endpoint knows it. Default: the only one that it lists."""
    protocol: str | None
    """The API: OpenAI's, Anthropic's (messages), SGLang's; stream (sse), JSON (json), plug-in."""
    path: str | None
    """sse, json: path of the requests. Default: /generate."""
    body: str | Mapping[str, object] | None
    """sse, json: the request body. Placeholders: {prompt}, {system}, {messages}, {tools}, {model},
    {max_tokens}, {temperature} and {seed}.
    """
    text_at: str | None
    """sse, json: place of the text, e.g. token.text or choices.0.text. Default: text."""
    tokens_at: str | None
    """sse, json: place of the number of output tokens, if there is one."""
    finish_at: str | None
    """sse, json: place of the finish reason, if there is one."""
    encoding: Literal["float", "base64"] | None
    """Embeddings: encoding of the vectors of a response. Default: the server's."""
    dimensions: int | None
    """Embeddings: dimension of the vectors. Default: the model's."""
    cumulative: bool | None
    """sse: each event has the whole text so far instead of the new part."""
    api_key: str | None
    """API key, preferably in the environment; @FILE reads a file. Never logged."""
    header: str | Sequence[str] | None
    """Additional request header, or a file of headers; repeatable. Only names are logged."""
    timeout: float | str | None
    """Time limit of a request, with connecting and retries."""
    connect_timeout: float | str | None
    """Time limit of DNS, TCP and TLS handshake together."""
    first_byte_timeout: float | str | None
    """Time limit from the end of the request to the first byte of the response. Default: no limit."""
    idle_timeout: float | str | None
    """Longest pause within a response; no limit by default."""
    insecure: bool | None
    """Do not verify the TLS certificate."""
    balance: Literal["round-robin", "least-in-flight"] | None
    """How to choose among several endpoints: round robin (default), or fewest in flight. A conversation
    stays on one endpoint.
    """
    probe: bool | None
    """Ask for the model list before the run."""
    gpus: int | None
    """Number of GPUs of the endpoint, for tokens per second and GPU (tps_per_gpu)."""
    arrival: str | None
    """Distribution of arrivals of --rate and --stages; poisson by default."""
    burstiness: float | None
    """The shape of --arrival gamma: 1 is poisson, less is burstier."""
    trace: str | None
    """Replay a trace of requests or sessions, or an earlier run; at the recorded times unless there is
    another load.
    """
    trace_speed: float | None
    """Replay --trace FACTOR times as fast."""
    trace_format: str | None
    """Format of --trace, time unit (s, ms, us, ns), tokens per block: mooncake,unit=s. Default: detected
    from the first lines.
    """
    trace_model: str | Sequence[str] | None
    """Sessions: a model to ask for a recorded one, in order; repeatable. Default: --model."""
    think: str | None
    """Think time of a user between a response and the next request: 2s, exponential:2s; every:5s is the
    time from request to request.
    """
    warmup: str | None
    """Warm-up before the measurement: 20 requests, or 30s."""
    drain: float | str | None
    """Wait at most this time for the requests in flight at the end."""
    models: str | None
    """Several models or LoRA adapters: base=7,lora-a=3, or zipf:1.2:lora-a,lora-b; each prompt asks one."""
    abandon: str | None
    """Leave a share of the requests early, after their first-token, tokens:50, or 2s; their latencies do
    not count.
    """
    probes: str | None
    """Send N probes/s of one kind during the load: 2:input=64,output=16; reported by themselves."""
    seed: int | None
    """Seed of the order of prompts, of synthetic prompts, and of arrivals."""
    schedule_seed: int | None
    """Seed of arrivals alone. Default: --seed."""
    prompts: str | None
    """JSONL, JSON, CSV or Parquet file, or hf:NAME[:[CONFIG:]SPLIT]. Default: synthetic prompts."""
    prompt_column: str | None
    """Column of the prompts: texts, conversations or token ids. Default: the first with a usual name."""
    system_column: str | None
    """Column of the system prompts."""
    output_column: str | None
    """Column of the maximum of output tokens, in place of --max-tokens."""
    strict_prompts: bool | None
    """Refuse --prompts with a row that cannot be sent, instead of leaving the row out."""
    conversations: Literal["first", "last", "all"] | None
    """The turns of a conversation to send: the first, the last with all earlier ones (default), or all in
    order.
    """
    history: Literal["answered", "recorded", "cumulative", "live", "messages"] | None
    """Which answers later turns contain: the endpoint's own, or the dataset's. With sessions of a trace,
    the history that its rows hold: whole lengths (cumulative), new messages without answers (live) or
    with them (recorded), or all messages.
    """
    tag: str | Sequence[str] | None
    """Break results down by this column; repeatable."""
    order: Literal["in-order", "shuffle", "random", "weighted"] | None
    """Order of the prompts: shuffle sends each once per pass, random and weighted draw with replacement."""
    only_prompt: int | None
    """Send only this prompt, again and again; the first is 0."""
    weight_column: str | None
    """With --order weighted: column of the weights."""
    salt: bool | None
    """Begin every prompt with a unique text, so that no prefix cache helps."""
    reset_cache: bool | None
    """Empty the server's prefix cache before the run: POST /reset_prefix_cache (vLLM) or /flush_cache
    (SGLang).
    """
    text_seed: int | None
    """Seed of synthetic texts. Default: drawn for each run, so that prefix caches do not help."""
    input_tokens: str | None
    """Prompt length: 512, normal:512,64, uniform:16..128, histogram:FILE."""
    output_tokens: str | None
    """Max output tokens per request: a number or a distribution."""
    turns: str | None
    """Number of turns per conversation: a number or a distribution."""
    shared_prefix: str | None
    """Length in tokens of a shared prefix of the prompts: one for all, or one for each group."""
    cache_hit: str | None
    """Share of the prompt tokens that the server's prefix cache is to have."""
    cache_block: int | None
    """With --cache-hit: tokens of a block of the server's cache."""
    agentic: str | None
    """Sessions of agents with tool loops, subagents and compaction: default, or NAME=VALUE ... as in
    docs/agentic.md.
    """
    corpus: str | Path | None
    """A text file that prompts are cut from."""
    tokenizer: str | None
    """Tokenizer: make synthetic prompts of exactly the given length; with --prompts, count tokens that the
    server did not count.
    """
    batch: str | None
    """Inputs of a request, of rerank documents: a number or a distribution. Default: 1, of rerank 8."""
    query_tokens: str | None
    """Length of synthetic queries, written like --input-tokens. Default: 32."""
    query_column: str | None
    """Column of the queries of --prompts. Default: the first with a usual name."""
    save_vectors: bool | None
    """Keep the vectors of the responses in the log, for --expect."""
    expect: str | None
    """Send the inputs of an earlier run again, and compare the vectors or scores."""
    ignore_eos: bool | None
    """Continue every answer to the maximum of output tokens: ignore_eos and min_tokens in the body."""
    images: str | None
    """Images in each user turn: a number or a distribution, such as uniform:0..4."""
    image_size: str | None
    """Size of the images: 360p, 720p, 1080p, 4k, WIDTHxHEIGHT of numbers or distributions, or several with
    weights: 720p=3,4k=1.
    """
    image_format: Literal["jpeg", "png"] | None
    """Format of the images."""
    audio: str | None
    """Audio clips in each user turn."""
    audio_seconds: str | None
    """Length of audio clips in seconds."""
    audio_format: Literal["wav", "mp3"] | None
    """Format of audio clips, mono at 16 kHz."""
    videos: str | None
    """Videos in each user turn."""
    video_seconds: str | None
    """Length of videos in seconds."""
    video_size: str | None
    """Size of videos: see --image-size."""
    media_folder: str | Path | None
    """Folder of image, audio and video files to send in place of made-up ones, in random order."""
    media_column: str | Sequence[str] | None
    """Column of --prompts with the media of a row: a file, a URL or a list of them; repeatable."""
    media_reuse: float | str | None
    """Share of images, clips and videos that repeat an earlier one."""
    media_seed: int | None
    """Seed of made-up media. Default: --text-seed, or drawn."""
    media_memory: int | str | None
    """Bytes of encoded media to make ahead; once as many are made, they repeat."""
    start_window: str | None
    """Begin each user's first session in this part of its recorded time, after a warm-up: 0.25..0.75."""
    cache_pressure: int | None
    """With --start-window: then send the next N requests of each user without delays, for one token each."""
    warmup_drain: float | str | None
    """With --start-window: wait at most this time for the warm-up requests in flight."""
    idle_cap: float | str | None
    """Move all pending delays forward when no request has been in flight for this time."""
    tree_idle_cap: float | str | None
    """The same within each session: its own requests and its own delays."""
    salt_at: Literal["prompt", "user", "system"] | None
    """Place of --salt: before the prompt, before the first user message, or around the system prompt."""
    data: str | Path | None
    """Folder of the benchmarks' data. Default: fetched from the hub."""
    cache_dir: str | None
    """Cache of fetched benchmark data. Default: loadgen/data in the user's cache."""
    samples: int | None
    """Send N questions of each benchmark, drawn by --seed from all groups."""
    sample_order: Literal["shuffle", "file"] | None
    """How --samples chooses: shuffle draws questions in proportion to the benchmark's groups, file takes
    the first ones. Default: shuffle; with --offset, file.
    """
    offset: int | None
    """Skip the first N questions."""
    split: str | None
    """Another split of the benchmark's data, such as validation. Default: the official one."""
    record_ids: str | Sequence[str] | None
    """Send only the questions with these ids (see loadgen list prompts); repeatable."""
    columns: str | Sequence[str] | None
    """Of a file: the column that holds user_prompt, system_prompt or ground_truth; repeatable."""
    system_prompt: str | None
    """System prompt before each question; a benchmark's own system prompt follows."""
    pass_threshold: float | None
    """From which value on a sample has passed, for pass@k and pass^k."""
    agent: str | None
    """Let your own agent answer each question: an agent loop, or an async function (sample, ask, sandbox);
    docs/agents.md.
    """
    agent_command: str | None
    """Let a program answer each question: task on stdin, endpoint in OPENAI_BASE_URL, answer on stdout."""
    max_turns: int | None
    """The most turns of an episode. Default: 10 for agents, else the task's."""
    max_episode_tokens: int | None
    """The most input and output tokens of an episode."""
    max_episode_time: float | str | None
    """The longest time of an episode."""
    max_episode_cost: float | None
    """The most that an episode's tokens may cost, by --episode-prices."""
    episode_prices: str | None
    """Prices of a million input and output tokens, for --max-episode-cost."""
    sequential: bool | None
    """One sample after the other, with an agent that keeps state between samples."""
    debug: bool | None
    """Write connections, retries and failures to debug/session.log in the run's folder; each episode to
    debug/*.jsonl.
    """
    user_url: str | None
    """Endpoint of the model that plays users, for tasks with users. Default: --url."""
    user_model: str | None
    """Name of the model that plays users. Default: --model."""
    user_api_key: str | None
    """API key of the users' endpoint, preferably in the environment; @FILE reads a file. Never logged."""
    user_temperature: float | None
    """Sampling temperature of the model that plays users."""
    retry: int | None
    """Retry transient failures up to N times; each attempt is logged."""
    max_errors: int | None
    """End the run, as invalid, when N measured requests have failed."""
    max_error_rate: float | str | None
    """Share of failed requests above which the run is invalid: 10% or 0.1 (5% if not given). If given, the
    run ends there, from 20 requests on.
    """
    max_response: int | str | None
    """Give up a response that is larger than this: 10MB, 64MiB."""
    workers: int | None
    """Number of client processes. Default: by load and machine."""
    transport: Literal["native", "python", "aiohttp"] | None
    """HTTP client: native (most accurate), python (without compiled code), or aiohttp (supports proxies)."""
    connection: Literal["keep", "new"] | None
    """keep: use connections again, as the server allows; new: one connection per request."""
    connect_ahead: int | None
    """Open N connections before the first request; not with aiohttp."""
    trace_context: bool | None
    """Send a W3C traceparent with each request, and log the ids."""
    session_header: str | Sequence[str] | None
    """Header with the id of the session: X-Session-ID, X-SMG-Routing-Key, X-Dynamo-Session-ID (with the
    parent's), or x-session-token (echoed); repeatable.
    """
    ray: str | None
    """Issue requests from the nodes of a Ray cluster: on this machine, or at an address."""
    nodes: int | None
    """With --ray: the number of nodes; --workers is for each. Default: all nodes with CPUs."""
    shards: str | Path | None
    """With --ray: the place of the logs: a folder shared by all nodes, or a prefix in an object store.
    Default: logs are copied into the run's folder at the end.
    """
    on_node_loss: Literal["stop", "continue"] | None
    """With --ray: whether a node that is lost ends the run. The run is invalid either way."""
    server_metrics: str | Sequence[str] | None
    """Record the server's Prometheus metrics; without a URL those at /metrics; repeatable. Default: only
    those at /metrics before and after the run, where a known server has them.
    """
    server_metrics_interval: float | str | None
    """Time between two readings of the server's metrics."""
    host_metrics: bool | None
    """Record CPU, memory and network of this machine each second."""
    server_profile: bool | None
    """Run the server's profiler in the measured phase: POST /start_profile, /stop_profile (vLLM, SGLang)."""
    gpu_metrics: str | Sequence[str] | None
    """Record power, energy and use of GPUs: of this host by NVML or AMD SMI; of others by an exporter:
    DCGM's, AMD's or Intel's.
    """
    gpu_metrics_interval: float | str | None
    """Time between two readings of the GPUs by a library; an exporter is read each second."""
    declared_power: float | None
    """Power of the system, if not measurable: energy is then tagged as declared."""
    param_count_b: float | None
    """Billions of parameters of the model, for mfu_pct, mbu_pct."""
    active_params_b: float | None
    """Billions of active parameters per token. Default: all."""
    gpu_peak_tflops: float | None
    """Peak TFLOP/s of a GPU, dense, in the model's precision."""
    gpu_peak_bandwidth_gb_s: float | None
    """Peak memory bandwidth of a GPU, in GB/s."""
    max_tokens: int | None
    """Maximum of output tokens of each request; a benchmark's smaller limit holds."""
    temperature: float | None
    """Sampling temperature."""
    request_seed: int | None
    """Sampling seed to send with every request, for servers with repeatable sampling. (--seed is the
    client's.)
    """
    stream: bool | None
    """Request a stream. TTFT needs one."""
    extra_body: str | Mapping[str, object] | None
    """Additional members of the request body, e.g. '{"top_k": 20}'."""
    ruleset: str | None
    """A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file."""
    scenario: str | None
    """The scenario of the ruleset. Default: the one for the run's model and load."""
    skip: str | Sequence[str] | None
    """Skip a rule or a group of rules; the verdict lists skipped rules. Repeatable."""
    inconclusive: Literal["pass", "fail", "0", "1", "5"] | None
    """The exit code of an inconclusive verdict: 0 (pass), 1 (fail), or 5."""
    on_invalid: Literal["fail", "warn"] | None
    """If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway."""
    percentile_method: Literal["linear", "lower", "loadgen_floor", "nearest_rank"] | None
    """How percentiles are taken. Default: linear, or as the rules say."""
    latency_origin: Literal["scheduled", "issued", "sent"] | None
    """Start of the latency interval. Default: TTFT from sending the request, latency from issuing."""
    tpot_denominator: Literal["seen", "n_minus_1", "n", "tokens_after_first_chunk"] | None
    """Denominator of TPOT. Default: output tokens seen after the first one (docs/metrics.md)."""
    tpot_end: Literal["last_token", "complete"] | None
    """End of the TPOT interval: last token or completion. Default: last_token."""
    sample_results: Literal["jsonl", "csv", "parquet"] | None
    """Write a row per request into the run's folder: samples.jsonl, .csv or .parquet."""
    output: str | Path | None
    """Write a row per episode of agents, or else per request: .jsonl, .csv or .parquet."""
    push_gateway: str | None
    """At the end of the run, push the figures to a Prometheus Pushgateway."""
    push_job: str | None
    """With --push-gateway: the job."""
    trace_detail: bool | None
    """After the report, print each sample with all steps: requests, tool calls, times and tokens."""

class RunOptions(SessionOptions, total=False):
    """The options of the functions that make a single run."""

    concurrency: int | str | None
    """Closed loop: keep N requests in flight; or ramp:1..64,2m. Default load: 8 (accuracy: 16)."""
    rate: str | None
    """Open loop: requests per second, whatever the server does; or a rate that changes, e.g.
    ramp:1..50,60s (docs/load.md).
    """
    max_concurrency: int | None
    """With --rate: at most N requests in flight; the rest queue; "latency, incl. queueing" includes that
    wait.
    """
    stages: str | None
    """Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate."""
    offline: bool | None
    """Send all requests at once."""
    requests: int | None
    """Number of measured requests. Default: each prompt once (synthetic: 100)."""
    sessions: int | None
    """Number of measured conversations, for prompts that are conversations; instead of --requests."""
    passes: int | None
    """Send each prompt N times; instead of --requests."""
    duration: float | str | None
    """Measure for this time: 60, 90s, 5m. With --requests, whichever ends first."""
    stop_on_overload: bool | None
    """Open loop: end the run when the endpoint falls further and further behind."""
    steady: bool | None
    """The run is invalid unless a steady state is found."""
    repeats: int | None
    """Send each question N times, for pass@k and narrower intervals."""
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<500ms', in addition to a ruleset's; repeatable. Exit 1 if missed."""
    abort_on_fail: bool | None
    """End the run, with exit 1, as soon as a target is certain to be missed."""
    percentiles: str | None
    """Percentiles to report, e.g. 50,75,99.9."""
    out: str | Path | None
    """Folder of the run, new or empty. Default: runs/<time>-<model>."""

class PerfOptions(RunOptions, total=False):
    """The keyword arguments of `loadgen.perf`."""

    task: str | Sequence[str] | None
    """Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth;
    repeatable.
    """

class AccuracyOptions(RunOptions, total=False):
    """The keyword arguments of `loadgen.accuracy`."""

    prices: str | Path | None
    """Token prices, in YAML: report the cost of the run in dollars (docs/costs.md)."""

class SweepOptions(SessionOptions, total=False):
    """The keyword arguments of `loadgen.sweep`."""

    concurrency: str | None
    """Closed loop: a run for each of these numbers of requests in flight, or FIRST:LAST:STEP."""
    rate: str | None
    """Open loop: a run for each of these rates, or FIRST:LAST:STEP."""
    max_concurrency: int | None
    """With --rate: at most N requests in flight; the rest queue; "latency, incl. queueing" includes that
    wait.
    """
    stages: str | None
    """Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate."""
    offline: bool | None
    """Send all requests at once."""
    requests: int | None
    """Number of measured requests. Default: each prompt once (synthetic: 100)."""
    sessions: int | None
    """Number of measured conversations, for prompts that are conversations; instead of --requests."""
    passes: int | None
    """Send each prompt N times; instead of --requests."""
    duration: float | str | None
    """Measure for this time: 60, 90s, 5m. With --requests, whichever ends first."""
    stop_on_overload: bool | None
    """Open loop: end the run when the endpoint falls further and further behind."""
    steady: bool | None
    """The run is invalid unless a steady state is found."""
    task: str | Sequence[str] | None
    """Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth;
    repeatable.
    """
    repeats: int | None
    """Send each question N times, for pass@k and narrower intervals."""
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<500ms', in addition to a ruleset's; repeatable. Exit 1 if missed."""
    abort_on_fail: bool | None
    """End the run, with exit 1, as soon as a target is certain to be missed."""
    percentiles: str | None
    """Percentiles to report, e.g. 50,75,99.9."""
    out: str | Path | None
    """The folder of all runs; runs/<time>-sweep by default."""
    vary: str | Sequence[str] | None
    """One run for each value of any option, e.g. max-tokens=64,128; separate values that contain commas by
    semicolons. Repeatable: every combination.
    """
    cooldown: float | str | None
    """The pause between two runs."""
    plot: bool | None
    """Draw pareto.svg; needs the extra `plot`."""

class SearchOptions(SessionOptions, total=False):
    """The keyword arguments of `loadgen.search`."""

    concurrency: str | None
    """Search a number of users in a closed loop instead."""
    rate: str | None
    """Search a rate; either end can be left out. The default, from 1."""
    task: str | Sequence[str] | None
    """Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth;
    repeatable.
    """
    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<2s'; repeatable."""
    out: str | Path | None
    """The folder of all trials; runs/<time>-search by default."""
    within: float | str | None
    """The precision: how close the highest load that passes and the lowest that fails must be."""
    point_duration: float | str | None
    """Minimum duration of a thorough trial; longer for long answers, or if a percentile needs more
    requests.
    """
    budget: float | str | None
    """The time budget of the search."""
    cooldown: float | str | None
    """The pause between two trials."""

class ScoreOptions(ScoringOptions, total=False):
    """The keyword arguments of `loadgen.score`."""

    reparse: bool | None
    """Call no judge, and parse existing replies again; with --judge-model only that model's."""
    grader_timeout: float | str | None
    """Time limit for grading one answer; ten times as long for scorers that run programs."""
    processes: int | None
    """Number of grading processes, with --ray on each node. Default: one per core."""
    data: str | Path | None
    """A folder with models that graders need and that are not installed: nltk_punkt for ifeval."""
    ray: str | None
    """Grade on the nodes of a Ray cluster: on this machine, or at an address."""
    nodes: int | None
    """With --ray: the number of nodes. Default: all nodes with CPUs."""
    pass_number: int | None
    """Score nothing, and report this earlier pass."""
    prices: str | Path | None
    """Token prices, in YAML: report the cost of the run in dollars (docs/costs.md)."""
    on_invalid: Literal["fail", "warn"] | None
    """If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway. Default:
    as the run was started.
    """

class GateOptions(TypedDict, total=False):
    """The keyword arguments of `Run.gate`."""

    require: str | Sequence[str] | None
    """A target, e.g. 'ttft:p(99)<500ms', in addition to a ruleset's; repeatable. Exit 1 if missed."""
    ruleset: str | None
    """A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file."""
    scenario: str | None
    """The scenario of the ruleset. Default: the one for the run's model and load."""
    skip: str | Sequence[str] | None
    """Skip a rule or a group of rules; the verdict lists skipped rules. Repeatable."""
    on_invalid: Literal["fail", "warn"] | None
    """If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway. Default:
    as the run was started.
    """
    baseline: str | Sequence[str] | None
    """The baseline of changes: a run, a report.json, or a folder of runs. Repeatable."""
    also: str | Path | Sequence[str | Path] | None
    """A further run with equal settings, for rules about changes. Repeatable."""
    accuracy: str | Path | None
    """The run that was scored, or a JSON file of scores."""
    audit: str | Path | None
    """The results of audits of the run."""
    power: str | None
    """The power of the system: provisioned, nvml or wall, and a figure, e.g. wall:5200."""
    c_max: int | None
    """The declared greatest concurrency of a sweep, for rules with regions. Default: the greatest point."""
    c_min: int | None
    """The declared end of Ultra Low in a sweep (c_min_override), for rules with regions. Default: the
    lowest point.
    """
    tokenizer: str | None
    """Tokenizer that counts what the server did not (pip install 'llm-loadgen[tokenizers]')."""

class OptimizeToolsOptions(TypedDict, total=False):
    """The keyword arguments of `loadgen.optimize_tools`."""

    url: str | Sequence[str] | None
    """Base URL, with or without /v1, or litellm:; repeatable. Default: http://localhost:8000."""
    model: str | None
    """Name of the model, as the endpoint knows it. Default: the only one that it lists."""
    protocol: str | None
    """The API: OpenAI's, Anthropic's (messages), SGLang's; stream (sse), JSON (json), plug-in."""
    path: str | None
    """sse, json: path of the requests. Default: /generate."""
    body: str | Mapping[str, object] | None
    """sse, json: the request body. Placeholders: {prompt}, {system}, {messages}, {tools}, {model},
    {max_tokens}, {temperature} and {seed}.
    """
    text_at: str | None
    """sse, json: place of the text, e.g. token.text or choices.0.text. Default: text."""
    tokens_at: str | None
    """sse, json: place of the number of output tokens, if there is one."""
    finish_at: str | None
    """sse, json: place of the finish reason, if there is one."""
    cumulative: bool | None
    """sse: each event has the whole text so far instead of the new part."""
    api_key: str | None
    """API key, preferably in the environment; @FILE reads a file. Never logged."""
    header: str | Sequence[str] | None
    """Additional request header, or a file of headers; repeatable. Only names are logged."""
    timeout: float | str | None
    """Time limit of a request, with connecting and retries."""
    connect_timeout: float | str | None
    """Time limit of DNS, TCP and TLS handshake together."""
    first_byte_timeout: float | str | None
    """Time limit from the end of the request to the first byte of the response. Default: no limit."""
    idle_timeout: float | str | None
    """Longest pause within a response; no limit by default."""
    insecure: bool | None
    """Do not verify the TLS certificate."""
    balance: Literal["round-robin", "least-in-flight"] | None
    """How to choose among several endpoints: round robin (default), or fewest in flight. A conversation
    stays on one endpoint.
    """
    concurrency: int | str | None
    """Closed loop: keep N requests in flight; or ramp:1..64,2m. Default load: 8 (accuracy: 16)."""
    rate: str | None
    """Open loop: requests per second, whatever the server does; or a rate that changes, e.g.
    ramp:1..50,60s (docs/load.md).
    """
    seed: int | None
    """Seed of the order of prompts, of synthetic prompts, and of arrivals."""
    tokenizer: str | None
    """Tokenizer: make synthetic prompts of exactly the given length; with --prompts, count tokens that the
    server did not count.
    """
    data: str | Path | None
    """Your folder of tool sets, descriptions, models and scenarios."""
    retry: int | None
    """Retry transient failures up to N times; each attempt is logged."""
    max_response: int | str | None
    """Give up a response that is larger than this: 10MB, 64MiB."""
    workers: int | None
    """Number of client processes. Default: by load and machine."""
    transport: Literal["native", "python", "aiohttp"] | None
    """HTTP client: native (most accurate), python (without compiled code), or aiohttp (supports proxies)."""
    connect_ahead: int | None
    """Open N connections before the first request; not with aiohttp."""
    trace_context: bool | None
    """Send a W3C traceparent with each request, and log the ids."""
    max_tokens: int | None
    """Maximum of output tokens of each request; a benchmark's smaller limit holds."""
    temperature: float | None
    """Sampling temperature."""
    request_seed: int | None
    """Sampling seed to send with every request, for servers with repeatable sampling. (--seed is the
    client's.)
    """
    stream: bool | None
    """Request a stream. TTFT needs one."""
    extra_body: str | Mapping[str, object] | None
    """Additional members of the request body, e.g. '{"top_k": 20}'."""
    out: str | Path | None
    """The folder of all runs; runs/<time>-optimize by default."""
    tools: str | None
    """The tool set (see loadgen list tool-sets)."""
    descriptions: str | None
    """The descriptions to begin with."""
    levels: str | None
    """The levels of the scenarios."""
    variant: Literal["cost_optimized", "accuracy_balanced", "maximum_accuracy"] | None
    """The objective: 50/25/25 of accuracy, input and output tokens, in the format minimal; accuracy
    divided by tokens above 1,500, in compact; accuracy alone, in full.
    """
    all_variants: bool | None
    """Optimize each variant by that variant's objective."""
    optimizer: Literal["gepa", "copro"] | None
    """gepa reflects on wrong choices (pip install 'llm-loadgen[optimize]'); copro proposes from the scores
    of earlier attempts, each of which answers all training scenarios.
    """
    mode: Literal["light", "medium", "heavy"] | None
    """6, 18 or 54 proposals per variant."""
    selection: Literal["fc", "prompt"] | None
    """How tools are given: fc as tools of the request, prompt as text in the prompt."""
    validation_share: float | str | None
    """The share of the scenarios that decides and is not used in training."""
    max_calls: int | None
    """The most requests, validation included."""
    max_total_tokens: int | None
    """The most tokens of input and output."""
    max_cost: float | None
    """The highest cost, by the prices of --cost-model."""
    cost_model: str | None
    """The model file with prices (see loadgen list tool-sets)."""
    reflection_url: str | None
    """Endpoint of the proposing model. Default: --url."""
    reflection_model: str | None
    """The model that proposes. Default: --model."""
    reflection_api_key: str | None
    """The API key of --reflection-url, preferably in the environment; @FILE reads a file. Never logged."""

class RunSuiteOptions(TypedDict, total=False):
    """The keyword arguments of `loadgen.run_suite`."""

    all: bool | None
    """Every benchmark that can be asked here, of --model. -n draws N questions of each, and the folder
    gets BENCHMARK_MODEL.jsonl of each.
    """
    model: str | None
    """With --all: the model."""
    url: str | None
    """With --all: the endpoint."""
    model_filter: str | Sequence[str] | None
    """Only models with this name, this text in the name, or a matching glob; repeatable."""
    benchmark_filter: str | Sequence[str] | None
    """Only benchmarks with this name, this text in the name, or a matching glob; repeatable."""
    load_filter: str | Sequence[str] | None
    """Only loads with this name, this text in the name, or a matching glob; repeatable."""
    repeat: int | None
    """Repeat each run N times."""
    set: str | Sequence[str] | None
    """An option of loadgen perf for all runs, e.g. max-tokens=64; repeatable."""
    requests: int | None
    """Short for --set requests=N; with --all, samples=N."""
    duration: float | str | None
    """Short for --set duration=TIME."""
    cooldown: float | str | None
    """The pause between two runs."""
    stop_on_failure: bool | None
    """End the suite after a run that is invalid or misses a requirement."""
    out: str | Path | None
    """The folder of all runs; runs/<time>-<name> by default."""
