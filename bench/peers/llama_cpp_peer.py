#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""llama.cpp's side of compare.py, through the bindings of the package llama-cpp-python: a request a line, an answer a line.

    llama_cpp_peer.py --model FILE.gguf --threads N

    {"prompt": [ids], "tokens": n} → {"tokens": [ids], "seconds": s, "cpu_seconds": c}

Greedy, n tokens whatever they are. Times are from the first token to the last, the processor's of all threads. Everything that
is not said here is llama.cpp's default. The largest logit is found by numpy, which takes less time than llama.cpp's own
samplers.
"""
import argparse
import json
import sys
import time

import llama_cpp
import numpy as np


def largest(context, vocab):
    logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), shape=(vocab,))
    return int(logits.argmax())


def decode(context, vocab, prompt, count):
    def step(tokens):
        ids = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(ids, len(tokens))) != 0:
            raise RuntimeError("llama_decode failed")
        return largest(context, vocab)

    llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), True)
    tokens = [step(prompt)]
    start, cpu_start = time.monotonic(), time.process_time()
    while len(tokens) < count:
        tokens.append(step(tokens[-1:]))
    return {"tokens": tokens, "seconds": time.monotonic() - start, "cpu_seconds": time.process_time() - cpu_start}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    llama_cpp.llama_backend_init()
    model = llama_cpp.llama_model_load_from_file(args.model.encode(), llama_cpp.llama_model_default_params())
    if not model:
        sys.exit(f"llama_cpp_peer: {args.model} was not loaded, expected a GGUF file")
    options = llama_cpp.llama_context_default_params()
    options.n_ctx = 2048
    options.n_threads = options.n_threads_batch = args.threads
    context = llama_cpp.llama_init_from_model(model, options)
    vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    system = llama_cpp.llama_print_system_info().decode()
    print(json.dumps({"ready": " ".join(system.replace(" = 1", "").replace("|", "").split())}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(decode(context, vocab, request["prompt"], request["tokens"])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
