// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the SQL page's list of tables, and which cells are links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "data/sql_schema.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::ElementsAre;

TEST(Sql, KnowsEveryTableAndColumnOfTheFile) {
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "sample.dstrace");
  const std::vector<SqlTable> tables =
      read_sql_schema(folder / "sample.dstrace", [] { return true; }).value();
  for (const std::vector<std::string>& row :
       traces::query(folder / "sample.dstrace",
                     "SELECT name, type FROM sqlite_schema WHERE type IN ('table', "
                     "'view') AND name NOT LIKE 'sqlite_%'")) {
    const auto table = std::ranges::find(tables, row[0], &SqlTable::name);
    ASSERT_NE(table, tables.end()) << row[0];
    EXPECT_EQ(table->is_view, row[1] == "view");
    EXPECT_FALSE(table->columns.empty()) << row[0];
    // Quote names as the tree does in a statement.
    for (const std::string& column : table->columns)
      EXPECT_TRUE(traces::query(folder / "sample.dstrace", "SELECT " + quoted_name(column) + " FROM " +
                                                               quoted_name(table->name) + " LIMIT 0")
                      .empty());
  }
  EXPECT_EQ(quoted_name("index"), "\"index\"");
  EXPECT_EQ(quoted_name("verify_rows"), "verify_rows");
  EXPECT_EQ(quoted_name("a\"b"), "\"a\"\"b\"");
}

TEST(Sql, LeadsFromIdsToWhatTheyName) {
  EXPECT_THAT(sql_links("SELECT round, request, run, drafted FROM round_figures",
                        {"round", "request", "run", "drafted"}),
              ElementsAre(SqlLink::round, SqlLink::request, SqlLink::run, SqlLink::none));
  EXPECT_THAT(sql_links("SELECT * FROM rounds WHERE 1 ORDER BY id, request", {"id", "request"}),
              ElementsAre(SqlLink::round, SqlLink::request));
  for (const char* statement :
       {"SELECT * FROM rounds AS r, runs", "SELECT id FROM rounds JOIN runs", "SELECT id FROM strings",
        "SELECT id FROM (SELECT id FROM rounds)", "FROM", ""})
    EXPECT_THAT(sql_links(statement, {"ID"}), ElementsAre(SqlLink::none)) << statement;
}

traces::QueryResult answer_of(const std::string& preset, const std::filesystem::path& recording) {
  for (const SqlPreset& query : sql_presets())
    if (query.name == preset) return traces::query(recording, query.sql, 100'000).value();
  ADD_FAILURE() << preset;
  return {};
}

double number_of(const traces::SqlValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

TEST(SqlPresets, RunOnEveryRecording) {
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "sample.dstrace");
  for (const SqlPreset& query : sql_presets())
    EXPECT_TRUE(traces::query(folder / "sample.dstrace", query.sql, 10)) << query.name;
}

TEST(SqlPresets, ShareTheDevicesTimeAmongKernelsAndGaps) {
  for (const char* name : {"h200-llama-1b-operations", "h200-smollm2-graph", "h200-smollm2-node"}) {
    const auto path =
        std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples" / (std::string(name) + ".dstrace");
    traces::Reader reader = traces::Reader::open(path).value();
    const traces::Recording recording = reader.recording().value();
    const auto is_stream = [&](traces::TrackId id) {
      return std::ranges::any_of(recording.tracks, [&](const traces::Track& track) {
        return track.id == id && track.kind == "stream";
      });
    };
    // Plain union of the intervals of all streams: +1 at each start, -1 at each end.
    std::map<std::int64_t, std::int64_t> steps;
    double open_ns = 0.0;
    ASSERT_TRUE(reader.kernels([&](const traces::Kernel& kernel) {
      if (!is_stream(kernel.track_id)) return true;
      ++steps[kernel.start_ns];
      --steps[kernel.end_ns];
      open_ns += static_cast<double>(kernel.end_ns - kernel.start_ns);
      return true;
    }));
    double busy_ns = 0.0;
    double idle_ns = 0.0;
    std::int64_t running = 0;
    std::int64_t before_ns = steps.begin()->first;
    for (const auto& [at_ns, change] : steps) {
      (running > 0 ? busy_ns : idle_ns) += static_cast<double>(at_ns - before_ns);
      running += change;
      before_ns = at_ns;
    }
    double attributed_ms = 0.0;
    double open_ms = 0.0;
    for (const auto& row : answer_of("Kernels by time", path).rows) {
      attributed_ms += number_of(row[0]);
      open_ms += number_of(row[1]);
    }
    EXPECT_NEAR(attributed_ms, busy_ns / 1e6, 1e-6) << name;
    EXPECT_NEAR(open_ms, open_ns / 1e6, 1e-6) << name;
    const traces::QueryResult gaps = answer_of("Gaps on the device", path);
    const auto columns = interval_columns(gaps.columns);
    ASSERT_TRUE(columns);
    double gap_ns = 0.0;
    const QueryIntervals found = intervals_of(gaps, *columns);
    EXPECT_EQ(found.left_out, 0U);
    for (const QueryInterval& gap : found.intervals) gap_ns += static_cast<double>(gap.time.duration_ns());
    // The query gives the 1,000 longest.
    EXPECT_LE(gap_ns, idle_ns);
    if (found.intervals.size() < 1000) {
      EXPECT_EQ(gap_ns, idle_ns) << name;
    }
    EXPECT_GT(gap_ns, 0.5 * idle_ns);
    EXPECT_FALSE(answer_of("Bytes copied", path).rows.empty()) << name;
  }
}

}  // namespace
}  // namespace draftscope::gui
