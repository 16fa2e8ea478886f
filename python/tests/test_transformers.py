# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording transformers for real, on the demo models: texts, rounds and times, held to a loop of its own."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

try:
    import torch
    import transformers
except ImportError:
    torch = None


def lines_of(path, record=None):
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    return [line for line in lines if record in (None, line["record"])]


@unittest.skipIf(torch is None, "torch or transformers is not installed: recording transformers is not checked")
class Transformers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        transformers.logging.set_verbosity_error()
        torch.set_num_threads(1)
        load = transformers.AutoModelForCausalLM.from_pretrained
        cls.model = load(ROOT / "models/demo-layerskip", dtype=torch.float32).eval()
        cls.draft = load(ROOT / "models/demo-draft", dtype=torch.float32).eval()
        cls.tokenizer = transformers.AutoTokenizer.from_pretrained(ROOT / "models/demo-layerskip")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def setUp(self):
        self.path = os.path.join(self.folder.name, self.id() + ".jsonl")

    def inputs(self, text):
        return self.tokenizer(text, return_tensors="pt").input_ids

    def record(self, **arguments):
        import draftscope.record

        with draftscope.record.Recorder(self.model, self.path, self.tokenizer, overwrite=True) as recorder:
            return recorder.generate(do_sample=False, max_new_tokens=24, **arguments)

    def greedy(self, model, ids):
        with torch.no_grad():
            return int(model(ids).logits[0, -1].argmax())

    def test_texts_are_those_of_plain_decoding(self):
        for prompt in ("def read_file(path):", "Once upon a time"):
            ids = self.inputs(prompt)
            plain = self.model.generate(ids, do_sample=False, max_new_tokens=24).tolist()
            for arguments in ({"run": "vanilla"}, {"assistant_early_exit": 7}, {"assistant_model": self.draft},
                              {"prompt_lookup_num_tokens": 4}):
                self.assertEqual(self.record(inputs=ids, **arguments).tolist(), plain, arguments)
                self.assertFalse("_get_candidate_generator" in vars(self.model), "what was wrapped is as it was")
                end = lines_of(self.path, "end")[0]
                self.assertEqual(end["tokens"], plain[0][ids.shape[1]:])

    def test_rounds_are_those_of_a_hand_count(self):
        """A loop of four lines drafts and verifies the same: fixed length, no threshold."""
        gamma = 3
        self.draft.generation_config.num_assistant_tokens = gamma
        self.draft.generation_config.num_assistant_tokens_schedule = "constant"
        self.draft.generation_config.assistant_confidence_threshold = 0.0
        ids = self.inputs("def read_file(path):")
        self.record(inputs=ids, assistant_model=self.draft)
        expected, text, budget = [], ids, ids.shape[1] + 24
        while text.shape[1] < budget:
            length = min(gamma, budget - text.shape[1] - 1)
            draft, draft_text = [], text
            for _ in range(length):
                draft.append(self.greedy(self.draft, draft_text))
                draft_text = torch.cat((draft_text, torch.tensor([[draft[-1]]])), 1)
            accepted = 0
            while accepted < length and self.greedy(self.model, text) == draft[accepted]:
                text = torch.cat((text, torch.tensor([[draft[accepted]]])), 1)
                accepted += 1
            bonus = self.greedy(self.model, text)
            text = torch.cat((text, torch.tensor([[bonus]])), 1)
            expected.append((draft, accepted, bonus))
        rounds = lines_of(self.path, "round")
        self.assertEqual([(round.get("tokens", []), round["accepted"], round["bonus_token"]) for round in rounds], expected)
        self.assertTrue(any(round["accepted"] > 0 for round in rounds))
        for round in rounds:
            self.assertEqual(round["draft_ns"] + round["verify_ns"], round["end_ns"] - round["start_ns"])
            for confidence in round.get("confidences", []):
                self.assertTrue(0 < confidence <= 1)

    def test_confidences_are_the_drafts_probabilities(self):
        ids = self.inputs("def read_file(path):")
        self.record(inputs=ids, assistant_model=self.draft)
        first = lines_of(self.path, "round")[0]
        with torch.no_grad():
            best = float(self.draft(ids).logits[0, -1].softmax(-1).max())
        self.assertAlmostEqual(first["confidences"][0], best, places=4)

    def test_names_what_a_version_lacks(self):
        import draftscope.record

        class Bare:
            pass

        with self.assertRaisesRegex(RuntimeError, "transformers lacks Bare._get_candidate_generator"):
            draftscope.record.check(Bare())
        with self.assertRaisesRegex(RuntimeError, "Bare lacks get_candidates"):
            draftscope.record.Rounds(None, None, 0).watch(Bare())

    def test_says_that_a_request_failed(self):
        ids = self.inputs("def")
        with self.assertRaises(Exception):
            self.record(inputs=ids, assistant_model=self.draft, assistant_early_exit=3, no_such_argument=1)
        self.assertEqual(lines_of(self.path, "end")[0]["stop"], "error")
        with self.assertRaisesRegex(ValueError, "expected one sequence"):
            self.record(inputs=torch.cat((ids, ids)))


if __name__ == "__main__":
    unittest.main()
