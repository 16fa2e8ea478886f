// SPDX-License-Identifier: GPL-3.0-or-later
// The stored overview is compared with its plain definition over all rows.
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "../value_of.h"
#include "read_everything.h"
#include "sample.h"
#include "storage/columns.h"
#include "storage/overview_builder.h"

namespace draftscope::traces {
namespace {

const std::atomic<bool> never_stopped{false};

Overview overview_of(const std::filesystem::path& path) {
  auto reader = value_of(Reader::open(path, never_stopped));
  return value_of(value_of(reader.overview()));
}

struct Interval {
  LaneOf lane;
  std::int64_t owner;
  std::int32_t depth;
  Phase phase;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

std::vector<Interval> intervals_of(const Sample& sample) {
  std::map<RequestId, RunId> runs;
  std::vector<Interval> all;
  for (const Request& row : sample.recording.requests) {
    runs[row.id] = row.run_id;
    all.push_back({LaneOf::requests, row.run_id.value(), 0, Phase::control, row.start_ns, row.end_ns});
  }
  for (const Round& row : sample.recording.rounds)
    all.push_back({LaneOf::rounds, runs.at(row.request_id).value(), 0,
                   row.drafted > 0 && row.draft_ns > row.verify_ns ? Phase::draft : Phase::verify,
                   row.start_ns, row.end_ns});
  for (const Decision& row : sample.decisions)
    all.push_back({LaneOf::decisions, 0, 0, Phase::optimise, row.start_ns, row.end_ns});
  for (const Span& row : sample.spans)
    all.push_back({LaneOf::spans, row.track_id.value(), row.depth, row.phase, row.start_ns, row.end_ns});
  for (const Kernel& row : sample.kernels)
    all.push_back({LaneOf::kernels, row.track_id.value(), 0, row.phase, row.start_ns, row.end_ns});
  return all;
}

class StoredOverview : public testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    sample_ = make_sample_file(
        path_,
        {.seed = GetParam(), .runs = 3, .requests_per_run = 5, .max_rounds = GetParam() % 2 == 0 ? 200 : 9});
  }
  TestFolder folder_;
  std::filesystem::path path_ = folder_ / "trace.dstrace";
  Sample sample_;
};

TEST_P(StoredOverview, KeepsEveryRuleAndHasAsManyColumnsAsReachOverAllThatLasted) {
  EXPECT_EQ(read_everything(path_), "");
  const Overview overview = overview_of(path_);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const Interval& interval : intervals_of(sample_)) {
    if (interval.end_ns == interval.start_ns) continue;
    first = std::min(first, interval.start_ns);
    last = std::max(last, interval.end_ns - 1);
  }
  const auto rows = static_cast<std::int64_t>(sample_.recording.rounds.size() + sample_.decisions.size() +
                                              sample_.spans.size() + sample_.kernels.size());
  std::int64_t width = 1;
  while (last / width - first / width + 1 > std::clamp<std::int64_t>(rows / 128, 16, 2048)) width *= 2;
  EXPECT_EQ(overview.column_ns, width);
}

TEST_P(StoredOverview, SaysHowLongEachLaneWasBusyInEachColumn) {
  const Overview overview = overview_of(path_);
  const std::int64_t width = overview.column_ns;
  std::map<std::tuple<LaneOf, std::int64_t, std::int32_t, std::int64_t, Phase>, std::int64_t> expected;
  for (const Interval& interval : intervals_of(sample_))
    for (std::int64_t at = interval.start_ns / width * width; at < interval.end_ns; at += width) {
      const std::int64_t ns = std::min(interval.end_ns, at + width) - std::max(interval.start_ns, at);
      if (ns > 0) expected[{interval.lane, interval.owner, interval.depth, at, interval.phase}] += ns;
    }
  ASSERT_EQ(overview.lanes.size(), expected.size());
  for (const LaneColumn& row : overview.lanes) {
    const auto found = expected.find(primary_key(row));
    ASSERT_NE(found, expected.end());
    EXPECT_EQ(row.busy_ns, found->second);
  }
}

