// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/writer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../../cli/trace_files.h"
#include "rounds/replay/shadow_table.h"
#include "toy_model.h"

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;

/// The first request of the file: a prompt of two tokens and an output of three; two layers.
struct Written {
  std::vector<traces::ShadowToken> rows;

  Result<std::vector<ShadowTable>> tables() {
    const cli::TemporaryFolder folder;
    const auto path = folder / "run.dstrace";
    traces::Recording recording;
    recording.runs.push_back(
        {.id = 1, .strategy = "vanilla", .specification = "vanilla", .parameters = "{}"});
    recording.prompts.push_back({.id = 1, .text = "a", .tokens = {10, 11}});
    recording.requests.push_back({.id = 1,
                                  .run_id = 1,
                                  .prompt_id = 1,
                                  .start_ns = 1,
                                  .end_ns = 9,
                                  .stop = traces::RequestStop::eos,
                                  .tokens = {20, 21, 22}});
    recording.requests.push_back({.id = 2,
                                  .run_id = 1,
                                  .prompt_id = 1,
                                  .start_ns = 10,
                                  .end_ns = 19,
                                  .stop = traces::RequestStop::eos,
                                  .tokens = {20}});
    {
      DRAFTSCOPE_TRY_ASSIGN(const auto writer, traces::Writer::create(path, {}));
      (void)writer->add(recording.runs[0]);
      (void)writer->add(recording.prompts[0]);
      for (const traces::Request& request : recording.requests) {
        (void)writer->begin(request);
        writer->finish(request);
      }
      writer->add(std::span<const traces::ShadowToken>(rows));
      DRAFTSCOPE_TRY(writer->close());
    }
    DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
    DRAFTSCOPE_TRY_ASSIGN(const traces::Recording read, reader.recording());
    DRAFTSCOPE_TRY_ASSIGN(ShadowTables found, shadow_tables(reader, read));
    if (found.tables.empty()) return fail("{}", found.no_tables_reason);
    return std::move(found.tables);
  }
};

traces::ShadowToken row(std::int32_t position, std::int32_t layer, std::int32_t token, std::int32_t rank) {
  return {.request_id = 1,
          .position = position,
          .layer = layer,
          .token = token,
          .probability = 0.5,
          .margin = 1.0,
          .true_rank = rank};
}

std::vector<traces::ShadowToken> complete() {
  return {row(3, 1, 21, 0), row(4, 1, 9, 3), row(3, 2, 21, 0), row(4, 2, 22, 0)};
}

TEST(ShadowTables, HoldWhatRoundsDraft) {
  const auto tables = Written{complete()}.tables();
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_EQ(tables->size(), 2U);
  const ShadowTable& table = tables->front();
  EXPECT_EQ(table.n_layers, 2);
  EXPECT_EQ(table.first, 3);
  EXPECT_EQ(table.text, (std::vector<std::int32_t>{10, 11, 20, 21, 22}));
  EXPECT_TRUE(table.ended_at_eos);
  EXPECT_EQ(table.cell(4, 1).token, 9);
  EXPECT_EQ(table.cell(4, 1).true_rank, 3);
  EXPECT_EQ(run_lengths(table, 1), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(run_lengths(table, 2), (std::vector<std::int32_t>{2, 1}));
  // The second request has a single token, which no round drafts.
  EXPECT_EQ(tables->back().request_id.value(), 2);
  EXPECT_TRUE(tables->back().cells.empty());
  EXPECT_TRUE(run_lengths(tables->back(), 1).empty());
}

TEST(ShadowTables, KeepPromptAndEndApart) {
  std::vector<traces::ShadowToken> rows;
  for (const std::int32_t layer : {1, 2})
    for (const auto& [position, token] : {std::pair{1, 11}, {2, 20}, {3, 21}, {4, 22}, {5, 0}})
      rows.push_back(row(position, layer, token, position < 5 ? 0 : -1));
  const auto tables = Written{rows}.tables();
  ASSERT_TRUE(tables) << tables.error().message;
  const ShadowTable& table = tables->front();
  EXPECT_EQ(table.prompt_positions(), 2);
  EXPECT_EQ(table.prompt_cells[2].token, 20);
  EXPECT_EQ(table.cells.size(), 4U);
  ASSERT_EQ(table.end_cells.size(), 2U);
  EXPECT_EQ(table.end_cells[1].token, 0);
}

TEST(ShadowTables, RefuseHolesAndContradictions) {
  const auto message = [](std::vector<traces::ShadowToken> rows) {
    const auto tables = Written{std::move(rows)}.tables();
    return tables ? "" : tables.error().message;
  };
  EXPECT_THAT(message({}), HasSubstr("record with --shadow"));
  auto rows = complete();
  rows[1].position = 5;
  EXPECT_THAT(message(rows), HasSubstr("layer 1: found position 5, expected 4"));
  rows = complete();
  rows.pop_back();
  EXPECT_THAT(message(rows), HasSubstr("layer 2 has 1 positions, expected 2"));
  rows = complete();
  rows[0].true_rank = 1;
  EXPECT_THAT(message(rows), HasSubstr("rank is 1"));
  rows = complete();
  rows[2].layer = rows[3].layer = 3;
  EXPECT_THAT(message(rows), HasSubstr("found layer 3, expected 2"));
  rows = {row(4, 1, 22, 0), row(4, 2, 22, 0)};
  EXPECT_THAT(message(rows), HasSubstr("positions are 4 to 4, expected 3 to 4"));
  rows = complete();
  rows.insert(rows.begin() + 2, {row(5, 1, 1, -1), row(6, 1, 1, -1)});
  EXPECT_THAT(message(rows), HasSubstr("found position 6, expected at most 5"));
}

}  // namespace
}  // namespace draftscope::simulator
