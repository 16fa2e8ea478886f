// SPDX-License-Identifier: GPL-3.0-or-later
// llama.cpp's logs. server_*.log come from the real program (llama-server, build 10434 of August 2026, the
// demo model drafting for itself in 8 bits), cut to the lines of slots; the lines written out here follow the
// wording of its source. speculative_simple_*.log and speculative.log come from the real programs (commit
// 0c1e570), cut to the lines of drafts and sums. speculative_simple.log is handwritten, with the wording of
// the source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

using Lines = std::vector<std::string>;

Lines lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  Lines lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Lines begin_of(Lines lines, std::size_t count) {
  lines.resize(count);
  return lines;
}

Lines with_line(Lines lines, std::size_t place, const std::string& line) {
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), line);
  return lines;
}

Lines without_line(Lines lines, std::size_t place) {
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(place));
  return lines;
}

/// The lines with one of them before the one that precedes it.
Lines swapped(Lines lines, std::size_t place) {
  std::swap(lines[place], lines[place - 1]);
  return lines;
}

/// Imports a log of these lines, as far as it goes.
Result<ImportSummary> import_lines(const Lines& lines, bool is_partial = false) {
  const ImportFolder folder;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return import_recordings({folder.write("run.log", text)}, {.format = "llama-cpp", .partial = is_partial},
                           folder / "out.dstrace");
}

/// (drafted, accepted, emitted) of a request's rounds.
std::vector<std::tuple<int, int, int>> rounds_of(const Imported& imported, std::size_t request) {
  std::vector<std::tuple<int, int, int>> all;
  for (const Round& round : imported.recording.rounds)
    if (round.request_id == imported.recording.requests[request].id)
      all.emplace_back(round.drafted, round.accepted, round.emitted);
  return all;
}

std::vector<std::tuple<int, int, int>> first_task() {
  return {{3, 3, 4}, {3, 1, 2}, {3, 3, 4}, {3, 3, 4}, {3, 3, 4}, {3, 3, 4}, {3, 3, 4}, {3, 3, 4}};
}

TEST(LlamaCppImport, HasRoundsAndTimesOfSlotsThatInterleaveFromTheTraceAlone) {
  const Imported log = import_fixture("llama_cpp/server_trace.log");
  EXPECT_THAT(log.summary.formats, ElementsAre("llama-cpp"));
  ASSERT_THAT(log.recording.requests, SizeIs(3));
  EXPECT_EQ(rounds_of(log, 0), first_task());
  EXPECT_THAT(rounds_of(log, 1), SizeIs(6));
  EXPECT_EQ(log.recording.requests[0].start_ns, 1'194'545'000);
  EXPECT_EQ(log.recording.requests[0].first_token_ns, 1'194'545'000 + 29'690'000);
  EXPECT_EQ(log.recording.requests[0].end_ns, 1'479'201'000);
  EXPECT_EQ(log.recording.requests[0].tokens.size(), 32U);
  EXPECT_EQ(log.recording.rounds[1].start_ns, 1'268'762'000);
  EXPECT_EQ(log.recording.rounds[1].end_ns, 1'310'260'000);
  // There are 32 tokens: the prefill's, 30 of rounds, and one of a step that the trace does not show; the
  // third task is alike.
  EXPECT_EQ(stated_figures(log)["steps_without_draft_and_place"], 2);
  for (const MissingData missing : {MissingData::plain_steps, MissingData::token_ids,
                                    MissingData::confidences, MissingData::phase_times, MissingData::prompts})
    EXPECT_THAT(log.summary.missing, Contains(missing));
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::round_times)));
  EXPECT_GT(log.recording.requests[1].end_ns, log.recording.requests[2].start_ns)
      << "both are under way at a time";
}

TEST(LlamaCppImport, HasTokensConfidencesAndDraftTimesFromVerboseLines) {
  const Imported log = import_fixture("llama_cpp/server_verbose.log");
  ASSERT_THAT(log.recording.requests, SizeIs(3));
  auto rounds = first_task();
  rounds.emplace_back(0, 0, 1);
  EXPECT_EQ(rounds_of(log, 0), rounds) << "the step without a draft has its place";
  const Request& request = log.recording.requests[0];
  ASSERT_THAT(request.tokens, SizeIs(32));
  EXPECT_EQ(request.tokens.front(), 220);
  EXPECT_EQ(request.tokens.back(), 65);
  EXPECT_EQ(log.recording.prompts[0].tokens.size(), 6U);
  const DraftToken& token = log.recording.draft_tokens.front();
  EXPECT_EQ(token.token, 371);
  EXPECT_DOUBLE_EQ(token.confidence, 0.437);
  const Round& round = log.recording.rounds.front();
  EXPECT_EQ(round.start_ns, 557'163'000) << "where the prefill's token came";
  EXPECT_EQ(round.draft_ns, 560'017'000 - 557'163'000);
  EXPECT_EQ(round.verify_ns, 566'583'000 - 560'017'000);
  EXPECT_EQ(round.bonus_token, 2356);
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::plain_steps)));
  // Decoding is greedy, so the accepted draft tokens are the text.
  std::size_t at = 1;
  for (const Round& one : log.recording.rounds) {
    if (one.request_id != request.id) continue;
    for (const DraftToken& draft : log.recording.draft_tokens)
      if (draft.round_id == one.id && draft.accepted) {
        EXPECT_EQ(draft.token, request.tokens[at + static_cast<std::size_t>(draft.index)]);
      }
    at += static_cast<std::size_t>(one.emitted);
  }
  EXPECT_EQ(at, request.tokens.size());
}

