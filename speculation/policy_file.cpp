// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/policy_file.h>

#include <draftscope/base/quote.h>
#include <draftscope/base/statistics.h>

#include <algorithm>
#include <array>

namespace draftscope::speculation {
namespace {

/// Keys that may differ between the model that was tuned and the one that decodes.
constexpr std::array identity{"name", "checkpoint_hash"};

}  // namespace

Facts model_facts(const ModelShape& shape, std::string_view checkpoint_hash) {
  Facts facts{{"name", shape.name}, {"checkpoint_hash", std::string(checkpoint_hash)}};
  for (const auto& [name, member] : shape_sizes) facts[name] = std::to_string(shape.*member);
  return facts;
}

Result<void> check_policy_shape(const PolicyFile& policy, const ModelShape& shape, std::string_view file) {
  for (const auto& [key, value] : model_facts(shape, "")) {
    if (std::find(identity.begin(), identity.end(), key) != identity.end()) continue;
    const std::string& tuned = policy.model.at(key);
    if (tuned != value)
      return fail("{}: was tuned for a model of {} {}, expected {} as {} has", file, key, quote(tuned), value,
                  shape.name);
  }
  return {};
}

std::optional<ScoreSpread> score_spread(const std::vector<Measurement>& repeats) {
  if (repeats.empty()) return std::nullopt;
  std::vector<double> scores;
  scores.reserve(repeats.size());
  for (const Measurement& repeat : repeats) scores.push_back(repeat.score);
  const auto [minimum, maximum] = std::ranges::minmax(scores);
  return ScoreSpread{mean_median(scores), minimum, maximum};
}

}  // namespace draftscope::speculation
