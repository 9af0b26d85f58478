#!/bin/sh
# Moat before vLLM, both on this machine:  MODEL=org/name sh before-vllm.sh [options of vllm serve]
# The parser is the model's: 'vllm serve --help' lists them. Without one, set the engine's "tools"
# to "moat" in the settings: Moat then reads the calls itself.
# Without "disable_any_whitespace", a small model may fill a JSON answer with newlines to its end.
set -eu
: "${MODEL:?names a model or its folder}"
engine="http://127.0.0.1:${ENGINE_PORT:=8000}"

vllm serve "$MODEL" --served-model-name team --host 127.0.0.1 --port "$ENGINE_PORT" \
    --structured-outputs-config '{"backend": "xgrammar", "disable_any_whitespace": true}' \
    --enable-auto-tool-choice --tool-call-parser "${PARSER:-hermes}" "$@" &
started=$!
trap "kill $started" EXIT
until curl -fs "$engine/health" > /dev/null; do kill -0 "$started"; sleep 1; done

moat serve --port "${PORT:-7777}" --engine "team=$engine"
