// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Records what a decoding reports, and lets a test look in after every round.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../decode/expect_decoded.h"

namespace draftscope::engine {

struct KeptDecision {
  std::int32_t round = -1;  ///< number of rounds that had ended when the decision was taken
  std::string kind;
  double score = 0.0;
  bool adopted = false;
  nlohmann::json detail;
};

struct KeptRound {
  traces::Round round;
  traces::LayerSet layer_set;
  std::vector<traces::DraftToken> draft_tokens;
  std::int32_t emitted = 0;
};

class KeptDecode final : public DecodeListener, private DecisionLog {
 public:
  explicit KeptDecode(std::span<const std::int32_t> prompt) : text(prompt.begin(), prompt.end()) {}

  traces::RoundId next_round_id() override {
    return traces::RoundId::from(static_cast<std::int64_t>(rounds.size()) + 1);
  }
  void on_first_token(std::int32_t token) override { text.push_back(token); }
  void on_round(const RoundReport& report) override;
  DecisionLog* decisions() override { return this; }

  std::vector<std::int32_t> text;  ///< prompt and output so far
  std::vector<KeptRound> rounds;
  std::vector<KeptDecision> taken;
  std::function<void()> after_round;

 private:
  void add(const Decision& decision) override;
};

}  // namespace draftscope::engine
