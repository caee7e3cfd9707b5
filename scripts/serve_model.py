"""Serve a model by llama.cpp on loopback until standard input ends: `python serve_model.py FILE [embeddings]`."""

import os
import sys
from pathlib import Path

import xllamacpp

model = Path(sys.argv[1])
os.chdir(model.parent)  # the server calls a model by its path
parameters = xllamacpp.CommonParams()
parameters.model.path = model.name
parameters.n_ctx, parameters.n_parallel, parameters.port = 32_768, 2, 0
parameters.warmup, parameters.use_jinja = False, True
parameters.cpuparams.n_threads = 1
if "embeddings" in sys.argv[2:]:
    parameters.embedding, parameters.pooling_type = True, 1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
