// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/reader.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <ranges>
#include <utility>

#include "reading/open.h"
#include "reading/references.h"
#include "reading/scan.h"
#include "reading/validate.h"
#include "storage/columns.h"
#include "storage/schema.h"
#include "storage/tables.h"

namespace draftscope::traces {
namespace {

// 512 lanes and phases of 2,048 columns, the maximum that a writer stores.
constexpr std::size_t max_overview_rows = std::size_t{1} << 20U;

Result<std::int64_t> column_width(const OpenTrace& trace, const std::string& stated) {
  std::int64_t width = 0;
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), width);
  if (error != std::errc() || end != stated.data() + stated.size() || width < 1 || width > max_ns ||
      !std::has_single_bit(static_cast<std::uint64_t>(width)))
    return fail("{}: meta {}: found \"{}\", expected a power of two", trace.path.string(), overview_key,
                stated);
  return width;
}

template <typename Record>
Result<std::vector<Record>> read_all(OpenTrace& trace,
                                     std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::vector<Record> rows;
  bool rising = true;
  DRAFTSCOPE_TRY(scan<Record>(trace, "", "", [&](const Record& row) {
    // Rows come in the order of their key. In a damaged tree a row may be met twice, or without end, and its
    // key then does not rise.
    rising = rows.empty() || primary_key(rows.back()) < primary_key(row);
    // Untouched memory costs nothing but copying rows does: growing by fours copies a third as much as
    // growing by twos.
    if (rows.size() == rows.capacity()) rows.reserve(std::max<std::size_t>(64, 4 * rows.size()));
    if (rising) rows.push_back(row);
    return rising && rows.size() <= most;
  }));
  if (rows.size() > most)
    return fail("{}: table {}: found more rows, expected at most {}", trace.path.string(), table_name<Record>,
                most);
  if (!rising)
    return fail("{}: table {}: rows out of order after row {}, expected ascending ones", trace.path.string(),
                table_name<Record>, rows.size());
  return rows;
}

/// Whether times run forward; otherwise they would make negative durations everywhere.
template <typename Record>
bool ordered(const Record& row) {
  return row.end_ns >= row.start_ns;
}

template <typename Record>
Result<void> scan_intervals(OpenTrace& trace, std::string_view where, std::string_view order,
                            const std::function<bool(const Record&)>& visit) {
  Result<void> problem;
  DRAFTSCOPE_TRY(scan<Record>(trace, where, order, [&](const Record& row) {
    if (!ordered(row)) {
      problem = fail("{}: {} row {}: end_ns is {}, expected at least start_ns ({})", trace.path.string(),
                     table_name<Record>, row.id, row.end_ns, row.start_ns);
      return false;
    }
    return visit(row);
  }));
  return problem;
}

/// Streams a table in the order that readers expect.
template <typename Record>
Result<void> scan_in_order(OpenTrace& trace, const std::function<bool(const Record&)>& visit) {
  if constexpr (requires(const Record& row) { row.end_ns; })
    return scan_intervals<Record>(trace, "", table_of<Record>.order, visit);
  else
    return scan<Record>(trace, "", table_of<Record>.order, visit);
}

/// Streams a table whose ids must rise. In a damaged tree that contains rows more than once they need not
/// rise, nor end.
template <typename Record>
Result<void> scan_by_id(OpenTrace& trace, IdRange ids, const std::function<bool(const Record&)>& visit) {
  decltype(Record::id) before;
  bool rising = true;
  DRAFTSCOPE_TRY(scan_intervals<Record>(trace, fmt::format("id BETWEEN {} AND {}", ids.first, ids.last), "",
                                        [&](const Record& row) {
                                          rising = row.id > before;
                                          before = row.id;
                                          return rising && visit(row);
                                        }));
  if (rising) return {};
  return fail("{}: table {}: rows out of order after row {}, expected ascending ones", trace.path.string(),
              table_name<Record>, before);
}