TEST(LlamaCppImport, CountsARoundOnceWhereBothLinesSpeakOfIt) {
  const Imported log = import_fixture("llama_cpp/server_both.log");
  auto rounds = first_task();
  rounds.emplace_back(0, 0, 1);
  EXPECT_EQ(rounds_of(log, 0), rounds);
}

TEST(LlamaCppImport, HasPlainStepsWhereNothingIsGuessed) {
  const Imported log = import_fixture("llama_cpp/server_ngramv.log");
  int emitted = 0;
  for (const auto& round : rounds_of(log, 0)) emitted += std::get<2>(round);
  EXPECT_EQ(emitted, 31);
  EXPECT_THAT(rounds_of(log, 0), Contains(std::tuple(0, 0, 1)));
  EXPECT_THAT(rounds_of(log, 0), Contains(std::tuple(4, 4, 5)));
  EXPECT_THAT(log.summary.missing, Contains(MissingData::confidences)) << "guesses from the text have none";
}

constexpr const char* began =
    "0.00.100.000 I slot launch_slot_: id  0 | task 7 | processing task, is_child = 0\n";
constexpr const char* ended =
    "0.00.900.000 I slot print_timing: id  0 | task 7 | prompt eval time =      50.00 ms /     6 tokens (x)\n"
    "0.00.900.001 I slot print_timing: id  0 | task 7 |        eval time =     740.00 ms /     8 tokens (x)\n"
    "0.00.900.002 I slot print_timing: id  0 | task 7 | draft acceptance = 0.62500 (   5 accepted /     8 "
    "generated)\n"
    "0.00.900.003 I slot      release: id  0 | task 7 | stop processing: n_tokens = 14, truncated = 0\n";

TEST(LlamaCppImport, TakesAReplayedDraftForAPartOfItsRound) {
  const Imported log = import_text(
      "replay.log", std::string(began) +
                        "0.00.200.000 I slot update_slots: id  0 | task 7 | accepted  2/ 4 draft tokens "
                        "(restore checkpoint)\n"
                        "0.00.300.000 I slot update_slots: id  0 | task 7 | accepted  2/ 2 draft tokens\n"
                        "0.00.400.000 I slot update_slots: id  0 | task 7 | accepted  3/ 4 draft tokens\n" +
                        ended);
  EXPECT_THAT(rounds_of(log, 0), ElementsAre(std::tuple(4, 2, 3), std::tuple(4, 3, 4)));
  EXPECT_EQ(log.recording.rounds[0].end_ns, 300'000'000) << "the replay's time is the round's";
}

TEST(LlamaCppImport, CutsTheLastRoundAtTheBudget) {
  const Imported log = import_text(
      "cut.log", std::string(began) +
                     "0.00.200.000 I slot update_slots: id  0 | task 7 | accepted  2/ 4 draft tokens\n"
                     "0.00.300.000 I slot update_slots: id  0 | task 7 | accepted  3/ 4 draft tokens\n"
                     "0.00.900.001 I slot print_timing: id  0 | task 7 |        eval time =     740.00 ms /"
                     "     6 tokens (x)\n"
                     "0.00.900.003 I slot      release: id  0 | task 7 | stop processing: n_tokens = 1\n");
  EXPECT_THAT(rounds_of(log, 0), ElementsAre(std::tuple(4, 2, 3), std::tuple(4, 3, 2)));
}

