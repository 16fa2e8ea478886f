// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

namespace {

constexpr std::int32_t n_layers = 12;

class Generator {
 public:
  Generator(unsigned seed, const RandomOptions& options) : random_(seed), options_(options) {}

  RandomRecording generate() {
    recording_.meta["model_name"] = "random-12";
    recording_.closed_cleanly = true;
    for (int i = 0; i < options_.prompts; ++i)
      recording_.prompts.push_back({traces::PromptId::from(i + 1),
                                    100 + i,
                                    i % 3 == 0 ? "qa" : "math",
                                    0,
                                    fmt::format("prompt {}", i / 2),
                                    {1, 2, 3}});
    for (int i = 0; i <= options_.drafting_runs; ++i) {
      traces::Run run;
      run.id = traces::RunId::from(i + 1);
      run.strategy = i == 0 ? "vanilla" : "layerskip";
      run.specification = i == 0 ? "vanilla" : fmt::format("layerskip:exit={}", i + 1);
      run.is_baseline = i == 0;
      recording_.runs.push_back(run);
      if (i == 0) continue;
      recording_.layer_sets.push_back(set_without(i + 1, n_layers, n_layers, i + 1, "fixed"));
      recording_.layer_sets.back().id = traces::LayerSetId::from(i);
    }
    for (int repeat = 0; repeat < options_.repeats; ++repeat)
      for (const traces::Prompt& prompt : recording_.prompts)
        for (const traces::Run& run : recording_.runs) decode(run, prompt, repeat);
    return {std::move(recording_), std::move(spans_)};
  }

 private:
  int up_to(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }

  /// Adds an interval of some phase that starts now; returns its length.
  std::int64_t spend(traces::Phase phase, int max_ns) {
    const std::int64_t start = now_;
    now_ += 1 + up_to(max_ns);
    if (options_.with_spans) {
      traces::Span span;
      span.id = traces::SpanId::from(spans_.size() + 1);
      span.request_id = request_.id;
      span.start_ns = start;
      span.end_ns = now_;
      span.phase = phase;
      spans_.push_back(span);
    }
    return now_ - start;
  }

  void decode(const traces::Run& run, const traces::Prompt& prompt, int repeat) {
    request_ = {};
    request_.id = traces::RequestId::from(recording_.requests.size() + 1);
    request_.run_id = run.id;
    request_.prompt_id = prompt.id;
    request_.repeat = repeat;
    constexpr std::array stops{traces::RequestStop::length, traces::RequestStop::eos,
                               traces::RequestStop::stop_string};
    request_.stop = stops[static_cast<std::size_t>(prompt.id.value()) % stops.size()];
    request_.start_ns = now_ += up_to(50);
    const int length = options_.equal_outputs ? 5 + static_cast<int>(prompt.id.value()) * 3 : 3 + up_to(20);
    spend(traces::Phase::prefill, 400);
    request_.first_token_ns = now_;
    for (int i = 0; i < length; ++i)
      request_.tokens.push_back(
          options_.equal_outputs ? static_cast<std::int32_t>(prompt.id.value()) * 1000 + i : up_to(3));
    std::int32_t emitted = 1;
    for (int index = 0; emitted < length; ++index) emitted += round(run, index, length - emitted);
    now_ += up_to(9);
    request_.end_ns = now_;
    recording_.requests.push_back(request_);
  }

  std::int32_t round(const traces::Run& run, int index, int remaining) {
    now_ += up_to(5);  // a gap that no phase covers
    traces::Round round;
    round.id = traces::RoundId::from(recording_.rounds.size() + 1);
    round.request_id = request_.id;
    round.index = index;
    round.start_ns = now_;
    round.control_ns = spend(traces::Phase::control, 4);
    if (!run.is_baseline) {
      round.layer_set_id = traces::LayerSetId::from(run.id.value() - 1);
      round.exit_layer = static_cast<std::int32_t>(run.id.value());
      round.planned = 6;
      round.drafted = round.tree_depth = up_to(6);
      round.accepted = up_to(round.drafted);
      round.draft_stop = static_cast<traces::DraftStop>(up_to(3));
      if (round.drafted > 0) round.draft_ns = spend(traces::Phase::draft, 30 * round.drafted);
      for (std::int32_t k = 0; k < round.drafted; ++k)
        recording_.draft_tokens.push_back(
            {round.id, k, k - 1, up_to(99), 0.5, 1.0, k < round.accepted, k <= round.accepted});
    }
    round.verify_ns = spend(traces::Phase::verify, 120);
    round.accept_ns = spend(traces::Phase::accept, 3);
    if (!run.is_baseline) round.optimise_ns = spend(traces::Phase::optimise, 20);
    round.verify_rows = round.drafted + 1;
    round.emitted = std::min(round.accepted + 1, remaining);
    round.bonus_token = up_to(99);
    round.end_ns = now_;
    recording_.rounds.push_back(round);
    return round.emitted;
  }

  std::mt19937 random_;
  RandomOptions options_;
  traces::Recording recording_;
  std::vector<traces::Span> spans_;
  traces::Request request_;
  std::int64_t now_ = 1'000'000;
};

}  // namespace

RandomRecording random_recording(unsigned seed, const RandomOptions& options) {
  return Generator(seed, options).generate();
}

}  // namespace draftscope::simulator
