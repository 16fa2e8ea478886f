// SPDX-License-Identifier: GPL-3.0-or-later
// In every format of JSON a null is no worse than the absence of its field: a file that is taken without a
// field is taken with a null there, and gives the same.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../sample.h"
#include "imported.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

/// The file as one value, or those of its lines.
std::vector<json> values_of(const std::string& text) {
  std::vector<json> values;
  const auto add = [&](const std::string& one) {
    json value = json::parse(one, nullptr, false);
    if (value.is_object() || value.is_array()) values.push_back(std::move(value));
  };
  add(text);
  if (!values.empty()) return values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) add(line);
  return values;
}

/// Adds the place of every member of an object, the first of those that differ in a list's index alone.
void add_members(const json& value, const json::json_pointer& place, const std::string& kind,
                 std::set<std::string>& kinds, std::vector<json::json_pointer>& places) {
  if (value.is_object())
    for (const auto& [key, member] : value.items()) {
      const std::string member_kind = kind + "/" + key;
      if (kinds.insert(member_kind).second) places.push_back(place / key);
      add_members(member, place / key, member_kind, kinds, places);
    }
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      add_members(value[i], place / i, kind + "/*", kinds, places);
}

/// Leaves out members that are null.
json without_nulls(const json& value) {
  if (!value.is_object()) return value;
  json kept = json::object();
  for (const auto& [key, member] : value.items())
    if (!member.is_null()) kept[key] = without_nulls(member);
  return kept;
}

struct Rows {
  std::int64_t runs, requests, rounds, spans, kernels;
  json stated;
  bool operator==(const Rows&) const = default;
};

class Nulls : public ::testing::TestWithParam<Seed> {
 protected:
  /// Rows that the import of these values gives; none where they are refused.
  [[nodiscard]] std::optional<Rows> rows_of(const std::vector<json>& values) const {
    std::string text;
    for (const json& value : values) text += value.dump() + "\n";
    const auto target = folder_ / "out.dstrace";
    const auto imported = import_recordings({folder_.write("input.json", text)},
                                            {.format = GetParam().format, .overwrite = true}, target);
    if (!imported) return std::nullopt;
    auto reader = value_of(Reader::open(target));
    const Meta meta = value_of(reader.recording()).meta;
    const auto stated = meta.find("stated_figures");
    return Rows{imported->runs,
                imported->requests,
                imported->rounds,
                imported->spans,
                imported->kernels,
                stated == meta.end() ? json() : without_nulls(json::parse(stated->second, nullptr, false))};
  }

  ImportFolder folder_;
};

TEST_P(Nulls, AreAsGoodAsFieldsThatAreAbsent) {
  const std::vector<json> values = values_of(test::bytes_of(fixture(GetParam().fixture)));
  std::set<std::string> kinds;
  std::int64_t compared = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<json::json_pointer> places;
    add_members(values[i], json::json_pointer(), "", kinds, places);
    for (const json::json_pointer& place : places) {
      SCOPED_TRACE(place.to_string());
      std::vector<json> changed = values;
      changed[i].at(place.parent_pointer()).erase(place.back());
      const std::optional<Rows> absent = rows_of(changed);
      if (!absent) continue;  // The field must be there.
      changed = values;
      changed[i][place] = nullptr;
      EXPECT_EQ(rows_of(changed), absent);
      ++compared;
    }
  }
  // One seed has what must be there, and nothing else.
  EXPECT_TRUE(compared > 0 || GetParam().fixture == "rounds/least.jsonl");
}

std::vector<Seed> seeds_in_json() {
  std::vector<Seed> all = seeds();
  std::erase_if(all, [](const Seed& seed) {
    return seed.format == "nsys" || values_of(test::bytes_of(fixture(seed.fixture))).empty();
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Nulls, ::testing::ValuesIn(seeds_in_json()),
                         [](const auto& seed) { return seed.param.test_name(); });

}  // namespace
}  // namespace draftscope::traces
