// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "../value_of.h"
#include "sample.h"
#include "storage/columns.h"

namespace draftscope::traces {
namespace {

/// Every field of a record as text, so that one comparison shows what differs.
class Fields {
 public:
  template <typename Tag>
  void id(std::string_view name, Id<Tag> field) {
    add(name, std::to_string(field.value()));
  }
  template <typename Tag>
  void key(std::string_view name, Id<Tag> field, std::string_view /*table*/) {
    id(name, field);
  }
  template <typename Tag>
  void reference(std::string_view name, Id<Tag> field, std::string_view /*table*/) {
    id(name, field);
  }
  template <typename Field>
  void enumeration(std::string_view name, Field field, int /*values*/, std::string_view /*table*/) {
    add(name, std::to_string(static_cast<int>(field)));
  }
  void millionths(std::string_view name, double field) { value(name, field); }
  template <typename Field>
  void value(std::string_view name, const Field& field) {
    if constexpr (std::is_floating_point_v<Field>) {
      add(name, fmt::format("{:a}", field));
    } else if constexpr (std::is_integral_v<Field>) {
      add(name, std::to_string(field));
    } else if constexpr (std::is_same_v<Field, std::string>) {
      add(name, field);
    } else {
      for (const auto element : field) add(name, std::to_string(element));
      add(name, "end");
    }
  }
  std::string text;

 private:
  void add(std::string_view name, const std::string& field) {
    text.append(name).append("=").append(field).append(" ");
  }
};

template <typename Record>
std::vector<std::string> fields_of(const std::vector<Record>& rows) {
  std::vector<std::string> all;
  for (const Record& row : rows) {
    Fields fields;
    visit_columns(row, fields);
    all.push_back(std::move(fields.text));
  }
  return all;
}

/// All rows that a function of the reader streams.
template <typename Record>
std::vector<std::string> streamed_fields(
    Reader& reader, Result<void> (Reader::*stream)(const std::function<bool(const Record&)>&)) {
  std::vector<Record> rows;
  EXPECT_TRUE((reader.*stream)([&](const Record& row) {
    rows.push_back(row);
    return true;
  }));
  return fields_of(rows);
}

class RandomRecording : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomRecording, ComesBackAsItWasWrittenAndBreaksNoRule) {
  SampleFile file(
      {.seed = GetParam(), .runs = 1 + static_cast<int>(GetParam() % 4), .operations = GetParam() % 2 == 0});
  Sample& sample = file.sample;
  Reader reader = file.open();
  const auto recording = value_of(reader.recording());
  EXPECT_TRUE(recording.closed_cleanly);
  expect_sound(reader);
  EXPECT_EQ(recording.meta.at("model"), "demo");
  EXPECT_EQ(fields_of(recording.runs), fields_of(sample.recording.runs));
  EXPECT_EQ(fields_of(recording.prompts), fields_of(sample.recording.prompts));
  EXPECT_EQ(fields_of(recording.requests), fields_of(sample.recording.requests));
  EXPECT_EQ(fields_of(recording.layer_sets), fields_of(sample.recording.layer_sets));
  EXPECT_EQ(fields_of(recording.rounds), fields_of(sample.recording.rounds));
  EXPECT_EQ(fields_of(recording.draft_tokens), fields_of(sample.recording.draft_tokens));
  EXPECT_EQ(fields_of(recording.tracks), fields_of(sample.recording.tracks));

  std::stable_sort(sample.decisions.begin(), sample.decisions.end(),
                   [](const Decision& a, const Decision& b) { return a.start_ns < b.start_ns; });
  EXPECT_EQ(streamed_fields(reader, &Reader::decisions), fields_of(sample.decisions));
  std::sort(sample.shadow_tokens.begin(), sample.shadow_tokens.end(),
            [](const ShadowToken& a, const ShadowToken& b) { return primary_key(a) < primary_key(b); });
  EXPECT_EQ(streamed_fields(reader, &Reader::shadow_tokens), fields_of(sample.shadow_tokens));
  const auto by_time = [](const auto& a, const auto& b) {
    return std::tie(a.track_id, a.start_ns, a.id) < std::tie(b.track_id, b.start_ns, b.id);
  };
  std::sort(sample.spans.begin(), sample.spans.end(), by_time);
  EXPECT_EQ(streamed_fields(reader, &Reader::spans), fields_of(sample.spans));
  std::sort(sample.kernels.begin(), sample.kernels.end(), by_time);
  EXPECT_EQ(streamed_fields(reader, &Reader::kernels), fields_of(sample.kernels));
  EXPECT_EQ(streamed_fields(reader, &Reader::counters), fields_of(sample.counters));

  const auto strings = value_of(reader.strings());
  ASSERT_EQ(strings.size(), sample.strings.size());
  for (std::size_t i = 0; i < sample.strings.size(); ++i)
    EXPECT_EQ(strings.at(StringId::from(i + 1)), sample.strings[i]);

  const auto token_texts = value_of(reader.token_texts());
  ASSERT_EQ(token_texts.size(), sample.token_texts.size());
  for (const TokenText& written : sample.token_texts) EXPECT_EQ(token_texts.at(written.token), written.text);
}

INSTANTIATE_TEST_SUITE_P(seeds, RandomRecording, testing::Range(1U, 13U));

}  // namespace
}  // namespace draftscope::traces
