"""The names of the metrics of inference servers and of GPU exporters, in one table.

Read from their sources: vLLM `vllm/v1/metrics/loggers.py` at 005a810b and in 0.33.0, SGLang
`python/sglang/srt/metrics/collector.py` at 00ae9c15 and `srt/observability/metrics_collector.py` in 0.5.23,
Text Generation Inference `router/src/` at db931fcf, TensorRT-LLM `tensorrt_llm/metrics/collector.py` at
050f80de, llama.cpp `tools/server/` (README at 00dc8057, `server-task.cpp` from decaf508b on), Triton 2.51
`docs/user_guide/metrics.md`, dcgm-exporter `etc/default-counters.csv` at d5e5f510. Of several names the
first that a page has counts: the others are of other versions. `a + b` is the sum of two metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Combined = Literal["sum", "mean", "device", "instances"]

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of a page. vLLM's has about 100 KB for a model and an engine."""

ENGINES: Final[Mapping[str, str]] = {
    "vllm": "vllm:",
    "sglang": "sglang:",
    "tgi": "tgi_",
    "tensorrt_llm": "trtllm_",
    "llama.cpp": "llamacpp:",
    "triton": "nv_inference_",
}
"""The prefix of the names of each engine; Ray Serve and gateways put theirs before it, or `_` for `:`."""

IDENTITY: Final = frozenset(
    {"model_name", "model", "engine", "dp_rank", "gpu", "UUID", "uuid", "Hostname"}
    | {"gpu_uuid", "gpu_id", "gpu_partition_id", "hostname"}
)
"""Labels that name what is observed."""

NOT_SUCCESSES: Final[Mapping[str, frozenset[str]]] = {
    "finished_reason": frozenset({"abort", "error", "cancelled", "timeout"})
}
"""Values of labels that vLLM and TensorRT-LLM count among their successes."""


@dataclass(frozen=True, slots=True, eq=False)
class SensorQuantity:
    """One row: what we call it, and what others do."""

    #: Ours, which ends in the unit; `_total` behind it says that it only grows. Of a histogram it is what the
    #: unit is put behind: `ttft` becomes `ttft_sum_s` and `ttft_requests_total`.
    name: str
    names: Mapping[str, Sequence[str]]  #: theirs, by engine
    kind: Literal["number", "histogram"] = "number"  #: how it is read
    scale: float = 1.0  #: what their value is multiplied by
    of: str = "requests"  #: what a histogram counts
    #: How values of one thing become one: `sum` of requests and tokens, `mean` of shares; the largest where a
    #: `device` is repeated for each MIG instance and pod, or the sum of MIG `instances` or tiles.
    combined: Combined = "sum"


