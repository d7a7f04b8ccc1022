"""Serves a GGUF file over an OpenAI-compatible API: `model_server.py FILE` prints its address and runs until killed.

Needs the package xllamacpp (llama.cpp's server with prebuilt wheels).
"""
import signal
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.model_alias = ["smollm2"]
parameters.n_ctx = 4096
parameters.n_parallel = 2
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.cpuparams.n_threads = 2
server = xllamacpp.Server(parameters)
print("address " + server.listening_address, flush=True)
signal.pause()
