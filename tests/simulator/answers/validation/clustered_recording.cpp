// SPDX-License-Identifier: GPL-3.0-or-later
#include "clustered_recording.h"

#include <draftscope/traces/writer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../uncertainty/synthetic_requests.h"

namespace draftscope::simulator {

namespace {

constexpr std::int32_t short_length = 2;

class Builder {
 public:
  Builder(std::uint64_t seed, const ClusteredOptions& options)
      : random_(seed), noise_(0.0, options.noise), options_(options), prices_(synthetic_prices()) {}

  traces::Recording build() {
    out_.meta = {{"device", "cpu"},
                 {"dtype", "bf16"},
                 {"model", "clustered"},
                 {"model_shape",
                  R"({"n_layers":12,"d_model":512,"n_heads":8,"n_kv_heads":4,"head_dim":64,"d_ff":1536,)"
                  R"("vocab":8192,"eos_tokens":[2]})"},
                 {"max_tokens", "4096"},
                 {"cache_rows", "8192"},
                 {"temperature", "0"}};
    out_.runs = {{1, "vanilla", "vanilla", "{}", true},
                 {2, "layerskip", "layerskip:exit=3,gamma=4", R"({"exit":3,"gamma":4})", false}};
    if (options_.second_run)
      out_.runs.push_back({3, "layerskip", "layerskip:exit=3,gamma=2", R"({"exit":3,"gamma":2})", false});
    traces::LayerSet set{1, synthetic_layers, synthetic_exit, {0xC0, 0xFF, 0xFF}, "fixed"};
    out_.layer_sets.push_back(set);
    std::vector<std::vector<std::int32_t>> accepted;  // [prompt][round]
    for (int i = 0; i < options_.requests; ++i) {
      out_.prompts.push_back({traces::PromptId::from(i + 1), 100 + i, i % 2 == 0 ? "even" : "odd", 0,
                              fmt::format("prompt {}", i), std::vector<std::int32_t>(synthetic_prompt, 7)});
      accepted.emplace_back();
      for (const ClusterSums& round : synthetic_rounds(random_))
        accepted.back().push_back(static_cast<std::int32_t>(round.numerator) - 1);
    }
    for (int repeat = 0; repeat < options_.repeats; ++repeat)
      for (std::size_t i = 0; i < out_.prompts.size(); ++i)
        for (const traces::Run& run : out_.runs) decode(run, out_.prompts[i], repeat, accepted[i]);
    return std::move(out_);
  }

 private:
  void decode(const traces::Run& run, const traces::Prompt& prompt, int repeat,
              const std::vector<std::int32_t>& accepted) {
    traces::Request request{.id = traces::RequestId::from(out_.requests.size() + 1),
                            .run_id = run.id,
                            .prompt_id = prompt.id,
                            .repeat = repeat,
                            .start_ns = now_};
    now_ += 1'000'000;
    request.first_token_ns = now_;
    std::int32_t remaining = 0;
    for (const std::int32_t count : accepted) remaining += count + 1;
    request.tokens.assign(static_cast<std::size_t>(remaining) + 1, 9);
    std::int32_t index = 0;
    std::int32_t root = synthetic_prompt;
    const auto put = [&](std::int32_t drafted, std::int32_t accepts) {
      const std::int32_t emitted = std::min(accepts + 1, remaining);
      round(request.id, index++, root, drafted, emitted - 1);
      root += emitted;
      remaining -= emitted;
    };
    if (run.id == 1)
      while (remaining > 0) put(0, 0);
    if (run.id == 2)
      for (const std::int32_t count : accepted) put(synthetic_length, count);
    for (std::size_t i = 0; run.id == 3 && remaining > 0; ++i)
      put(short_length, std::min(accepted[i % accepted.size()], short_length));
    request.end_ns = now_;
    out_.requests.push_back(std::move(request));
  }

  void round(traces::RequestId request_id, std::int32_t index, std::int32_t root, std::int32_t drafted,
             std::int32_t accepted) {
    traces::Round round{.id = traces::RoundId::from(out_.rounds.size() + 1),
                        .request_id = request_id,
                        .index = index,
                        .start_ns = now_,
                        .root_position = root,
                        .planned = drafted,
                        .drafted = drafted,
                        .tree_depth = drafted,
                        .accepted = accepted,
                        .emitted = accepted + 1,
                        .verify_rows = drafted + 1,
                        .bonus_token = 9};
    const DraftPrices& draft = prices_.drafts[synthetic_exit];
    if (drafted > 0) {
      round.layer_set_id = 1;
      round.exit_layer = synthetic_exit;
      round.draft_stop = traces::DraftStop::length;
      double ns = 0.0;
      for (std::int32_t step = 0; step < drafted; ++step) ns += draft.step.at(root + step);
      round.draft_ns = noisy(ns);
      round.verify_ns = noisy(draft.verify[static_cast<std::size_t>(drafted) + 1].at(root));
      for (std::int32_t k = 0; k < drafted; ++k)
        out_.draft_tokens.push_back({round.id, k, k - 1, 9, 0.75, 1.0, k < accepted, k <= accepted});
    } else {
      round.verify_ns = noisy(prices_.target_step.at(root));
    }
    round.control_ns = noisy(drafted > 0 ? prices_.round_ns : prices_.step_round_ns);
    now_ += round.draft_ns + round.verify_ns + round.control_ns;
    round.end_ns = now_;
    out_.rounds.push_back(round);
  }

  std::int64_t noisy(double ns) { return std::llround(ns * std::exp(noise_(random_))); }

  std::mt19937_64 random_;
  std::normal_distribution<double> noise_;
  ClusteredOptions options_;
  Prices prices_;
  traces::Recording out_;
  std::int64_t now_ = 1'000'000'000;
};

}  // namespace

traces::Recording clustered_recording(std::uint64_t seed, const ClusteredOptions& options) {
  return Builder(seed, options).build();
}

void write_recording(const traces::Recording& recording, const std::filesystem::path& path) {
  auto created = traces::Writer::create(path, recording.meta, {.overwrite = true});
  ASSERT_TRUE(created) << created.error().message;
  traces::Writer& writer = **created;
  for (const traces::Run& run : recording.runs) ASSERT_EQ(writer.add(run), run.id);
  for (const traces::Prompt& prompt : recording.prompts) ASSERT_EQ(writer.add(prompt), prompt.id);
  for (const traces::LayerSet& set : recording.layer_sets) ASSERT_EQ(writer.add(set), set.id);
  auto round = recording.rounds.begin();
  auto token = recording.draft_tokens.begin();
  for (const traces::Request& request : recording.requests) {
    ASSERT_EQ(writer.next_request_id(), request.id);
    writer.begin(request);
    for (; round != recording.rounds.end() && round->request_id == request.id; ++round) {
      const auto first = token;
      while (token != recording.draft_tokens.end() && token->round_id == round->id) ++token;
      ASSERT_EQ(writer.next_round_id(), round->id);
      writer.add(*round, std::vector<traces::DraftToken>(first, token));
    }
    writer.finish(request);
  }
  const auto closed = writer.close();
  ASSERT_TRUE(closed) << closed.error().message;
}

}  // namespace draftscope::simulator
