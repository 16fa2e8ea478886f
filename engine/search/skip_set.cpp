// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/skip_set.h>

#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/skip_set_json.h>
#include <string>

namespace draftscope::engine {
namespace {

constexpr std::size_t max_skip_set_bytes = std::size_t{16} << 20U;

/// Lists names as "'a', 'b' and 3 more", which is enough to spot a misspelling.
std::string listed_names(const nlohmann::json& sets) {
  if (sets.empty()) return "none: the file holds no set";
  std::string names;
  std::size_t listed = 0;
  for (const auto& [name, unused] : sets.items()) {
    if (listed == 6) break;
    names += (listed++ == 0 ? "" : ", ") + quote(name);
  }
  if (sets.size() > listed) names += fmt::format(" and {} more", sets.size() - listed);
  return names;
}

/// The object of sets that a file consists of, or that a policy contains.
Result<nlohmann::json> read_sets(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_skip_set_bytes));
  DRAFTSCOPE_TRY_ASSIGN(auto json, parse_json_object(text, file.string()));
  if (!json.contains("draftscope_policy")) return json;
  auto sets = json.value("skip_sets", nlohmann::json());
  if (!sets.is_object())
    return fail("{}: is a policy without skip_sets, expected one of --search skip-set", file.string());
  return sets;
}

}  // namespace

Result<speculation::SublayerMask> read_skip_set(const std::filesystem::path& file, std::string_view name,
                                                std::int32_t n_layers) {
  DRAFTSCOPE_TRY_ASSIGN(const auto sets, read_sets(file));
  const auto place = sets.find(std::string(name));
  if (place == sets.end())
    return fail("{}: has no set {}, expected one of {}", file.string(), quote(name), listed_names(sets));
  const std::string source = file.string();
  return speculation::parse_skip_set(JsonField(*place, source, quote(name)), n_layers);
}

Result<std::map<std::string, speculation::SublayerMask>> read_skip_sets(const std::filesystem::path& file,
                                                                        std::int32_t n_layers) {
  DRAFTSCOPE_TRY_ASSIGN(const auto json, read_sets(file));
  std::map<std::string, speculation::SublayerMask> sets;
  const std::string source = file.string();
  for (const auto& [name, value] : json.items()) {
    DRAFTSCOPE_TRY_ASSIGN(sets[name],
                          speculation::parse_skip_set(JsonField(value, source, quote(name)), n_layers));
  }
  return sets;
}

}  // namespace draftscope::engine
