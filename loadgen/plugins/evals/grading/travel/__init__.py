"""DeepPlanning's travel plans: QwenLM/Qwen-Agent at 31a4d368, `benchmark/deepplanning/travelplanning`.

`score.judge_plan` is `evaluation/eval_converted.py`; plans are the JSON that a model converts reports to.
"""
