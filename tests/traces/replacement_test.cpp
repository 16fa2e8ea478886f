// SPDX-License-Identifier: GPL-3.0-or-later
// Files that exist where a trace is to be written, and their replacement.
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "../value_of.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::size_t rounds_in(const fs::path& path) {
  auto reader = value_of(Reader::open(path));
  expect_sound(reader);
  return reader.recording()->rounds.size();
}

std::string creation_error(const fs::path& path, bool overwrite = true) {
  const auto writer = Writer::create(path, {}, {.overwrite = overwrite});
  return writer ? "created" : writer.error().message;
}

std::string atomic_error(const fs::path& path, bool overwrite = true) {
  auto trace = AtomicTrace::create(path, overwrite);
  if (!trace) return trace.error().message;
  const auto committed = trace->commit();
  return committed ? "created" : committed.error().message;
}

/// Makes a recording as a crash leaves it, with rows in a file and its log. Returns its rounds.
std::size_t make_cut_off_file(const TestFolder& folder, const std::string& name) {
  auto writer =
      value_of(Writer::create(folder / "live", {}, {.rows_per_transaction = 1, .transaction_ns = 1}));
  const Sample sample = write_sample(*writer, {.max_rounds = 20});
  const auto rows = static_cast<std::int64_t>(sample.spans.size() + sample.recording.draft_tokens.size());
  while (writer->counts().written_rows < rows) ::usleep(1000);
  copy_with_log(folder / "live", folder / name);
  EXPECT_TRUE(writer->close());
  fs::remove(folder / "live");
  return rounds_in(folder / name);
}

TEST(OldTrace, GivesWayToAWholeNewOne) {
  const TestFolder folder;
  const auto path = folder / "x.dstrace";
  make_sample_file(path);
  auto writer = Writer::create(path, {{"model", "second"}}, {.overwrite = true});
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_THAT(names_in(folder), ElementsAre("x.dstrace", "x.dstrace-shm", "x.dstrace-wal"));
  auto reader = value_of(Reader::open(path));
  EXPECT_EQ(reader.recording()->meta.at("model"), "second");
  EXPECT_TRUE((*writer)->close());
}

TEST(OldTrace, KeepsTheLogOfARecordingThatWasCutOffOutOfTheNewOne) {
  const TestFolder folder;
  ASSERT_GT(make_cut_off_file(folder, "x"), 0U);
  EXPECT_EQ(creation_error(folder / "x"), "created");
  EXPECT_EQ(rounds_in(folder / "x"), 0U);
  make_cut_off_file(folder, "y");
  EXPECT_EQ(atomic_error(folder / "y"), "created");
  EXPECT_EQ(rounds_in(folder / "y"), 0U);
  EXPECT_THAT(names_in(folder), ElementsAre("x", "y"));
}

TEST(OldTrace, IsNotReplacedWhileSomebodyRecordsIntoIt) {
  const TestFolder folder;
  const auto path = folder / "x.dstrace";
  auto writer = value_of(Writer::create(path, {}));
  for (const std::string& error : {creation_error(path), atomic_error(path)})
    EXPECT_EQ(error,
              path.string() + ": is in use: somebody records into it or reads it, so it can't be replaced");
  write_sample(*writer);
  EXPECT_TRUE(writer->close());
  EXPECT_GT(rounds_in(path), 0U);
  EXPECT_THAT(names_in(folder), ElementsAre("x.dstrace"));
}

TEST(RecordingWhoseFileIsTakenAway, SaysSoAndLeavesTheFileThatIsThereNow) {
  const TestFolder folder;
  const auto path = folder / "x.dstrace";
  for (const bool is_replaced : {false, true}) {
    auto writer = value_of(Writer::create(path, {}, {.overwrite = true}));
    fs::rename(path, folder / "moved");
    if (is_replaced) write_file(path, "somebody's");
    writer->add(Prompt{});
    const auto closed = writer->close();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().message,
              path.string() + ": was moved, replaced or removed while it was recorded, expected it to stay");
    EXPECT_TRUE(writer->failed());
    EXPECT_EQ(fs::exists(path), is_replaced);
    for (const char* const suffix : {"-wal", "-shm"}) fs::remove(path.string() + suffix);
  }
  EXPECT_EQ(read_file(path), "somebody's");
}

TEST(FileBesideANewTrace, IsSomebodyElsesAndRefusedByName) {
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    const TestFolder folder;
    const auto beside = folder / (std::string("notes") + suffix);
    write_file(beside, "precious");
    for (const std::string& error : {creation_error(folder / "notes", false),
                                     creation_error(folder / "notes"), atomic_error(folder / "notes")})
      EXPECT_THAT(error, AllOf(StartsWith(beside.string() + ": is no trace's log"), Not(HasSubstr("\n"))));
    // Neither a file that is no trace nor an empty one has a log.
    for (const std::string& text : {std::string("text"), std::string()}) {
      write_file(folder / "notes", text);
      EXPECT_THAT(creation_error(folder / "notes"), StartsWith(beside.string() + ": is no trace's log"));
      EXPECT_EQ(read_file(folder / "notes"), text);
    }
    EXPECT_EQ(read_file(beside), "precious");
    EXPECT_EQ(names_in(folder).size(), 2U);
  }
}

TEST(NewTrace, TakesAnyNameAsThatOfAFile) {
  const TestFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (const char* const name : {":memory:", "file:x?mode=memory", "x?vfs=unix-none", "%41"}) {
    EXPECT_EQ(creation_error(name, false), "created");
    EXPECT_EQ(rounds_in(folder / name), 0U) << name;
  }
  EXPECT_EQ(creation_error("", false), "found an empty name, expected a file's");
  EXPECT_EQ(atomic_error("", false), "found an empty name, expected a file's");
  fs::current_path(before);
  EXPECT_EQ(names_in(folder).size(), 4U);
}

TEST(NewTrace, DoesNotReplaceWhatHasComeToBeMeanwhile) {
  const TestFolder folder;
  auto trace = value_of(AtomicTrace::create(folder / "x", false));
  write_file(folder / "x", "somebody's");
  const auto committed = trace.commit();
  ASSERT_FALSE(committed);
  EXPECT_THAT(committed.error().message, HasSubstr("exists already"));
  EXPECT_EQ(read_file(folder / "x"), "somebody's");
}

TEST(NewTrace, IsNotPutInPlaceWithoutTheRowsThatAReaderKeepsInItsLog) {
  const TestFolder folder;
  auto trace = value_of(AtomicTrace::create(folder / "x", false));
  write_sample(trace.writer());
  sqlite3* reading = nullptr;
  const auto partial = folder / fmt::format("x.{}.partial", ::getpid());
  ASSERT_EQ(sqlite3_open(partial.c_str(), &reading), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reading, "BEGIN; SELECT count(*) FROM rounds", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const auto committed = trace.commit();
  sqlite3_close(reading);
  ASSERT_FALSE(committed);
  EXPECT_THAT(committed.error().message, HasSubstr("somebody has"));
  EXPECT_FALSE(fs::exists(folder / "x"));
}

}  // namespace
}  // namespace draftscope::traces
