# SPDX-License-Identifier: GPL-3.0-or-later
"""A plugin of SGLang (entry point group sglang.srt.plugins) that writes a line a request and a verification.

    DRAFTSCOPE_RECORD=run.jsonl SGLANG_PLUGINS=draftscope python -m sglang.launch_server ... --speculative-algorithm ...

It hears of Req.update_spec_correct_drafts_histogram (before mid-2026 update_spec_acceptance_histogram), which every path of
verification calls once a request and step with the accepted drafts, and of Req.update_finish_state (before, check_finished), after
which a request may be over. Under overlap scheduling the time lags a step. How many were drafted is the server's setting, so adaptive
widths are not seen. Untested on a server: python/tests runs it against stand-ins, and on SGLang's own requests and hook registry where
SGLang is installed (0.5.23 was)."""

import os
import sys
import time

from .writer import Writer

REQUEST = ("sglang.srt.managers.schedule_batch", "Req")
METHODS = ("update_spec_correct_drafts_histogram", "update_spec_acceptance_histogram")
ENDS = ("update_finish_state", "check_finished")
SETTINGS = ("speculative_algorithm", "speculative_num_draft_tokens", "speculative_num_steps", "speculative_eagle_topk")


def register():
    """What SGLang calls when it loads plugins. Nothing happens without DRAFTSCOPE_RECORD."""
    path = os.environ.get("DRAFTSCOPE_RECORD")
    if not path:
        return
    module, name = REQUEST
    try:
        request = getattr(__import__(module, fromlist=[name]), name)
    except (ImportError, AttributeError) as error:
        print(f"draftscope: does not record: SGLang lacks {module}.{name} ({error})", file=sys.stderr)
        return
    method = next((one for one in METHODS if hasattr(request, one)), None)
    if method is None:
        print(f"draftscope: does not record: SGLang lacks {name}.{' and '.join(METHODS)}", file=sys.stderr)
        return
    rounds = Rounds(path)
    call_after(request, f"{module}.{name}", method, rounds.after)
    end = next((one for one in ENDS if hasattr(request, one)), None)
    if end is not None:
        call_after(request, f"{module}.{name}", end, rounds.after_end)


def call_after(request, path, method, hook):
    try:
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        HookRegistry.register(f"{path}.{method}", hook, HookType.AFTER)
    except ImportError:  # versions without a registry
        original = getattr(request, method)

        def wrapped(self, *arguments, **named):
            result = original(self, *arguments, **named)
            hook(result, self, *arguments, **named)
            return result

        setattr(request, method, wrapped)


def server_settings():
    """What is in effect, as far as a version says; the operator's raw input before it was split up, and where it still is."""
    found = {}
    try:
        from sglang.srt.runtime_context import get_server_args, get_spec

        sources = [get_spec(), get_server_args()]
    except ImportError:
        from sglang.srt.server_args import get_global_server_args

        sources = [get_global_server_args()]
    for source in sources:
        for name in (*SETTINGS, "model_path"):
            value = getattr(source, name, None)
            if value is not None:
                found.setdefault(name, value)
    return found


class Rounds:
    """The verifications of one scheduler process."""

    def __init__(self, path):
        self.path = path
        self.writer = None
        self.requests = {}  # id → (its lines, end of its last round)
        self.idle = set()  # ids whose end was written because they stood still
        self.is_off = False

    def after(self, _result, request, accepted, *_arguments, **_named):
        """One verification of one request: `accepted` drafts were kept."""
        self.record(self.add, request, accepted)

    def after_end(self, _result, request, *_arguments, **_named):
        """A step of a request is done, perhaps its last."""
        self.record(self.end_if_finished, request)

    def record(self, change, *arguments):
        if self.is_off:
            return
        try:
            change(*arguments)
        except Exception as error:  # recording must not end the server's step
            self.is_off = True
            print(f"draftscope: stops recording: {type(error).__name__}: {error}", file=sys.stderr)

    def open(self):
        try:
            settings = server_settings()
        except Exception:  # settings are worth having, no more
            settings = {}
        run = str(settings.get("speculative_algorithm", "speculative")).lower()
        # One row of the verification is the root. Trees of several branches hold other numbers.
        width = settings.get("speculative_num_draft_tokens")
        is_chain = settings.get("speculative_eagle_topk", 1) == 1
        self.drafted = int(width) - 1 if width and is_chain else None
        version = getattr(sys.modules.get("sglang"), "__version__", None)
        self.run = f"{run}:gamma={self.drafted}" if self.drafted else run
        self.writer = Writer(self.path, "sglang", version, settings.get("model_path"), settings)

    def add(self, request, accepted):
        accepted, now_ns = int(accepted), time.monotonic_ns()
        if self.writer is None:
            self.open()
        if request.rid not in self.requests:
            prompt = getattr(request, "origin_input_ids", None)
            lines = self.writer.request(self.run, name=str(request.rid), start_ns=now_ns,
                                        prompt_tokens=list(prompt) if prompt is not None else None)
            # The first is where the clock begins: when the round began is not known.
            self.requests[request.rid] = [lines, now_ns]
        entry = self.requests[request.rid]
        drafted = self.drafted if self.drafted is not None and accepted <= self.drafted else None
        entry[0].round(accepted, start_ns=entry[1], end_ns=now_ns, drafted=drafted)
        entry[1] = now_ns
        for rid in [rid for rid, (_, last_ns) in self.requests.items() if rid != request.rid and now_ns - last_ns > 60e9]:
            self.requests.pop(rid)[0].end()
            self.idle.add(rid)
        self.end_if_finished(request)

    def end_if_finished(self, request):
        if request.rid not in self.requests or not request.finished():
            return
        lines, last_ns = self.requests.pop(request.rid)
        # A verification may run past the stop; nobody is sent the tokens after it.
        tokens = getattr(request, "output_ids_through_stop", getattr(request, "output_ids", None))
        # A request that went on after it had stood still has its text in two parts.
        is_whole = tokens is not None and request.rid not in self.idle
        self.idle.discard(request.rid)
        lines.end(end_ns=last_ns, n_tokens=len(tokens) if is_whole else None)
