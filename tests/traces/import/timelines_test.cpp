// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome traces and Nsight Systems exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../../value_of.h"
#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::Contains;

const Span& span_named(const Imported& imported, const std::string& name) {
  const auto found = std::find_if(imported.spans.begin(), imported.spans.end(), [&](const Span& span) {
    return imported.strings.at(span.name_id) == name;
  });
  EXPECT_NE(found, imported.spans.end()) << name;
  static const Span none;
  return found == imported.spans.end() ? none : *found;
}

TEST(ChromeImport, NestsRangesAndPutsPhasesOutermost) {
  const ImportFolder folder;
  const Imported imported = import_soundly({fixture("chrome/pairs.json")}, {}, folder / "out.dstrace");
  const Span& draft = span_named(imported, "draft");
  EXPECT_EQ(draft.start_ns, 10'500);
  EXPECT_EQ(draft.end_ns, 20'000);
  EXPECT_EQ(draft.depth, 0);
  EXPECT_EQ(draft.phase, Phase::draft);
  const Span& launch = span_named(imported, "launch");
  EXPECT_EQ(launch.parent_id, draft.id);
  EXPECT_EQ(launch.phase, Phase::draft) << "of the range around it";
  EXPECT_EQ(span_named(imported, "check").phase, Phase::verify) << "by its category";
  EXPECT_NE(span_named(imported, "step").track_id, draft.track_id) << "it has no phase but phases inside";
  ASSERT_EQ(imported.kernels.size(), 1U);
  EXPECT_EQ(imported.kernels[0].span_id, launch.id) << "by the correlation number";
  EXPECT_EQ(imported.kernels[0].grid_y, 2);
  EXPECT_EQ(imported.kernels[0].block_x, 128);
  ASSERT_EQ(imported.counters.size(), 1U);
  EXPECT_EQ(imported.counters[0].value, 4096.0);
  EXPECT_THAT(imported.summary.missing, Contains(MissingData::runs));
}

TEST(ChromeImport, ReadsTheProjectsOwnRequestsRoundsAndDecisions) {
  const ImportFolder folder;
  const Imported imported = import_soundly({fixture("chrome/rounds.json")}, {}, folder / "out.dstrace");
  ASSERT_EQ(imported.recording.rounds.size(), 1U);
  const Round& round = imported.recording.rounds[0];
  EXPECT_EQ(round.drafted, 4);
  EXPECT_EQ(round.accepted, 3);
  EXPECT_EQ(round.emitted, 4);
  EXPECT_EQ(round.draft_ns, 20'000);
  EXPECT_EQ(round.verify_ns, 25'500);
  EXPECT_EQ(imported.recording.runs[0].specification, "layerskip:exit=2,gamma=4");
  EXPECT_EQ(imported.recording.requests[0].tokens.size(), 5U);
  EXPECT_EQ(span_named(imported, "layer").layer, 0);
  ASSERT_EQ(imported.kernels.size(), 1U);
  EXPECT_EQ(imported.kernels[0].span_id, span_named(imported, "draft").id) << "by the arrow";
  EXPECT_EQ(imported.kernels[0].round_id, round.id);
  ASSERT_EQ(imported.decisions.size(), 1U);
  EXPECT_EQ(imported.decisions[0].score, 0.5);
  EXPECT_EQ(imported.decisions[0].round_id, round.id);
}

TEST(ChromeImport, KeepsEveryRowThroughItsOwnExport) {
  const ImportFolder folder;
  const Imported first = import_soundly({fixture("chrome/rounds.json")}, {}, folder / "first.dstrace");
  auto reader = value_of(Reader::open(folder / "first.dstrace"));
  ASSERT_TRUE(export_chrome(reader, folder / "again.json"));
  const Imported second = import_soundly({folder / "again.json"}, {}, folder / "second.dstrace");
  ASSERT_EQ(first.spans.size(), second.spans.size());
  for (std::size_t i = 0; i < first.spans.size(); ++i) {
    EXPECT_EQ(first.spans[i].start_ns, second.spans[i].start_ns);
    EXPECT_EQ(first.spans[i].end_ns, second.spans[i].end_ns);
    EXPECT_EQ(first.spans[i].phase, second.spans[i].phase);
    EXPECT_EQ(first.spans[i].depth, second.spans[i].depth);
  }
  EXPECT_EQ(first.recording.rounds[0].draft_ns, second.recording.rounds[0].draft_ns);
  EXPECT_EQ(first.recording.rounds[0].accepted, second.recording.rounds[0].accepted);
  EXPECT_EQ(first.kernels.size(), second.kernels.size());
  EXPECT_EQ(first.decisions.size(), second.decisions.size());
}

TEST(ChromeImport, PutsRangesThatOverlapOnTracksOfTheirOwn) {
  const ImportFolder folder;
  const auto file = folder.write("overlap.json", R"([{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},)"
                                                 R"({"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"b"}])");
  const Imported imported = import_soundly({file}, {}, folder / "out.dstrace");
  EXPECT_NE(span_named(imported, "a").track_id, span_named(imported, "b").track_id);
}

TEST(NsysImport, FindsPhasesRoundsLayersAndLaunches) {
  const ImportFolder folder;
  const Imported imported = import_soundly({fixture("nsys/two_rounds.sqlite")}, {}, folder / "out.dstrace");
  ASSERT_EQ(imported.recording.requests.size(), 1U);
  EXPECT_EQ(imported.recording.requests[0].start_ns, 100);
  EXPECT_EQ(imported.recording.requests[0].end_ns, 600);
  ASSERT_EQ(imported.recording.rounds.size(), 2U);
  EXPECT_EQ(imported.recording.rounds[0].draft_ns, 100);
  EXPECT_EQ(imported.recording.rounds[0].verify_ns, 100);
  EXPECT_EQ(imported.recording.rounds[1].draft_ns, 50);
  EXPECT_EQ(imported.recording.rounds[1].verify_ns, 150);
  EXPECT_THAT(imported.summary.missing, Contains(MissingData::accepted_lengths));
  EXPECT_EQ(span_named(imported, "layer").layer, 6);
  ASSERT_EQ(imported.kernels.size(), 3U);
  const Kernel& drafting = imported.kernels[0];
  EXPECT_EQ(drafting.span_id, span_named(imported, "layer").id);
  EXPECT_EQ(drafting.phase, Phase::draft);
  EXPECT_EQ(drafting.layer, 6);
  EXPECT_EQ(drafting.round_id, imported.recording.rounds[0].id);
  EXPECT_EQ(imported.strings.at(drafting.short_name_id), "skinny_product");
  EXPECT_EQ(imported.kernels[1].phase, Phase::verify);
  EXPECT_EQ(imported.strings.at(imported.kernels[2].short_name_id), "[memcpy DtoH]");
  EXPECT_EQ(imported.kernels[2].span_id, span_named(imported, "outside").id);
}

}  // namespace
}  // namespace draftscope::traces
