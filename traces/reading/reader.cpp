// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/reader.h>

#include "reading/read_rows.h"
#include "reading/validate.h"
#include "storage/tables.h"

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

Result<Reader> Reader::open(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(OpenTrace trace, open_trace(path));
  return Reader(std::make_unique<Implementation>(std::move(trace)));
}

int newest_schema_version() {
  return current_schema_version;
}

int Reader::schema_version() const {
  return implementation_->trace.schema_version;
}

Result<Recording> Reader::recording() {
  return read_recording(implementation_->trace);
}

Result<std::optional<Overview>> Reader::overview() {
  return read_overview(implementation_->trace);
}

Result<std::unordered_map<StringId, std::string>> Reader::strings() {
  return read_strings(implementation_->trace);
}

Result<std::unordered_map<std::int32_t, std::string>> Reader::token_texts() {
  return read_token_texts(implementation_->trace);
}

Result<std::vector<TableCount>> Reader::row_counts() {
  OpenTrace& trace = implementation_->trace;
  std::vector<TableCount> counts;
  // Counting a column goes row by row, under the work budget; count(*) alone would not.
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

Result<std::vector<Violation>> Reader::validate(std::size_t most) {
  return find_violations(implementation_->trace, most);
}

}  // namespace draftscope::traces
