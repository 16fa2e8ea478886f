# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin against vLLM's own scheduler, where vLLM is installed: no GPU, no server. What a model would have drafted and accepted is
made up; requests, steps, outputs and the counts that ours are held to are vLLM's classes."""

import importlib.util
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest
import warnings
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from draftscope import vllm_plugin  # noqa: E402

SPECULATED = 3


def made_scheduler():
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from vllm.engine.arg_utils import EngineArgs
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
    from vllm.v1.structured_output import StructuredOutputManager

    config = EngineArgs(model=str(ROOT / "models/demo-layerskip"), max_model_len=512, per_request_spec_decode_metrics="detailed",
                        speculative_config={"method": "ngram", "num_speculative_tokens": SPECULATED,
                                            "prompt_lookup_max": 4}).create_engine_config()
    blocks = 1000
    config.cache_config.num_gpu_blocks = blocks
    size = config.cache_config.block_size
    layers = KVCacheGroupSpec(["layer"], FullAttentionSpec(block_size=size, num_kv_heads=1, head_size=1, dtype=torch.float32))
    return Scheduler(vllm_config=config, kv_cache_config=KVCacheConfig(num_blocks=blocks, kv_cache_tensors=[], kv_cache_groups=[layers]),
                     structured_output_manager=StructuredOutputManager(config), block_size=size, log_stats=True)


def decode(scheduler, budgets, seed):
    """Steps until every request has its tokens; their texts, and what vLLM counted of each."""
    from vllm.sampling_params import SamplingParams
    from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput
    from vllm.v1.request import Request

    draws = random.Random(seed)
    for name, budget in budgets.items():
        scheduler.add_request(Request(name, [1, 2, 3, 4, 5], SamplingParams(max_tokens=budget, ignore_eos=True), None))
    texts, counts = {name: [] for name in budgets}, {}
    while scheduler.has_unfinished_requests():
        output = scheduler.schedule()
        names = list(output.num_scheduled_tokens)
        sampled = []
        for name in names:
            draft = output.scheduled_spec_decode_tokens.get(name, [])
            kept = draft[:draws.randint(0, len(draft))]
            sampled.append([*kept, draws.randint(10, 3000)])
        answers = scheduler.update_from_output(
            output, ModelRunnerOutput(req_ids=names, req_id_to_index={name: i for i, name in enumerate(names)}, sampled_token_ids=sampled))
        for answer in (one for answered in answers.values() for one in answered.outputs):
            texts[answer.request_id] += answer.new_token_ids
            if answer.spec_decode_metrics is not None:
                counts[answer.request_id] = answer.spec_decode_metrics.to_dict()
        scheduler.update_draft_token_ids(DraftTokenIds(
            names, [[draws.randint(10, 3000) for _ in range(draws.randint(0, SPECULATED))] for _ in names]))
    scheduler.schedule()
    return texts, counts


@unittest.skipUnless(importlib.util.find_spec("vllm"), "vLLM is not installed")
class RealVllm(unittest.TestCase):
    def test_the_plugins_rounds_are_what_vllm_counts(self):
        warnings.simplefilter("ignore", ResourceWarning)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.jsonl"
            with mock.patch.dict(os.environ, {"DRAFTSCOPE_RECORD": str(path)}):
                vllm_plugin.register()
                texts, counts = decode(made_scheduler(), {"a": 40, "b": 25, "c": 1}, seed=3)
            lines = [json.loads(line) for line in path.read_text().splitlines()]
        rounds = {name: [] for name in texts}
        for line in lines:
            if line["record"] == "round":
                rounds[line["request"]].append(line)
        self.assertEqual({line["request"]: line["tokens"] for line in lines if line["record"] == "end"}, texts)
        self.assertEqual(set(counts), set(texts))
        self.assertGreater(min(counts[name]["num_spec_steps"] for name in ("a", "b")), 5)
        for name, counted in counts.items():
            drafting = [line for line in rounds[name] if line["drafted"] > 0]
            self.assertEqual([line["drafted"] for line in drafting], counted.get("per_step_drafted", []))
            self.assertEqual([line["accepted"] for line in drafting], counted.get("per_step_accepted", []))
        self.assertEqual(lines[0]["engine"], "vllm")
        self.assertEqual((lines[0]["settings"]["method"], lines[0]["settings"]["num_speculative_tokens"]), ("ngram", SPECULATED))


if __name__ == "__main__":
    unittest.main()
