// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Copies the rows of one shard into the merged recording, with the latter's ids and clock.

#include <draftscope/base/result.h>
#include <draftscope/traces/merge.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "writing/merged_identity.h"
#include "writing/paced_trace.h"

namespace draftscope::traces {

/// Maps ids of a shard's rows to those of the merged recording. Both rise together, mostly by one, and a run
/// of such ids takes one entry, however long it is.
template <typename Id>
class RenumberedIds {
 public:
  /// Adds a pair of ids; `from` and `to` must be larger than all before.
  void add(Id from, Id to) {
    const std::int64_t shift = to.value() - from.value();
    if (ranges_.empty() || ranges_.back().shift != shift || from.value() != last_ + 1)
      ranges_.push_back({from.value(), from.value(), shift});
    ranges_.back().last = last_ = from.value();
  }

  /// The id in the merged recording; 0 for a row that was not added.
  [[nodiscard]] Id operator[](Id from) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), from.value(),
                                        [](std::int64_t id, const IdShift& s) { return id < s.first; });
    if (after == ranges_.begin()) return Id();
    const IdShift& shifted = *(after - 1);
    return from.value() > shifted.last ? Id() : Id::from(from.value() + shifted.shift);
  }

 private:
  struct IdShift {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t shift = 0;
  };
  std::vector<IdShift> ranges_;
  std::int64_t last_ = 0;
};

class ShardCopy {
 public:
  /// Creates a copy of a shard; the references must outlive it. `runs`: runs of the merged recording, in the
  /// shard's order. `done`: called with the share of copied rows; false cancels.
  ShardCopy(const ShardRecording& shard, Reader reader, const std::vector<RunId>& runs, PacedTrace& target,
            MergeSummary& summary, const std::function<bool(double)>& done)
      : shard_(shard),
        reader_(std::move(reader)),
        runs_(runs),
        target_(target),
        summary_(summary),
        done_(done) {}

  /// Copies the rows. Errors: the shard can't be read; "merge cancelled".
  [[nodiscard]] Result<void> run();

 private:
  [[nodiscard]] Writer& writer() { return target_.writer(); }
  [[nodiscard]] std::int64_t shifted(std::int64_t ns) const;
  [[nodiscard]] Result<void> count_rows();
  [[nodiscard]] bool copied();
  [[nodiscard]] Result<void> copy_names();
  void add_prompts_and_tracks();
  [[nodiscard]] Result<void> copy_requests();
  [[nodiscard]] Result<void> copy_rounds();
  [[nodiscard]] Result<void> add_rounds(const std::vector<Round>& rounds, Reader& tokens_reader);
  [[nodiscard]] Result<void> copy_decisions();
  [[nodiscard]] Result<void> copy_shadow_tokens();
  [[nodiscard]] Result<void> copy_spans();
  [[nodiscard]] Result<void> copy_kernels();
  [[nodiscard]] Result<void> copy_counters();
  template <typename Row>
  void place(Row& row) const;

  const ShardRecording& shard_;
  Reader reader_;
  const std::vector<RunId>& runs_;
  PacedTrace& target_;
  MergeSummary& summary_;
  const std::function<bool(double)>& done_;
  std::unordered_map<StringId, StringId> strings_;
  std::unordered_map<PromptId, PromptId> prompts_;
  std::unordered_map<TrackId, TrackId> tracks_;
  std::unordered_map<LayerSetId, LayerSetId> layer_sets_;
  RenumberedIds<RequestId> requests_;
  RenumberedIds<RoundId> rounds_;
  RenumberedIds<SpanId> spans_;
  std::int64_t all_rows_ = 0;
  std::int64_t copied_rows_ = 0;
  bool is_cancelled_ = false;
};

}  // namespace draftscope::traces
