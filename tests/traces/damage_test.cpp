// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged files: each causes one line or a list of violations, never a crash.
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/reader.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "../value_of.h"
#include "read_everything.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

std::string open_error(const std::filesystem::path& path) {
  const auto reader = Reader::open(path);
  return reader ? "opened" : reader.error().message;
}

TEST(OpeningWhatIsNoTrace, SaysWhyInOneLine) {
  const TestFolder folder;
  const auto path = folder / "x.dstrace";
  EXPECT_EQ(open_error(path), path.string() + ": no such file");
  EXPECT_EQ(open_error(folder.path()), folder.path().string() + ": found a folder, expected a regular file");
  write_file(path, "");
  EXPECT_EQ(open_error(path), path.string() + ": found an empty file, expected a trace");
  write_file(path, std::string(4096, 'x'));
  EXPECT_EQ(open_error(path), path.string() + ": found no SQLite header, expected a trace");
  std::filesystem::remove(path);
  sqlite3* empty = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &empty), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(empty, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(empty);
  EXPECT_EQ(open_error(path), path.string() + ": is an empty database, expected a trace");
  make_sample_file(folder / "good.dstrace");
  const auto damaged = [&](const std::string& sql) {
    std::filesystem::copy_file(folder / "good.dstrace", path,
                               std::filesystem::copy_options::overwrite_existing);
    change(path, sql);
    return open_error(path).substr(path.string().size() + 2);
  };
  EXPECT_EQ(damaged("PRAGMA application_id = 1"), "is not a trace (application_id 0x1, expected 0x44537472)");
  const int newest = newest_schema_version();
  EXPECT_EQ(damaged(fmt::format("DROP TABLE counters; PRAGMA user_version = {}", newest + 2)),
            fmt::format("found no table counters, expected a whole trace (its schema {} is newer than this "
                        "program, which knows {})",
                        newest + 2, newest));
  EXPECT_EQ(damaged("DROP TABLE counters"), "found no table counters, expected a whole trace");
  EXPECT_EQ(damaged("DROP TABLE counters; CREATE VIEW counters AS SELECT 1 AS track"),
            "found no table counters, expected a whole trace");
  EXPECT_EQ(
      damaged("DROP TABLE counters; CREATE TABLE counters (track INTEGER, timestamp_ns TEXT, value REAL)"),
      "table counters: column timestamp_ns is TEXT, expected INTEGER");
  EXPECT_EQ(damaged("DROP VIEW CUPTI_ACTIVITY_KIND_KERNEL; ALTER TABLE kernels DROP COLUMN grid_x"),
            "table kernels: column grid_x is nothing, expected INTEGER");
}

TEST(OpeningANewerSchema, ReadsWhatIsKnownOfIt) {
  const SampleFile known_file;
  const SampleFile newer_file;
  change(
      newer_file.path,
      "PRAGMA user_version = 9; CREATE TABLE further (id INTEGER PRIMARY KEY); ALTER TABLE rounds ADD COLUMN "
      "further INTEGER NOT NULL DEFAULT 7");
  Reader known = known_file.open();
  Reader newer = newer_file.open();
  EXPECT_EQ(newer.schema_version(), 9);
  EXPECT_GT(newer.schema_version(), newest_schema_version());
  const auto rows = value_of(newer.recording());
  EXPECT_EQ(rows.rounds.size(), known.recording()->rounds.size());
  EXPECT_EQ(rows.meta, known.recording()->meta);
}

TEST(OpeningWhatIsNoTrace, SaysWhyInOneLineEvenIfTheFileSOwnTextHasMany) {
  const SampleFile file;
  std::string bytes = read_file(file.path);
  const std::size_t rounds = bytes.find("CREATE TABLE rounds");
  ASSERT_NE(rounds, std::string::npos);
  bytes[bytes.find("INTEGER", rounds)] = '`';
  write_file(file.path, bytes);
  const std::string error = open_error(file.path);
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_EQ(error.find(": :"), std::string::npos) << error;
  EXPECT_NE(error.find("can't be read as a trace: malformed database schema"), std::string::npos) << error;
  EXPECT_LT(error.size(), 400U);
}

