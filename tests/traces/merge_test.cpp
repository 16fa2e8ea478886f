// SPDX-License-Identifier: GPL-3.0-or-later
// Merges shards of made-up recordings: SQL on the whole must give the same as on the parts.
#include <draftscope/traces/merge.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "../value_of.h"
#include "../walks.h"
#include "read_everything.h"
#include "sample.h"
#include "writing/shard_copy.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

/// Rows of a query as lines.
std::vector<std::string> rows_of(const fs::path& path, const std::string& sql) {
  std::vector<std::string> rows;
  for (const auto& row : query(path, sql)) rows.push_back(fmt::format("{}|", fmt::join(row, "|")));
  return rows;
}

/// Makes a recording that claims to be shard I of N, with its own questions.
fs::path make_shard(const TestFolder& folder, int index, int count) {
  fs::path path = folder / fmt::format("run.{}-of-{}.dstrace", index, count);
  make_sample_file(path, {.seed = static_cast<std::uint32_t>(index)});
  change(path, fmt::format("INSERT OR REPLACE INTO meta VALUES ('shard', '{}/{}'), ('hostname', 'node{}');"
                           "UPDATE prompts SET question_id = question_id + {}",
                           index, count, index, 100 * index));
  return path;
}

std::vector<fs::path> make_shards(const TestFolder& folder, int count) {
  std::vector<fs::path> shards;
  for (int i = 1; i <= count; ++i) shards.push_back(make_shard(folder, i, count));
  return shards;
}

// A request is identified by its content, and a time by its distance from the request's beginning.
constexpr const char* request = "ru.specification, p.question_id, p.turn, q.repeat";
constexpr const char* of_request =
    "JOIN requests q ON q.id = x.request JOIN runs ru ON ru.id = q.run JOIN prompts p ON p.id = q.prompt";

/// Queries of each table's rows without ids and clocks.
std::map<std::string, std::string> queries() {
  const std::string times = "x.start_ns - q.start_ns, x.end_ns - x.start_ns";
  const std::string round = "(SELECT \"index\" FROM rounds WHERE id = x.round)";
  return {
      {"prompts", "SELECT question_id, category, turn, text, hex(tokens) FROM prompts"},
      {"requests",
       fmt::format("SELECT {}, q.end_ns - q.start_ns, q.first_token_ns - q.start_ns, q.seed, q.stop, q.text, "
                   "hex(q.tokens) FROM (SELECT id AS request FROM requests) x {}",
                   request, of_request)},
      {"rounds",
       fmt::format("SELECT {}, {}, x.\"index\", x.root_position, l.n_layers, l.exit_layer, hex(l.skipped), "
                   "l.origin, x.exit_layer, x.planned, x.drafted, x.tree_depth, x.accepted, x.emitted, "
                   "x.verify_rows, x.bonus_token, x.draft_stop, x.threshold, x.draft_ns, x.verify_ns, "
                   "x.accept_ns, x.optimise_ns, x.control_ns FROM rounds x LEFT JOIN layer_sets l ON l.id = "
                   "x.layer_set {}",
                   request, times, of_request)},
      {"draft_tokens",
       fmt::format("SELECT {}, x.\"index\", d.\"index\", d.parent, d.token, d.confidence, d.probability, "
                   "d.accepted, d.tested FROM draft_tokens d JOIN rounds x ON x.id = d.round {}",
                   request, of_request)},
      {"decisions",
       fmt::format("SELECT {}, {}, {}, s.text, x.score, x.adopted, x.detail FROM decisions x JOIN strings s "
                   "ON s.id = x.kind {}",
                   request, times, round, of_request)},
      {"shadow_tokens", fmt::format("SELECT {}, x.layer, x.position, x.token, x.probability_millionths, "
                                    "x.margin_millionths, x.true_rank FROM shadow_tokens x {}",
                                    request, of_request)},
      {"spans",
       fmt::format(
           "SELECT {}, {}, {}, s.text, x.layer, x.depth, x.phase, (SELECT start_ns - q.start_ns FROM "
           "spans WHERE id = x.parent), substr(t.name, -8), t.kind FROM spans x JOIN strings s ON s.id "
           "= x.name JOIN tracks t ON t.id = x.track {}",
           request, times, round, of_request)},
      {"kernels",
       fmt::format(
           "SELECT {}, {}, {}, (SELECT text FROM strings WHERE id = x.short_name), (SELECT start_ns - "
           "q.start_ns FROM spans WHERE id = x.span), t.kind FROM kernels x JOIN tracks t ON t.id = "
           "x.track {}",
           request, times, round, of_request)},
      {"counters", "SELECT t.kind, x.value FROM counters x JOIN tracks t ON t.id = x.track"},
      {"token_texts", "SELECT DISTINCT token, text FROM token_texts"},
  };
}

