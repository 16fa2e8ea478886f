// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/import_target.h"

namespace draftscope::traces {

Result<ImportTarget> ImportTarget::create(const std::filesystem::path& target, bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(PacedTrace trace, PacedTrace::create(target, overwrite));
  return ImportTarget(std::move(trace));
}

void ImportTarget::add(const Request& request) {
  ++counts_.requests;
  trace_.add(request);
}

void ImportTarget::add(const Round& round, std::span<const DraftToken> draft_tokens) {
  ++counts_.rounds;
  trace_.add(round, draft_tokens);
}

void ImportTarget::took(std::int64_t rows) {
  trace_.took(static_cast<std::size_t>(rows));
}

void ImportTarget::took(const ForeignWriter& rows) {
  counts_.runs += rows.counts().runs;
  counts_.requests += rows.counts().requests;
  counts_.rounds += rows.counts().rounds;
  missing_.insert(rows.missing().begin(), rows.missing().end());
}

void ImportTarget::add(const Span& span) {
  ++counts_.spans;
  trace_.add(span);
}

void ImportTarget::add(const Kernel& kernel) {
  ++counts_.kernels;
  trace_.add(kernel);
}

void ImportTarget::add(const Counter& counter) {
  trace_.add(counter);
}

Result<ImportSummary> ImportTarget::commit() {
  counts_.missing.assign(missing_.begin(), missing_.end());
  writer().set_meta("lacks", missing_data_text(counts_.missing));
  // Copied before: once the trace is in place, nothing may fail for want of memory.
  ImportSummary summary = counts_;
  DRAFTSCOPE_TRY(trace_.commit());
  return summary;
}

}  // namespace draftscope::traces
