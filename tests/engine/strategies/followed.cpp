// SPDX-License-Identifier: GPL-3.0-or-later
#include "followed.h"

#include <gtest/gtest.h>

namespace draftscope::engine {

namespace {

class Followed final : public Strategy {
 public:
  Followed(Strategy& strategy, const std::function<void(const SeenRound& round)>& look)
      : strategy_(strategy), look_(look) {}
  void begin_request(const RequestView& request) override { strategy_.begin_request(request); }
  RoundPlan plan(const RoundView& round) override {
    view_ = round;
    text_.assign(round.text.begin(), round.text.end());  // copied, since the round's own text grows meanwhile
    view_.text = text_;
    plan_ = strategy_.plan(round);
    return plan_;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    look_({view_, plan_, outcome});
    strategy_.observe(outcome, log);
  }

 private:
  Strategy& strategy_;
  const std::function<void(const SeenRound& round)>& look_;
  RoundView view_;
  Tokens text_;
  RoundPlan plan_;
};

}  // namespace

std::int32_t pick(Random& random, std::int32_t low, std::int32_t high) {
  return std::uniform_int_distribution<std::int32_t>(low, high)(random);
}

Tokens random_text(Random& random, std::int32_t count, std::int32_t vocab) {
  Tokens text(static_cast<std::size_t>(count));
  for (std::int32_t& token : text) token = pick(random, 0, vocab - 1);
  return text;
}

Tokens follow(const ToyBackend::Options& options, const std::string& specification,
              const DecodeRequest& request, const std::function<void(const SeenRound& round)>& look) {
  ToyBackend backend(options);
  const auto strategy = expect_strategy(specification, backend.shape());
  Followed followed(*strategy, look);
  return expect_decoded(backend, followed, request).tokens;
}

std::int32_t best_behind(const ToyBackend::Options& options, std::span<const std::int32_t> text) {
  ToyBackend::Options wide = options;
  wide.cache_rows = wide.max_rows = static_cast<std::int32_t>(text.size());
  ToyBackend backend(wide);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < text.size(); ++i)
    rows.push_back({.token = text[i], .hidden = -1, .position = static_cast<std::int32_t>(i)});
  Outputs outputs;
  const auto done = backend.forward({.rows = rows,
                                     .layers = {0, options.n_layers},
                                     .wanted = {.head_from = wide.max_rows - 1, .head = true, .top_k = 1}},
                                    outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs.top[0].token;
}

}  // namespace draftscope::engine