TEST(MergedShards, HaveTheRowsOfAll) {
  const TestFolder folder;
  std::vector<fs::path> shards = make_shards(folder, 3);
  std::rotate(shards.begin(), shards.begin() + 1, shards.end());
  const fs::path merged = folder / "run.dstrace";
  std::vector<std::int64_t> heard;
  const auto summary = merge_shards(shards, {}, merged, [&](std::int64_t done, std::int64_t all) {
    heard.push_back(done);
    EXPECT_LE(done, all);
    return true;
  });
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->shards, 3);
  EXPECT_TRUE(summary->missing.empty());
  EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
  EXPECT_EQ(read_everything(merged), "");
  for (const auto& [table, sql] : queries()) {
    std::vector<std::string> expected;
    for (const fs::path& shard : shards) {
      const auto rows = rows_of(shard, sql);
      EXPECT_FALSE(rows.empty()) << table;
      expected.insert(expected.end(), rows.begin(), rows.end());
    }
    auto found = rows_of(merged, sql);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    if (table == "token_texts") expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    EXPECT_EQ(found, expected) << table;
  }
}

TEST(MergedShards, LieOneBehindAnotherAndAreNamed) {
  const TestFolder folder;
  const auto shards = make_shards(folder, 3);
  const fs::path merged = folder / "run.dstrace";
  ASSERT_TRUE(merge_shards(shards, {}, merged));
  // No request of a shard begins before all of the shard before have ended.
  EXPECT_EQ(
      rows_of(merged,
              "SELECT count(*) FROM requests a JOIN prompts pa ON pa.id = a.prompt, requests b JOIN prompts "
              "pb ON "
              "pb.id = b.prompt WHERE pa.question_id / 100 < pb.question_id / 100 AND a.end_ns > b.start_ns"),
      std::vector<std::string>{"0|"});
  EXPECT_EQ(rows_of(merged,
                    "SELECT json_extract(value, '$.shard'), json_extract(value, '$.hostname') FROM "
                    "json_each((SELECT value FROM meta WHERE key = 'merged_shards'))"),
            (std::vector<std::string>{"1/3|node1|", "2/3|node2|", "3/3|node3|"}));
  EXPECT_EQ(rows_of(merged, "SELECT value FROM meta WHERE key IN ('hostname', 'shard')"),
            std::vector<std::string>{"node1, node2, node3|"});
  EXPECT_EQ(rows_of(merged, "SELECT count(*) FROM tracks WHERE name LIKE 'shard 2: %'"),
            std::vector<std::string>{"1|"});
}

TEST(MergedShards, MayMissSome) {
  const TestFolder folder;
  const auto all = make_shards(folder, 4);
  auto shards = all;
  shards.erase(shards.begin() + 1, shards.begin() + 3);
  const auto refused = merge_shards(shards, {}, folder / "run.dstrace");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "found 2 of 4 shards, expected 2/4, 3/4 too (--partial does without)");
  const auto merged = value_of(merge_shards(shards, {.is_partial = true}, folder / "run.dstrace"));
  EXPECT_EQ(merged.missing, (std::vector<Shard>{{2, 4}, {3, 4}}));
  const auto note = [](const fs::path& file) {
    return missing_shards_note(value_of(value_of(Reader::open(file)).outline()).meta);
  };
  EXPECT_EQ(note(folder / "run.dstrace"), "merged from 2 of 4 shards, without the prompts of 2/4, 3/4");
  EXPECT_EQ(note(shards.front()), "");
  const fs::path whole = folder / "whole.dstrace";
  ASSERT_TRUE(merge_shards(all, {}, whole));
  EXPECT_EQ(note(whole), "");
  for (const char* const odd : {"", "3", "[3]", R"([{"shard":3}])", R"([{"shard":"3"}])",
                                R"([{"shard":"1/3"},{"shard":"1/3"}])", "["})
    EXPECT_EQ(missing_shards_note({{"merged_shards", odd}}), "") << odd;
}

