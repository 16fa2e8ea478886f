// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/reader.h>

#include <algorithm>
#include <tuple>

#include "open.h"
#include "references.h"
#include "scan.h"
#include "schema.h"
#include "upgrade.h"
#include "validate.h"

namespace draftscope::traces {

class Reader::Implementation {
 public:
  explicit Implementation(OpenTrace opened) : trace(std::move(opened)) {}
  OpenTrace trace;
};

Reader::Reader(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

namespace {

template <typename Record>
auto stored_order(const Record& row) {
  if constexpr (std::is_same_v<Record, DraftToken>)
    return std::pair(row.round, row.index);
  else
    return row.id;
}

template <typename Record>
Result<std::vector<Record>> read_all(OpenTrace& trace) {
  std::vector<Record> rows;
  bool rising = true;
  DRAFTSCOPE_TRY(scan<Record>(trace, "", [&](const Record& row) {
    // Rows come in the order of their key; one that does not is met twice in a damaged tree, and could be met
    // without end.
    rising = rows.empty() || stored_order(rows.back()) < stored_order(row);
    if (rising) rows.push_back(row);
    return rising;
  }));
  if (!rising)
    return fail("{}: table {}: rows out of order after row {}", trace.path.string(), table_name<Record>,
                rows.size());
  return rows;
}

Result<Meta> read_meta(OpenTrace& trace) {
  const std::string name = trace.path.string();
  trace.budget->steps_left = trace.budget->steps;
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement,
                        prepare(trace.database.get(), name, "SELECT key, value FROM meta"));
  Meta meta;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW)
    meta.insert_or_assign(std::string(column_bytes(statement.get(), 0)),
                          std::string(column_bytes(statement.get(), 1)));
  if (code != SQLITE_DONE) return fail("{}: table meta: {}", name, sqlite_error(trace.database.get()));
  return meta;
}

constexpr std::string_view by_track = "track, start_ns, id";

/// Times that run backwards would make negative durations everywhere.
template <typename Record>
bool ordered(const Record& row) {
  return row.end_ns >= row.start_ns;
}

template <typename Record>
Result<void> scan_intervals(OpenTrace& trace, std::string_view order,
                            const std::function<bool(const Record&)>& visit) {
  Result<void> problem;
  DRAFTSCOPE_TRY(scan<Record>(trace, order, [&](const Record& row) {
    if (!ordered(row)) {
      problem = fail("{}: {} row {}: end_ns is {}, expected at least start_ns ({})", trace.path.string(),
                     table_name<Record>, row.id, row.end_ns, row.start_ns);
      return false;
    }
    return visit(row);
  }));
  return problem;
}

}  // namespace

Result<Reader> Reader::open(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(OpenTrace trace, open_trace(path));
  return Reader(std::make_unique<Implementation>(std::move(trace)));
}

int Reader::schema_version() const {
  return implementation_->trace.schema_version;
}

Result<Recording> Reader::recording() {
  OpenTrace& trace = implementation_->trace;
  Recording recording;
  recording.path = trace.path;
  DRAFTSCOPE_TRY_ASSIGN(recording.meta, read_meta(trace));
  const auto closed = recording.meta.find("closed_cleanly");
  recording.closed_cleanly = closed != recording.meta.end() && closed->second == "1";
  DRAFTSCOPE_TRY_ASSIGN(recording.runs, read_all<Run>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.prompts, read_all<Prompt>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.requests, read_all<Request>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.layer_sets, read_all<LayerSet>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.rounds, read_all<Round>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.draft_tokens, read_all<DraftToken>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.tracks, read_all<Track>(trace));
  std::stable_sort(recording.requests.begin(), recording.requests.end(),
                   [](const Request& a, const Request& b) { return a.start_ns < b.start_ns; });
  std::stable_sort(recording.rounds.begin(), recording.rounds.end(), [](const Round& a, const Round& b) {
    return std::tie(a.request, a.index) < std::tie(b.request, b.index);
  });
  DRAFTSCOPE_TRY(check_references(recording));
  if (!has_column(trace.schema_version, "rounds", "tree_depth")) add_tree_depths(recording);
  return recording;
}

Result<std::unordered_map<std::int64_t, std::string>> Reader::strings() {
  std::unordered_map<std::int64_t, std::string> strings;
  DRAFTSCOPE_TRY(scan<StringRow>(implementation_->trace, "", [&](const StringRow& row) {
    strings.insert_or_assign(row.id, row.text);
    return true;
  }));
  return strings;
}

Result<std::unordered_map<std::int32_t, std::string>> Reader::token_texts() {
  std::unordered_map<std::int32_t, std::string> texts;
  DRAFTSCOPE_TRY(scan<TokenText>(implementation_->trace, "", [&](const TokenText& row) {
    texts.insert_or_assign(row.token, row.text);
    return true;
  }));
  return texts;
}

Result<std::vector<TableCount>> Reader::row_counts() {
  OpenTrace& trace = implementation_->trace;
  std::vector<TableCount> counts;
  for (const std::string_view table : table_names) {
    // Counting a column goes row by row, under the work budget; count(*) alone would not.
    const bool has_token_rows = table.ends_with("_tokens") || table == "token_texts";
    const std::string_view column = table == "meta" ? "key" : has_token_rows ? "token" : "id";
    if (!has_table(trace.schema_version, table)) {
      counts.push_back({std::string(table), 0});
      continue;
    }
    trace.budget->steps_left = trace.budget->steps;
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t rows,
                          query_integer(trace.database.get(), trace.path.string(),
                                        fmt::format("SELECT count({}) FROM {}", column, table)));
    counts.push_back({std::string(table), rows});
  }
  return counts;
}

Result<void> Reader::decisions(const std::function<bool(const Decision&)>& visit) {
  return scan_intervals<Decision>(implementation_->trace, "start_ns, id", visit);
}

Result<void> Reader::shadow_tokens(const std::function<bool(const ShadowToken&)>& visit) {
  return scan<ShadowToken>(implementation_->trace, "request, layer, position", visit);
}

Result<void> Reader::spans(const std::function<bool(const Span&)>& visit) {
  return scan_intervals<Span>(implementation_->trace, by_track, visit);
}

Result<void> Reader::kernels(const std::function<bool(const Kernel&)>& visit) {
  return scan_intervals<Kernel>(implementation_->trace, by_track, visit);
}

Result<void> Reader::counters(const std::function<bool(const Counter&)>& visit) {
  return scan<Counter>(implementation_->trace, "track, timestamp_ns, id", visit);
}

Result<std::vector<Violation>> Reader::validate(std::size_t most) {
  return find_violations(implementation_->trace, most);
}

}  // namespace draftscope::traces
