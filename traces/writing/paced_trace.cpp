// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/paced_trace.h"

#include <chrono>
#include <iterator>
#include <thread>

namespace draftscope::traces {
namespace {

constexpr std::size_t rows_per_batch = 4096;
// One transaction waits while another is written, in some ten megabytes.
constexpr std::int64_t max_waiting_rows = 1 << 17;

}  // namespace

Result<PacedTrace> PacedTrace::create(const std::filesystem::path& target, bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicTrace trace, AtomicTrace::create(target, overwrite));
  return PacedTrace(std::move(trace));
}

void PacedTrace::took(std::int64_t rows) {
  added_rows_ += rows;
  while (added_rows_ - writer().counts().written_rows > max_waiting_rows && !writer().failed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

template <typename Record>
void PacedTrace::flush(std::vector<Record>& batch) {
  writer().add(std::span<const Record>(batch));
  took(std::ssize(batch));
  batch.clear();
}

template <typename Record>
void PacedTrace::add_to(std::vector<Record>& batch, const Record& row) {
  batch.push_back(row);
  if (batch.size() >= rows_per_batch) flush(batch);
}

void PacedTrace::add(const Request& request) {
  ++counts_.requests;
  writer().finish(request);
  took(1);
}

void PacedTrace::add(const Round& round, std::span<const DraftToken> draft_tokens) {
  ++counts_.rounds;
  writer().add(round, draft_tokens);
  took(1 + std::ssize(draft_tokens));
}

void PacedTrace::add(const Span& span) {
  ++counts_.spans;
  add_to(spans_, span);
}

void PacedTrace::add(const Kernel& kernel) {
  ++counts_.kernels;
  add_to(kernels_, kernel);
}

void PacedTrace::add(const Counter& counter) {
  add_to(counters_, counter);
}

void PacedTrace::add(const Decision& decision) {
  writer().add(decision);
  took(1);
}

void PacedTrace::add(std::span<const ShadowToken> shadow_tokens) {
  writer().add(shadow_tokens);
  took(std::ssize(shadow_tokens));
}

Result<void> PacedTrace::commit() {
  flush(spans_);
  flush(kernels_);
  flush(counters_);
  return trace_.commit();
}

}  // namespace draftscope::traces
