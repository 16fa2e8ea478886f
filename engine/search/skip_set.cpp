// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/skip_set.h>

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/skip_set_json.h>
#include <string>
#include <system_error>

namespace draftscope::engine {
namespace {

constexpr std::size_t max_skip_set_bytes = std::size_t{16} << 20U;

Result<nlohmann::json> read_file(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_skip_set_bytes));
  return parse_json_object(text, file.string());
}

bool is_policy(const nlohmann::json& file) {
  return file.contains("draftscope_policy");
}

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
  DRAFTSCOPE_TRY_ASSIGN(auto json, read_file(file));
  if (!is_policy(json)) return json;
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

Result<void> write_skip_set(const std::filesystem::path& file, std::string_view name,
                            const speculation::SublayerMask& set) {
  nlohmann::json sets = nlohmann::json::object();
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    DRAFTSCOPE_TRY_ASSIGN(sets, read_file(file));
    if (is_policy(sets))
      return fail("{}: is a policy of draftscope tune, expected a file of skip sets alone", file.string());
  }
  // Reserves its place in the alphabet; the content is written below.
  sets[std::string(name)] = nlohmann::json::object();
  std::string text = "{";
  try {
    // Write one list per line, as in the published files: nlohmann's indentation takes a line for every
    // layer.
    for (const auto& [key, value] : sets.items()) {
      text += fmt::format("{}\n  {}: ", text.size() == 1 ? "" : ",", nlohmann::json(key).dump());
      if (key != name) {
        text += value.dump();
        continue;
      }
      const auto lists = speculation::skip_set_json(set);
      text += fmt::format("{{\n    \"attention\": {},\n    \"mlp\": {}\n  }}", lists["attention"].dump(),
                          lists["mlp"].dump());
    }
  } catch (const nlohmann::json::exception&) {
    return fail("{}: the name {} is not UTF-8, expected text", file.string(), quote(name));
  }
  DRAFTSCOPE_TRY_ASSIGN(auto out, AtomicFile::create(file));
  out.write(text + "\n}\n");
  return out.commit();
}

}  // namespace draftscope::engine
