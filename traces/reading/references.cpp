// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/references.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::traces {
namespace {

// Real models have up to some hundreds of layers; a mask for more would only waste memory.
constexpr std::int32_t max_layers = 65536;

/// Ids of a table. They mostly have no gaps, and rows that refer to them come in their order.
template <typename Record>
class Ids {
 public:
  using RecordId = decltype(Record::id);

  explicit Ids(const std::vector<Record>& rows) {
    ids_.reserve(rows.size());
    for (const Record& row : rows) ids_.push_back(row.id);
    if (!std::is_sorted(ids_.begin(), ids_.end())) std::sort(ids_.begin(), ids_.end());
  }
  [[nodiscard]] bool contains(RecordId id) const {
    if (ids_.empty() || id < ids_.front()) return false;
    const auto guess =
        static_cast<std::uint64_t>(id.value()) - static_cast<std::uint64_t>(ids_.front().value());
    if (guess < ids_.size() && ids_[guess] == id) return true;
    return std::binary_search(ids_.begin(), ids_.end(), id);
  }

 private:
  std::vector<RecordId> ids_;
};

template <typename RowId, typename Record>
Result<void> expect_known(const Recording& recording, std::string_view table, RowId row,
                          std::string_view column, decltype(Record::id) id, const Ids<Record>& ids,
                          std::string_view target) {
  if (ids.contains(id)) return {};
  return fail("{}: {} row {}: {} is {}, but {} has no such row", recording.path.string(), table, row, column,
              id, target);
}

Result<void> check_layer_sets(const Recording& recording) {
  for (const LayerSet& set : recording.layer_sets) {
    if (set.n_layers < 0 || set.n_layers > max_layers || set.exit_layer < 0 || set.exit_layer > set.n_layers)
      return fail(
          "{}: layer_sets row {}: n_layers is {} and exit_layer is {}, expected 0 <= exit_layer <= "
          "n_layers <= {}",
          recording.path.string(), set.id, set.n_layers, set.exit_layer, max_layers);
    const std::size_t bytes = (2 * static_cast<std::size_t>(set.n_layers) + 7) / 8;
    if (set.skipped.size() != bytes)
      return fail("{}: layer_sets row {}: skipped is {} bytes, expected {} for {} layers",
                  recording.path.string(), set.id, set.skipped.size(), bytes, set.n_layers);
  }
  return {};
}

}  // namespace

Result<void> check_references(const Recording& recording) {
  DRAFTSCOPE_TRY(check_layer_sets(recording));
  const Ids runs(recording.runs);
  const Ids prompts(recording.prompts);
  const Ids requests(recording.requests);
  const Ids layer_sets(recording.layer_sets);
  const Ids rounds(recording.rounds);
  const Ids tracks(recording.tracks);
  for (const Request& row : recording.requests) {
    DRAFTSCOPE_TRY(expect_known(recording, "requests", row.id, "run", row.run_id, runs, "runs"));
    DRAFTSCOPE_TRY(expect_known(recording, "requests", row.id, "prompt", row.prompt_id, prompts, "prompts"));
  }
  for (const Round& row : recording.rounds) {
    DRAFTSCOPE_TRY(
        expect_known(recording, "rounds", row.id, "request", row.request_id, requests, "requests"));
    if (std::min({row.index, row.planned, row.drafted, row.tree_depth, row.accepted, row.emitted,
                  row.verify_rows, row.exit_layer, row.root_position}) < 0)
      return fail("{}: rounds row {}: found a negative count or position, expected none",
                  recording.path.string(), row.id);
    if (row.tree_depth > row.drafted)
      return fail("{}: rounds row {}: tree_depth is {}, expected at most drafted ({})",
                  recording.path.string(), row.id, row.tree_depth, row.drafted);
    if (row.layer_set_id != 0)
      DRAFTSCOPE_TRY(
          expect_known(recording, "rounds", row.id, "layer_set", row.layer_set_id, layer_sets, "layer_sets"));
  }
  for (const DraftToken& row : recording.draft_tokens) {
    DRAFTSCOPE_TRY(
        expect_known(recording, "draft_tokens", row.round_id, "round", row.round_id, rounds, "rounds"));
    // The chain of parents must end at the root.
    if (row.index < 0 || row.parent < -1 || row.parent >= row.index)
      return fail("{}: draft_tokens of round {}: index is {} and parent is {}, expected -1 <= parent < index",
                  recording.path.string(), row.round_id, row.index, row.parent);
  }
  for (const Track& row : recording.tracks)
    if (row.parent_id != 0)
      DRAFTSCOPE_TRY(expect_known(recording, "tracks", row.id, "parent", row.parent_id, tracks, "tracks"));
  return {};
}

}  // namespace draftscope::traces
