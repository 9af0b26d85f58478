"""llama.cpp's own HTTP server as a process. It prints its address and ends when its stdin closes.

python llama_server.py MODEL NAME [embed], with the xllamacpp wheel.
"""

import sys

import xllamacpp


def main(model: str, name: str, *options: str) -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 2048
    parameters.n_parallel = 2
    parameters.warmup = False
    parameters.endpoint_slots = True
    if "embed" in options:
        parameters.embedding = True
        parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"\nADDRESS {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


main(*sys.argv[1:])
