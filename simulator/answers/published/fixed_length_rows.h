// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// LayerSkip's rows of DEL's tables with a fixed exit and length, as the affine model takes them, and the
// other strategies' rows that are predicted from them.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/backtest.h>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "answers/published/backtest_pass_overhead.h"

namespace draftscope::simulator {

struct FixedLengthRow {
  const PublishedRow* row = nullptr;
  FixedLengthCell cell;
};

/// "<row>: <what went wrong>", so that an error of a formula names the row it was asked for.
[[nodiscard]] tl::unexpected<Error> fail_at(const PublishedRow& row, const Error& error);

/// DEL's LayerSkip rows with an eTPL; FS and DEL change their length, so no γ gives their M.
[[nodiscard]] Result<std::vector<FixedLengthRow>> fixed_length_rows(std::span<const PublishedRow> rows);

/// "exit=7,gamma=6"
[[nodiscard]] std::string setting_of(const FixedLengthRow& fixed);

/// The h that the rows give that `teaches` picks. Errors name `of`.
[[nodiscard]] Result<double> overhead_from(std::span<const FixedLengthRow> rows, const PublishedRow& of,
                                           const std::function<bool(const FixedLengthRow&)>& teaches);

}  // namespace draftscope::simulator