TEST(LlamaCppImport, CountsAndNamesWordsThatItDoesNotKnow) {
  const Imported log = import_text(
      "new.log",
      std::string(began) +
          "0.00.200.000 I slot update_slots: id  0 | task 7 | took 2 of 4 draft tokens, brand new words\n"
          "0.00.300.000 I slot update_slots: id  0 | task 7 | accepted  2/ 4 draft tokens\n"
          "0.00.400.000 I slot update_slots: id  0 | task 7 | accepted  3/ 4 draft tokens\n" +
          ended);
  EXPECT_EQ(stated_figures(log)["unknown_lines"], 1);
  EXPECT_THAT(stated_figures(log)["unknown_examples"][0].get<std::string>(), HasSubstr("brand new words"));
}

TEST(LlamaCppImport, HasTheTextOfACommandLineProgram) {
  const Imported log = import_fixture("llama_cpp/speculative_simple.log");
  EXPECT_THAT(log.summary.formats, ElementsAre("llama-cpp"));
  ASSERT_THAT(log.recording.requests, SizeIs(1));
  EXPECT_THAT(rounds_of(log, 0), ElementsAre(std::tuple(3, 2, 3), std::tuple(0, 0, 1), std::tuple(2, 2, 3)));
  const Request& request = log.recording.requests[0];
  EXPECT_THAT(request.tokens, ElementsAre(371, 448, 42, 13, 7, 9, 2))
      << "the first round gives the first token";
  EXPECT_EQ(request.end_ns, 431'001'000);
  EXPECT_EQ(log.recording.rounds[0].start_ns, 401'001'000) << "the end, less what decoding took";
  EXPECT_EQ(request.start_ns, 351'001'000);
  EXPECT_EQ(request.first_token_ns, log.recording.rounds[0].start_ns)
      << "as of a prefill: no time counts twice";
  EXPECT_EQ(log.recording.rounds[0].draft_ns, 404'500'000 - 401'001'000);
  EXPECT_EQ(log.recording.rounds[0].verify_ns, 410'000'000 - 404'500'000);
  EXPECT_EQ(log.recording.rounds[2].bonus_token, 2);
  EXPECT_DOUBLE_EQ(log.recording.draft_tokens[1].confidence, 0.134);
  EXPECT_EQ(log.recording.prompts[0].tokens.size(), 6U);
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::round_times)));
}

/// Reads `n_drafted = 32` of a log.
std::int64_t stated(const std::filesystem::path& file, const std::string& name) {
  for (const std::string& line : lines_of(file))
    if (const std::size_t at = line.find(name); at != std::string::npos)
      return std::stoll(line.substr(line.find('=', at) + 1));
  return -1;
}

TEST(LlamaCppImport, HasTheRoundsOfTheRealProgram) {
  for (const std::string name :
       {"llama_cpp/speculative_simple_model.log", "llama_cpp/speculative_simple_undrafted.log"}) {
    SCOPED_TRACE(name);
    const auto file = fixture(name);
    const Imported log = import_fixture(name);
    ASSERT_THAT(log.recording.requests, SizeIs(1));
    const Request& request = log.recording.requests[0];
    EXPECT_EQ(static_cast<std::int64_t>(request.tokens.size()), stated(file, "n_predict"));
    std::int64_t drafted = 0, accepted = 0, rounds_ns = 0;
    for (const Round& round : log.recording.rounds) {
      drafted += round.drafted;
      accepted += round.accepted;
      rounds_ns += round.end_ns - round.start_ns;
      EXPECT_EQ(round.draft_ns + round.verify_ns, round.end_ns - round.start_ns);
      EXPECT_EQ(round.draft_ns > 0, round.drafted > 0);
    }
    EXPECT_EQ(drafted, stated(file, "n_drafted"));
    EXPECT_EQ(accepted, stated(file, "n_accept"));
    EXPECT_NEAR(static_cast<double>(rounds_ns), static_cast<double>(request.end_ns - request.first_token_ns),
                1e6)
        << "what lies between the last round and the sums";
    EXPECT_EQ(stated_figures(log).count("unknown_lines"), 0U);
  }
}

