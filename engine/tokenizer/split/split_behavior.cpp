// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "tokenizer/split/pre_tokenizer.h"

namespace draftscope::engine::tokenizer {
namespace {

// Joins each match with the text before it, unless that is a match too. Run backwards, it gives
// merged_with_next.
template <typename Iterator>
std::vector<Range> merge_matches(Iterator begin, Iterator end) {
  std::vector<Range> ranges;
  bool previous_match = false;
  for (auto it = begin; it != end; ++it) {
    if (it->is_match && !previous_match && !ranges.empty()) {
      ranges.back() = {std::min(ranges.back().begin, it->range.begin),
                       std::max(ranges.back().end, it->range.end)};
    } else {
      ranges.push_back(it->range);
    }
    previous_match = it->is_match;
  }
  return ranges;
}

std::vector<Range> join_neighbours(const std::vector<TextStretch>& stretches) {
  std::vector<Range> ranges;
  bool previous_match = false;
  for (const TextStretch& stretch : stretches) {
    if (stretch.is_match == previous_match && !ranges.empty()) {
      ranges.back().end = stretch.range.end;
    } else {
      ranges.push_back(stretch.range);
    }
    previous_match = stretch.is_match;
  }
  return ranges;
}

}  // namespace

std::vector<Range> split_stretches(const std::vector<TextStretch>& stretches, SplitBehavior behavior) {
  std::vector<Range> ranges;
  switch (behavior) {
    case SplitBehavior::merged_with_previous:
      return merge_matches(stretches.begin(), stretches.end());
    case SplitBehavior::merged_with_next:
      ranges = merge_matches(stretches.rbegin(), stretches.rend());
      std::reverse(ranges.begin(), ranges.end());
      return ranges;
    case SplitBehavior::contiguous:
      return join_neighbours(stretches);
    case SplitBehavior::removed:
    case SplitBehavior::isolated:
      for (const TextStretch& stretch : stretches)
        if (behavior == SplitBehavior::isolated || !stretch.is_match) ranges.push_back(stretch.range);
      return ranges;
  }
  return ranges;
}

}  // namespace draftscope::engine::tokenizer
