# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin on SGLang's own requests and hook registry, where SGLang's scheduler can be imported: no GPU, no server. What a model
would have accepted is made up, and handed over in the order in which SGLang's scheduler does."""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import warnings
from array import array
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from draftscope import sglang_plugin  # noqa: E402

try:
    from sglang.srt.managers.schedule_batch import Req
    from sglang.srt.plugins.hook_registry import HookRegistry
    from sglang.srt.sampling.sampling_params import SamplingParams
    missing = ""
except Exception as error:  # its packages are of GPUs; what is wrong with them differs from machine to machine
    missing = f"{type(error).__name__}: {error}"


@unittest.skipIf(missing, f"SGLang's scheduler can't be imported ({missing})")
class RealSglang(unittest.TestCase):
    def test_hears_of_verifications_and_of_the_end(self):
        warnings.simplefilter("ignore", ResourceWarning)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.jsonl"
            with mock.patch.dict(os.environ, {"DRAFTSCOPE_RECORD": str(path)}):
                sglang_plugin.register()
                HookRegistry.apply_hooks()
                steps = {"a": [2, 0, 3], "b": [1, 3]}
                budget = {"a": 6, "b": 40}
                requests = {}
                for name in steps:
                    parameters = SamplingParams(max_new_tokens=budget[name], ignore_eos=True)
                    parameters.normalize(None)
                    requests[name] = Req(name, "", array("q", [1, 2, 3]), parameters, vocab_size=4096)
                    requests[name].output_ids.append(7)  # the prefill's
                    requests[name].update_finish_state()
                for i in range(3):
                    for name, accepted in steps.items():
                        request = requests[name]
                        if i >= len(accepted) or request.finished():
                            continue
                        request.update_spec_correct_drafts_histogram(accepted[i])
                        request.output_ids.extend([9] * (accepted[i] + 1))
                        request.update_finish_state(accepted[i] + 1)
            lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual([(line["request"], line["accepted"]) for line in lines if line["record"] == "round"],
                         [("a", 2), ("b", 1), ("a", 0), ("b", 3), ("a", 3)])
        # The budget cuts the last step; b goes on.
        self.assertEqual([(line["request"], line["n_tokens"]) for line in lines if line["record"] == "end"], [("a", 6)])
        self.assertEqual(requests["a"].spec_correct_drafts_histogram, [1, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
