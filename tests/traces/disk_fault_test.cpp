// SPDX-License-Identifier: GPL-3.0-or-later
// Every call to the disk fails once, and then permanently. Rows reported as committed must exist, a file that
// could not be made must leave no trace, and the error must be one line that names the file.
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/import.h>
#include <draftscope/traces/query.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <functional>

#include "../value_of.h"
#include "failing_vfs.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

struct FaultKind {
  DiskCall call;
  int code;  ///< Code of SQLite's unix file system.
  bool is_always_lasting = false;
};

/// One fault of each call; calls that only writing makes come last.
constexpr auto faults = std::to_array<FaultKind>({
    {DiskCall::open, SQLITE_CANTOPEN},
    {DiskCall::access, SQLITE_IOERR_ACCESS},
    {DiskCall::read, SQLITE_IOERR_READ},
    {DiskCall::file_size, SQLITE_IOERR_FSTAT},
    {DiskCall::lock, SQLITE_IOERR_LOCK},
    {DiskCall::shm_map, SQLITE_IOERR_SHMSIZE},
    {DiskCall::shm_lock, SQLITE_IOERR_SHMLOCK},
    {DiskCall::remove, SQLITE_IOERR_DELETE},
    {DiskCall::write, SQLITE_FULL},
    {DiskCall::truncate, SQLITE_IOERR_TRUNCATE},
    {DiskCall::sync, SQLITE_IOERR_FSYNC},
});
constexpr std::ptrdiff_t reading_calls = 7;
/// Faults of a disk that breaks, and of one that becomes read-only.
constexpr auto lasting_faults = std::to_array<FaultKind>(
    {{DiskCall::write, SQLITE_IOERR_WRITE, true}, {DiskCall::write, SQLITE_READONLY, true}});

/// Runs `attempt` with the first, the second, … call of the kind failing, until no call is left to fail. Then
/// it repeats this with all later calls failing, too. Returns how many points failed.
int with_each_failing(FailingVfs& vfs, const FaultKind& kind, bool is_temporary,
                      const std::function<void()>& attempt) {
  int points = 0;
  for (const bool is_lasting : {false, true}) {
    if (kind.is_always_lasting && !is_lasting) continue;
    for (int nth = 1;; ++nth) {
      SCOPED_TRACE(fmt::format("{} {}{} fails with {}", disk_call_name(kind.call), nth,
                               is_lasting ? " and all later" : "", kind.code));
      vfs.fail({kind.call, kind.code, nth, is_lasting, is_temporary});
      attempt();
      vfs.pass();
      if (!vfs.has_failed() || testing::Test::HasFailure()) break;
      ++points;
    }
  }
  return points;
}

bool is_side_file(const std::string& name) {
  return name == "x.dstrace-wal" || name == "x.dstrace-shm" || name == "x.dstrace-journal";
}

void expect_one_line_about(const fs::path& path, const std::string& message) {
  EXPECT_EQ(message.rfind(path.string() + ": ", 0), 0U) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 300U) << message;
}

/// Rows as the writer counts them: a request is written twice.
std::int64_t rows_in(Reader& reader) {
  std::int64_t rows = 0;
  const auto counts = reader.row_counts();
  EXPECT_TRUE(counts);
  for (const TableCount& count : *counts) rows += count.table == "requests" ? 2 * count.rows : count.rows;
  return rows;
}

/// Outcomes of the points that failed, for the test's report.
struct Outcomes {
  int points = 0, not_created = 0, not_closed = 0, passed_over = 0;
  void report(const FaultKind& kind) const {
    testing::Test::RecordProperty(
        fmt::format("{}_{}", disk_call_name(kind.call), kind.code),
        fmt::format("{} points: {} not created, {} not closed, {} without consequence", points, not_created,
                    not_closed, passed_over));
  }
};

class FailingDisk : public testing::TestWithParam<FaultKind> {};
class EveryFailingDisk : public FailingDisk {};

/// Records into x.dstrace, in several transactions, and checks the result. `check_old` checks the existing
/// file if none could be created.
void record_and_check(FailingVfs& vfs, const TestFolder& folder, Outcomes& outcomes,
                      const std::function<void()>& check_old) {
  const auto path = folder / "x.dstrace";
  std::int64_t reported = 0;
  std::string problem;
  {
    auto writer = Writer::create(path, {{"model", "new"}},
                                 {.rows_per_transaction = 64, .transaction_ns = 1, .overwrite = true});
    if (!writer) {
      vfs.pass();
      ++outcomes.not_created;
      expect_one_line_about(path, writer.error().message);
      return check_old();
    }
    write_sample(**writer, {.requests_per_run = 2, .max_rounds = 3});
    const auto closed = (*writer)->close();
    EXPECT_EQ((*writer)->failed(), !closed);
    if (!closed) problem = closed.error().message;
    reported = (*writer)->counts().written_rows;
  }
  vfs.pass();
  if (problem.empty())
    ++outcomes.passed_over;
  else
    ++outcomes.not_closed;
  if (!problem.empty()) expect_one_line_about(path, problem);
  for (const std::string& name : names_in(folder))
    EXPECT_TRUE(name == "x.dstrace" || (!problem.empty() && is_side_file(name))) << name;
  auto reader = value_of(Reader::open(path));
  EXPECT_GE(rows_in(reader), reported);
  EXPECT_EQ(reader.recording()->meta.at("model"), "new");
  EXPECT_TRUE(reader.recording()->closed_cleanly || !problem.empty());
  expect_sound(reader);
}

