# SPDX-License-Identifier: GPL-3.0-or-later
"""Records transformers' assisted generation: an assistant model, an early exit, prompt lookup, and whatever else has the two
public methods of a candidate generator (CandidateGenerator.get_candidates and update_candidate_strategy).

    with draftscope.record.Recorder(model, "run.jsonl", tokenizer) as recorder:
        recorder.generate(**inputs, run="vanilla", max_new_tokens=64)
        recorder.generate(**inputs, run="early-exit:exit=8", assistant_early_exit=8, max_new_tokens=64)

Then: draftscope import run.jsonl -o run.dstrace. The first round of a request holds the prefill, of vanilla decoding too:
transformers reads the prompt in it, and says nothing between. The trace has no first token times for that reason."""

import time

from .writer import Writer

FACTORY = "_get_candidate_generator"
METHODS = ("get_candidates", "update_candidate_strategy")


def check(model):
    """Says which name this version of transformers lacks, before anything runs."""
    missing = [] if hasattr(model, FACTORY) else [f"{type(model).__name__}.{FACTORY}"]
    try:
        from transformers.generation import candidate_generator
    except ImportError:
        missing.append("transformers.generation.candidate_generator")
    else:
        generator = getattr(candidate_generator, "CandidateGenerator", None)
        if generator is None:
            missing.append("transformers.generation.candidate_generator.CandidateGenerator")
        else:
            missing += [f"CandidateGenerator.{name}" for name in METHODS if not hasattr(generator, name)]
    if missing:
        raise RuntimeError(f"transformers lacks {', '.join(missing)}, which recording needs; expected a version from 4.40 on")


class Steps:
    """A streamer that hears of each token of plain decoding, and keeps when it came."""

    def __init__(self, now):
        self.now = now
        self.times = []
        self.is_prompt = True

    def put(self, value):
        if self.is_prompt:
            self.is_prompt = False
        else:
            self.times.append((self.now(), int(value.reshape(-1)[-1])))

    def end(self):
        pass


class Recorder:
    """One file, one model. Batches of one sequence, as assisted generation has them."""

    def __init__(self, model, path, tokenizer=None, settings=None, overwrite=False):
        check(model)
        import torch
        import transformers

        self.model = model
        self.tokenizer = tokenizer
        self._torch = torch
        self._is_cuda = getattr(model, "device", None) is not None and model.device.type == "cuda"
        name = getattr(model.config, "_name_or_path", "") or type(model).__name__
        known = {"dtype": str(model.dtype).replace("torch.", ""), "device": str(model.device),
                 "threads": torch.get_num_threads(), "torch": torch.__version__}
        self.writer = Writer(path, "transformers", transformers.__version__, name, {**known, **(settings or {})},
                             overwrite=overwrite)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.writer.close()

    def now(self):
        if self._is_cuda:
            self._torch.cuda.synchronize()
        return time.monotonic_ns()

    def generate(self, inputs=None, run=None, prompt=None, question_id=None, **arguments):
        """As model.generate(), and returns what that does. `run` names the run; vanilla decoding is "vanilla"."""
        ids = inputs if inputs is not None else arguments.get("input_ids")
        if ids is None or ids.dim() != 2 or ids.shape[0] != 1:
            found = "missing" if ids is None else f"of the shape {tuple(ids.shape)}"
            raise ValueError(f"input_ids is {found}, expected one sequence")
        prompt_ids = ids[0].tolist()
        if prompt is None and self.tokenizer is not None:
            prompt = self.tokenizer.decode(prompt_ids)
        if inputs is not None:
            arguments["input_ids"] = inputs
        run = run or self.name_of(arguments)
        start_ns = self.now()
        request = self.writer.request(run, start_ns=start_ns, prompt=prompt, prompt_tokens=prompt_ids, question_id=question_id)
        rounds = Rounds(self, request, len(prompt_ids))
        steps = None
        original = getattr(self.model, FACTORY)
        instances = vars(self.model)
        had = FACTORY in instances
        if run == "vanilla" and arguments.get("streamer") is None:
            steps = arguments["streamer"] = Steps(self.now)
        setattr(self.model, FACTORY, lambda *a, **k: rounds.watch(original(*a, **k)))
        try:
            result = self.model.generate(**arguments)
        except BaseException:
            request.end(end_ns=self.now(), stop="error")
            raise
        finally:
            if had:
                setattr(self.model, FACTORY, original)
            else:
                delattr(self.model, FACTORY)
        end_ns = self.now()
        output = (result if self._torch.is_tensor(result) else result.sequences)[0, len(prompt_ids):].tolist()
        if steps is not None:
            rounds.add_steps(start_ns, steps.times)
        stops = self.model.generation_config.eos_token_id
        stops = stops if isinstance(stops, list) else [stops]
        ended = bool(output) and output[-1] in stops
        request.end(end_ns=end_ns, stop="eos" if ended else "length",
                    text=self.tokenizer.decode(output) if self.tokenizer is not None else None, tokens=output)
        return result

    @staticmethod
    def name_of(arguments):
        """A run's name from what generate() was asked."""
        if arguments.get("assistant_early_exit"):
            return f"early-exit:exit={arguments['assistant_early_exit']}"
        if arguments.get("assistant_model") is not None:
            return "assistant-model"
        if arguments.get("prompt_lookup_num_tokens"):
            return f"prompt-lookup:length={arguments['prompt_lookup_num_tokens']}"
        return "vanilla"