TEST_P(StoredOverview, CountsRoundsAndTokensByColumnAndRequest) {
  const Overview overview = overview_of(path_);
  std::map<RequestId, RunId> runs;
  for (const Request& row : sample_.recording.requests) runs[row.id] = row.run_id;
  std::map<LayerSetId, const LayerSet*> sets;
  for (const LayerSet& set : sample_.recording.layer_sets) sets[set.id] = &set;
  std::map<std::pair<RunId, std::int64_t>, RoundColumn> columns;
  std::map<RequestId, RequestSum> sums;
  for (const Round& row : sample_.recording.rounds) {
    RoundColumn& column =
        columns[{runs.at(row.request_id), row.start_ns / overview.column_ns * overview.column_ns}];
    ++column.rounds;
    column.emitted += row.emitted;
    column.max_emitted = std::max(column.max_emitted, row.emitted);
    RequestSum& sum = sums[row.request_id];
    ++sum.rounds;
    sum.drafted += row.drafted;
    sum.accepted += row.accepted;
    sum.emitted += row.emitted;
    sum.draft_steps += row.tree_depth;
    std::int64_t kept = 2 * row.exit_layer;
    if (const auto set = sets.find(row.layer_set_id); set != sets.end()) {
      kept = 0;
      for (std::int32_t bit = 0; bit < 2 * set->second->n_layers; ++bit)
        kept += (set->second->skipped[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & 1) == 0 ? 1 : 0;
    }
    sum.draft_sublayers += row.tree_depth * kept;
    sum.rounds_ns += row.end_ns - row.start_ns;
    sum.draft_ns += row.draft_ns;
    sum.verify_ns += row.verify_ns;
    sum.accept_ns += row.accept_ns;
    sum.optimise_ns += row.optimise_ns;
    sum.control_ns += row.control_ns;
  }
  ASSERT_EQ(overview.rounds.size(), columns.size());
  for (const RoundColumn& row : overview.rounds) {
    const RoundColumn& column = columns[{row.run_id, row.start_ns}];
    EXPECT_EQ(row.rounds, column.rounds);
    EXPECT_EQ(row.emitted, column.emitted);
    EXPECT_EQ(row.max_emitted, column.max_emitted);
  }
  ASSERT_EQ(overview.requests.size(), sums.size());
  for (const RequestSum& row : overview.requests) {
    const RequestSum& sum = sums[row.request_id];
    for (const auto member : {&RequestSum::rounds, &RequestSum::drafted, &RequestSum::accepted,
                              &RequestSum::emitted, &RequestSum::draft_steps, &RequestSum::draft_sublayers,
                              &RequestSum::rounds_ns, &RequestSum::draft_ns, &RequestSum::verify_ns,
                              &RequestSum::accept_ns, &RequestSum::optimise_ns, &RequestSum::control_ns})
      EXPECT_EQ(row.*member, sum.*member) << row.request_id;
  }
}

TEST_P(StoredOverview, DoesNotDependOnTheOrderOfTheRows) {
  OverviewBuilder forward;
  OverviewBuilder backward;
  for (OverviewBuilder* builder : {&forward, &backward}) {
    for (const LayerSet& set : sample_.recording.layer_sets) builder->add(set);
    for (const Request& request : sample_.recording.requests) builder->add(request);
  }
  const auto add_all = [](OverviewBuilder& builder, const auto& rows, bool is_backward) {
    for (std::size_t i = 0; i < rows.size(); ++i) builder.add(rows[is_backward ? rows.size() - 1 - i : i]);
  };
  add_all(forward, sample_.spans, false);
  add_all(forward, sample_.recording.rounds, false);
  add_all(forward, sample_.kernels, false);
  add_all(backward, sample_.kernels, true);
  add_all(backward, sample_.recording.rounds, true);
  add_all(backward, sample_.spans, true);
  const auto a = forward.finish();
  const auto b = backward.finish();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->column_ns, b->column_ns);
  ASSERT_EQ(a->lanes.size(), b->lanes.size());
  for (std::size_t i = 0; i < a->lanes.size(); ++i) {
    EXPECT_EQ(primary_key(a->lanes[i]), primary_key(b->lanes[i]));
    EXPECT_EQ(a->lanes[i].busy_ns, b->lanes[i].busy_ns);
  }
  EXPECT_EQ(a->rounds.size(), b->rounds.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoredOverview, testing::Range(1U, 7U));

TEST(Overview, IsNotStoredWhereNothingLasted) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  ASSERT_TRUE(writer->close());
  auto reader = value_of(Reader::open(folder / "trace.dstrace", never_stopped));
  const auto overview = value_of(reader.overview());
  EXPECT_FALSE(overview);
  EXPECT_EQ(read_everything(folder / "trace.dstrace"), "");
}

