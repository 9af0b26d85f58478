#!/bin/sh
# Moat before llama-server, both on this machine:
#   MODEL=path.gguf sh before-llama-server.sh [options of llama-server]
# Elsewhere: start llama-server there, and only the last command here, with its address.
set -eu
: "${MODEL:?names a GGUF file}"
engine="http://127.0.0.1:${ENGINE_PORT:=8080}"

llama-server -m "$MODEL" --alias team --host 127.0.0.1 --port "$ENGINE_PORT" \
    -np 4 -c 32768 --metrics --slots "$@" &
started=$!
trap "kill $started" EXIT
until curl -fs "$engine/health" > /dev/null; do kill -0 "$started"; sleep 1; done

moat serve --port "${PORT:-7777}" --engine "team=$engine"