Result<Meta> read_meta(OpenTrace& trace) {
  const std::string name = trace.path.string();
  trace.budget->steps_left = trace.budget->steps;
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement,
                        prepare(trace.database.get(), name, "SELECT key, value FROM meta"));
  Meta meta;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    std::string key(column_bytes(statement.get(), 0));
    std::string value(column_bytes(statement.get(), 1));
    if (!is_shallow_json(value))
      return fail("{}: meta {}: nests deeper than {}, expected at most {}", name, key, max_json_depth,
                  max_json_depth);
    meta.insert_or_assign(std::move(key), std::move(value));
  }
  if (code != SQLITE_DONE) return fail("{}: table meta: {}", name, sqlite_error(trace.database.get()));
  DRAFTSCOPE_TRY(check_unchanged(trace));
  return meta;
}

/// Reads the recording without rounds and draft tokens; its references are not checked yet.
Result<Recording> read_outline(OpenTrace& trace) {
  Recording recording;
  recording.path = trace.path;
  DRAFTSCOPE_TRY_ASSIGN(recording.meta, read_meta(trace));
  const auto closed = recording.meta.find("closed_cleanly");
  recording.closed_cleanly = closed != recording.meta.end() && closed->second == "1";
  DRAFTSCOPE_TRY_ASSIGN(recording.runs, read_all<Run>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.prompts, read_all<Prompt>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.requests, read_all<Request>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.layer_sets, read_all<LayerSet>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.tracks, read_all<Track>(trace));
  std::ranges::stable_sort(recording.requests, {}, &Request::start_ns);
  return recording;
}

}  // namespace

class Reader::Implementation {
 public:
  explicit Implementation(OpenTrace opened) : trace(std::move(opened)) {}
  OpenTrace trace;
};

Reader::Reader(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(OpenTrace trace, open_trace(path));
  return Reader(std::make_unique<Implementation>(std::move(trace)));
}

Result<Reader> Reader::open(const std::filesystem::path& path, const std::atomic<bool>& stopped) {
  DRAFTSCOPE_TRY_ASSIGN(Reader reader, open(path));
  reader.implementation_->trace.budget->stopped = &stopped;
  return reader;
}

int newest_schema_version() {
  return current_schema_version;
}

int Reader::schema_version() const {
  return implementation_->trace.schema_version;
}

Result<Recording> Reader::outline() {
  DRAFTSCOPE_TRY_ASSIGN(Recording recording, read_outline(implementation_->trace));
  DRAFTSCOPE_TRY(check_references(recording));
  return recording;
}