TEST(MergedShards, AreOfOneExperiment) {
  struct Case {
    const char* sql;      // applied to the second shard
    const char* message;  // expected in the error
  };
  for (const Case& given :
       {Case{"DELETE FROM meta WHERE key = 'shard'", "is no shard's recording"},
        Case{"UPDATE meta SET value = '2' WHERE key = 'shard'", "meta.shard: found '2', expected I/N"},
        Case{"UPDATE meta SET value = '1/2' WHERE key = 'shard'", "is shard 1/2, expected each shard once"},
        Case{"UPDATE meta SET value = '2/3' WHERE key = 'shard'", "is shard 2/3, expected one of 2 as"},
        Case{"INSERT OR REPLACE INTO meta VALUES ('temperature', '7')", "meta.temperature is '7', expected"},
        Case{"INSERT OR REPLACE INTO meta VALUES ('processor', 'abacus')", "(--mixed-machines takes both)"},
        Case{"INSERT INTO meta VALUES ('what came later', 'x')", "meta.what came later is 'x', expected ''"},
        Case{"UPDATE runs SET parameters = '{\"gamma\":1}' WHERE is_baseline = 0", "run 2 is"},
        Case{"UPDATE prompts SET question_id = question_id - 100", "expected none that is in"},
        Case{"UPDATE meta SET value = '0' WHERE key = 'closed_cleanly'", "was not closed"}}) {
    const TestFolder folder;
    const auto shards = make_shards(folder, 2);
    change(shards[1], given.sql);
    const auto refused = merge_shards(shards, {}, folder / "run.dstrace");
    ASSERT_FALSE(refused) << given.sql;
    EXPECT_NE(refused.error().message.find(given.message), std::string::npos) << refused.error().message;
    EXPECT_LT(refused.error().message.size(), 300U);
    EXPECT_EQ(names_in(folder).size(), 2U) << "something was left behind";
  }
}

TEST(MergedShards, AreSoundWhateverTheirClocksSay) {
  for (const char* const sql :
       {"DELETE FROM meta WHERE key LIKE 'clock_%'",
        "REPLACE INTO meta VALUES ('clock_start_monotonic_ns', '900'), ('clock_end_monotonic_ns', '5')",
        "INSERT OR REPLACE INTO meta VALUES ('clock_start_monotonic_ns', '9223372036854775807')",
        "INSERT OR REPLACE INTO meta VALUES ('clock_end_monotonic_ns', '-9223372036854775808')",
        "INSERT OR REPLACE INTO meta VALUES ('clock_start_monotonic_ns', 'noon')",
        "INSERT OR REPLACE INTO meta VALUES ('clock_start_monotonic_ns', '4611686018427387904')"}) {
    const TestFolder folder;
    const auto shards = make_shards(folder, 3);
    change(shards[1], sql);
    const auto merged = merge_shards(shards, {}, folder / "run.dstrace");
    ASSERT_TRUE(merged) << sql << ": " << merged.error().message;
    EXPECT_EQ(read_everything(folder / "run.dstrace"), "") << sql;
  }
}

/// The first column of a query's rows.
std::vector<std::string> first_column(const fs::path& path, const std::string& sql) {
  std::vector<std::string> found;
  for (const auto& row : query(path, sql)) found.push_back(row.front());
  return found;
}

