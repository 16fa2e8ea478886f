// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace draftscope::traces {
namespace {

constexpr std::array<std::string_view, missing_data_count> missing_data_names{
    "runs",           "rounds",          "accepted lengths", "draft lengths", "token ids",
    "output lengths", "prompts",         "output text",      "wall times",    "first token times",
    "round times",    "phase times",     "confidences",      "layer sets",    "turns",
    "draft trees",    "device activity", "prefill times",    "plain steps"};

}  // namespace

std::string_view missing_data_name(MissingData missing) {
  return missing_data_names.at(static_cast<std::size_t>(missing));
}

std::string missing_data_text(const std::vector<MissingData>& lacks) {
  auto list = nlohmann::json::array();
  for (const MissingData missing : lacks) list.push_back(missing_data_name(missing));
  return list.dump();
}

std::vector<MissingData> missing_data_of(const Meta& meta) {
  std::vector<MissingData> found;
  const auto value = meta.find("lacks");
  if (value == meta.end()) return found;
  const nlohmann::json list = nlohmann::json::parse(value->second, nullptr, false);
  if (!list.is_array()) return found;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_string()) continue;
    const auto* const name =
        std::find(missing_data_names.begin(), missing_data_names.end(), entry.get_ref<const std::string&>());
    if (name != missing_data_names.end())
      found.push_back(static_cast<MissingData>(name - missing_data_names.begin()));
  }
  return found;
}

bool is_missing(const Meta& meta, MissingData missing) {
  const std::vector<MissingData> found = missing_data_of(meta);
  return std::find(found.begin(), found.end(), missing) != found.end();
}

bool is_imported(const Meta& meta) {
  return meta.contains("imported_from");
}

}  // namespace draftscope::traces
