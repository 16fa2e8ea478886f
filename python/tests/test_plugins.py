# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugins against stand-ins of the documented classes. No server ran them."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from draftscope import sglang_plugin, vllm_plugin  # noqa: E402


def modules(**leaves):
    """Stand-in modules by dotted name (__ for a dot), with their packages."""
    made = {}
    for name, values in leaves.items():
        dotted = name.replace("__", ".")
        parts = dotted.split(".")
        for i in range(1, len(parts) + 1):
            made.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
        for key, value in values.items():
            setattr(made[dotted], key, value)
    return mock.patch.dict(sys.modules, made)


def lines_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


class Plugins(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", ResourceWarning)  # a server's process ends with its recording open
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.jsonl")
        environment = mock.patch.dict(os.environ, {"DRAFTSCOPE_RECORD": self.path})
        environment.start()
        self.addCleanup(environment.stop)


class Vllm(Plugins):
    def scheduler(self):
        class Scheduler:
            def __init__(self):
                self.requests = {}
                self.vllm_config = types.SimpleNamespace(
                    model_config=types.SimpleNamespace(model="tiny"),
                    speculative_config=types.SimpleNamespace(method="eagle", num_speculative_tokens=3, model="draft"))

            def update_from_output(self, scheduler_output, model_runner_output):
                for name, kept in getattr(scheduler_output, "cut", {}).items():  # in place, as vLLM's does
                    del model_runner_output.sampled_token_ids[model_runner_output.req_id_to_index[name]][kept:]
                for name in scheduler_output.finished:
                    self.requests.pop(name)
                return {"done": True}

        return Scheduler

    @staticmethod
    def step(scheduler, drafts, sampled, finished=(), cut=None):
        names = list(sampled)
        return scheduler.update_from_output(
            types.SimpleNamespace(scheduled_spec_decode_tokens=drafts, num_scheduled_tokens={name: 1 for name in names},
                                  finished=finished, cut=cut or {}),
            types.SimpleNamespace(req_id_to_index={name: i for i, name in enumerate(names)},
                                  sampled_token_ids=[sampled[name] for name in names]))

    def test_writes_rounds_of_requests_side_by_side(self):
        Scheduler = self.scheduler()
        with modules(vllm__v1__core__sched__scheduler={"Scheduler": Scheduler}):
            vllm_plugin.register()
            vllm_plugin.register()  # plugins are loaded in each process, and may be so twice
            scheduler = Scheduler()
            scheduler.requests = {"a": types.SimpleNamespace(prompt_token_ids=[1, 2]), "b": types.SimpleNamespace()}
            self.assertEqual(self.step(scheduler, {}, {"a": [5], "b": []}), {"done": True})
            self.step(scheduler, {"a": [6, 7, 8]}, {"a": [6, 7, 9], "b": [3]})
            self.step(scheduler, {"a": [-1, -1, -1], "b": [4]}, {"a": [1], "b": [4, 5]}, finished=("a",))
            self.step(scheduler, {}, {"b": [6]})
            self.step(scheduler, {"b": [7, 8]}, {"b": [7, 8, 9]}, finished=("b",), cut={"b": 2})
        lines = lines_of(self.path)
        self.assertEqual(lines[0]["engine"], "vllm")
        self.assertEqual(lines[0]["settings"]["num_speculative_tokens"], 3)
        rounds = [line for line in lines if line["record"] == "round"]
        self.assertEqual([(line["request"], line["drafted"], line["accepted"], line["emitted"]) for line in rounds],
                         [("a", 3, 2, 3), ("a", 3, 0, 1), ("b", 1, 1, 2), ("b", 0, 0, 1), ("b", 2, 2, 2)])
        self.assertEqual(rounds[0]["tokens"], [6, 7, 8])
        self.assertNotIn("tokens", rounds[1], "asynchronous scheduling gives -1")
        ends = {line["request"]: line for line in lines if line["record"] == "end"}
        self.assertEqual(ends["a"]["tokens"], [5, 6, 7, 9, 1])
        self.assertEqual(ends["b"]["tokens"], [3, 4, 5, 6, 7, 8])

    def test_says_once_what_is_gone_and_leaves_the_server_alone(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), modules(vllm__v1__core__sched__scheduler={}):
            vllm_plugin.register()
        self.assertIn("vLLM lacks vllm.v1.core.sched.scheduler.Scheduler", said.getvalue())
        Scheduler = self.scheduler()
        said = io.StringIO()
        with contextlib.redirect_stderr(said), modules(vllm__v1__core__sched__scheduler={"Scheduler": Scheduler}):
            vllm_plugin.register()
            output = types.SimpleNamespace(finished=())
            for _ in range(2):
                self.assertEqual(Scheduler().update_from_output(output, types.SimpleNamespace()), {"done": True})
        self.assertEqual(said.getvalue().count("\n"), 1)
        self.assertIn("the scheduler output lacks scheduled_spec_decode_tokens", said.getvalue())
        self.assertFalse(os.path.exists(self.path))


class Sglang(Plugins):
    def request(self, method):
        class Req:
            def __init__(self, rid, steps):
                self.rid, self.steps, self.origin_input_ids, self.output_ids = rid, steps, [1, 2, 3], []

            def finished(self):
                return self.steps <= 0

        def update(self, accepted):
            self.steps -= 1
            self.output_ids += [0] * (accepted + 1)

        setattr(Req, method, update)
        return Req

    def run_two(self, Req, method):
        first, second = Req("a", 2), Req("b", 1)
        for request, accepted in ((first, 2), (second, 0), (first, 3)):
            getattr(request, method)(accepted)

    def test_hears_of_each_verification_under_both_names(self):
        for method in sglang_plugin.METHODS:
            with self.subTest(method):
                pathlib.Path(self.path).unlink(missing_ok=True)
                Req = self.request(method)
                arguments = types.SimpleNamespace(speculative_algorithm="EAGLE", speculative_num_draft_tokens=4, model_path="tiny",
                                                  speculative_eagle_topk=1)
                with modules(sglang__srt__managers__schedule_batch={"Req": Req},
                             sglang__srt__server_args={"get_global_server_args": lambda: arguments}):
                    sglang_plugin.register()
                    self.run_two(Req, method)
                lines = lines_of(self.path)
                self.assertEqual([(line["request"], line["drafted"], line["accepted"]) for line in lines if line["record"] == "round"],
                                 [("a", 3, 2), ("b", 3, 0), ("a", 3, 3)])
                self.assertEqual({line["request"]: line["n_tokens"] for line in lines if line["record"] == "end"}, {"a": 7, "b": 1})

    def test_a_request_ends_where_its_step_is_settled_behind_the_count(self):
        class Req:
            def __init__(self):
                self.rid, self.output_ids, self.is_over = "a", [], False

            def finished(self):
                return self.is_over

            def update_finish_state(self, accepted=1):
                self.is_over = len(self.output_ids) >= 5

            @property
            def output_ids_through_stop(self):
                return self.output_ids[:5]

            def update_spec_correct_drafts_histogram(self, accepted):
                pass

        spec = types.SimpleNamespace(speculative_algorithm="NGRAM", speculative_num_draft_tokens=4, speculative_eagle_topk=1)
        with modules(sglang__srt__managers__schedule_batch={"Req": Req},
                     sglang__srt__runtime_context={"get_spec": lambda: spec,
                                                   "get_server_args": lambda: types.SimpleNamespace(model_path="tiny")}):
            sglang_plugin.register()
            request = Req()
            for accepted in (2, 2):
                request.update_spec_correct_drafts_histogram(accepted)
                request.output_ids += [0] * (accepted + 1)
                request.update_finish_state(accepted + 1)
        lines = lines_of(self.path)
        self.assertEqual([line["record"] for line in lines], ["header", "request", "round", "round", "end"])
        self.assertEqual(lines[0]["model"], "tiny")
        self.assertEqual(lines[1]["run"], "ngram:gamma=3")
        self.assertEqual(lines[-1]["n_tokens"], 5)

    def test_registers_with_the_hook_registry_where_there_is_one(self):
        heard = []
        registry = types.SimpleNamespace(register=lambda path, function, kind: heard.append((path, function, kind)))
        method = sglang_plugin.METHODS[0]
        with modules(sglang__srt__managers__schedule_batch={"Req": self.request(method)},
                     sglang__srt__plugins__hook_registry={"HookRegistry": registry, "HookType": types.SimpleNamespace(AFTER="after")}):
            sglang_plugin.register()
        self.assertEqual(heard[0][0], f"sglang.srt.managers.schedule_batch.Req.{method}")
        self.assertEqual(heard[0][2], "after")

    def test_says_what_is_gone(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), modules(sglang__srt__managers__schedule_batch={"Req": type("Req", (), {})}):
            sglang_plugin.register()
        self.assertIn("SGLang lacks Req.update_spec_correct_drafts_histogram", said.getvalue())


if __name__ == "__main__":
    unittest.main()
