// SPDX-License-Identifier: GPL-3.0-or-later
// The neutral format: an exported recording comes back unchanged, and a cut-off one is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "../sample.h"
#include "imported.h"

namespace draftscope::traces {
namespace {

using test::bytes_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RoundsImport, HasNoSettingThatIsNull) {
  const Imported imported = import_text(
      "a.jsonl",
      R"({"record":"header","format":"draftscope-rounds","version":1,"settings":{"seed":3,"temperature":null}}
{"record":"request","request":"a","run":"x"}
{"record":"end","request":"a"}
)");
  EXPECT_EQ(imported.recording.meta.at("seed"), "3");
  EXPECT_FALSE(imported.recording.meta.contains("temperature"));
}

TEST(RoundsImport, WantsAnEndBesideTheTimeOfTheFirstToken) {
  const ImportFolder folder;
  const auto file = folder / "a.jsonl";
  test::write_bytes(file, R"({"record":"header","format":"draftscope-rounds","version":1}
{"record":"request","request":"a","run":"x","start_ns":5}
{"record":"end","request":"a","first_token_ns":9}
)");
  const auto refused = import_recordings({file}, {}, folder / "out.dstrace");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("end_ns is missing, expected it beside first_token_ns"));
}

void export_to(const std::filesystem::path& trace, const std::filesystem::path& target) {
  auto reader = value_of(Reader::open(trace));
  const auto written = export_rounds(reader, target);
  ASSERT_TRUE(written) << written.error().message;
}

/// Columns of a round that the format has; the request is identified by its place.
auto values(const Round& row, std::size_t request) {
  return std::tuple(request, row.index, row.start_ns, row.end_ns, row.root_position, row.exit_layer,
                    row.planned, row.drafted, row.tree_depth, row.accepted, row.emitted, row.verify_rows,
                    row.bonus_token, row.draft_stop, row.threshold, row.draft_ns, row.verify_ns,
                    row.accept_ns, row.optimise_ns, row.control_ns);
}
auto values(const DraftToken& row) {
  const auto known = [](double share) { return std::isfinite(share) ? share : -1.0; };
  return std::tuple(row.index, row.parent, row.token, known(row.confidence), known(row.probability),
                    row.accepted, row.tested);
}
auto values(const Request& row) {
  return std::tuple(row.repeat, row.start_ns, row.first_token_ns, row.end_ns, row.seed, row.stop, row.text,
                    row.tokens);
}

void expect_same_rows(const Recording& a, const Recording& b) {
  ASSERT_EQ(a.requests.size(), b.requests.size());
  std::map<RequestId, std::size_t> place_a, place_b;
  for (std::size_t i = 0; i < a.requests.size(); ++i) {
    EXPECT_EQ(values(a.requests[i]), values(b.requests[i]));
    place_a[a.requests[i].id] = place_b[b.requests[i].id] = i;
    const auto of = [](const Recording& recording, std::size_t request) {
      const Run& run =
          recording.runs[static_cast<std::size_t>(recording.requests[request].run_id.value() - 1)];
      const Prompt& prompt =
          recording.prompts[static_cast<std::size_t>(recording.requests[request].prompt_id.value() - 1)];
      return std::tuple(run.specification, run.strategy, run.is_baseline, run.parameters, prompt.question_id,
                        prompt.category, prompt.turn, prompt.text, prompt.tokens);
    };
    EXPECT_EQ(of(a, i), of(b, i));
  }
  ASSERT_EQ(a.rounds.size(), b.rounds.size());
  const auto rows = [](const Recording& recording, std::map<RequestId, std::size_t>& place) {
    std::vector<decltype(values(Round{}, 0))> all;
    for (const Round& row : recording.rounds) all.push_back(values(row, place[row.request_id]));
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(rows(a, place_a), rows(b, place_b));
  ASSERT_EQ(a.draft_tokens.size(), b.draft_tokens.size());
  const auto tokens = [](const Recording& recording, std::map<RequestId, std::size_t>& place) {
    std::map<std::pair<std::size_t, std::int32_t>, std::vector<decltype(values(DraftToken{}))>> all;
    std::map<RoundId, std::pair<std::size_t, std::int32_t>> round;
    for (const Round& row : recording.rounds) round[row.id] = {place[row.request_id], row.index};
    for (const DraftToken& row : recording.draft_tokens) all[round[row.round_id]].push_back(values(row));
    return all;
  };
  EXPECT_EQ(tokens(a, place_a), tokens(b, place_b));
}

TEST(RoundsExport, ComesBackRowByRowFromAnyRecording) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const ImportFolder folder;
    make_sample_file(folder / "a.dstrace", {.seed = seed, .runs = 3, .kernels = false});
    const Recording before = *Reader::open(folder / "a.dstrace")->recording();
    export_to(folder / "a.dstrace", folder / "a.jsonl");
    const Imported once = import_soundly({folder / "a.jsonl"}, {}, folder / "b.dstrace");
    expect_same_rows(before, once.recording);
    EXPECT_TRUE(once.recording.closed_cleanly);
    export_to(folder / "b.dstrace", folder / "b.jsonl");
    const Imported twice = import_soundly({folder / "b.jsonl"}, {}, folder / "c.dstrace");
    export_to(folder / "c.dstrace", folder / "c.jsonl");
    EXPECT_EQ(bytes_of(folder / "b.jsonl"), bytes_of(folder / "c.jsonl"));
    EXPECT_EQ(once.summary.missing, twice.summary.missing);
  }
}

