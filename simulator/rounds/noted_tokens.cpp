// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/noted_tokens.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

namespace draftscope::simulator {

Result<NotedTokens> noted_tokens(traces::Reader& reader) {
  NotedTokens noted;
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  std::unordered_set<traces::StringId> kinds;
  for (const auto& [id, text] : strings)
    if (text == "guesses" || text == "n-grams") kinds.insert(id);
  if (kinds.empty()) return noted;
  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    if (!kinds.contains(decision.kind_id)) return true;
    const auto detail = nlohmann::json::parse(decision.detail, nullptr, false);
    if (!detail.is_object()) return true;
    for (const auto& [name, list] : detail.items()) {
      if (!list.is_array()) continue;
      std::vector<std::int32_t>& tokens = noted[decision.round_id][name];
      for (const nlohmann::json& token : list)
        tokens.push_back(token.is_number_integer() ? token.get<std::int32_t>() : -1);
    }
    return true;
  }));
  return noted;
}

}  // namespace draftscope::simulator
