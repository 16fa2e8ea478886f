// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/import_lacks.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace draftscope::traces {
namespace {

constexpr std::array<std::string_view, lack_count> names{
    "runs",           "rounds",          "accepted lengths", "draft lengths", "token ids",
    "output lengths", "prompts",         "output text",      "wall times",    "first token times",
    "round times",    "phase times",     "confidences",      "layer sets",    "turns",
    "draft trees",    "device activity", "prefill times"};

}  // namespace

std::string_view lack_name(Lack lack) {
  return names.at(static_cast<std::size_t>(lack));
}

std::string lacks_text(const std::vector<Lack>& lacks) {
  auto list = nlohmann::json::array();
  for (const Lack lack : lacks) list.push_back(lack_name(lack));
  return list.dump();
}

std::vector<Lack> lacks_of(const Meta& meta) {
  std::vector<Lack> found;
  const auto value = meta.find("lacks");
  if (value == meta.end()) return found;
  const nlohmann::json list = nlohmann::json::parse(value->second, nullptr, false);
  if (!list.is_array()) return found;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_string()) continue;
    const auto* const name = std::find(names.begin(), names.end(), entry.get_ref<const std::string&>());
    if (name != names.end()) found.push_back(static_cast<Lack>(name - names.begin()));
  }
  return found;
}

bool lacks(const Meta& meta, Lack lack) {
  const std::vector<Lack> found = lacks_of(meta);
  return std::find(found.begin(), found.end(), lack) != found.end();
}

bool is_imported(const Meta& meta) {
  return meta.contains("imported_from");
}

}  // namespace draftscope::traces
