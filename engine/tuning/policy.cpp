// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/policy.h>

#include <draftscope/base/quote.h>

#include <algorithm>
#include <array>

namespace draftscope::engine {
namespace {

/// What may differ between the model that was tuned and the one that decodes.
constexpr std::array identity{"name", "checkpoint_hash"};

}  // namespace

Facts model_facts(const speculation::ModelShape& shape, std::string_view checkpoint_hash) {
  return {{"name", shape.name},
          {"checkpoint_hash", std::string(checkpoint_hash)},
          {"n_layers", std::to_string(shape.n_layers)},
          {"d_model", std::to_string(shape.d_model)},
          {"n_heads", std::to_string(shape.n_heads)},
          {"n_kv_heads", std::to_string(shape.n_kv_heads)},
          {"head_dim", std::to_string(shape.head_dim)},
          {"d_ff", std::to_string(shape.d_ff)},
          {"vocab", std::to_string(shape.vocab)}};
}

Result<void> check_policy_shape(const Policy& policy, const speculation::ModelShape& shape,
                                std::string_view file) {
  for (const auto& [key, value] : model_facts(shape, "")) {
    if (std::find(identity.begin(), identity.end(), key) != identity.end()) continue;
    const std::string& tuned = policy.model.at(key);
    if (tuned != value)
      return fail("{}: was tuned for a model of {} {}, expected {} as {} has", file, key, quote(tuned), value,
                  shape.name);
  }
  return {};
}

std::optional<ScoreSpread> spread_of(const std::vector<Measurement>& repeats) {
  if (repeats.empty()) return std::nullopt;
  std::vector<double> scores;
  scores.reserve(repeats.size());
  for (const Measurement& repeat : repeats) scores.push_back(repeat.score);
  std::sort(scores.begin(), scores.end());
  const std::size_t middle = scores.size() / 2;
  const double median = scores.size() % 2 == 1 ? scores[middle] : (scores[middle - 1] + scores[middle]) / 2.0;
  return ScoreSpread{median, scores.front(), scores.back()};
}

}  // namespace draftscope::engine
