// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Columns of a table of rounds. To add one, add one row to the catalogue, and the app shows it. Safe from any
// thread.

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace draftscope::simulator {

/// A round with the rows that it belongs to, which must outlive its values.
struct RoundRow {
  const traces::Round* round = nullptr;
  const traces::Request* request = nullptr;
  const traces::Prompt* prompt = nullptr;       ///< Null if the file lacks it.
  const traces::LayerSet* layer_set = nullptr;  ///< Null where no layers were drafted with.
  std::int64_t place = 0;                       ///< Index within the run, from 0.
};

/// Label of a request: question and repeat.
struct RequestLabel {
  std::int64_t question = 0;
  std::int32_t repeat = 0;
};

/// Value of a cell; std::monostate where the round has none.
using RoundValue = std::variant<std::monostate, std::int64_t, double, std::string_view, RequestLabel>;

struct RoundColumn {
  std::string_view key;  ///< Unique key.
  std::string_view title;
  std::string_view explanation;  ///< One sentence without its final stop.
  FigureFormat format = FigureFormat::count;
  RoundValue (*get)(const RoundRow&) = nullptr;
};

/// Columns from left to right.
[[nodiscard]] std::span<const RoundColumn> round_columns();

/// Index of a column in round_columns(); the number of columns if none has this key.
[[nodiscard]] std::size_t round_column_index(std::string_view key);

}  // namespace draftscope::simulator