TEST_P(EveryFailingDisk, LosesNoReportedRowAndNoOldTrace) {
  const TestFolder samples(parent_in_memory()), folder(parent_in_memory());
  make_sample_file(samples / "old", {.runs = 1, .requests_per_run = 1});
  const std::string old = read_file(samples / "old");
  FailingVfs vfs;
  Outcomes outcomes;
  outcomes.points = with_each_failing(vfs, GetParam(), false, [&] {
    for (const std::string& name : names_in(folder)) fs::remove(folder / name);
    write_file(folder / "x.dstrace", old);
    record_and_check(vfs, folder, outcomes, [&] {
      EXPECT_THAT(names_in(folder), testing::ElementsAre("x.dstrace"));
      EXPECT_TRUE(read_file(folder / "x.dstrace") == old);
    });
  });
  outcomes.report(GetParam());
}

TEST_P(FailingDisk, LosesNoRowOfAnOldTraceThatWasCutOff) {
  const TestFolder samples(parent_in_memory()), folder(parent_in_memory());
  std::int64_t old_rows = 0;
  {
    auto writer =
        value_of(Writer::create(samples / "old", {}, {.rows_per_transaction = 1, .transaction_ns = 1}));
    for (int i = 0; i < 5; ++i) writer->add(Prompt{.text = "kept"});
    while (writer->counts().written_rows < 5) continue;
    copy_with_log(samples / "old", samples / "cut");
    auto reader = value_of(Reader::open(samples / "cut"));
    old_rows = rows_in(reader);
  }
  FailingVfs vfs;
  Outcomes outcomes;
  outcomes.points = with_each_failing(vfs, GetParam(), false, [&] {
    for (const std::string& name : names_in(folder)) fs::remove(folder / name);
    copy_with_log(samples / "cut", folder / "x.dstrace");
    const auto writer = Writer::create(folder / "x.dstrace", {}, {.overwrite = true});
    vfs.pass();
    if (writer) {
      ++outcomes.passed_over;
      return;
    }
    ++outcomes.not_created;
    expect_one_line_about(folder / "x.dstrace", writer.error().message);
    for (const std::string& name : names_in(folder))
      EXPECT_TRUE(name == "x.dstrace" || is_side_file(name)) << name;
    auto reader = value_of(Reader::open(folder / "x.dstrace"));
    EXPECT_EQ(rows_in(reader), old_rows);
    expect_sound(reader);
  });
  outcomes.report(GetParam());
}

TEST_P(FailingDisk, LeavesNothingOfATraceOrAnImportThatFailed) {
  const TestFolder samples(parent_in_memory()), folder(parent_in_memory());
  write_file(samples / "lengths.jsonl", R"({"question_id":1,"accept_lengths":[3,1,2],"wall_time":1.5})"
                                        "\n");
  const auto path = folder / "x.dstrace";
  const auto write = [&]() -> Result<void> {
    DRAFTSCOPE_TRY_ASSIGN(AtomicTrace trace, AtomicTrace::create(path, true));
    write_sample(trace.writer(), {.runs = 1, .requests_per_run = 1, .max_rounds = 2, .kernels = false});
    return trace.commit();
  };
  const auto import = [&]() -> Result<void> {
    DRAFTSCOPE_TRY(
        import_recordings({samples / "lengths.jsonl"}, {.format = "acceptance", .overwrite = true}, path));
    return {};
  };
  FailingVfs vfs;
  const std::vector<std::function<Result<void>()>> makers{write, import};
  for (const auto& make : makers) {
    Outcomes outcomes;
    outcomes.points = with_each_failing(vfs, GetParam(), false, [&] {
      write_file(path, "old");
      const Result<void> made = make();
      vfs.pass();
      EXPECT_THAT(names_in(folder), testing::ElementsAre("x.dstrace"));
      if (made) {
        ++outcomes.passed_over;
        auto reader = value_of(Reader::open(path));
        expect_sound(reader);
      } else {
        ++outcomes.not_closed;
        EXPECT_EQ(made.error().message.rfind(path.string(), 0), 0U) << made.error().message;
        EXPECT_EQ(made.error().message.find('\n'), std::string::npos) << made.error().message;
        EXPECT_EQ(read_file(path), "old");
      }
    });
    outcomes.report(GetParam());
  }
}

