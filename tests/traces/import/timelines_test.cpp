// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome traces and Nsight Systems exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Span& span_named(const Imported& imported, std::string_view name) {
  const auto found = std::find_if(imported.spans.begin(), imported.spans.end(), [&](const Span& span) {
    return imported.strings.at(span.name_id) == name;
  });
  EXPECT_NE(found, imported.spans.end()) << name;
  static const Span none;
  return found == imported.spans.end() ? none : *found;
}

TEST(ChromeImport, NestsRangesAndPutsPhasesOutermost) {
  const Imported imported = import_fixture("chrome/pairs.json");
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

TEST(ChromeImport, ReadsRequestsAndRounds) {
  const Imported imported = import_fixture("chrome/rounds.json");
  ASSERT_EQ(imported.recording.rounds.size(), 1U);
  const Round& round = imported.recording.rounds[0];
  EXPECT_EQ(round.drafted, 4);
  EXPECT_EQ(round.accepted, 3);
  EXPECT_EQ(round.emitted, 4);
  EXPECT_EQ(round.draft_ns, 20'000);
  EXPECT_EQ(round.verify_ns, 25'500);
  EXPECT_EQ(imported.recording.runs[0].specification, "layerskip:exit=2,gamma=4");
  EXPECT_EQ(imported.recording.requests[0].tokens.size(), 5U);
  const Span& layer = span_named(imported, "layer");
  EXPECT_EQ(layer.layer, 0);
  EXPECT_EQ(layer.start_ns, 11'000);
  EXPECT_EQ(layer.end_ns, 16'000);
  EXPECT_EQ(layer.phase, Phase::draft);
  EXPECT_EQ(layer.parent_id, span_named(imported, "draft").id);
  ASSERT_EQ(imported.kernels.size(), 2U);
  EXPECT_EQ(imported.kernels[0].span_id, layer.id);
  EXPECT_EQ(imported.kernels[0].round_id, round.id);
  EXPECT_EQ(imported.kernels[0].phase, Phase::draft);
  EXPECT_EQ(imported.kernels[0].layer, 0);
  EXPECT_EQ(imported.kernels[1].round_id, round.id) << "as versions before 0.3 exported it";
  EXPECT_EQ(imported.kernels[1].phase, Phase::verify);
}

/// A round of 6 draft tokens of which 2 were accepted, with a further argument.
std::string tree_round(std::string_view argument) {
  return fmt::format(
      R"([{{"ph":"X","pid":1,"tid":1,"ts":1,"dur":9,"name":"swift","cat":"request","args":{{"tokens":4}}}},)"
      R"({{"ph":"X","pid":1,"tid":1,"ts":2,"dur":4,"name":"round","args":{{"planned":5,"drafted":6,)"
      R"("accepted":2,"emitted":3{}}}}}])",
      argument);
}

TEST(ChromeImport, TakesTheDepthOfATreeOrTheMostThatItsCountsAllow) {
  const auto depth = [](std::string_view argument) {
    return import_text("tree.json", tree_round(argument)).recording.rounds.at(0).tree_depth;
  };
  for (int given = 2; given <= 5; ++given) EXPECT_EQ(depth(fmt::format(R"(,"tree_depth":{})", given)), given);
  EXPECT_EQ(depth(""), 5);
  EXPECT_THAT(import_text("tree.json", tree_round(R"(,"tree_depth":2)")).summary.missing,
              Contains(MissingData::draft_trees));
  const ImportFolder folder;
  for (const std::string wrong : {"1", "6", "-1", "2.5", R"("2")"}) {
    const auto file = folder.write("wrong.json", tree_round(R"(,"tree_depth":)" + wrong));
    const auto imported = import_recordings({file}, {.format = "chrome"}, folder / "out.dstrace");
    ASSERT_FALSE(imported) << wrong;
    EXPECT_THAT(imported.error().message, HasSubstr("tree_depth is")) << wrong;
    EXPECT_THAT(imported.error().message, HasSubstr("expected an integer from 2 to 5")) << wrong;
  }
}

TEST(ChromeImport, PutsRangesThatOverlapOnTracksOfTheirOwn) {
  const Imported imported =
      import_text("overlap.json", R"([{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},)"
                                  R"({"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"b"}])");
  EXPECT_NE(span_named(imported, "a").track_id, span_named(imported, "b").track_id);
}

constexpr std::string_view good_event = R"({"ph":"X","pid":1,"tid":1,"ts":4,"dur":2,"name":"good"})";

Imported partially(const ImportFolder& folder, std::string_view text) {
  return import_soundly({folder.write("a.json", text)},
                        {.format = "chrome", .overwrite = true, .partial = true}, folder / "out.dstrace");
}

TEST(ChromeImport, TakesAnArrayWithoutItsEndAndTimesInTexts) {
  const ImportFolder folder;
  for (const std::string end : {"", ",", ",\n"}) {
    const auto file = folder.write("a.json", "[\n" + std::string(good_event) + end);
    const Imported imported = import_soundly({file}, {.overwrite = true}, folder / "out.dstrace");
    EXPECT_EQ(imported.spans.size(), 1U);
    EXPECT_TRUE(imported.summary.remarks.empty());
  }
  const auto texts =
      folder.write("b.json", R"([{"ph":"X","ts":"1762000000123.456","dur":"2.5","name":"a"}])");
  const Imported imported = import_soundly({texts}, {.overwrite = true}, folder / "out.dstrace");
  EXPECT_EQ(imported.spans.at(0).start_ns, 1'762'000'000'123'456);
  EXPECT_EQ(imported.spans.at(0).end_ns, 1'762'000'000'125'956);
}

TEST(ChromeImport, CutsWhatBeganBeforeItsZero) {
  const Imported imported = import_text(
      "a.json", R"([{"ph":"X","ts":-9,"dur":2,"name":"b"},{"ph":"X","ts":-5,"dur":8,"name":"a"}])");
  EXPECT_EQ(imported.spans.size(), 1U);
  EXPECT_THAT(imported.summary.remarks, Contains(HasSubstr("1 events ended before its zero")));
  EXPECT_EQ(imported.spans.at(0).start_ns, 0);
  EXPECT_EQ(imported.spans.at(0).end_ns, 3'000);
  EXPECT_THAT(imported.summary.remarks, Contains(HasSubstr("1 events began before its zero")));
}

TEST(ChromeImport, PassesOverNamesAndCountsBadEventsIfAsked) {
  const ImportFolder folder;
  for (const std::string_view bad :
       {R"({"ph":"B","pid":1,"tid":1,"ts":1,"name":"bad"})", R"({"ph":"E","pid":1,"tid":1,"ts":1})",
        R"({"ph":"X","ts":1,"name":"bad"})", R"({"ph":"X","dur":1,"name":"bad"})",
        R"({"ph":"X","ts":1,"dur":-1,"name":"bad"})", R"({"ph":"X","ts":"now","dur":1,"name":"bad"})",
        R"({"ph":"X","ts":NaN,"dur":1,"name":"bad"})", R"({"ph":"X","ts":1e999,"dur":1,"name":"bad"})",
        R"({"ph":"C","name":"bad","args":{"value":1}})", R"({"ph":"X","ts":1,"dur":1,"name":"round"})", "3",
        "[1]", R"({"ph":"X","ts":1,"dur":1,"name":"request","args":{"tokens":-1}})"}) {
    const std::string text = fmt::format("[{},{},{}]", bad, good_event, bad);
    EXPECT_FALSE(import_recordings({folder.write("s.json", text)}, {.format = "chrome"}, folder / "s"))
        << bad;
    const Imported imported = partially(folder, text);
    EXPECT_EQ(imported.spans.size(), 1U) << bad;
    EXPECT_THAT(imported.summary.remarks, Contains(HasSubstr("passed over 2 events, the first: "))) << bad;
    EXPECT_THAT(imported.recording.meta.at("import_remarks"), HasSubstr("a.json: ")) << bad;
  }
}

TEST(ChromeImport, MendsWhatProgramsDoNotEscapeIfAsked) {
  const ImportFolder folder;
  for (const std::string_view name :
       {"a\tb", "a\nb", "a\x01 b", "a\xff", "a\xed\xa0\x80", "a\xe4\xb8", "\xc0\xaf", R"(\ud800)",
        R"(\ud800\n)", R"(\ud800\ud800)", R"(\udc00x)", R"(a\x)", R"(\u12)"}) {
    const std::string text = fmt::format(R"([{},{{"ph":"X","ts":8,"dur":1,"name":"{}"}}])", good_event, name);
    EXPECT_FALSE(import_recordings({folder.write("s.json", text)}, {.format = "chrome"}, folder / "s"))
        << name;
    const Imported imported = partially(folder, text);
    EXPECT_EQ(imported.spans.size(), 2U) << name;
    EXPECT_THAT(imported.summary.remarks, Contains(HasSubstr("places that JSON does not allow"))) << name;
  }
  const Imported values = partially(
      folder, fmt::format(R"([{},{{"ph":"C","ts":1,"name":"c","args":{{"x":-Infinity,"y":NaN,"z":2.5,}}}},])",
                          good_event));
  ASSERT_EQ(values.counters.size(), 1U);
  EXPECT_EQ(values.counters[0].value, 2.5);
  const Imported whole =
      partially(folder, R"([{"ph":"X","ts":1,"dur":1,"name":"é 歪 \ud83c\udfcb \" \\","x":[1,2]}])");
  EXPECT_TRUE(whole.summary.remarks.empty()) << "nothing of it is bad";
  EXPECT_EQ(span_named(whole, "é 歪 🏋 \" \\").start_ns, 1'000);
}

TEST(ChromeImport, TakesACutFileUpToItsLastWholeEventIfAsked) {
  const ImportFolder folder;
  for (const char* const name : {"chrome/rounds.json", "chrome/pairs.json"}) {
    std::ifstream file(fixture(name));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t first = text.find('}', text.find(R"("ph":"X")"));
    std::size_t spans_before = 0;
    for (std::size_t bytes = text.find("}}", first) + 2; bytes < text.size(); bytes += 7) {
      const Imported imported = partially(folder, std::string_view(text).substr(0, bytes));
      const std::size_t spans = imported.spans.size() + imported.recording.requests.size();
      EXPECT_GE(spans, spans_before == 0 ? 0 : spans_before - 1) << name << " cut at byte " << bytes;
      spans_before = spans;
    }
  }
  const Imported open = partially(
      folder, R"([{"ph":"B","ts":1,"name":"request"},{"ph":"X","ts":2,"dur":3,"name":"draft"},{"ph":"X","t)");
  ASSERT_EQ(open.recording.requests.size(), 1U);
  EXPECT_EQ(open.recording.requests[0].stop, RequestStop::cancelled);
  EXPECT_EQ(open.recording.requests[0].end_ns, 5'000);
  EXPECT_THAT(open.summary.remarks, Contains(HasSubstr("after event 2, which is the last one taken")));
}

/// An export as Nsight Systems writes it, made by these statements.
std::filesystem::path export_of(const ImportFolder& folder, const std::string& statements) {
  std::filesystem::path file = folder / "export.sqlite";
  std::filesystem::remove(file);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return file;
}

std::string ranges_table(const std::string& name, const std::string& rows) {
  return fmt::format("CREATE TABLE {0} (start, end, eventType, text, globalTid); INSERT INTO {0} VALUES {1};",
                     name, rows);
}

std::string kernels_table(const std::string& name, const std::string& rows) {
  return fmt::format(
      "CREATE TABLE {0} (start, end, streamId, correlationId, shortName); INSERT INTO {0} VALUES {1};", name,
      rows);
}

TEST(NsysImport, ReadsTheNewestVersionOfEachTable) {
  const ImportFolder folder;
  const auto file =
      export_of(folder, ranges_table("NVTX_EVENTS", "(1, 2, 59, 'old', 1)") +
                            ranges_table("NVTX_EVENTS_V3", "(10, 20, 59, 'new', 1)") +
                            kernels_table("CUPTI_ACTIVITY_KIND_KERNEL_V2", "(12, 15, 7, 1, 4)") +
                            "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (4, 'gemm');"
                            "CREATE TABLE OSRT_API (start, end); INSERT INTO OSRT_API VALUES (1, 2);"
                            "CREATE TABLE META_DATA_EXPORT (name, value);"
                            "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.2.0');");
  const Imported imported = import_soundly({file}, {}, folder / "out.dstrace");
  EXPECT_EQ(span_named(imported, "new").end_ns, 20);
  ASSERT_EQ(imported.kernels.size(), 1U);
  EXPECT_EQ(imported.strings.at(imported.kernels[0].short_name_id), "gemm");
  EXPECT_EQ(imported.recording.meta.at("nsys_schema"), "4.2.0");
  EXPECT_THAT(imported.summary.remarks, Contains(HasSubstr("not read, in NVTX_EVENTS, OSRT_API")));
  EXPECT_THAT(imported.summary.missing, Not(Contains(MissingData::device)));
}

TEST(NsysImport, SaysWhatItDoesNotReadAndWhatHasNoName) {
  const ImportFolder folder;
  const auto unread =
      export_of(folder, ranges_table("NVTX_EVENTS", "(1, 2, 59, 'a', 1)") +
                            kernels_table("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "(12, 15, 7, 1, 4)"));
  const Imported ranges = import_soundly({unread}, {}, folder / "out.dstrace");
  EXPECT_THAT(ranges.summary.remarks, Contains(HasSubstr("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")));
  EXPECT_THAT(ranges.summary.missing, Not(Contains(MissingData::device))) << "it is in the source";
  const auto nameless = export_of(folder, kernels_table("CUPTI_ACTIVITY_KIND_KERNEL", "(12, 15, 7, 1, 4)"));
  const Imported kernels = import_soundly({nameless}, {.overwrite = true}, folder / "out.dstrace");
  EXPECT_THAT(kernels.summary.remarks, Contains(HasSubstr("1 names of kernels are not in its StringIds")));
}

TEST(NsysImport, CutsTimesToItsZeroAndPassesOverBadRowsIfAsked) {
  const ImportFolder folder;
  const auto early =
      export_of(folder, ranges_table("NVTX_EVENTS", "(-3000, 20, 59, 'a', 1), (-9, -5, 59, 'b', 1)") +
                            kernels_table("CUPTI_ACTIVITY_KIND_KERNEL", "(-5, 3, 7, 1, 4)"));
  const Imported cut = import_soundly({early}, {}, folder / "out.dstrace");
  EXPECT_EQ(span_named(cut, "a").start_ns, 0);
  EXPECT_EQ(cut.kernels.at(0).start_ns, 0);
  EXPECT_THAT(cut.summary.remarks, Contains(HasSubstr("2 rows began before its zero")));
  EXPECT_EQ(cut.spans.size(), 1U);
  EXPECT_THAT(cut.summary.remarks, Contains(HasSubstr("1 rows ended before its zero")));
  for (const char* const bad :
       {"(9, 5, 59, 'b', 1)", "('x', 5, 59, 'b', 1)", "(1, 2.5, 59, 'b', 1)", "(1, 5, 59, x'00', 1)"}) {
    const auto file =
        export_of(folder, ranges_table("NVTX_EVENTS", std::string("(1, 2, 59, 'a', 1), ") + bad));
    const auto refused = import_recordings({file}, {}, folder / "refused");
    ASSERT_FALSE(refused) << bad;
    EXPECT_THAT(refused.error().message, HasSubstr("NVTX_EVENTS row 2: ")) << bad;
    const Imported imported =
        import_soundly({file}, {.overwrite = true, .partial = true}, folder / "out.dstrace");
    EXPECT_EQ(imported.spans.size(), 1U) << bad;
    EXPECT_THAT(imported.summary.remarks, Contains(HasSubstr("passed over"))) << bad;
  }
}

TEST(ChromeImport, LeavesOutPhasesThatOverlapForLongerThanAnyClockCounts) {
  const Imported imported = import_text("a.json", R"([
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":4611686018427380,"name":"request"},
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":4611686018427380,"name":"round","args":{"round":1}},
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":4611686018427000,"name":"draft"},
{"ph":"X","pid":1,"tid":1,"ts":1,"dur":4611686018427000,"name":"draft"},
{"ph":"X","pid":1,"tid":1,"ts":2,"dur":4611686018427000,"name":"draft"}])");
  ASSERT_EQ(imported.recording.rounds.size(), 1U);
  EXPECT_EQ(imported.recording.rounds[0].draft_ns, 0);
  EXPECT_THAT(imported.summary.missing, Contains(MissingData::phase_times));
}

TEST(ChromeImport, KeepsThePlacesOfSizesAroundANull) {
  const Imported imported = import_text(
      "a.json",
      R"([{"ph":"X","cat":"kernel","ts":1,"dur":1,"name":"k","pid":1,"tid":1,"args":{"grid":[2,null,6]}}])");
  ASSERT_EQ(imported.kernels.size(), 1U);
  EXPECT_EQ(imported.kernels[0].grid_x, 2);
  EXPECT_EQ(imported.kernels[0].grid_y, 0);
  EXPECT_EQ(imported.kernels[0].grid_z, 6);
}

TEST(NsysImport, FindsPhasesRoundsLayersAndLaunches) {
  const Imported imported = import_fixture("nsys/two_rounds.sqlite");
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

TEST(NsysImport, ReadsWhatABlockTakesTheLimitsAndTheCallsThatDidSomething) {
  const ImportFolder folder;
  const auto file = export_of(
      folder,
      ranges_table("NVTX_EVENTS", "(10, 90, 59, 'verify', 1)") +
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, streamId, correlationId, shortName, blockX, "
          "registersPerThread, staticSharedMemory, dynamicSharedMemory);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 70, 7, 3, 4, 128, 96, 16, 2048);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 30, 1, 2, 5), (32, 40, 1, 3, 6);"
          "CREATE TABLE StringIds (id, value);"
          "INSERT INTO StringIds VALUES (4, 'gemm'), (5, 'cudaMalloc_v3020'), (6, 'cuLaunchKernelEx');"
          "CREATE TABLE TARGET_INFO_GPU (computeMajor, computeMinor, smCount, maxWarpsPerSm, maxBlocksPerSm, "
          "maxRegistersPerSm, maxShmemPerSm);"
          "INSERT INTO TARGET_INFO_GPU VALUES (8, 9, 128, 48, 24, 65536, 102400);");
  const Imported imported = import_soundly({file}, {}, folder / "out.dstrace");
  ASSERT_EQ(imported.kernels.size(), 2U);
  const Kernel& gemm = imported.kernels[0];
  const Kernel& call = imported.kernels[1];
  EXPECT_EQ(gemm.registers_per_thread, 96);
  EXPECT_EQ(gemm.static_shared_bytes, 16);
  EXPECT_EQ(gemm.dynamic_shared_bytes, 2048);
  EXPECT_EQ(imported.strings.at(call.short_name_id), "[cuLaunchKernelEx]");
  EXPECT_EQ(call.correlation_id, gemm.correlation_id);
  EXPECT_EQ(call.span_id, span_named(imported, "verify").id);
  EXPECT_EQ(call.end_ns, 40);
  EXPECT_EQ(imported.recording.meta.at("device_limits"),
            R"({"compute_capability":"8.9","multiprocessors":128,"max_warps":48,"max_blocks":24,)"
            R"("max_registers":65536,"max_shared_bytes":102400})");
}

}  // namespace
}  // namespace draftscope::traces