TEST(OpeningAnyFile, DoesNotChangeIt) {
  const SampleFile file;
  const std::string before = read_file(file.path);
  read_everything(file.path);
  EXPECT_EQ(read_file(file.path), before);
  EXPECT_EQ(names_in(file.folder).size(), 1U) << "no side files are made";
}

struct Damage {
  const char* sql;
  const char* table;
  std::int64_t row;
  const char* rule;
};

/// Names the case in a test list by what it damages.
void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.table;
}

class DamagedRow : public testing::TestWithParam<Damage> {};

TEST_P(DamagedRow, IsNamedWithItsTableAndRule) {
  const SampleFile file({.seed = 3});
  change(file.path, std::string("PRAGMA ignore_check_constraints = 1; ") + GetParam().sql);
  Reader reader = file.open();
  const auto violations = value_of(reader.validate(100));
  std::string found;
  for (const Violation& violation : violations) {
    found += fmt::format("{} row {}: {}\n", violation.table, violation.row, violation.rule);
    if (violation.table == GetParam().table && (GetParam().row == 0 || violation.row == GetParam().row) &&
        violation.rule.find(GetParam().rule) != std::string::npos)
      return;
  }
  FAIL() << "not found: " << GetParam().rule << " in\n" << found;
}

const Damage damages[] = {
    {"UPDATE requests SET run = 99 WHERE id = 2", "requests", 2, "run is 99, but runs has no such row"},
    {"DELETE FROM prompts WHERE id = 1", "requests", 1, "prompt is 1, but prompts has no such row"},
    {"UPDATE rounds SET request = 99 WHERE id = 3", "rounds", 3,
     "request is 99, but requests has no such row"},
    {"UPDATE rounds SET layer_set = 99 WHERE id = 3", "rounds", 3, "layer_set is 99"},
    {"UPDATE draft_tokens SET round = round + 9999", "draft_tokens", 0, "but rounds has no such row"},
    {"UPDATE spans SET parent = 99999 WHERE id = 2", "spans", 2,
     "parent is 99999, but spans has no such row"},
    {"UPDATE spans SET name = 999 WHERE id = 2", "spans", 2, "name is 999, but strings has no such row"},
    {"UPDATE spans SET track = 999 WHERE id = 2", "spans", 2, "track is 999, but tracks has no such row"},
    {"UPDATE kernels SET span = 99999 WHERE id = 2", "kernels", 2,
     "span is 99999, but spans has no such row"},
    {"UPDATE counters SET track = 999 WHERE id = 2", "counters", 2,
     "track is 999, but tracks has no such row"},
    {"UPDATE tracks SET parent = 999 WHERE id = 2", "tracks", 2, "parent is 999"},
    {"UPDATE tracks SET kind = 'lane' WHERE id = 2", "tracks", 2, "kind is lane"},
    {"UPDATE tracks SET parent = id WHERE id = 2", "tracks", 2, "parent is 2, which leads round in a circle"},
    {"UPDATE tracks SET parent = 3 WHERE id = 1", "tracks", 1, "parent is 3, which leads round in a circle"},
    {"UPDATE tracks SET parent = 3 - id WHERE id < 3", "tracks", 3, "parent is 1, which leads round"},
    {"UPDATE spans SET parent = id WHERE id = 2", "spans", 2, "expected more than its parent 2 has"},
    {"UPDATE spans SET parent = CASE id WHEN 1 THEN 2 ELSE 1 END WHERE id < 3", "spans", 0,
     "expected more than its parent"},
    {"UPDATE runs SET parameters = '[1]' WHERE id = 2", "runs", 2, "parameters is not a JSON object"},
    {"UPDATE runs SET is_baseline = 2 WHERE id = 2", "runs", 2, "is_baseline is 2, expected 0 to 1"},
    {"UPDATE requests SET stop = 6 WHERE id = 2", "requests", 2, "stop is 6, expected 0 to 5"},
    {"UPDATE requests SET end_ns = 0 WHERE id = 2", "requests", 2, "end_ns is 0"},
    {"UPDATE requests SET end_ns = start_ns - 1 WHERE id = 2", "requests", 2, "expected at least start_ns"},
    {"UPDATE requests SET first_token_ns = end_ns + 1 WHERE id = 2", "requests", 2, "first_token_ns is"},
    {"UPDATE requests SET tokens = x'010203' WHERE id = 2", "requests", 2, "tokens is 3 bytes"},
    {"UPDATE prompts SET tokens = x'0102030405' WHERE id = 2", "prompts", 2, "tokens is 5 bytes"},
    {"UPDATE prompts SET turn = 5000000000 WHERE id = 2", "prompts", 2, "turn is 5000000000, expected"},
    {"UPDATE layer_sets SET skipped = x'01' WHERE id = 1", "layer_sets", 1, "skipped is 1 bytes, expected 2"},
    {"UPDATE layer_sets SET exit_layer = 9 WHERE id = 1", "layer_sets", 1, "exit_layer is 9"},
    {"UPDATE rounds SET accepted = drafted + 1 WHERE id = 3", "rounds", 3, "expected at most drafted"},
    {"UPDATE rounds SET planned = tree_depth - 1 WHERE id = 3", "rounds", 3, "expected at most planned"},
    {"UPDATE rounds SET emitted = accepted + 2 WHERE id = 3", "rounds", 3, "expected at most accepted + 1"},
    {"UPDATE rounds SET emitted = -1 WHERE id = 3", "rounds", 3, "negative"},
    {"UPDATE rounds SET draft_stop = 9 WHERE id = 3", "rounds", 3, "draft_stop is 9, expected 0 to 4"},
    {"UPDATE rounds SET end_ns = start_ns - 1 WHERE id = 3", "rounds", 3, "expected at least start_ns"},
    {"UPDATE rounds SET end_ns = end_ns + 1000000000 WHERE id = 3", "rounds", 3, "outside its request"},
    {"UPDATE rounds SET \"index\" = \"index\" + 1 WHERE request = 2", "rounds", 0, "index is 1, expected 0"},
    {"UPDATE rounds SET start_ns = start_ns - 1 WHERE request = 2 AND \"index\" = 1", "rounds", 0,
     "before the end of the round before it"},
    {"DELETE FROM draft_tokens WHERE \"index\" = 2", "rounds", 0, "but draft_tokens has"},
    {"DELETE FROM draft_tokens WHERE \"index\" = 0", "draft_tokens", 0, "index is 1, expected 0"},
    {"UPDATE draft_tokens SET parent = \"index\"", "draft_tokens", 0, "parent is 0, expected -1 to -1"},
    {"UPDATE draft_tokens SET accepted = 1, tested = 0", "draft_tokens", 0,
     "accepted without having been tested"},
    {"UPDATE draft_tokens SET accepted = 0 WHERE \"index\" = 0", "draft_tokens", 0,
     "index 1: accepted and its parent is 0, expected -1"},
    {"UPDATE spans SET phase = 8 WHERE id = 2", "spans", 2, "phase is 8, expected 0 to 7"},
    {"UPDATE spans SET depth = 256 WHERE id = 2", "spans", 2, "depth is 256, expected 0 to 255"},
    {"UPDATE spans SET start_ns = -1 WHERE id = 2", "spans", 2, "start_ns is -1, expected 0 to"},
    {"UPDATE spans SET end_ns = start_ns - 1 WHERE id = 2", "spans", 2, "expected at least start_ns"},
    {"UPDATE spans SET end_ns = end_ns + 1000000000 WHERE depth = 1", "spans", 0, "outside its parent"},
    {"UPDATE spans SET depth = 0", "spans", 0, "expected more than its parent"},
    {"UPDATE spans SET track = 2 WHERE depth = 1", "spans", 0, "is on track 1"},
    {"UPDATE spans SET end_ns = end_ns + 100000 WHERE depth = 0", "spans", 0,
     "before the end of the span before it"},
    {"UPDATE spans SET request = 1 WHERE request <> 1", "spans", 0, "is of request 2"},
    {"UPDATE rounds SET tree_depth = tree_depth + 1 WHERE id = 3", "rounds", 3, "but its draft_tokens are"},
    {"UPDATE draft_tokens SET parent = -1", "rounds", 0, "but its draft_tokens are 1 deep"},
    {"UPDATE rounds SET optimise_ns = -1 WHERE id = 3", "rounds", 3, "optimise_ns is -1, expected 0 to"},
    {"UPDATE rounds SET optimise_ns = end_ns - start_ns + 1 WHERE id = 3", "rounds", 3, "its phases take"},
    {"UPDATE decisions SET request = 99 WHERE id = 2", "decisions", 2, "request is 99, but requests has no"},
    {"UPDATE decisions SET round = 999 WHERE id = 2", "decisions", 2, "round is 999, but rounds has no"},
    {"UPDATE decisions SET kind = 999 WHERE id = 2", "decisions", 2, "kind is 999, but strings has no"},
    {"UPDATE decisions SET request = 1 WHERE round IS NOT NULL", "decisions", 0,
     "request is 1, but its round"},
    {"UPDATE decisions SET adopted = 2 WHERE id = 2", "decisions", 2, "adopted is 2, expected 0 to 1"},
    {"UPDATE decisions SET detail = '{\"a\":' || replace(hex(zeroblob(200)), '00', '[') || "
     "replace(hex(zeroblob(200)), '00', ']') || '}' WHERE id = 2",
     "decisions", 2, "detail nests deeper than 128"},
    {"INSERT INTO meta VALUES ('deep', replace(hex(zeroblob(200)), '00', '['))", "meta", 0,
     "deep nests deeper than readers take"},
    {"UPDATE decisions SET detail = '[]' WHERE id = 2", "decisions", 2, "detail is not a JSON object"},
    {"UPDATE decisions SET detail = '{' WHERE id = 2", "decisions", 2, "detail is not a JSON object"},
    {"UPDATE decisions SET end_ns = start_ns - 1 WHERE id = 2", "decisions", 2, "expected at least start_ns"},
    {"UPDATE decisions SET start_ns = 5 WHERE id = 2", "decisions", 2, "outside its request"},
    {"UPDATE decisions SET start_ns = (SELECT start_ns - 1 FROM rounds WHERE rounds.id = round) WHERE round "
     "> 0",
     "decisions", 0, "before its round"},
    {"UPDATE token_texts SET token = -1 WHERE token = 7", "token_texts", -1,
     "token is -1, expected at least 0"},
    {"UPDATE shadow_tokens SET request = 99 WHERE request = 1", "shadow_tokens", 99,
     "request is 99, but requests has no such row"},
    {"UPDATE shadow_tokens SET layer = 0 WHERE layer = 2", "shadow_tokens", 0, "layer 0, position"},
    {"UPDATE shadow_tokens SET layer = 9 WHERE layer = 8", "shadow_tokens", 0, "the model has 8 layers"},
    {"UPDATE shadow_tokens SET true_rank = -2 WHERE layer = 8", "shadow_tokens", 0, "true_rank is -2"},
    {"UPDATE shadow_tokens SET probability_millionths = 1000001", "shadow_tokens", 0,
     "expected 0 to 1000000"},
    {"UPDATE shadow_tokens SET margin_millionths = -1", "shadow_tokens", 0,
     "margin_millionths is -1, expected 0"},
    {"UPDATE shadow_tokens SET token = token + 1 WHERE true_rank = 0", "shadow_tokens", 0,
     "the text contradicts"},
    {"UPDATE shadow_tokens SET true_rank = 1 WHERE true_rank = 0", "shadow_tokens", 0,
     "the text contradicts"},
    {"DELETE FROM shadow_tokens WHERE layer = 4 AND position % 2", "shadow_tokens", 0, "layer 4 has"},
    {"UPDATE shadow_tokens SET position = position + 1000", "shadow_tokens", 0, "the text ends at"},
    {"DELETE FROM meta WHERE key = 'closed_cleanly'", "meta", 0, "closed_cleanly is missing"},
    {"UPDATE lane_columns SET busy_ns = busy_ns + 1 WHERE lane = 3", "lane_columns", 0, "but the rows give"},
    {"DELETE FROM lane_columns WHERE lane = 0", "lane_columns", 0, "is missing"},
    {"INSERT INTO lane_columns VALUES (4, 77, 0, 0, 0, 1)", "lane_columns", 0, "no rows give"},
    {"UPDATE lane_columns SET phase = phase + 90 WHERE lane = 1", "lane_columns", 0, "phase is 9"},
    {"UPDATE round_columns SET emitted = emitted + 1", "round_columns", 0, "emitted is"},
    {"UPDATE round_columns SET run = 99 WHERE run = 1", "round_columns", 0, "run is 99"},
    {"UPDATE request_sums SET accepted = 0", "request_sums", 0, "accepted is 0"},
    {"DELETE FROM request_sums", "request_sums", 0, "is missing"},
    {"DELETE FROM meta WHERE key = 'overview_column_ns'", "request_sums", 0, "no rows give"},
    {"UPDATE meta SET value = '7' WHERE key = 'overview_column_ns'", "meta", 0, "overview_column_ns is 7"},
    {"UPDATE rounds SET emitted = 0", "round_columns", 0, "emitted"},
};
INSTANTIATE_TEST_SUITE_P(table, DamagedRow, testing::ValuesIn(damages));

