// SPDX-License-Identifier: GPL-3.0-or-later
#include "import_target.h"

#include <chrono>
#include <thread>

namespace draftscope::traces {
namespace {

constexpr std::size_t rows_per_batch = 4096;
// One transaction waits while another is written: some ten megabytes.
constexpr std::int64_t max_waiting_rows = 1 << 17;

}  // namespace

Result<ImportTarget> ImportTarget::create(const std::filesystem::path& target, bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicTrace trace, AtomicTrace::create(target, overwrite));
  return ImportTarget(std::move(trace));
}

void ImportTarget::wait_for_disk() {
  while (added_rows_ - writer().counts().written_rows > max_waiting_rows && !writer().failed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

template <typename Record>
void ImportTarget::flush(std::vector<Record>& batch) {
  added_rows_ += static_cast<std::int64_t>(batch.size());
  writer().add(std::span<const Record>(batch));
  batch.clear();
  wait_for_disk();
}

template <typename Record>
void ImportTarget::add_to(std::vector<Record>& batch, const Record& row) {
  batch.push_back(row);
  if (batch.size() >= rows_per_batch) flush(batch);
}

void ImportTarget::add(const Request& request) {
  ++counts_.requests;
  ++added_rows_;
  writer().finish(request);
  wait_for_disk();
}

void ImportTarget::add(const Round& round, std::span<const DraftToken> draft_tokens) {
  ++counts_.rounds;
  added_rows_ += 1 + static_cast<std::int64_t>(draft_tokens.size());
  writer().add(round, draft_tokens);
  wait_for_disk();
}

void ImportTarget::took(std::int64_t rows) {
  added_rows_ += rows;
  wait_for_disk();
}

void ImportTarget::took(const ForeignWriter& rows) {
  counts_.runs += rows.counts().runs;
  counts_.requests += rows.counts().requests;
  counts_.rounds += rows.counts().rounds;
  missing_.insert(rows.missing().begin(), rows.missing().end());
}

void ImportTarget::add(const Span& span) {
  ++counts_.spans;
  add_to(spans_, span);
}

void ImportTarget::add(const Kernel& kernel) {
  ++counts_.kernels;
  add_to(kernels_, kernel);
}

void ImportTarget::add(const Counter& counter) {
  add_to(counters_, counter);
}

Result<ImportSummary> ImportTarget::commit() {
  flush(spans_);
  flush(kernels_);
  flush(counters_);
  counts_.missing.assign(missing_.begin(), missing_.end());
  writer().set_meta("lacks", missing_data_text(counts_.missing));
  // Copied before: once the trace is in place, nothing may fail for want of memory.
  ImportSummary summary = counts_;
  DRAFTSCOPE_TRY(trace_.commit());
  return summary;
}

}  // namespace draftscope::traces
