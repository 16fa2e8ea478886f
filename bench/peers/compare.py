#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Vanilla greedy decoding of the same prompts by Draftscope and by llama.cpp, from the same files, in turns.

    compare.py q4_1=FILE.gguf q8_0=FILE.gguf [--threads 1 2] [--prompts FILE.jsonl] [--limit 4] [--tokens 64] [--repeats 5]

Each program keeps its model open. In every repeat each prompt is decoded by both, one right after the other, and who begins
changes from repeat to repeat. A figure is the median over repeats and prompts, with the quartiles; a ratio is llama.cpp's over
ours of the same prompt and repeat, above 1 where we are faster. `common` counts the tokens, from the first, that both texts share:
the two round differently, and part for good where two tokens are as likely.

Needs bench_peers (scripts/build release bench_peers) and a Python with the package llama-cpp-python, built for this processor.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Threads of a program that is done still spin for some milliseconds.
PAUSE_S = 0.1


class Program:
    """A process that answers a line for a line."""

    def __init__(self, name, command, log=None):
        self.name = name
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                        text=True)
        self.ready = self.read()["ready"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare: {self.name} ended with status {self.process.wait()}, expected an answer")
        return json.loads(line)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"low": low, "median": middle, "high": high}


def shared(ours, theirs):
    pairs = zip(ours, theirs)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(ours))


def compare(args, ours, theirs, prompts):
    per_token = {"draftscope": [], "llama.cpp": []}
    wall = {"draftscope": [], "llama.cpp": []}
    common = []
    for program in (ours, theirs):  # makes buffers, and touches all weights
        program.ask(prompt=prompts[0], tokens=8)
    for repeat in range(args.repeats):
        for prompt in prompts:
            order = [("draftscope", ours), ("llama.cpp", theirs)]
            answers = {}
            for name, program in order if repeat % 2 == 0 else reversed(order):
                time.sleep(PAUSE_S)
                answer = answers[name] = program.ask(prompt=prompt, tokens=args.tokens)
                per_token[name].append(1e3 * answer["cpu_seconds"] / (args.tokens - 1))
                wall[name].append(1e3 * answer["seconds"] / (args.tokens - 1))
            common.append(shared(answers["draftscope"]["tokens"], answers["llama.cpp"]["tokens"]))

    def ratio(times):
        return quartiles([b / a for a, b in zip(times["draftscope"], times["llama.cpp"])])

    return {"cpu_ms_per_token": {name: quartiles(times) for name, times in per_token.items()},
            "ms_per_token": {name: quartiles(times) for name, times in wall.items()},
            "cpu_ratio": ratio(per_token), "ratio": ratio(wall), "common": statistics.median(common)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="FORMAT=FILE")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--prompts", type=Path, default=ROOT / "traces/prompts/instruct.jsonl")
    parser.add_argument("--limit", type=int, default=4, help="prompts")
    parser.add_argument("--tokens", type=int, default=64, help="of a decode")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ours", default=ROOT / "build/release/bench/peers/bench_peers")
    parser.add_argument("--python", default=sys.executable, help="that has llama-cpp-python")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    lines = args.prompts.read_text().splitlines()[:args.limit]
    texts = [json.loads(line)["turns"][0] for line in lines]

    results = []
    for model in args.models:
        form, _, file = model.partition("=")
        if not os.path.isfile(file):
            sys.exit(f"compare: found {model}, expected FORMAT=FILE with a GGUF file")
        for threads in args.threads:
            options = ["--model", file, "--threads", threads]
            ours = Program("draftscope", [args.ours, *options])
            theirs = Program("llama.cpp", [args.python, HERE / "llama_cpp_peer.py", *options], log=subprocess.DEVNULL)
            prompts = [ours.ask(encode=text)["tokens"] for text in texts]
            results.append({"format": form, "threads": threads, "kernels": ours.ready, "llama.cpp": theirs.ready,
                            **compare(args, ours, theirs, prompts)})
            ours.close()
            theirs.close()
    if args.json:
        print(json.dumps(results, indent=2))
        return 0
    print(f"draftscope: {results[0]['kernels']}; llama.cpp: {results[0]['llama.cpp']}")
    for result in results:
        def spread(figures):
            return "{median:.2f} [{low:.2f}, {high:.2f}]".format(**figures)
        for key, label in (("cpu_ms_per_token", "CPU"), ("ms_per_token", "wall")):
            ratio = result["cpu_ratio" if label == "CPU" else "ratio"]
            times = result[key]
            print(f"{result['format']:<5} {result['threads']} threads  {label:<4} ms/token  ours {spread(times['draftscope'])}  "
                  f"llama.cpp {spread(times['llama.cpp'])}  llama.cpp : ours {spread(ratio)}  common {result['common']:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