class Rounds:
    """Watches the two methods of a candidate generator: a call of each is a round."""

    def __init__(self, recorder, request, length):
        self.recorder = recorder
        self.request = request
        self.length = length  # of prompt and output so far
        self.draft = None

    def watch(self, generator):
        missing = [name for name in METHODS if not callable(getattr(generator, name, None))]
        if missing:
            raise RuntimeError(f"{type(generator).__name__} lacks {', '.join(missing)}, expected a candidate generator")
        get, update = generator.get_candidates, generator.update_candidate_strategy

        def get_candidates(input_ids, *arguments, **named):
            start_ns = self.recorder.now()
            ids, logits = get(input_ids, *arguments, **named)
            draft_ns = self.recorder.now() - start_ns
            self.draft = (start_ns, draft_ns, input_ids.shape[1], ids[0, input_ids.shape[1]:].tolist(), self.confidences(logits))
            return ids, logits

        def update_candidate_strategy(input_ids, scores, num_matches, *arguments, **named):
            self.end_round(input_ids, int(num_matches))
            return update(input_ids, scores, num_matches, *arguments, **named)

        generator.get_candidates = get_candidates
        generator.update_candidate_strategy = update_candidate_strategy
        return generator

    def confidences(self, logits):
        """The draft's probability of its best token, at each position."""
        if logits is None or logits.shape[1] == 0:
            return None
        torch = self.recorder._torch
        with torch.no_grad():
            rows = logits[0].float()
            return (rows - rows.amax(-1, keepdim=True)).exp_().sum(-1).reciprocal().clamp(0, 1).tolist()

    def end_round(self, input_ids, matches):
        end_ns = self.recorder.now()
        start_ns, draft_ns, length, tokens, confidences = self.draft
        emitted = input_ids.shape[1] - length
        accepted = min(matches, len(tokens))
        # A cut at the budget or at the end of sequence counts fewer matches than tokens that came.
        accepted = max(accepted, emitted - 1)
        bonus = int(input_ids[0, -1]) if emitted == accepted + 1 else None
        if confidences is not None and len(confidences) != len(tokens):
            confidences = None
        self.request.round(accepted, start_ns=start_ns, end_ns=end_ns, drafted=len(tokens), emitted=emitted, position=length - 1,
                           draft_ns=draft_ns, verify_ns=end_ns - start_ns - draft_ns, tokens=tokens, confidences=confidences,
                           bonus_token=bonus, draft_stop=None if tokens else "no_draft")

    def add_steps(self, start_ns, times):
        """Rounds of plain decoding: each token a step, from one to the next, the first with the prefill."""
        for index, (end_ns, token) in enumerate(times):
            self.request.round(0, start_ns=start_ns, end_ns=end_ns, drafted=0, emitted=1, position=self.length - 1 + index,
                               draft_ns=0, verify_ns=end_ns - start_ns, bonus_token=token)
            start_ns = end_ns