SERVER: Final[Sequence[SensorQuantity]] = (
    SensorQuantity(
        "running_requests",
        {
            "vllm": ("vllm:num_requests_running",),
            "sglang": ("sglang:num_running_reqs",),
            "tgi": ("tgi_batch_current_size",),
            "tensorrt_llm": ("trtllm_num_requests_running",),
            "llama.cpp": ("llamacpp:requests_processing",),
        },
    ),
    SensorQuantity(
        "waiting_requests",
        {
            "vllm": ("vllm:num_requests_waiting",),
            "sglang": ("sglang:num_queue_reqs",),
            "tgi": ("tgi_queue_size",),
            "tensorrt_llm": ("trtllm_num_requests_waiting",),
            "llama.cpp": ("llamacpp:requests_deferred",),
            "triton": ("nv_inference_pending_request_count",),
        },
    ),
    SensorQuantity(
        "kv_cache_usage_ratio",
        {
            "vllm": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
            "sglang": ("sglang:token_usage",),
            "tensorrt_llm": ("trtllm_kv_cache_utilization",),
            "llama.cpp": ("llamacpp:kv_cache_usage_ratio",),
        },
        combined="mean",
    ),
    SensorQuantity(
        "preemptions_total",
        {"vllm": ("vllm:num_preemptions_total",), "sglang": ("sglang:num_retracted_requests_total",)},
    ),
    SensorQuantity(
        "prefix_queried_tokens_total",
        {
            "vllm": ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
            "sglang": ("sglang:prompt_tokens_total",),
            "tensorrt_llm": ("trtllm_prompt_tokens_total",),
            "llama.cpp": ("llamacpp:prompt_tokens_total + llamacpp:prompt_tokens_cached_total",),
        },
    ),
    SensorQuantity(
        "prefix_hit_tokens_total",
        {
            "vllm": ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
            "sglang": ("sglang:cached_tokens_total",),
            "tensorrt_llm": ("trtllm_prompt_cached_tokens_total",),
            "llama.cpp": ("llamacpp:prompt_tokens_cached_total",),
        },
    ),
    SensorQuantity(
        "prompt_tokens_total",
        {
            "vllm": ("vllm:prompt_tokens_total",),
            "sglang": ("sglang:prompt_tokens_total",),
            "tgi": ("tgi_request_input_length_sum",),
            "tensorrt_llm": ("trtllm_prompt_tokens_total",),
            "llama.cpp": (
                "llamacpp:prompt_tokens_total + llamacpp:prompt_tokens_cached_total",
                "llamacpp:prompt_tokens_total",
            ),
        },
    ),
    SensorQuantity(
        "output_tokens_total",
        {
            "vllm": ("vllm:generation_tokens_total",),
            "sglang": ("sglang:generation_tokens_total",),
            "tgi": ("tgi_request_generated_tokens_sum",),
            "tensorrt_llm": ("trtllm_generation_tokens_total",),
            "llama.cpp": ("llamacpp:tokens_predicted_total",),
        },
    ),
    SensorQuantity(
        "completed_requests_total",
        {
            "vllm": ("vllm:request_success_total",),
            "sglang": ("sglang:num_requests_total",),
            "tgi": ("tgi_request_success",),
            "tensorrt_llm": ("trtllm_request_success_total",),
            "triton": ("nv_inference_request_success",),
        },
    ),
    SensorQuantity(
        "ttft",
        {
            "vllm": ("vllm:time_to_first_token_seconds",),
            "sglang": ("sglang:time_to_first_token_seconds",),
            "tensorrt_llm": ("trtllm_time_to_first_token_seconds",),
        },
        kind="histogram",
    ),
    SensorQuantity(
        "itl",
        {
            "vllm": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
            "sglang": ("sglang:inter_token_latency_seconds",),
        },
        kind="histogram",
        of="gaps",
    ),
    SensorQuantity(
        "tpot",
        {
            "vllm": ("vllm:request_time_per_output_token_seconds",),
            "tensorrt_llm": ("trtllm_time_per_output_token_seconds",),
        },
        kind="histogram",
    ),
    SensorQuantity(
        "queue",
        {
            "vllm": ("vllm:request_queue_time_seconds",),
            "sglang": ("sglang:queue_time_seconds",),
            "tgi": ("tgi_request_queue_duration",),
            "tensorrt_llm": ("trtllm_request_queue_time_seconds",),
        },
        kind="histogram",
    ),
    SensorQuantity(
        "latency",
        {
            "vllm": ("vllm:e2e_request_latency_seconds",),
            "sglang": ("sglang:e2e_request_latency_seconds",),
            "tgi": ("tgi_request_duration",),
            "tensorrt_llm": ("trtllm_e2e_request_latency_seconds",),
        },
        kind="histogram",
    ),
    SensorQuantity(
        "spec_steps_total",
        {
            "vllm": ("vllm:spec_decode_num_drafts_total",),
            "sglang": ("sglang:spec_verify_calls_total",),
            "llama.cpp": ("llamacpp:spec_decode_num_drafts_total",),
        },
    ),
    SensorQuantity(
        "spec_drafted_tokens_total",
        {
            "vllm": ("vllm:spec_decode_num_draft_tokens_total",),
            "tensorrt_llm": (
                "trtllm_spec_decode_drafted_tokens_total",
                "trtllm_spec_decode_num_draft_tokens_total",
            ),
            "llama.cpp": ("llamacpp:spec_decode_num_draft_tokens_total",),
        },
    ),
    SensorQuantity(
        "spec_accepted_tokens_total",
        {
            "vllm": ("vllm:spec_decode_num_accepted_tokens_total",),
            "tensorrt_llm": (
                "trtllm_spec_decode_accepted_tokens_total",
                "trtllm_spec_decode_num_accepted_tokens_total",
            ),
            "llama.cpp": ("llamacpp:spec_decode_num_accepted_tokens_total",),
        },
    ),
    SensorQuantity(
        "spec_acceptance_length_tokens",
        {
            "sglang": ("sglang:spec_accept_length",),
            "tensorrt_llm": ("trtllm_spec_decode_acceptance_length",),
        },
        combined="mean",
    ),
)
"""Of inference servers."""

