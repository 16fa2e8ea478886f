// SPDX-License-Identifier: GPL-3.0-or-later
// draftscope/record.h: wrong calls, the file of a recording that goes on, and the error of a full disk.
#include <draftscope/record.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "../../value_of.h"
#include "../sample.h"

namespace draftscope::traces {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

draftscope_record_settings settings() {
  draftscope_record_settings all = DRAFTSCOPE_RECORD_SETTINGS_INIT;
  all.engine = "test";
  return all;
}

draftscope_record_request request_of(const char* run) {
  draftscope_record_request request = DRAFTSCOPE_RECORD_REQUEST_INIT;
  request.run = run;
  request.start_ns = draftscope_record_now_ns();
  return request;
}

draftscope_record_round round_of(std::int64_t drafted, std::int64_t accepted) {
  draftscope_record_round round = DRAFTSCOPE_RECORD_ROUND_INIT;
  round.start_ns = round.end_ns = draftscope_record_now_ns();
  round.drafted = drafted;
  round.accepted = accepted;
  return round;
}

draftscope_recording* created(const std::filesystem::path& path) {
  draftscope_recording* recording = nullptr;
  char message[300];
  const auto all = settings();
  EXPECT_EQ(draftscope_record_create(path.c_str(), &all, &recording, message, sizeof message), 0) << message;
  return recording;
}

/// The id of a request of this run that has begun.
std::uint64_t begun(draftscope_recording* recording, const char* run) {
  const auto request = request_of(run);
  std::uint64_t id = 0;
  EXPECT_EQ(draftscope_record_begin(recording, &request, &id), 0);
  return id;
}

TEST(Record, MakesASoundTraceOfWhatItWasTold) {
  const TestFolder folder;
  draftscope_recording* const recording = created(folder / "a.dstrace");
  const std::uint64_t first = begun(recording, "tree:width=2");
  const std::uint64_t second = begun(recording, "tree:width=2");
  EXPECT_NE(first, second);
  auto tree = round_of(3, 2);
  const std::int32_t tokens[] = {7, 8, 9}, parents[] = {-1, -1, 1};
  const std::uint8_t taken[] = {0, 1, 1};
  const double confidences[] = {0.25, 0.5, NAN};
  tree.tokens = tokens;
  tree.parents = parents;
  tree.taken = taken;
  tree.confidences = confidences;
  ASSERT_EQ(draftscope_record_add(recording, second, &tree), 0) << draftscope_record_error(recording);
  const auto chain = round_of(4, 0);
  ASSERT_EQ(draftscope_record_add(recording, first, &chain), 0);
  draftscope_record_end end = DRAFTSCOPE_RECORD_END_INIT;
  end.end_ns = draftscope_record_now_ns();
  ASSERT_EQ(draftscope_record_finish(recording, second, &end), 0);
  ASSERT_EQ(draftscope_record_meta(recording, "device", "toy"), 0);
  char message[300];
  ASSERT_EQ(draftscope_record_close(recording, message, sizeof message), 0) << message;

  auto reader = value_of(Reader::open(folder / "a.dstrace"));
  EXPECT_TRUE(reader.validate()->empty());
  const Recording rows = value_of(reader.recording());
  EXPECT_TRUE(rows.closed_cleanly);
  EXPECT_EQ(rows.meta.at("device"), "toy");
  EXPECT_EQ(rows.meta.at("engine"), "test");
  EXPECT_TRUE(is_missing(rows.meta, MissingData::prompts));
  ASSERT_EQ(rows.requests.size(), 2U);
  EXPECT_EQ(rows.requests[0].stop, RequestStop::cancelled) << "it was under way when the recording closed";
  EXPECT_EQ(rows.requests[1].tokens.size(), 3U) << "two accepted and the target's own";
  ASSERT_EQ(rows.rounds.size(), 2U);
  EXPECT_EQ(rows.rounds[1].tree_depth, 2);
}

/// The id of a request that has begun, of which everything is known.
std::uint64_t begun_knowing_all(draftscope_recording* recording) {
  static constexpr std::int32_t prompt[] = {4, 5};
  auto request = request_of("x");
  request.prompt = "some";
  request.prompt_tokens = prompt;
  request.n_prompt_tokens = 2;
  std::uint64_t id = 0;
  EXPECT_EQ(draftscope_record_begin(recording, &request, &id), 0) << draftscope_record_error(recording);
  return id;
}

void finish_knowing_all(draftscope_recording* recording, std::uint64_t id, std::int64_t tokens) {
  static constexpr std::int32_t output[] = {1, 2, 3};
  draftscope_record_end end = DRAFTSCOPE_RECORD_END_INIT;
  end.end_ns = end.first_token_ns = draftscope_record_now_ns();
  end.stop = DRAFTSCOPE_RECORD_STOP_EOS;
  end.text = "some";
  end.tokens = output;
  end.n_tokens = tokens;
  EXPECT_EQ(draftscope_record_finish(recording, id, &end), 0) << draftscope_record_error(recording);
}

TEST(Record, LacksOnlyWhatARequestThatCountsLacks) {
  const TestFolder folder;
  draftscope_recording* const recording = created(folder / "a.dstrace");
  const std::uint64_t whole = begun_knowing_all(recording);
  auto round = round_of(2, 1);
  const std::int32_t tokens[] = {2, 9};
  const double confidences[] = {0.5, 0.5};
  round.tokens = tokens;
  round.confidences = confidences;
  round.draft_ns = round.verify_ns = 0;
  ASSERT_EQ(draftscope_record_add(recording, whole, &round), 0) << draftscope_record_error(recording);
  draftscope_record_end wrong = DRAFTSCOPE_RECORD_END_INIT;
  wrong.n_tokens = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(draftscope_record_finish(recording, whole, &wrong), DRAFTSCOPE_RECORD_ARGUMENT);
  finish_knowing_all(recording, whole, 3);
  finish_knowing_all(recording, begun_knowing_all(recording), 1);
  finish_knowing_all(recording, begun_knowing_all(recording), 0);
  for (const std::int32_t stop : {DRAFTSCOPE_RECORD_STOP_CANCELLED, DRAFTSCOPE_RECORD_STOP_ERROR}) {
    draftscope_record_end end = DRAFTSCOPE_RECORD_END_INIT;
    end.stop = stop;
    ASSERT_EQ(draftscope_record_finish(recording, begun_knowing_all(recording), &end), 0);
  }
  begun_knowing_all(recording);  // It is in progress when the recording closes.
  ASSERT_EQ(draftscope_record_close(recording, nullptr, 0), 0);
  auto reader = value_of(Reader::open(folder / "a.dstrace"));
  EXPECT_TRUE(reader.validate()->empty());
  const Recording rows = value_of(reader.recording());
  EXPECT_EQ(rows.requests.size(), 6U);
  EXPECT_THAT(missing_data_of(rows.meta), ElementsAre(MissingData::layer_sets, MissingData::device));
}

TEST(Record, LacksRoundsWhereARequestOfSeveralTokensHasNone) {
  for (const std::int64_t tokens : {-1, 2}) {
    const TestFolder folder;
    draftscope_recording* const recording = created(folder / "a.dstrace");
    draftscope_record_end end = DRAFTSCOPE_RECORD_END_INIT;
    end.n_tokens = tokens;
    ASSERT_EQ(draftscope_record_finish(recording, begun_knowing_all(recording), &end), 0);
    ASSERT_EQ(draftscope_record_close(recording, nullptr, 0), 0);
    auto reader = value_of(Reader::open(folder / "a.dstrace"));
    EXPECT_TRUE(is_missing(value_of(reader.recording()).meta, MissingData::rounds)) << tokens;
  }
}

TEST(Record, HasTheErrorOfTheThreadsLastCall) {
  const TestFolder folder;
  draftscope_recording* const one = created(folder / "a.dstrace");
  draftscope_recording* const other = created(folder / "b.dstrace");
  const auto fail_once = [&] {
    EXPECT_EQ(draftscope_record_meta(one, "lacks", "[]"), DRAFTSCOPE_RECORD_ARGUMENT);
    EXPECT_THAT(draftscope_record_error(other), HasSubstr("lacks"));
  };
  fail_once();
  std::thread([&] { EXPECT_STREQ(draftscope_record_error(one), ""); }).join();
  EXPECT_EQ(draftscope_record_meta(other, "device", "toy"), 0);
  EXPECT_STREQ(draftscope_record_error(one), "");
  fail_once();
  draftscope_recording* const third = created(folder / "c.dstrace");
  EXPECT_STREQ(draftscope_record_error(one), "");
  EXPECT_EQ(draftscope_record_close(nullptr, nullptr, 0), DRAFTSCOPE_RECORD_ARGUMENT);
  EXPECT_THAT(draftscope_record_error(nullptr), HasSubstr("recording is null"));
  for (draftscope_recording* const recording : {one, other, third})
    EXPECT_EQ(draftscope_record_close(recording, nullptr, 0), 0);
  EXPECT_STREQ(draftscope_record_error(nullptr), "");
}

struct Wrong {
  const char* words;
  std::function<draftscope_record_status(draftscope_recording*, std::uint64_t id)> call;
  draftscope_record_status status = DRAFTSCOPE_RECORD_ARGUMENT;
};

TEST(Record, RefusesWrongCallsInOneLineAndGoesOn) {
  const TestFolder folder;
  draftscope_recording* const recording = created(folder / "a.dstrace");
  const std::uint64_t ended = begun(recording, "x");
  const std::uint64_t id = begun(recording, "x");
  const auto request = request_of("x");
  draftscope_record_end end = DRAFTSCOPE_RECORD_END_INIT;
  ASSERT_EQ(draftscope_record_finish(recording, ended, &end), 0);
  const auto good = round_of(2, 1);
  const auto with = [](auto change) {
    return [change](draftscope_recording* r, std::uint64_t to) {
      auto round = round_of(2, 1);
      change(round);
      return draftscope_record_add(r, to, &round);
    };
  };
  const auto with_request = [](auto change) {
    return [change](draftscope_recording* r, std::uint64_t) {
      auto one = request_of("x");
      change(one);
      std::uint64_t other = 0;
      return draftscope_record_begin(r, &one, &other);
    };
  };
  const auto with_end = [](auto change) {
    return [change](draftscope_recording* r, std::uint64_t to) {
      draftscope_record_end one = DRAFTSCOPE_RECORD_END_INIT;
      change(one);
      return draftscope_record_finish(r, to, &one);
    };
  };
  const auto meta = [](const char* key, const char* value) {
    return [=](draftscope_recording* r, std::uint64_t) { return draftscope_record_meta(r, key, value); };
  };
  const std::int32_t unknown_tokens[] = {-1, -2};
  const std::int32_t roots[] = {-1, -1};
  const std::uint8_t taken_later[] = {0, 1};
  const double share = 2.0;
  const double shares[] = {share, share};
  const Wrong all[] = {
      {"recording is null", [&](auto*, auto to) { return draftscope_record_add(nullptr, to, &good); }},
      {"round is null", [&](auto* r, auto to) { return draftscope_record_add(r, to, nullptr); }},
      {"not initialised", with([](auto& round) { round.size = 0; })},
      {"not under way", [&](auto* r, auto) { return draftscope_record_add(r, 77, &good); },
       DRAFTSCOPE_RECORD_ORDER},
      {"not under way", [&](auto* r, auto) { return draftscope_record_add(r, ended, &good); },
       DRAFTSCOPE_RECORD_ORDER},
      {"not under way", [&](auto* r, auto) { return draftscope_record_finish(r, ended, &end); },
       DRAFTSCOPE_RECORD_ORDER},
      {"accepted is 3, expected at most drafted (2)", with([](auto& round) { round.accepted = 3; })},
      {"accepted is -1", with([](auto& round) { round.accepted = -1; })},
      {"drafted is 513", with([](auto& round) { round.drafted = 513; })},
      {"emitted is 9, expected 0 to 2", with([](auto& round) { round.emitted = 9; })},
      {"end_ns is 1, expected", with([](auto& round) { round.end_ns = 1; })},
      {"expected both start_ns and end_ns", with([](auto& round) { round.end_ns = -1; })},
      {"draft_ns is 5, expected at most 0", with([](auto& round) { round.draft_ns = 5; })},
      {"confidences[0] is 2", with([&](auto& round) { round.confidences = shares; })},
      {"end is null", [&](auto* r, auto to) { return draftscope_record_finish(r, to, nullptr); }},
      {"run is null or empty",
       [&](auto* r, auto) {
         std::uint64_t other = 0;
         const auto unnamed = request_of(nullptr);
         return draftscope_record_begin(r, &unnamed, &other);
       }},
      {"id is null", [&](auto* r, auto) { return draftscope_record_begin(r, &request, nullptr); }},
      {"key or value is null", meta("device", nullptr)},
      {"key is 'lacks', which the trace sets itself", meta("lacks", "[]")},
      {"which the trace sets itself", meta("clock_start_monotonic_ns", "1")},
      {"which the trace sets itself", meta("clock_end_monotonic_ns", "1")},
      {"which the trace sets itself", meta("clock_end_realtime_ns", "1")},
      {"which the trace sets itself", meta("hostname", "x")},
      {"which the trace sets itself", meta("tool_version", "x")},
      {"which the trace sets itself", meta("engine_settings", "{}")},
      {"which the trace sets itself", meta("imported_\n", "x")},
      {"key has bytes that are not UTF-8", meta("dev\xff", "x")},
      {"value has bytes that are not UTF-8", meta("device", "\xc3")},
      {"run has bytes that are not UTF-8", with_request([](auto& one) { one.run = "x\xff"; })},
      {"prompt has bytes that are not UTF-8", with_request([](auto& one) { one.prompt = "\xed\xa0\x80"; })},
      {"category has bytes that are not UTF-8", with_request([](auto& one) { one.category = "\xc0\xaf"; })},
      {"text has bytes that are not UTF-8", with_end([](auto& one) { one.text = "caf\xe9"; })},
      {"start_ns is -2, expected at least -1", with_request([](auto& one) { one.start_ns = -2; })},
      {"question_id is -2, expected", with_request([](auto& one) { one.question_id = -2; })},
      {"n_prompt_tokens is -2, expected", with_request([](auto& one) { one.n_prompt_tokens = -2; })},
      {"prompt_tokens[1] is -2, expected", with_request([&](auto& one) {
         one.prompt_tokens = unknown_tokens;
         one.n_prompt_tokens = 2;
       })},
      {"start_ns is -2, expected", with([](auto& round) { round.start_ns = round.end_ns = -2; })},
      {"end_ns is -9, expected", with([](auto& round) { round.end_ns = -9; })},
      {"planned is -2, expected", with([](auto& round) { round.planned = -2; })},
      {"drafted is -2, expected", with([](auto& round) { round.drafted = -2; })},
      {"emitted is -2, expected", with([](auto& round) { round.emitted = -2; })},
      {"verify_rows is -2, expected", with([](auto& round) { round.verify_rows = -2; })},
      {"exit_layer is -1, expected", with([](auto& round) { round.exit_layer = -1; })},
      {"bonus_token is -2, expected", with([](auto& round) { round.bonus_token = -2; })},
      {"draft_ns is -2, expected", with([](auto& round) { round.draft_ns = -2; })},
      {"verify_ns is -2, expected", with([](auto& round) { round.verify_ns = -2; })},
      {"accept_ns is -2, expected", with([](auto& round) { round.accept_ns = -2; })},
      {"control_ns is -2, expected", with([](auto& round) { round.control_ns = -2; })},
      {"tokens[1] is -2, expected", with([&](auto& round) { round.tokens = unknown_tokens; })},
      {"end_ns is -2, expected", with_end([](auto& one) { one.end_ns = -2; })},
      {"first_token_ns is -2, expected", with_end([](auto& one) { one.first_token_ns = -2; })},
      {"stop is -2, expected", with_end([](auto& one) { one.stop = -2; })},
      {"n_tokens is -2, expected", with_end([](auto& one) { one.n_tokens = -2; })},
      {"tokens[1] is -2, expected", with_end([&](auto& one) {
         one.tokens = unknown_tokens;
         one.n_tokens = 2;
       })},
      {"token 1 is accepted and its parent is -1, expected 0", with([&](auto& round) {
         round.parents = roots;
         round.accepted = 2;
       })},
      {"token 1 is accepted and its parent is 0, expected -1",
       with([&](auto& round) { round.taken = taken_later; })},
  };
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.words);
    EXPECT_EQ(wrong.call(recording, id), wrong.status);
    EXPECT_THAT(draftscope_record_error(recording), HasSubstr(wrong.words));
    EXPECT_EQ(std::string(draftscope_record_error(recording)).find('\n'), std::string::npos);
  }
  EXPECT_EQ(draftscope_record_add(recording, id, &good), 0);
  EXPECT_EQ(draftscope_record_close(recording, nullptr, 0), 0);
  EXPECT_EQ(draftscope_record_close(nullptr, nullptr, 0), DRAFTSCOPE_RECORD_ARGUMENT);
  auto reader = value_of(Reader::open(folder / "a.dstrace"));
  EXPECT_TRUE(reader.validate()->empty());
  const Recording rows = value_of(reader.recording());
  ASSERT_EQ(rows.rounds.size(), 1U) << "the one good one";
  EXPECT_EQ(rows.rounds[0].root_position, 0) << "no refused round took a place";
}

