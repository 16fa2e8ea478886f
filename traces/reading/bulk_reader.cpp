// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/bulk_reader.h>

#include "reading/read_rows.h"
#include "reading/references.h"
#include "storage/tables.h"

namespace draftscope::traces {

class BulkReader::Implementation {
 public:
  explicit Implementation(OpenTrace opened) : trace(std::move(opened)) {}
  OpenTrace trace;
};

BulkReader::BulkReader(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
BulkReader::BulkReader(BulkReader&&) noexcept = default;
BulkReader& BulkReader::operator=(BulkReader&&) noexcept = default;
BulkReader::~BulkReader() = default;

namespace {

/// Ids rise; in a damaged tree that has rows more than once they need not, nor end.
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
  return fail("{}: table {}: rows out of order after row {}", trace.path.string(), table_name<Record>,
              before);
}

}  // namespace

Result<BulkReader> BulkReader::open(const std::filesystem::path& path, const std::atomic<bool>& stopped) {
  DRAFTSCOPE_TRY_ASSIGN(OpenTrace trace, open_trace(path));
  trace.budget->stopped = &stopped;
  return BulkReader(std::make_unique<Implementation>(std::move(trace)));
}

int BulkReader::schema_version() const {
  return implementation_->trace.schema_version;
}

Result<Recording> BulkReader::outline() {
  DRAFTSCOPE_TRY_ASSIGN(Recording recording, read_outline(implementation_->trace));
  DRAFTSCOPE_TRY(check_references(recording));
  return recording;
}

Result<std::optional<Overview>> BulkReader::overview() {
  return read_overview(implementation_->trace);
}

Result<Recording> BulkReader::recording() {
  return read_recording(implementation_->trace);
}

Result<std::unordered_map<StringId, std::string>> BulkReader::strings() {
  return read_strings(implementation_->trace);
}

Result<std::unordered_map<std::int32_t, std::string>> BulkReader::token_texts() {
  return read_token_texts(implementation_->trace);
}

Result<std::vector<TableCount>> BulkReader::highest_ids() {
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

Result<void> BulkReader::spans(IdRange ids, const std::function<bool(const Span&)>& visit) {
  return scan_by_id<Span>(implementation_->trace, ids, visit);
}

Result<void> BulkReader::kernels(IdRange ids, const std::function<bool(const Kernel&)>& visit) {
  return scan_by_id<Kernel>(implementation_->trace, ids, visit);
}

Result<void> BulkReader::rounds(IdRange ids, const std::function<bool(const Round&)>& visit) {
  return scan_by_id<Round>(implementation_->trace, ids, visit);
}

Result<void> BulkReader::draft_tokens(IdRange round_ids,
                                      const std::function<bool(const DraftToken&)>& visit) {
  return scan<DraftToken>(implementation_->trace,
                          fmt::format("round BETWEEN {} AND {}", round_ids.first, round_ids.last), "", visit);
}

Result<void> BulkReader::decisions(const std::function<bool(const Decision&)>& visit) {
  return scan_by_id<Decision>(implementation_->trace, {}, visit);
}

Result<void> BulkReader::counters(const std::function<bool(const Counter&)>& visit) {
  return scan_in_order(implementation_->trace, visit);
}

}  // namespace draftscope::traces