TEST(RoundsExport, RefusesWhatItsRowsContradict) {
  const std::pair<const char*, const char*> changes[] = {
      {"DELETE FROM draft_tokens", "drafted is "},
      {"UPDATE rounds SET drafted = 100000 WHERE id = (SELECT max(id) FROM rounds)", "drafted is 100000"},
      {"DELETE FROM draft_tokens WHERE round = (SELECT max(round) FROM draft_tokens)", "drafted is "},
      {"UPDATE runs SET parameters = '{' WHERE id = 1", "parameters is '{', expected a JSON object"}};
  for (const auto& [sql, message] : changes) {
    const ImportFolder folder;
    make_sample_file(folder / "a.dstrace", {.seed = 1});
    change(folder / "a.dstrace", sql);
    Reader reader = value_of(Reader::open(folder / "a.dstrace"));
    const auto refused = export_rounds(reader, folder / "a.jsonl");
    ASSERT_FALSE(refused) << sql;
    EXPECT_THAT(refused.error().message, HasSubstr(message)) << sql;
    EXPECT_FALSE(std::filesystem::exists(folder / "a.jsonl"));
  }
}

TEST(RoundsExport, KeepsWhatOthersRecordingsLack) {
  for (const char* const name : {"acceptance/per_step.jsonl", "spec_bench/vanilla.jsonl",
                                 "swift/answers.jsonl", "rounds/least.jsonl"}) {
    SCOPED_TRACE(name);
    const ImportFolder folder;
    const Imported before = import_soundly({fixture(name)}, {}, folder / "a.dstrace");
    export_to(folder / "a.dstrace", folder / "a.jsonl");
    const Imported after = import_soundly({folder / "a.jsonl"}, {}, folder / "b.dstrace");
    expect_same_rows(before.recording, after.recording);
    EXPECT_EQ(before.summary.missing, after.summary.missing);
  }
}

TEST(RoundsImport, ReadsWhatIsThereAndNamesTheRest) {
  const Imported full = import_fixture("rounds/two_requests.jsonl");
  EXPECT_THAT(full.summary.missing, ElementsAre(MissingData::layer_sets, MissingData::device));
  EXPECT_EQ(full.recording.meta.at("engine"), "example");
  EXPECT_EQ(full.recording.meta.at("hostname"), "node-1");
  EXPECT_EQ(full.recording.meta.at("clock_start_realtime_ns"), "1790000000000000000");
  EXPECT_EQ(full.recording.meta.at("engine_settings"), R"({"draft":"tiny-draft"})");
  ASSERT_EQ(full.recording.rounds.size(), 3U);
  EXPECT_EQ(full.recording.rounds[1].root_position, 6) << "behind the three tokens that the first gave";
  EXPECT_EQ(full.recording.rounds[1].tree_depth, 2);
  EXPECT_EQ(full.recording.prompts.size(), 1U) << "both runs answer one prompt";
  EXPECT_EQ(full.recording.requests[0].seed, 18446744073709551615U);

  const Imported least = import_fixture("rounds/least.jsonl");
  EXPECT_THAT(least.summary.missing, Contains(MissingData::round_times));
  EXPECT_THAT(least.summary.missing, Contains(MissingData::draft_lengths));
  EXPECT_THAT(least.summary.missing, Contains(MissingData::wall_times));
  EXPECT_EQ(least.recording.requests[0].tokens.size(), 4U) << "two accepted, and one of the target's a round";
}

TEST(RoundsImport, LacksOnlyWhatARequestThatCountsLacks) {
  ImportOptions options;
  options.partial = true;
  const std::string whole = bytes_of(fixture("rounds/two_requests.jsonl"));
  for (
      const char* const further :
      {R"("run":"vanilla","start_ns":9000,"prompt":"x","prompt_tokens":[4]})"
       "\n",
       R"("run":"vanilla","start_ns":9000,"prompt":"x","prompt_tokens":[4]})"
       "\n"
       R"({"record":"end","request":"c","stop":"error"})"
       "\n",
       R"("run":"vanilla","start_ns":9000,"prompt":"x","prompt_tokens":[4]})"
       "\n"
       R"({"record":"end","request":"c","end_ns":9100,"first_token_ns":9050,"stop":"eos","text":"y","tokens":[7]})"
       "\n"}) {
    SCOPED_TRACE(further);
    const Imported imported =
        import_text("a.jsonl", whole + R"({"record":"request","request":"c",)" + further, options);
    ASSERT_EQ(imported.recording.requests.size(), 3U);
    EXPECT_THAT(imported.summary.missing, ElementsAre(MissingData::layer_sets, MissingData::device));
  }
}

TEST(RoundsImport, TakesWhatIsThereOfAFileThatWasCutOffIfAsked) {
  const std::string whole = bytes_of(fixture("rounds/two_requests.jsonl"));
  const ImportFolder folder;
  for (std::size_t bytes = 0; bytes + 1 < whole.size(); bytes += 11) {
    SCOPED_TRACE(bytes);
    const auto file = folder.write("cut.jsonl", whole.substr(0, bytes));
    ImportOptions options;
    options.format = "rounds";
    options.overwrite = true;
    const auto refused = import_recordings({file}, options, folder / "out.dstrace");
    // Only a cut between requests can't be detected.
    if (refused)
      EXPECT_EQ(refused->requests, 0);
    else
      EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
    options.partial = true;
    const auto header = whole.find('\n');
    if (bytes <= header) continue;
    const Imported taken = import_soundly({file}, options, folder / "out.dstrace");
    const std::string lines = whole.substr(0, whole.rfind('\n', bytes - 1) + 1);
    std::size_t rounds = 0;
    for (std::size_t at = lines.find(R"("record":"round")"); at != std::string::npos;
         at = lines.find(R"("record":"round")", at + 1))
      ++rounds;
    EXPECT_GE(taken.recording.rounds.size(), rounds);
    EXPECT_TRUE(taken.recording.closed_cleanly);
  }
}

}  // namespace
}  // namespace draftscope::traces