_DCGM: Final[Sequence[tuple[str, str, float, Combined]]] = (
    ("power_w", "POWER_USAGE", 1.0, "device"),
    ("energy_j_total", "TOTAL_ENERGY_CONSUMPTION", 1e-3, "device"),
    ("utilization_pct", "GPU_UTIL", 1.0, "device"),
    ("memory_used_bytes", "FB_USED", 1024.0**2, "instances"),
    ("memory_total_bytes", "FB_TOTAL", 1024.0**2, "instances"),
    ("sm_clock_mhz", "SM_CLOCK", 1.0, "device"),
    ("memory_clock_mhz", "MEM_CLOCK", 1.0, "device"),
    ("temperature_c", "GPU_TEMP", 1.0, "device"),
)

DCGM: Final[Sequence[SensorQuantity]] = tuple(
    SensorQuantity(name, {"dcgm": (f"DCGM_FI_DEV_{theirs}",)}, scale=scale, combined=combined)
    for name, theirs, scale, combined in _DCGM
)
"""Of DCGM's exporter, per GPU. Energy is since the driver was loaded."""

AMD: Final[Sequence[SensorQuantity]] = tuple(
    SensorQuantity(name, {"amd_exporter": theirs}, scale=scale, combined="device")
    for name, theirs, scale in (
        ("power_w", ("gpu_package_power", "gpu_average_package_power", "gpu_power_usage"), 1.0),
        ("energy_j_total", ("gpu_energy_consumed",), 1e-6),
        ("utilization_pct", ("gpu_gfx_activity",), 1.0),
        ("memory_busy_pct", ("gpu_umc_activity",), 1.0),
        ("memory_used_bytes", ("gpu_used_vram",), 1024.0**2),
        ("memory_total_bytes", ("gpu_total_vram",), 1024.0**2),
        ("temperature_c", ("gpu_junction_temperature", "gpu_edge_temperature"), 1.0),
    )
)
"""Of AMD's device-metrics-exporter at afd0fe81, docs/configuration/metricslist.md, per GPU and partition."""

_INTEL: Final[Sequence[tuple[str, str, float, Combined]]] = (
    ("power_w", "power_watts", 1.0, "instances"),
    ("energy_j_total", "energy_joules_total", 1.0, "instances"),
    ("utilization_pct", "engine_ratio", 100.0, "device"),
    ("memory_busy_pct", "memory_bandwidth_ratio", 100.0, "device"),
    ("memory_used_bytes", "memory_used_bytes", 1.0, "instances"),
    ("temperature_c", "temperature_celsius", 1.0, "device"),
)

INTEL: Final[Sequence[SensorQuantity]] = tuple(
    SensorQuantity(name, {"intel_exporter": (f"xpum_{theirs}",)}, scale=scale, combined=combined)
    for name, theirs, scale, combined in _INTEL
)
"""Of the exporter of Intel's XPU Manager (`prometheus_exporter.py`), per GPU: a row for the GPU, for each
tile (`sub_dev`), or both. Rows of a card with several GPUs (`card`) repeat what the GPUs have."""
