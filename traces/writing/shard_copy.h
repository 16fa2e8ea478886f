// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of one shard in the merged recording, under ids and on the clock of the latter.

#include <draftscope/base/result.h>
#include <draftscope/traces/bulk_reader.h>
#include <draftscope/traces/merge.h>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "writing/merged_identity.h"
#include "writing/paced_trace.h"
#include "writing/renumbered_ids.h"

namespace draftscope::traces {

class ShardCopy {
 public:
  /// The references must outlive it.
  ShardCopy(const ShardRecording& shard, BulkReader reader, PacedTrace& target, MergeSummary& summary);

  /// `runs`: of the merged recording, in the shard's order. `done`: hears of the share of rows that are
  /// copied; false cancels. Errors: the shard can't be read; "merge cancelled".
  [[nodiscard]] Result<void> run(const std::vector<RunId>& runs, const std::function<bool(double)>& done);

 private:
  [[nodiscard]] Writer& writer() { return target_.writer(); }
  [[nodiscard]] std::int64_t shifted(std::int64_t ns) const;
  [[nodiscard]] std::size_t run_place(RunId id) const;
  [[nodiscard]] Result<void> count_rows();
  [[nodiscard]] bool copied();
  [[nodiscard]] Result<void> unless_cancelled() const;
  [[nodiscard]] Result<void> copy_names();
  void add_prompts_and_tracks();
  [[nodiscard]] Result<void> copy_requests();
  [[nodiscard]] Result<void> copy_rounds();
  void add_rounds(const std::vector<Round>& rounds, const std::vector<DraftToken>& tokens);
  [[nodiscard]] Result<void> copy_decisions();
  [[nodiscard]] Result<void> copy_shadow_tokens();
  [[nodiscard]] Result<void> copy_spans();
  [[nodiscard]] Result<void> copy_kernels();
  [[nodiscard]] Result<void> copy_counters();
  template <typename Row>
  void place(Row& row) const;

  const ShardRecording& shard_;
  BulkReader reader_;
  PacedTrace& target_;
  MergeSummary& summary_;
  const std::vector<RunId>* runs_ = nullptr;
  const std::function<bool(double)>* done_ = nullptr;
  std::unordered_map<StringId, StringId> strings_;
  std::unordered_map<PromptId, PromptId> prompts_;
  std::unordered_map<TrackId, TrackId> tracks_;
  std::unordered_map<LayerSetId, LayerSetId> layer_sets_;
  RenumberedIds<RequestId> requests_;
  RenumberedIds<RoundId> rounds_;
  RenumberedIds<SpanId> spans_;
  std::int64_t last_round_ = 0;
  std::int64_t all_rows_ = 0;
  std::int64_t copied_rows_ = 0;
  bool is_cancelled_ = false;
};

}  // namespace draftscope::traces