TEST(Record, CreatesNothingWhereItIsRefused) {
  const TestFolder folder;
  write_file(folder / "there.dstrace", "old");
  const std::string path = folder / "a";
  const std::string missing = folder / "no/such/folder";
  const std::string there = folder / "there.dstrace";
  draftscope_recording* recording = nullptr;
  char message[300];
  const auto all = settings();
  auto broken = settings();
  broken.parameters = "[1]";
  auto unreadable = settings();
  unreadable.model = "m\xff";
  const auto create = [&](const char* file, const draftscope_record_settings* with,
                          draftscope_recording** made) {
    return draftscope_record_create(file, with, made, message, sizeof message);
  };
  EXPECT_EQ(create(nullptr, &all, &recording), DRAFTSCOPE_RECORD_ARGUMENT);
  EXPECT_EQ(create(path.c_str(), nullptr, &recording), DRAFTSCOPE_RECORD_ARGUMENT);
  EXPECT_EQ(create(path.c_str(), &all, nullptr), DRAFTSCOPE_RECORD_ARGUMENT);
  EXPECT_EQ(create(path.c_str(), &broken, &recording), DRAFTSCOPE_RECORD_ARGUMENT);
  EXPECT_EQ(create(path.c_str(), &unreadable, &recording), DRAFTSCOPE_RECORD_ARGUMENT);
  EXPECT_STREQ(message, "model has bytes that are not UTF-8, expected text");
  EXPECT_EQ(create(missing.c_str(), &all, &recording), DRAFTSCOPE_RECORD_DISK);
  EXPECT_EQ(create(there.c_str(), &all, &recording), DRAFTSCOPE_RECORD_DISK);
  EXPECT_THAT(message, HasSubstr("there.dstrace"));
  char little[8];
  draftscope_record_create(there.c_str(), &all, &recording, little, sizeof little);
  EXPECT_EQ(std::string(little).size(), 7U) << "cut to its room";
  EXPECT_EQ(recording, nullptr);
  EXPECT_EQ(read_file(folder / "there.dstrace"), "old");
}