/// Runs SQL that a table may refuse, such as a text for a number.
void try_sql(const fs::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

/// A statement that changes or removes one row of any table.
std::string random_change(const fs::path& path, std::mt19937& random) {
  const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  const std::string table = pick(first_column(path, "SELECT name FROM sqlite_schema WHERE type = 'table'"));
  const std::string columns_of = fmt::format("SELECT name FROM pragma_table_info('{}')", table);
  const std::string key =
      fmt::format("\"{}\"", fmt::join(first_column(path, columns_of + " WHERE pk > 0"), "\", \""));
  const auto rows = std::stoul(first_column(path, fmt::format("SELECT count(*) FROM {}", table)).front());
  const std::string where = fmt::format("WHERE ({}) IN (SELECT {} FROM {} LIMIT 1 OFFSET {})", key, key,
                                        table, random() % std::max(rows, 1UL));
  const std::string column = pick(first_column(path, columns_of));
  switch (random() % 8) {
    case 0:
      return fmt::format("DELETE FROM {} {}", table, where);
    case 1:
      return fmt::format("UPDATE OR IGNORE {} SET \"{}\" = \"{}\" + 1 {}", table, column, column, where);
    default:
      return fmt::format("UPDATE OR IGNORE {} SET \"{}\" = {} {}", table, column,
                         pick({"NULL", "-1", "0", "1", "7", "1.5", "100000", "2147483647", "1099511627776",
                               "4611686018427387904", "9223372036854775807", "''", "'x'", "'{}'", "x''",
                               "x'00ff00ff'", "zeroblob(5000)"}),
                         where);
  }
}

// One shard of one, so that nothing but the rules of a trace can refuse it; meta also says what it is a shard
// of.
TEST(MergedShards, AreTakenExactlyWhenTheyKeepEveryRuleAndSoDoesTheWhole) {
  const TestFolder folder(parent_in_memory());
  const fs::path whole = make_shard(folder, 1, 1);
  const fs::path shard = folder / "changed.dstrace";
  const fs::path merged = folder / "run.dstrace";
  const test::Walks seeds = test::walks(120);
  for (std::uint32_t seed = seeds.first; seed <= seeds.last; ++seed) {
    std::mt19937 random(seed);
    fs::copy_file(whole, shard, fs::copy_options::overwrite_existing);
    const std::string sql = random_change(shard, random);
    try_sql(shard, "PRAGMA ignore_check_constraints = 1; " + sql);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, sql));
    auto reader = Reader::open(shard);
    const auto violations = reader ? reader->validate(1) : tl::unexpected<Error>(reader.error());
    const auto summary = merge_shards({shard}, {.overwrite = true}, merged);
    const bool is_valid = violations && violations->empty();
    if (summary) {
      EXPECT_TRUE(is_valid);
      EXPECT_EQ(read_everything(merged), "");
    } else if (is_valid && sql.find(" meta ") == std::string::npos) {
      ADD_FAILURE() << summary.error().message;
    } else {
      EXPECT_EQ(summary.error().message.find('\n'), std::string::npos) << summary.error().message;
    }
  }
}

TEST(MergedShards, ThatLastLongerThanAnyRowMayAreRefused) {
  const TestFolder folder;
  const auto shards = make_shards(folder, 2);
  for (const fs::path& shard : shards)
    change(shard,
           "INSERT OR REPLACE INTO meta VALUES ('clock_start_monotonic_ns', '0'), ('clock_end_monotonic_ns', "
           "'4611686018427387900')");
  const auto refused = merge_shards(shards, {}, folder / "run.dstrace");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("expected at most 4611686018427387904 with the shards before it"),
            std::string::npos)
      << refused.error().message;
}

TEST(MergedShards, ThatWereCutOffAreRefusedInOneLine) {
  const TestFolder folder;
  const auto shards = make_shards(folder, 2);
  const auto whole = fs::file_size(shards[1]);
  for (const std::uintmax_t eighths : {7U, 5U, 3U, 1U, 0U}) {
    fs::resize_file(shards[1], whole * eighths / 8);
    const auto refused = merge_shards(shards, {}, folder / "run.dstrace");
    ASSERT_FALSE(refused) << eighths;
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
    EXPECT_NE(refused.error().message.find(shards[1].filename().string()), std::string::npos)
        << refused.error().message;
    EXPECT_FALSE(fs::exists(folder / "run.dstrace"));
  }
}

TEST(MergedShards, MayComeFromSeveralMachines) {
  const TestFolder folder;
  const auto shards = make_shards(folder, 2);
  change(shards[0], "INSERT OR REPLACE INTO meta VALUES ('processor', 'old'), ('threads', '4')");
  change(shards[1], "INSERT OR REPLACE INTO meta VALUES ('processor', 'new'), ('threads', '4')");
  ASSERT_TRUE(merge_shards(shards, {.has_mixed_machines = true}, folder / "run.dstrace"));
  EXPECT_EQ(rows_of(folder / "run.dstrace",
                    "SELECT value FROM meta WHERE key IN ('processor', 'threads') ORDER BY key"),
            (std::vector<std::string>{"old, new|", "4|"}));
}

TEST(MergedShards, LeaveNothingBehindWhenCancelled) {
  const TestFolder folder;
  const auto shards = make_shards(folder, 2);
  const auto stop = [](std::int64_t /*done*/, std::int64_t /*all*/) { return false; };
  const auto cancelled = merge_shards(shards, {}, folder / "run.dstrace", stop);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().message, "merge cancelled");
  EXPECT_EQ(names_in(folder).size(), 2U);
}