TEST(Overview, IsNotMadeOfMoreLanesThanItHas) {
  OverviewBuilder builder;
  for (int track = 1; track <= 600; ++track) {
    Span span;
    span.track_id = TrackId::from(track);
    span.end_ns = 10;
    builder.add(span);
  }
  EXPECT_FALSE(builder.finish());
}

TEST(Overview, SurvivesTimesThatNoClockGives) {
  OverviewBuilder builder;
  constexpr std::int64_t end = std::int64_t{1} << 62U;
  for (int i = 0; i < 3000; ++i) {
    Span span;
    span.track_id = 1;
    span.start_ns = i % 7;
    span.end_ns = end - i % 5;
    builder.add(span);
  }
  const auto overview = value_of(builder.finish());
  EXPECT_LE(overview.lanes.size(), 23U);
  for (const LaneColumn& row : overview.lanes) EXPECT_GT(row.busy_ns, 0);
}

TEST(Overview, ThatCanNotBeReadIsAnErrorOfOneLine) {
  for (const char* sql : {"UPDATE meta SET value = 'wide' WHERE key = 'overview_column_ns'",
                          "UPDATE meta SET value = '0' WHERE key = 'overview_column_ns'",
                          "UPDATE lane_columns SET depth = depth + 99999999999",
                          "UPDATE round_columns SET start_ns = -1 WHERE run = 1 AND start_ns = (SELECT "
                          "max(start_ns) FROM round_columns WHERE run = 1)"}) {
    const SampleFile file({.seed = 3});
    change(file.path, sql);
    auto reader = value_of(Reader::open(file.path, never_stopped));
    const auto overview = reader.overview();
    ASSERT_FALSE(overview) << sql;
    EXPECT_THAT(overview.error().message, testing::StartsWith(file.path.string() + ": "));
    EXPECT_EQ(overview.error().message.find('\n'), std::string::npos);
    EXPECT_TRUE(reader.recording()) << "the rows are what they were";
  }
}

TEST(Reader, GivesTheRecordingWithoutItsRounds) {
  const SampleFile file;
  auto reader = value_of(Reader::open(file.path, never_stopped));
  const auto outline = value_of(reader.outline());
  EXPECT_EQ(outline.requests.size(), file.sample.recording.requests.size());
  EXPECT_EQ(outline.runs.size(), file.sample.recording.runs.size());
  EXPECT_TRUE(outline.rounds.empty());
  EXPECT_TRUE(outline.draft_tokens.empty());
}

TEST(Reader, GivesSpansAndKernelsByRangesOfTheirIds) {
  const SampleFile file({.max_rounds = 40});
  auto reader = value_of(Reader::open(file.path, never_stopped));
  const auto count = static_cast<std::int64_t>(file.sample.spans.size());
  std::int64_t next = 1;
  for (const IdRange ids : {IdRange{1, count / 3}, IdRange{count / 3 + 1, count}, IdRange{count + 1}}) {
    const auto read = reader.spans(ids, [&](const Span& span) {
      EXPECT_EQ(span.id.value(), next);
      EXPECT_EQ(span.start_ns, file.sample.spans[static_cast<std::size_t>(next - 1)].start_ns);
      ++next;
      return true;
    });
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(next, std::min(ids.last, count) + 1);
  }
  const auto ids = value_of(reader.highest_ids());
  const auto spans = std::ranges::find(ids, "spans", &TableCount::table);
  ASSERT_NE(spans, ids.end());
  EXPECT_EQ(spans->rows, count);
}

TEST(Reader, StopsWhenToldTo) {
  const SampleFile file({.requests_per_run = 20, .max_rounds = 400});
  std::atomic<bool> stopped{true};
  auto reader = value_of(Reader::open(file.path, stopped));
  const auto recording = reader.recording();
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().message.find('\n'), std::string::npos);
  stopped = false;
  EXPECT_TRUE(reader.recording());
}

}  // namespace
}  // namespace draftscope::traces