TEST(Record, TakesAnOlderCallersShorterStructs) {
  const TestFolder folder;
  draftscope_recording* const recording = created(folder / "a.dstrace");
  const std::uint64_t id = begun(recording, "x");
  auto round = round_of(2, 1);
  round.size = offsetof(draftscope_record_round, tokens);
  round.tokens = reinterpret_cast<const std::int32_t*>(1);  // a field that the caller does not know
  EXPECT_EQ(draftscope_record_add(recording, id, &round), 0) << draftscope_record_error(recording);
  EXPECT_EQ(draftscope_record_close(recording, nullptr, 0), 0);
}

TEST(Record, SaysWhatIsMissingFromTheFirstCommittedRowOn) {
  const TestFolder folder;
  draftscope_recording* const recording = created(folder / "a.dstrace");
  const std::uint64_t request = begun(recording, "x");
  const auto round = round_of(5, 2);
  ASSERT_EQ(draftscope_record_add(recording, request, &round), 0) << draftscope_record_error(recording);
  const auto rows = [&] { return value_of(value_of(Reader::open(folder / "a.dstrace")).recording()); };
  while (rows().rounds.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(rows().closed_cleanly);
  EXPECT_TRUE(is_missing(rows().meta, MissingData::token_ids));
  EXPECT_EQ(draftscope_record_close(recording, nullptr, 0), 0);
}

TEST(Record, SaysWhyTheDiskFailedAndLeavesWhatWasCommitted) {
  const TestFolder folder;
  const auto path = folder / "a.dstrace";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    draftscope_recording* const recording = created(path);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::uint64_t id = 0;
    const auto request = request_of("x");
    draftscope_record_status status = draftscope_record_begin(recording, &request, &id);
    for (int i = 0; i < 2'000'000 && status == 0; ++i) {
      const auto round = round_of(8, 4);
      status = draftscope_record_add(recording, id, &round);
    }
    char message[300];
    const auto closed = draftscope_record_close(recording, message, sizeof message);
    const bool is_said = std::string(message).find("a.dstrace") != std::string::npos;
    ::_exit(status == DRAFTSCOPE_RECORD_DISK && closed == DRAFTSCOPE_RECORD_DISK && is_said ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto reader = value_of(Reader::open(path));
  EXPECT_TRUE(reader.validate()->empty());
}

}  // namespace
}  // namespace draftscope::traces
