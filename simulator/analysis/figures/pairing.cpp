// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/speedup.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace draftscope::simulator {

namespace {

/// Text, and index among the prompts with this text (0 except for repeated texts).
using PromptKey = std::pair<std::string_view, std::size_t>;

std::map<std::pair<PromptKey, std::int32_t>, const traces::Request*> requests_by_key(const RunRows& run) {
  std::map<std::string_view, std::set<traces::PromptId>> ids_of_text;
  for (const RequestRows& rows : run.requests) ids_of_text[rows.prompt->text].insert(rows.prompt->id);
  std::map<std::pair<PromptKey, std::int32_t>, const traces::Request*> requests;
  for (const RequestRows& rows : run.requests) {
    const std::set<traces::PromptId>& ids = ids_of_text[rows.prompt->text];
    const auto occurrence = static_cast<std::size_t>(std::distance(ids.begin(), ids.find(rows.prompt->id)));
    requests.emplace(std::pair{PromptKey{rows.prompt->text, occurrence}, rows.request->repeat}, rows.request);
  }
  return requests;
}

}  // namespace

Pairing pair_requests(Baseline<RunRows> baseline, Comparison<RunRows> comparison) {
  const auto baseline_requests = requests_by_key(baseline.value);
  const auto comparison_requests = requests_by_key(comparison.value);
  Pairing pairing;
  const PromptKey* last = nullptr;
  for (const auto& [key, request] : baseline_requests) {
    const auto partner = comparison_requests.find(key);
    if (partner == comparison_requests.end()) continue;
    if (last == nullptr || *last != key.first) ++pairing.prompts;
    last = &key.first;
    pairing.pairs.push_back({request, partner->second, pairing.prompts - 1});
  }
  pairing.unpaired =
      baseline.value.requests.size() + comparison.value.requests.size() - 2 * pairing.pairs.size();
  return pairing;
}

OutputIdentity output_identity(const Pairing& pairing) {
  OutputIdentity identity;
  identity.compared_requests = pairing.pairs.size();
  identity.compared_prompts = pairing.prompts;
  std::set<std::size_t> differing;
  for (std::size_t i = 0; i < pairing.pairs.size(); ++i) {
    const auto& expected = pairing.pairs[i].baseline->tokens;
    const auto& found = pairing.pairs[i].comparison->tokens;
    if (expected == found) continue;
    const auto [position, other] =
        std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    identity.differences.push_back({i, static_cast<std::size_t>(position - expected.begin())});
    differing.insert(pairing.pairs[i].prompt_index);
  }
  identity.differing_prompts = differing.size();
  return identity;
}

}  // namespace draftscope::simulator