TEST(MergedShards, TakeNoPlaceOfTheirOwnOrOfOthers) {
  const TestFolder folder;
  const auto shards = make_shards(folder, 2);
  EXPECT_FALSE(merge_shards(shards, {.overwrite = true}, shards[1]));
  EXPECT_FALSE(merge_shards({}, {}, folder / "run.dstrace"));
  std::ofstream(folder / "notes.txt") << "kept";
  EXPECT_FALSE(merge_shards(shards, {}, folder / "notes.txt"));
  EXPECT_EQ(read_everything(shards[1]), "");
}

TEST(RenumberedIds, FindWhatWasAdded) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    RenumberedIds<SpanId> ids;
    std::map<std::int64_t, std::int64_t> expected;
    std::int64_t from = 0;
    std::int64_t to = static_cast<std::int64_t>(random() % 1000);
    for (int i = 0; i < 200; ++i) {
      from += random() % 8 == 0 ? 1 + static_cast<std::int64_t>(random() % 5) : 1;
      to += random() % 16 == 0 ? 2 : 1;
      ids.add(SpanId::from(from), SpanId::from(to));
      expected[from] = to;
    }
    for (std::int64_t id = 0; id < from + 3; ++id) {
      const auto found = expected.find(id);
      EXPECT_EQ(ids[SpanId::from(id)].value(), found == expected.end() ? 0 : found->second);
    }
  }
}

TEST(Shard, DealsEachPromptOutOnce) {
  for (std::int32_t count = 1; count <= 7; ++count)
    for (std::size_t prompt = 0; prompt < 50; ++prompt) {
      int owners = 0;
      for (std::int32_t index = 1; index <= count; ++index) owners += Shard{index, count}.has(prompt) ? 1 : 0;
      EXPECT_EQ(owners, 1);
    }
}

TEST(Shard, ReadsWhatItWrites) {
  EXPECT_EQ(parse_shard(shard_text({3, 16})), (Shard{3, 16}));
  EXPECT_EQ(shard_file("a/run.dstrace", {3, 16}), "a/run.3-of-16.dstrace");
  for (const char* text : {"", "1", "0/4", "5/4", "1/0", "-1/4", "1/4 ", "a/b", "1/2/3", "1/99999999999"})
    EXPECT_FALSE(parse_shard(text)) << text;
}

TEST(Shard, IsThatOfTheTask) {
  using Variables = std::map<std::string, std::string>;
  const auto shard_in = [](const Variables& variables) {
    return shard_of_task([&](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    });
  };
  const Variables array{{"SLURM_ARRAY_TASK_ID", "14"},
                        {"SLURM_ARRAY_TASK_MIN", "10"},
                        {"SLURM_ARRAY_TASK_STEP", "2"},
                        {"SLURM_ARRAY_TASK_COUNT", "4"}};
  EXPECT_EQ(shard_in(array), (Shard{3, 4}));
  EXPECT_EQ(shard_in({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}}), (Shard{2, 8}));
  EXPECT_EQ(shard_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), (Shard{1, 2}));
  EXPECT_EQ(shard_in({{"PMI_RANK", "4"}, {"PMI_SIZE", "5"}}), (Shard{5, 5}));
  // Tasks of each of an array's jobs: every pair is another shard.
  Variables both = array;
  both.insert({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "3"}});
  EXPECT_EQ(shard_in(both), (Shard{8, 12}));
  // A batch script that requests tasks is none of them.
  EXPECT_FALSE(shard_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}));
  for (const auto& [variable, text] :
       std::vector<std::pair<std::string, std::string>>{{"SLURM_ARRAY_TASK_ID", "15"},
                                                        {"SLURM_ARRAY_TASK_ID", "18"},
                                                        {"SLURM_ARRAY_TASK_COUNT", "none"},
                                                        {"SLURM_ARRAY_TASK_MIN", "20"},
                                                        {"SLURM_ARRAY_TASK_STEP", "0"}}) {
    Variables wrong = array;
    wrong[variable] = text;
    const auto refused = shard_in(wrong);
    ASSERT_FALSE(refused) << variable;
    EXPECT_NE(refused.error().message.find("SLURM_ARRAY_TASK"), std::string::npos) << refused.error().message;
  }
  EXPECT_FALSE(shard_in({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
  EXPECT_FALSE(shard_in({{"PMI_RANK", "0"}}));
  EXPECT_FALSE(shard_in({}));
}

}  // namespace
}  // namespace draftscope::traces
