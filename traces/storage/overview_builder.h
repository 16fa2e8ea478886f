// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes the overview of a recording from its rows, one at a time and in any order: the same rows give the
// same overview. Columns of time start at multiples of their width. The width is the smallest power of two
// for which `max_columns`, fewer in a small recording, reach from the first start to the last end. As the
// recording grows, wider columns are made of narrower ones, so that a row costs O(1) however long it lasts.
//
// Memory: at most 32 KiB for each lane and phase, of which there are at most `max_sums`; a recording with
// more has no overview.

#include <draftscope/traces/overview.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace draftscope::traces {

/// The sums of one lane and phase.
class ColumnSums {
 public:
  /// Adds the non-empty interval to the columns of 2^shift ns that it touches.
  void add(std::int64_t start_ns, std::int64_t end_ns, int shift);
  /// Turns columns of 2^shift ns into columns twice as wide.
  void widen(int shift);
  /// Calls visit(column, ns) for each nonzero sum, in the order of columns; column · 2^shift is the column's
  /// start.
  template <typename Visit>
  void visit(int shift, Visit visit) const;

 private:
  void reach(std::int64_t column);

  std::int64_t first_ = 0;  ///< Column of the first element.
  std::vector<std::int64_t> partly_ns_;
  /// [column]: change in the number of intervals that cover whole columns from here on.
  std::vector<std::int64_t> whole_change_;
};

class OverviewBuilder {
 public:
  static constexpr std::int64_t max_columns = 2048;
  /// Rounds, decisions, spans and kernels per column, so that the overview of a small recording is small
  /// compared to it; it may always have `min_columns`.
  static constexpr std::int64_t rows_per_column = 128;
  static constexpr std::int64_t min_columns = 16;
  static constexpr std::size_t max_sums = 512;

  void add(const LayerSet& layer_set);
  /// Adds a request, before its rounds; the last one with an id counts.
  void add(const Request& request);
  /// Adds a round, after its request and its layer set.
  void add(const Round& round);
  void add(const Decision& decision);
  void add(const Span& span);
  void add(const Kernel& kernel);

  /// Returns the overview; none if there is nothing to sum up, or more lanes than an overview has.
  [[nodiscard]] std::optional<Overview> finish();

 private:
  using Key = std::tuple<LaneOf, std::int64_t, std::int32_t, Phase>;  ///< lane, owner, depth, phase
  struct RequestTime {
    RunId run_id;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct Rounds {
    std::int64_t rounds = 0;
    std::int64_t emitted = 0;
    std::int32_t max_emitted = 0;
  };

  void add_interval(const Key& key, std::int64_t start_ns, std::int64_t end_ns);
  /// Widens the columns until they cover the times.
  void include(std::int64_t first_ns, std::int64_t last_ns);
  void widen_to(std::int64_t columns);

  std::int64_t rows_ = 0;  ///< Number of rounds, decisions, spans and kernels.
  int shift_ = 0;
  bool has_times_ = false;
  bool has_too_many_ = false;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;  ///< Last time that a column must contain: one before an end.
  std::map<Key, ColumnSums> sums_;
  Key last_key_;
  ColumnSums* last_sums_ = nullptr;                          ///< Sums of last_key_.
  std::map<std::pair<RunId, std::int64_t>, Rounds> rounds_;  ///< [run, column]
  std::unordered_map<RequestId, RequestTime> requests_;
  std::map<RequestId, RequestSum> request_sums_;
  std::unordered_map<LayerSetId, std::int64_t> sublayers_;  ///< Number of sublayers that a layer set runs.
};

/// Records that an overview sums up.
template <typename Record>
concept SummedUp = requires(OverviewBuilder builder, const Record& row) {
  builder.add(row);
};

}  // namespace draftscope::traces