std::string fault_name(const testing::TestParamInfo<FaultKind>& info) {
  return fmt::format("{}_{}", disk_call_name(info.param.call), info.param.code);
}
INSTANTIATE_TEST_SUITE_P(call, FailingDisk, testing::ValuesIn(faults), fault_name);
INSTANTIATE_TEST_SUITE_P(call, EveryFailingDisk, testing::ValuesIn(faults), fault_name);
INSTANTIATE_TEST_SUITE_P(lasting, EveryFailingDisk, testing::ValuesIn(lasting_faults), fault_name);

/// Calls everything that reads; returns the first error.
Result<std::vector<std::string>> read_and_export(const fs::path& path, const fs::path& out) {
  DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(path));
  DRAFTSCOPE_TRY_ASSIGN(const Recording recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Violation> violations, reader.validate());
  for (const Violation& violation : violations)
    ADD_FAILURE() << violation.table << " row " << violation.row << ": " << violation.rule;
  DRAFTSCOPE_TRY(export_perfetto(reader, out / "x.pftrace"));
  DRAFTSCOPE_TRY(export_spec_bench(reader, out / "answers"));
  DRAFTSCOPE_TRY_ASSIGN(const QueryResult result, query(path, "SELECT * FROM run_figures", 100));
  std::vector<std::string> contents{std::to_string(result.rows.size())};
  for (const auto& entry : fs::recursive_directory_iterator(out))
    if (entry.is_regular_file()) contents.push_back(read_file(entry.path()));
  std::ranges::sort(contents);
  return contents;
}

class UnreadableDisk : public testing::TestWithParam<FaultKind> {};

TEST_P(UnreadableDisk, GivesAnErrorOrAllRowsAndNeverAVerdictOnTheFile) {
  const TestFolder folder(parent_in_memory());
  const auto path = folder / "x.dstrace";
  const SampleOptions small{.runs = 2, .requests_per_run = 1, .max_rounds = 2};
  make_sample_file(path, small);
  {
    auto writer =
        value_of(Writer::create(folder / "live", {}, {.rows_per_transaction = 1, .transaction_ns = 1}));
    const Sample sample = write_sample(*writer, small);
    while (writer->counts().written_rows < static_cast<std::int64_t>(sample.spans.size())) continue;
    copy_with_log(folder / "live", folder / "cut.dstrace");
  }
  FailingVfs vfs;
  for (const std::string name : {"x.dstrace", "cut.dstrace"}) {
    const TestFolder first(parent_in_memory());
    const auto expected = value_of(read_and_export(folder / name, first.path()));
    Outcomes outcomes;
    outcomes.points = with_each_failing(vfs, GetParam(), false, [&] {
      const TestFolder out(parent_in_memory());
      const auto found = read_and_export(folder / name, out.path());
      vfs.pass();
      for (const std::string& made : names_in(out))
        EXPECT_EQ(made.find("partial"), std::string::npos) << made;
      if (found) {
        ++outcomes.passed_over;
        EXPECT_EQ(*found, expected);
      } else {
        ++outcomes.not_closed;
        if (!found.error().message.starts_with("SQL: "))
          expect_one_line_about(folder / name, found.error().message);
      }
    });
    outcomes.report(GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(call, UnreadableDisk,
                         testing::ValuesIn(faults.begin(), faults.begin() + reading_calls), fault_name);

TEST(Validation, OfASoundFileWithoutRoomForTemporaryFilesIsAnErrorAndNoViolation) {
  const TestFolder folder;
  const auto path = folder / "x.dstrace";
  {
    // The request has so many phases that sorting them takes a temporary file.
    auto writer = value_of(Writer::create(path, {}));
    Span span;
    span.track_id = writer->add(Track{0, "host", "decoding", 0, 0});
    span.name_id = writer->intern("draft");
    for (std::int64_t i = 0; i < 100'000; ++i) {
      span.id = writer->next_span_id();
      span.start_ns = span.end_ns = i;
      writer->add(std::span<const Span>(&span, 1));
    }
    ASSERT_TRUE(writer->close());
  }
  FailingVfs vfs;
  for (const FaultKind& fault :
       {FaultKind{DiskCall::open, SQLITE_CANTOPEN}, FaultKind{DiskCall::write, SQLITE_FULL},
        FaultKind{DiskCall::write, SQLITE_IOERR_WRITE}, FaultKind{DiskCall::read, SQLITE_IOERR_READ}}) {
    vfs.fail({fault.call, fault.code, 1, true, true});
    auto reader = value_of(Reader::open(path));
    const auto violations = reader.validate();
    vfs.pass();
    ASSERT_TRUE(vfs.has_failed()) << disk_call_name(fault.call);
    ASSERT_FALSE(violations) << violations->front().rule;
    expect_one_line_about(path, violations.error().message);
    EXPECT_NE(violations.error().message.find("can't be checked"), std::string::npos);
  }
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader->validate()->empty());
}

}  // namespace
}  // namespace draftscope::traces
