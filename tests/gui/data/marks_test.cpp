// SPDX-License-Identifier: GPL-3.0-or-later
// Tests marks beside a recording, the intervals of queries, and the rounds with rejections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "data/marks/marks.h"
#include "data/rounds/detailed_times.h"
#include "data/rounds/matching_rounds.h"
#include "data/rounds/rejections.h"
#include "data/sql_schema.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

std::vector<Mark> random_marks(std::mt19937& random) {
  static const std::vector<std::string> pieces{"a", "\"", "\\", "\n", "é", "<b>", " ", "\xF0\x9F\x98\x80"};
  std::vector<Mark> marks;
  for (std::uint32_t count = random() % 12; count > 0; --count) {
    const auto start = static_cast<std::int64_t>(random() % 20) - 10;
    Mark mark{{start, start + static_cast<std::int64_t>(random() % 3)}, "m"};
    for (std::uint32_t i = random() % 6; i > 0; --i) mark.text += pieces[random() % pieces.size()];
    marks = with_mark(std::move(marks), std::move(mark));
  }
  return marks;
}

TEST(Marks, AreReadAsTheyWereWritten) {
  const traces::TestFolder folder;
  const auto file = marks_file(folder / "a.dstrace");
  EXPECT_EQ(file.filename(), "a.dstrace.marks.json");
  EXPECT_TRUE(read_marks(file)->empty()) << "no file is no marks";
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const std::vector<Mark> marks = random_marks(random);
    ASSERT_TRUE(std::ranges::is_sorted(marks, {}, [](const Mark& mark) { return mark.time.start_ns; }));
    ASSERT_TRUE(write_marks(file, marks));
    const auto read = read_marks(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, marks);
    EXPECT_EQ(std::filesystem::exists(file), !marks.empty());
  }
}

TEST(Marks, OfAnotherFormAreRefusedInOneLine) {
  const traces::TestFolder folder;
  const auto file = folder / "x.marks.json";
  const std::string long_text(max_mark_text_bytes + 1, 'x');
  std::string many = R"({"version": 1, "marks": [)";
  for (std::size_t i = 0; i <= max_marks; ++i)
    many += (i == 0 ? "" : ",") + std::string(R"({"start_ns": 0, "end_ns": 0, "text": "a"})");
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), std::string(R"({"version": 2, "marks": []})"),
        std::string(R"({"version": 1})"), std::string(R"({"version": 1, "marks": [1]})"),
        std::string(R"({"version": 1, "marks": [{"start_ns": 2, "end_ns": 1, "text": "a"}]})"),
        std::string(R"({"version": 1, "marks": [{"start_ns": 1e30, "end_ns": 1, "text": "a"}]})"),
        std::string(R"({"version": 1, "marks": [{"start_ns": 1, "end_ns": 1, "text": ""}]})"),
        R"({"version": 1, "marks": [{"start_ns": 1, "end_ns": 1, "text": ")" + long_text + "\"}]}",
        many + "]}"}) {
    traces::write_file(file, text);
    const auto read = read_marks(file);
    ASSERT_FALSE(read) << text.substr(0, 100);
    EXPECT_THAT(read.error().message, HasSubstr("expected"));
    EXPECT_THAT(read.error().message, HasSubstr("x.marks.json"));
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(write_marks("/nowhere/x.marks.json", std::vector<Mark>{{{0, 0}, "a"}}));
}

TEST(Marks, AreStoppedAtOneByOneAndRoundAgain) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Mark> marks = random_marks(random);
    for (std::int64_t at = -12; at < 13; ++at)
      for (const bool forward : {true, false}) {
        const auto found = next_mark(marks, at, forward);
        ASSERT_EQ(found.has_value(), !marks.empty());
        if (!found) continue;
        // Plain search: the nearest that lies ahead, or else the farthest one the other way.
        const auto is_ahead = [&](const Mark& mark) {
          return forward ? mark.time.start_ns > at : mark.time.start_ns < at;
        };
        std::size_t expected = forward ? 0 : marks.size() - 1;
        for (std::size_t step = 0; step < marks.size(); ++step) {
          const std::size_t index = forward ? step : marks.size() - 1 - step;
          if (!is_ahead(marks[index])) continue;
          expected = index;
          break;
        }
        EXPECT_EQ(*found, expected);
      }
  }
}

TEST(QueryIntervals, ComeFromABeginAndAnEndOrADuration) {
  EXPECT_FALSE(interval_columns({}));
  EXPECT_FALSE(interval_columns({"begin_ns", "name"}));
  EXPECT_FALSE(interval_columns({"end_ns", "duration_ns"}));
  const auto columns = interval_columns({"id", "Name", "duration_ns", "START_NS"});
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->end_is_duration);
  traces::QueryResult result;
  using Row = std::vector<traces::SqlValue>;
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  result.rows = {Row{std::int64_t{1}, "b", 5.0, std::int64_t{20}},
                 Row{std::int64_t{2}, std::monostate(), std::int64_t{0}, 9.6},
                 Row{std::int64_t{3}, "c", std::int64_t{-1}, std::int64_t{3}},
                 Row{std::int64_t{4}, "d", std::monostate(), std::int64_t{3}},
                 Row{std::int64_t{5}, "e", large, large},
                 Row{std::int64_t{6}, "f", std::numeric_limits<double>::quiet_NaN(), 1.0},
                 Row{std::int64_t{7}, "g", "1", std::int64_t{1}}};
  const QueryIntervals found = intervals_of(result, *columns);
  ASSERT_EQ(found.intervals.size(), 2U);
  EXPECT_EQ(found.left_out, 5U);
  EXPECT_EQ(found.intervals[0].time, (TimeRange{10, 10}));
  EXPECT_EQ(found.intervals[0].label, "");
  EXPECT_EQ(found.intervals[1].time, (TimeRange{20, 25}));
  EXPECT_EQ(found.intervals[1].label, "b");
}

TEST(Rejections, AreTheRoundsThatTheFilterFindsInTurn) {
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "a.dstrace",
                           {.seed = 5, .runs = 3, .requests_per_run = 4, .max_rounds = 25});
  const RecordingPointer opened = OpenedRecording::open(folder / "a.dstrace").value();
  const auto left = matching_rounds(*opened, parse_filter("rejected>0").value(), [] { return true; });
  std::size_t found_in_all = 0;
  for (std::size_t run = 0; run < opened->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened->runs()[run].rounds;
    std::vector<std::uint32_t> expected;
    for (const std::uint32_t round_index : rounds) {
      EXPECT_EQ(left[round_index], rejected_tokens(*opened, round_index).value_or(0) > 0);
      EXPECT_GE(tested_tokens(*opened, round_index).value_or(0),
                rejected_tokens(*opened, round_index).value_or(0));
      if (left[round_index]) expected.push_back(round_index);
    }
    found_in_all += expected.size();
    EXPECT_EQ(next_rejection(*opened, run, no_index, true).has_value(), !expected.empty());
    std::uint32_t at = no_index;
    for (std::size_t i = 0; i < expected.size() + 1 && !expected.empty(); ++i) {
      const Rejection next = next_rejection(*opened, run, at, true).value();
      EXPECT_EQ(next.round_index, expected[i % expected.size()]);
      EXPECT_EQ(next.number, i % expected.size() + 1);
      EXPECT_EQ(next.all, expected.size());
      if (at != no_index) {
        EXPECT_EQ(next_rejection(*opened, run, next.round_index, false)->round_index, at);
      }
      at = next.round_index;
    }
  }
  EXPECT_GT(found_in_all, 0U);
}

}  // namespace
}  // namespace draftscope::gui
