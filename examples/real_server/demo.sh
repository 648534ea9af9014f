#!/usr/bin/env bash
# Measure a real model server: make its environment and its model, serve, load it, and print what both sides say.
# PYTHON makes the environment REAL_VENV, LOADGEN is the program; PROMPTS are the questions, OUT takes what comes out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}
real_venv=${REAL_VENV:-$root/.venv-real}
loadgen=${LOADGEN:-$root/.venv/bin/loadgen}
prompts=${PROMPTS:-$here/questions.jsonl}
out=${OUT:-$root/runs/real-server-$(date +%Y%m%d-%H%M%S)}
requests=${REQUESTS:-40}
model=$real_venv/models/tiny-llama

if ! cmp -s "$here/requirements.txt" "$real_venv/installed.txt"; then
    echo "making $real_venv (several hundred megabytes, once)"
    "$python" -m venv "$real_venv"
    "$real_venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$real_venv/installed.txt"
fi
if [ ! -f "$model/model.safetensors" ]; then
    HF_HUB_OFFLINE=1 "$real_venv/bin/python" "$here/make_model.py" "$model"
fi

mkdir -p "$out"
status=0
"$real_venv/bin/python" "$here/serve.py" "$model" --log "$out/server.log" -- \
    "$loadgen" perf --url '{url}' --model '{model}' --prompts "$prompts" --prompt-column question \
    --requests "$requests" --concurrency 4 --warmup 4 --max-tokens 32 --out "$out/run" || status=$?

echo
echo "What the server's own log says ($out/server.log):"
"$real_venv/bin/python" "$here/server_figures.py" "$out/server.log" --last "$requests"
exit "$status"