TEST(LlamaCppImport, KnowsTheSumsOfTheRealProgramsByTheirFirstLines) {
  for (const std::string name : {"llama_cpp/speculative_simple_quiet.log", "llama_cpp/speculative.log"}) {
    SCOPED_TRACE(name);
    const auto file = fixture(name);
    const Imported log = import_fixture(name);
    EXPECT_THAT(log.summary.formats, ElementsAre("llama-cpp"));
    expect_stated(log, {{"drafted", stated(file, "n_drafted")}, {"accepted", stated(file, "n_accept")}});
    EXPECT_THAT(log.summary.missing, Contains(MissingData::rounds));
  }
}

TEST(LlamaCppImport, KeepsTheSumsOfAProgramThatSaysNoRounds) {
  const Imported log =
      import_text("speculative.log",
                  "llama_model_loader: loaded meta data\n"
                  "0.00.500.000 I encoded    6 tokens in    0.050 seconds, speed:  120.000 t/s\n"
                  "0.00.500.001 I decoded   24 tokens in    0.200 seconds, speed:  120.000 t/s\n"
                  "0.00.500.002 I n_drafted = 40\n0.00.500.003 I n_accept  = 10\n"
                  "0.00.500.004 I accept    = 25.000%\n");
  ASSERT_THAT(log.recording.requests, SizeIs(1));
  EXPECT_THAT(log.recording.rounds, SizeIs(0));
  EXPECT_EQ(log.recording.requests[0].tokens.size(), 24U);
  EXPECT_EQ(log.recording.requests[0].end_ns - log.recording.requests[0].start_ns, 250'000'000);
  EXPECT_DOUBLE_EQ(stated_figures(log)["acceptance_rate"], 0.25);
  EXPECT_THAT(log.summary.missing, Contains(MissingData::rounds));
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::plain_steps)));
}

TEST(LlamaCppImport, NoticesWhatACommandLineProgramsLogLacks) {
  const Lines whole = lines_of(fixture("llama_cpp/speculative_simple.log"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    SCOPED_TRACE(whole[i]);
    EXPECT_FALSE(import_lines(begin_of(whole, i))) << "it is cut off";
    EXPECT_EQ(import_lines(begin_of(whole, i), true).has_value(), i > 5) << "from the first round on";
    if (whole[i].find("draft tokens") == std::string::npos) continue;
    EXPECT_FALSE(import_lines(with_line(whole, i, whole[i]))) << "doubled";
    EXPECT_FALSE(import_lines(without_line(whole, i))) << "lost";
    if (whole[i - 1].find("called impl") != std::string::npos) {
      EXPECT_FALSE(import_lines(swapped(whole, i))) << "out of order";
    }
    Lines lines = whole;
    lines[i].replace(lines[i].find("accepted"), 12, "accepted 4/3");
    EXPECT_FALSE(import_lines(lines)) << "more accepted than drafted";
    const auto restored = import_lines(
        with_line(whole, i, whole[i].substr(0, 15) + "partial acceptance: 1 < 3, restoring checkpoint"));
    ASSERT_FALSE(restored);
    EXPECT_THAT(restored.error().message, HasSubstr("a checkpoint is restored"));
  }
}

struct Broken {
  const char* lines;
  const char* words;
};

TEST(LlamaCppImport, RefusesInOneLineWhatCannotBe) {
  const Broken all[] = {
      {"0.00.200.000 I slot x: id  0 | task 7 | accepted  5/ 4 draft tokens\n",
       "line 2: accepts 5 of 4 draft tokens"},
      {"0.00.200.000 I slot x: id  0 | task 7 | accepted  2/ 4000 draft tokens\n", "these at most 512"},
      {"0.00.050.000 I slot x: id  0 | task 7 | accepted  2/ 4 draft tokens\n",
       "line 2: its time is 50000 us"},
      {"0.00.200.000 I slot x: id  0 | task 8 | accepted  2/ 4 draft tokens\n",
       "task 8 of slot 0 never began"},
      {"0.00.200.000 I slot x: id  0 | task 8 | processing task\n",
       "slot 0 takes task 8 while task 7 has not ended"},
      {"0.00.200.000 I slot x: id  0 | task 7 | accepted  2/ 4 draft tokens\n",
       "says that 5 of 8 draft tokens"},
      {"0.00.200.000 I slot x: id  0 | task 7 | accepted  2/ 4 draft tokens (restore checkpoint)\n"
       "0.00.300.000 I slot x: id  0 | task 7 | accepted  1/ 4 draft tokens\n",
       "line 3: accepts 1 of 4 draft tokens, expected 2 of 2, the replay"},
      {"0.00.200.000 I slot x: id  0 | task 7 | accepted  2/ 4 draft tokens\n"
       "0.00.201.000 I slot x: id  0 | task 7 | accepted  3/ 4 draft tokens\n"
       "0.00.202.000 I slot x: id  0 | task 7 | accepted  0/ 0 draft tokens\n"
       "0.00.203.000 I slot x: id  0 | task 7 | accepted  0/ 0 draft tokens\n",
       "says that 8 tokens were generated, expected 10, which its rounds give"}};
  for (const Broken& broken : all) {
    SCOPED_TRACE(broken.words);
    const ImportFolder folder;
    const auto file = folder.write("bad.log", std::string(began) + broken.lines + ended);
    const auto imported = import_recordings({file}, {}, folder / "out.dstrace");
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message, HasSubstr(broken.words));
    EXPECT_EQ(imported.error().message.find('\n'), std::string::npos);
    EXPECT_LT(imported.error().message.size(), 400U);
    EXPECT_EQ(folder.files(), 1U);
  }
}

