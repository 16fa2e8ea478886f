// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/pass_times.h"

#include <draftscope/base/clock.h>

#include <algorithm>

namespace draftscope::engine {

namespace {

using speculation::KernelForm;
using speculation::KernelKind;
using speculation::Operation;

speculation::SublayerMask mask_of(const speculation::DraftSublayers& sublayers, std::int32_t n_layers) {
  speculation::SublayerMask mask(n_layers);
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    if (layer >= sublayers.attention) mask.skip_attention(layer);
    if (layer >= sublayers.mlp) mask.skip_mlp(layer);
  }
  return mask;
}

}  // namespace

std::int32_t token_at(std::int32_t position, std::int32_t vocab) {
  constexpr std::int64_t multiplier = 48271;
  return static_cast<std::int32_t>(multiplier * (position + 1) % vocab);
}

CalibrationPasses::CalibrationPasses(Backend& backend)
    : backend_(backend),
      hidden_(static_cast<std::size_t>(backend.shape().d_model), 0.01F),
      spans_(profiler::Level::ops, nullptr) {
  for (const auto& [name, operation] : speculation::operation_spans())
    operation_of_name_.emplace(spans_.name_id(name), operation);
}

CalibrationPasses::~CalibrationPasses() {
  backend_.set_recorder(nullptr);
}

void CalibrationPasses::fill_rows(std::int32_t count, std::int32_t first) {
  rows_.clear();
  for (std::int32_t i = 0; i < count; ++i)
    rows_.push_back({token_at(first + i, backend_.shape().vocab), -1, first + i});
}

Result<double> CalibrationPasses::time(const Batch& batch) {
  const std::int64_t start_ns = now_ns();
  DRAFTSCOPE_TRY(backend_.forward(batch, outputs_));
  return static_cast<double>(now_ns() - start_ns);
}

Result<void> CalibrationPasses::fill_cache(std::int32_t rows) {
  std::int32_t filled = std::min(rows, backend_.max_invariant_rows());
  fill_rows(filled, 0);
  Batch batch;
  batch.rows = rows_;
  batch.layers = {0, backend_.shape().n_layers};
  DRAFTSCOPE_TRY(backend_.forward(batch, outputs_));
  while (filled < rows) {
    const std::int32_t more = std::min(filled, rows - filled);
    std::vector<CacheMove> moves;
    moves.reserve(static_cast<std::size_t>(more));
    for (std::int32_t i = 0; i < more; ++i) moves.push_back({i, filled + i});
    DRAFTSCOPE_TRY(backend_.move_cache_rows(moves));
    filled += more;
  }
  return {};
}

Result<double> CalibrationPasses::pass_ns(const KernelForm& form) {
  const std::int32_t n_layers = backend_.shape().n_layers;
  const auto context = static_cast<std::int32_t>(form.context);
  const speculation::SublayerMask mask = mask_of(form.sublayers, n_layers);
  fill_rows(form.rows, context);
  Batch batch;
  batch.rows = rows_;
  batch.committed = context;
  batch.first_row = context;
  batch.mask = &mask;
  batch.layers = {0, std::max(form.sublayers.attention, form.sublayers.mlp)};
  batch.wanted.head = true;
  batch.wanted.top_k = 1;
  if (batch.layers.end == 0) {  // Only a pass without layers, which runs just the head, needs a state.
    rows_.assign(1, {-1, 0, context});
    batch.rows = rows_;
    batch.hidden = hidden_;
  }
  return time(batch);
}

Result<double> CalibrationPasses::empty_ns() {
  fill_rows(1, 0);
  Batch batch;
  batch.rows = rows_;
  return time(batch);
}

Result<void> CalibrationPasses::time_operations(const KernelForm& form, KernelSamples& samples) {
  backend_.set_recorder(&spans_);
  const Result<double> passed = pass_ns(form);
  backend_.set_recorder(nullptr);
  DRAFTSCOPE_TRY(passed);
  struct Sum {
    double ns = 0.0;
    double spans = 0.0;
  };
  std::map<Operation, Sum> sums;
  for (const traces::Span& span : spans_.take()) {
    const auto found = operation_of_name_.find(span.name_id);
    if (found == operation_of_name_.end()) continue;
    Sum& sum = sums[found->second];
    sum.ns += static_cast<double>(span.end_ns - span.start_ns);
    sum.spans += 1.0;
  }
  for (const auto& [operation, sum] : sums) {
    // Only attention reads the context.
    const double context = operation == Operation::attention ? form.context : 0.0;
    const double executions =
        operation == Operation::small ? sum.spans / speculation::small_spans_per_layer : sum.spans;
    samples.add(
        {.kind = KernelKind::operation, .operation = operation, .rows = form.rows, .context = context},
        sum.ns / executions);
  }
  return {};
}

}  // namespace draftscope::engine