TEST(TracksInACircle, AreExportedAsRoots) {
  for (const char* const sql : {"UPDATE tracks SET parent = id", "UPDATE tracks SET parent = id % 3 + 1"}) {
    const SampleFile file;
    change(file.path, sql);
    Reader reader = file.open();
    EXPECT_TRUE(export_perfetto(reader, file.folder / "x.pftrace"));
  }
}

TEST(TracksInALongRow, AreExportedAndChecked) {
  const SampleFile file;
  // The first track is the innermost, and the first that is checked.
  change(file.path,
         "WITH RECURSIVE row (id) AS (SELECT 4 UNION ALL SELECT id + 1 FROM row WHERE id < 100000) "
         "INSERT INTO tracks SELECT id, 'host', 'track', nullif(id + 1, 100001), 0 FROM row;"
         "UPDATE tracks SET parent = 4 WHERE id < 4; ANALYZE");
  Reader reader = file.open();
  EXPECT_TRUE(reader.validate()->empty());
  EXPECT_TRUE(export_perfetto(reader, file.folder / "x.pftrace"));
}

TEST(FileCutShort, AtAnyLengthEndsInAMessageOrAnIntactPart) {
  const SampleFile file({.requests_per_run = 2});
  const std::string good = read_file(file.path);
  for (std::size_t size = 0; size < good.size(); size += size < 600 ? 37 : 1777) {
    write_file(file.path, good.substr(0, size));
    const std::string problem = read_everything(file.path);
    EXPECT_NE(problem, "") << "cut to " << size << " of " << good.size() << " bytes";
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  }
}

TEST(FileWithFlippedBits, NeverCrashesTheReader) {
  const SampleFile file({.requests_per_run = 1});
  const std::string good = read_file(file.path);
  std::mt19937 random(4711);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (std::size_t flips = 1 + random() % 8; flips > 0; --flips)
      bad[random() % bad.size()] ^= static_cast<char>(1U << random() % 8);
    write_file(file.path, bad);
    read_everything(file.path);
  }
}

}  // namespace
}  // namespace draftscope::traces