Result<Recording> Reader::recording() {
  OpenTrace& trace = implementation_->trace;
  DRAFTSCOPE_TRY_ASSIGN(Recording recording, read_outline(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.rounds, read_all<Round>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.draft_tokens, read_all<DraftToken>(trace));
  const auto order = [](const Round& row) { return std::pair(row.request_id, row.index); };
  if (!std::ranges::is_sorted(recording.rounds, {}, order))
    std::ranges::stable_sort(recording.rounds, {}, order);
  DRAFTSCOPE_TRY(check_references(recording));
  return recording;
}

Result<std::optional<Overview>> Reader::overview() {
  OpenTrace& trace = implementation_->trace;
  DRAFTSCOPE_TRY_ASSIGN(const Meta meta, read_meta(trace));
  const auto stated = meta.find(std::string(overview_key));
  if (stated == meta.end()) return std::nullopt;
  Overview overview;
  DRAFTSCOPE_TRY_ASSIGN(overview.column_ns, column_width(trace, stated->second));
  DRAFTSCOPE_TRY_ASSIGN(overview.lanes, read_all<LaneColumn>(trace, max_overview_rows));
  DRAFTSCOPE_TRY_ASSIGN(overview.rounds, read_all<RoundColumn>(trace, max_overview_rows));
  DRAFTSCOPE_TRY_ASSIGN(overview.requests, read_all<RequestSum>(trace));
  return overview;
}

Result<std::unordered_map<StringId, std::string>> Reader::strings() {
  OpenTrace& trace = implementation_->trace;
  std::unordered_map<StringId, std::string> strings;
  DRAFTSCOPE_TRY(scan<StringRow>(trace, "", "", [&](const StringRow& row) {
    strings.insert_or_assign(row.id, row.text);
    return true;
  }));
  return strings;
}

Result<std::unordered_map<std::int32_t, std::string>> Reader::token_texts() {
  OpenTrace& trace = implementation_->trace;
  std::unordered_map<std::int32_t, std::string> texts;
  DRAFTSCOPE_TRY(scan<TokenText>(trace, "", "", [&](const TokenText& row) {
    texts.insert_or_assign(row.token, row.text);
    return true;
  }));
  return texts;
}

Result<std::vector<TableCount>> Reader::row_counts() {
  OpenTrace& trace = implementation_->trace;
  std::vector<TableCount> counts;
  // Counting a column goes row by row, within the work limit; count(*) would not.
  const auto count = [&](std::string_view table, std::string_view column) -> Result<void> {
    TableCount& counted = counts.emplace_back(TableCount{std::string(table), 0});
    trace.budget->steps_left = trace.budget->steps;
    DRAFTSCOPE_TRY_ASSIGN(counted.rows,
                          query_integer(trace.database.get(), trace.path.string(),
                                        fmt::format("SELECT count({}) FROM {}", column, table)));
    return {};
  };
  DRAFTSCOPE_TRY(count("meta", "key"));
  DRAFTSCOPE_TRY(try_each_table([&](const auto& table) { return count(table.name, table.key); }));
  DRAFTSCOPE_TRY(check_unchanged(trace));
  return counts;
}

Result<std::vector<TableCount>> Reader::highest_ids() {
  OpenTrace& trace = implementation_->trace;
  std::vector<TableCount> ids;
  for (const char* const table : {"rounds", "decisions", "spans", "kernels", "counters"}) {
    trace.budget->steps_left = trace.budget->steps;
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t id,
                          query_integer(trace.database.get(), trace.path.string(),
                                        fmt::format("SELECT coalesce(max(id), 0) FROM {}", table)));
    ids.push_back({table, id});
  }
  DRAFTSCOPE_TRY(check_unchanged(trace));
  return ids;
}

Result<void> Reader::decisions(const std::function<bool(const Decision&)>& visit) {
  return scan_in_order(implementation_->trace, visit);
}

Result<void> Reader::shadow_tokens(const std::function<bool(const ShadowToken&)>& visit) {
  return scan_in_order(implementation_->trace, visit);
}

Result<void> Reader::spans(const std::function<bool(const Span&)>& visit) {
  return scan_in_order(implementation_->trace, visit);
}

Result<void> Reader::kernels(const std::function<bool(const Kernel&)>& visit) {
  return scan_in_order(implementation_->trace, visit);
}

Result<void> Reader::counters(const std::function<bool(const Counter&)>& visit) {
  return scan_in_order(implementation_->trace, visit);
}

Result<void> Reader::spans(IdRange ids, const std::function<bool(const Span&)>& visit) {
  return scan_by_id<Span>(implementation_->trace, ids, visit);
}

Result<void> Reader::kernels(IdRange ids, const std::function<bool(const Kernel&)>& visit) {
  return scan_by_id<Kernel>(implementation_->trace, ids, visit);
}

Result<void> Reader::rounds(IdRange ids, const std::function<bool(const Round&)>& visit) {
  return scan_by_id<Round>(implementation_->trace, ids, visit);
}

Result<void> Reader::draft_tokens(IdRange round_ids, const std::function<bool(const DraftToken&)>& visit) {
  return scan<DraftToken>(implementation_->trace,
                          fmt::format("round BETWEEN {} AND {}", round_ids.first, round_ids.last), "", visit);
}

Result<void> Reader::decisions(IdRange ids, const std::function<bool(const Decision&)>& visit) {
  return scan_by_id<Decision>(implementation_->trace, ids, visit);
}

Result<std::vector<Violation>> Reader::validate(std::size_t most) {
  return find_violations(implementation_->trace, most);
}

}  // namespace draftscope::traces