TEST(LlamaCppImport, NoticesLinesThatAreCutOffDoubledOrOutOfOrder) {
  const Lines whole = lines_of(fixture("llama_cpp/server_trace.log"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    SCOPED_TRACE(whole[i]);
    const bool is_round = whole[i].find("draft tokens") != std::string::npos;
    const auto cut = import_lines(begin_of(whole, i));
    if (is_round) {
      EXPECT_FALSE(cut) << "in the middle of a task";
    }
    const auto partial = import_lines(begin_of(whole, i), true);
    if (cut) {
      EXPECT_TRUE(partial);
    }
    if (!partial) {
      EXPECT_THAT(partial.error().message, HasSubstr("holds no task"));
    }
    if (!is_round) continue;
    EXPECT_FALSE(import_lines(with_line(whole, i, whole[i]))) << "doubled";
    EXPECT_FALSE(import_lines(swapped(whole, i))) << "out of order";
    EXPECT_FALSE(import_lines(without_line(whole, i))) << "lost";
  }
}

TEST(LlamaCppImport, RefusesNumbersThatNoSumCanHold) {
  const auto slot = [](int minutes, const std::string& message) {
    return std::to_string(minutes) + ".00.000.000 I slot x: id  0 | task 7 | " + message;
  };
  const auto message_of = [](const Lines& lines) {
    const auto imported = import_lines(lines, true);
    return imported ? std::string("taken") : imported.error().message;
  };
  for (const char* const sums : {"-5 accepted / 10", "5 accepted / 9223372036854775807"})
    EXPECT_THAT(message_of({slot(0, "processing task"),
                            slot(1, std::string("draft acceptance = 0.5 (") + sums + " generated)")}),
                HasSubstr("its sum of draft tokens is"));
  const std::string least = "add accepted tokens: sampled=1, ids.size=-9223372036854775808, n_draft=3";
  EXPECT_THAT(message_of({slot(0, "processing task"), slot(1, least), slot(2, "stop processing:")}),
              HasSubstr("accepts -1 of 3 draft tokens"));
  Lines servers;
  for (int server = 0; server < 6; ++server) {
    servers.push_back(slot(0, "processing task"));
    servers.push_back(slot(9'999'999, "stop processing:"));
  }
  EXPECT_THAT(message_of(servers), HasSubstr("us, expected at most 2251799813685248 us"))
      << "the clocks of servers that began anew follow one another";
}

TEST(LlamaCppImport, GoesOnAfterAServerThatDiedWithinATask) {
  const Lines whole = lines_of(fixture("llama_cpp/server_trace.log"));
  Lines both = begin_of(whole, 25);
  both.insert(both.end(), whole.begin(), whole.end());
  const auto refused = import_lines(both);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--partial takes what is there"));
  const auto taken = import_lines(both, true);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_GT(taken->requests, 3) << "those that were cut come first";
}

TEST(LlamaCppImport, SetsABaselinesLogBesideIt) {
  const ImportFolder folder;
  ImportOptions options;
  options.baseline = folder.write("plain.log", test::bytes_of(fixture("llama_cpp/server_ngramv.log")));
  const Imported both = import_fixture("llama_cpp/server_trace.log", options);
  ASSERT_THAT(both.recording.runs, SizeIs(2));
  EXPECT_TRUE(both.recording.runs[0].is_baseline);
  EXPECT_EQ(both.recording.requests[0].prompt_id, both.recording.requests[1].prompt_id)
      << "the first prompt of each";
}

}  // namespace
}  // namespace draftscope::traces
