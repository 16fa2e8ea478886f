// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a file after the recording process is killed at any instant.
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>

#include "../value_of.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

/// State that a recording process shows its parent; it survives the kill.
struct Seen {
  std::atomic<bool> created{false};
  std::atomic<std::int64_t> committed_rows{0};
};

class SharedSeen {
 public:
  SharedSeen()
      : memory_(::mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no shared memory");
    ::new (memory_) Seen;
  }
  SharedSeen(const SharedSeen&) = delete;
  SharedSeen& operator=(const SharedSeen&) = delete;
  ~SharedSeen() { ::munmap(memory_, sizeof(Seen)); }
  Seen* operator->() { return static_cast<Seen*>(memory_); }

 private:
  void* memory_;
};

/// Records without end, with transactions so short that a kill falls into every stage of one.
[[noreturn]] void record_for_ever(const std::filesystem::path& path, std::uint32_t seed, SharedSeen& seen) {
  auto writer = Writer::create(path, {{"model", "demo"}, {"seed", std::to_string(seed)}},
                               {.rows_per_transaction = 50, .transaction_ns = 200'000, .overwrite = true});
  seen->created = true;
  while (writer) {
    write_sample(**writer, {.seed = seed++, .runs = 3, .requests_per_run = 2, .max_rounds = 20});
    seen->committed_rows = (*writer)->counts().written_rows;
  }
  ::_exit(1);
}

enum class Since { start, creation, first_rounds };

/// Records into `path` in a child that is killed after `delay`; returns how many rows it knew to be
/// committed.
std::int64_t record_and_kill(const std::filesystem::path& path, std::uint32_t seed, Since since,
                             std::chrono::microseconds delay) {
  SharedSeen seen;
  const pid_t child = ::fork();
  if (child == 0) record_for_ever(path, seed, seen);
  while (since == Since::creation && !seen->created) std::this_thread::yield();
  constexpr std::int64_t rows_with_rounds = 500;
  while (since == Since::first_rounds && seen->committed_rows < rows_with_rounds) std::this_thread::yield();
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the recording ended by itself";
  return seen->committed_rows;
}

TEST(KilledRecording, KeepsEveryCommittedRoundWithItsDraftTokensAndBreaksNoRule) {
  constexpr int kills = 200;
  std::mt19937 random(20261121);
  std::size_t rounds = 0;
  std::int64_t shadow_tokens = 0, decisions = 0;
  int readable = 0;
  for (int i = 0; i < kills; ++i) {
    const TestFolder folder;
    const auto path = folder / "trace.dstrace";
    // One kill in ten falls into the creation of the file, four into the first rows, and five into a
    // recording that has rounds however busy the machine is.
    const Since since = i % 10 == 0 ? Since::start : i % 2 == 0 ? Since::creation : Since::first_rounds;
    const std::int64_t committed_rows = record_and_kill(path, static_cast<std::uint32_t>(i), since,
                                                        std::chrono::microseconds(random() % 30'000));
    auto reader = Reader::open(path);
    if (!reader) {
      EXPECT_EQ(since, Since::start);
      // The child was killed before the first commit, which contains the schema, so there is no file yet.
      EXPECT_THAT(reader.error().message, testing::HasSubstr("no such file"));
      continue;
    }
    ++readable;
    const auto recording = value_of(reader->recording());
    EXPECT_FALSE(recording.closed_cleanly);
    std::map<RoundId, int> tokens;
    for (const DraftToken& token : recording.draft_tokens) ++tokens[token.round_id];
    for (const Round& round : recording.rounds) EXPECT_EQ(tokens[round.id], round.drafted);
    rounds += recording.rounds.size();
    // Either all of a request's shadow tokens exist, or none.
    std::map<RequestId, std::int64_t> positions;
    ASSERT_TRUE(reader->shadow_tokens([&](const ShadowToken& token) {
      ++positions[token.request_id];
      return true;
    }));
    for (const Request& request : recording.requests)
      if (positions.contains(request.id)) {
        const auto predicted =
            static_cast<std::int64_t>(request.tokens.size()) + (request.stop == RequestStop::eos);
        EXPECT_EQ(positions[request.id], sample_shadow_layers * predicted);
        shadow_tokens += positions[request.id];
      }
    ASSERT_TRUE(reader->decisions([&](const Decision& decision) {
      const auto has_its_id = [&](const Round& round) { return round.id == decision.round_id; };
      EXPECT_TRUE(decision.round_id == 0 || std::ranges::any_of(recording.rounds, has_its_id));
      ++decisions;
      return true;
    }));
    const auto counts = value_of(reader->row_counts());
    std::int64_t rows = 0;
    for (const TableCount& count : counts) rows += count.table == "requests" ? 2 * count.rows : count.rows;
    EXPECT_GE(rows, committed_rows) << "begin and finish count a request twice";
    expect_sound(*reader);
  }
  EXPECT_GE(readable, kills * 9 / 10);
  EXPECT_GT(rounds, 1000U);
  EXPECT_GT(shadow_tokens, 1000);
  EXPECT_GT(decisions, 1000);
}

TEST(KilledRecording, LeavesTheOldTraceWithAllItsRowsOrTheNewOne) {
  constexpr int kills = 40;
  constexpr std::uint32_t old_seed = 1;
  const TestFolder samples;
  record_and_kill(samples / "cut", old_seed, Since::first_rounds, std::chrono::milliseconds(10));
  const std::size_t old_rounds = Reader::open(samples / "cut")->recording()->rounds.size();
  std::mt19937 random(20261122);
  int old_ones = 0;
  for (int i = 0; i < kills; ++i) {
    const TestFolder folder;
    const auto path = folder / "trace.dstrace";
    copy_with_log(samples / "cut", path);
    record_and_kill(path, old_seed + 1, Since::start, std::chrono::microseconds(random() % 20'000));
    auto reader = value_of(Reader::open(path));
    const auto recording = value_of(reader.recording());
    if (recording.meta.at("seed") == std::to_string(old_seed)) {
      ++old_ones;
      EXPECT_EQ(recording.rounds.size(), old_rounds);
    }
    expect_sound(reader);
  }
  RecordProperty("old_ones", old_ones);
  RecordProperty("kills", kills);
}

TEST(FileOfAKilledRecording, IsReadWithItsLogAndNeitherFileChanges) {
  const TestFolder folder;
  const auto path = folder / "trace.dstrace";
  record_and_kill(path, 1, Since::first_rounds, std::chrono::milliseconds(10));
  const std::string file_before = read_file(path);
  const std::string log_before = read_file(folder / "trace.dstrace-wal");
  ASSERT_FALSE(log_before.empty());
  {
    auto reader = value_of(Reader::open(path));
    EXPECT_FALSE(reader.recording()->rounds.empty());
  }
  EXPECT_EQ(read_file(path), file_before);
  EXPECT_EQ(read_file(folder / "trace.dstrace-wal"), log_before);
}

/// Rounds that a process without rights over the folder sees. Root ignores such rights, so the test then
/// switches to another user.
int rounds_seen_by_a_guest(const std::filesystem::path& path) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(1);
    int rounds = -1;
    if (auto reader = Reader::open(path)) {
      if (const auto recording = reader->recording()) rounds = static_cast<int>(recording->rounds.size());
    } else {
      std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    }
    const ssize_t written = ::write(ends[1], &rounds, sizeof rounds);
    ::_exit(written == sizeof rounds ? 0 : 1);
  }
  ::close(ends[1]);
  int rounds = -1;
  if (::read(ends[0], &rounds, sizeof rounds) != sizeof rounds) rounds = -1;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return rounds;
}

TEST(ReadOnlyFolder, GivesItsRecordingsWhetherClosedOrCutOffWithOrWithoutTheIndexOfTheLog) {
  namespace fs = std::filesystem;
  const TestFolder folder;
  const Sample sample = make_sample_file(folder / "closed.dstrace", {.max_rounds = 20});
  record_and_kill(folder / "cut.dstrace", 1, Since::first_rounds, std::chrono::milliseconds(10));
  copy_with_log(folder / "cut.dstrace", folder / "moved.dstrace");
  const auto cut = static_cast<int>(Reader::open(folder / "cut.dstrace")->recording()->rounds.size());
  ASSERT_GT(cut, 0);
  const auto reads = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  const auto enters = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::permissions(entry.path(), reads);
  fs::permissions(folder.path(), reads | enters);
  EXPECT_EQ(rounds_seen_by_a_guest(folder / "closed.dstrace"),
            static_cast<int>(sample.recording.rounds.size()));
  EXPECT_EQ(rounds_seen_by_a_guest(folder / "cut.dstrace"), cut);
  EXPECT_EQ(rounds_seen_by_a_guest(folder / "moved.dstrace"), cut);
}

void wait_until_written(const Writer& writer, std::int64_t rows) {
  while (writer.counts().written_rows < rows && !writer.failed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_FALSE(writer.failed());
}

TEST(RecordingThatGoesOn, IsSeenAsItWasWhenItWasOpened) {
  const TestFolder folder;
  auto writer = value_of(
      Writer::create(folder / "trace.dstrace", {}, {.rows_per_transaction = 1, .transaction_ns = 1}));
  writer->add(Prompt{.text = "first"});
  ASSERT_NO_FATAL_FAILURE(wait_until_written(*writer, 1));
  auto reader = value_of(Reader::open(folder / "trace.dstrace"));
  for (int prompt = 0; prompt < 50; ++prompt) writer->add(Prompt{.text = "later"});
  ASSERT_NO_FATAL_FAILURE(wait_until_written(*writer, 51));
  const auto recording = value_of(reader.recording());
  EXPECT_EQ(recording.prompts.size(), 1U);
  auto later = value_of(Reader::open(folder / "trace.dstrace"));
  EXPECT_EQ(later.recording()->prompts.size(), 51U);
}

TEST(RecordingThatGoesOn, CanBeReadByOthersMeanwhile) {
  const TestFolder folder;
  auto writer = value_of(
      Writer::create(folder / "trace.dstrace", {}, {.rows_per_transaction = 1, .transaction_ns = 1}));
  const Sample sample = write_sample(*writer);
  ASSERT_NO_FATAL_FAILURE(wait_until_written(*writer, static_cast<std::int64_t>(sample.spans.size())));
  auto reader = Reader::open(folder / "trace.dstrace");
  ASSERT_TRUE(reader) << reader.error().message;
  const auto recording = value_of(reader->recording());
  EXPECT_FALSE(recording.closed_cleanly);
  EXPECT_FALSE(recording.requests.empty());
  ASSERT_TRUE(writer->close()) << "a reader does not hinder closing";
}

}  // namespace
}  // namespace draftscope::traces
