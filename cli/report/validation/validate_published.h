// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/backtest.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// `draftscope validate --published`: prints the back-test of the embedded rows.
[[nodiscard]] Result<int> validate_published(bool json);

/// Prints `found`. Returns the exit code; an error where a bound is missed, after printing.
[[nodiscard]] Result<int> print_published(const simulator::PublishedBacktests& found, bool json);

/// Every cell's prediction, published value and error, then the bounds and whether they held.
[[nodiscard]] std::string published_text(const simulator::PublishedBacktests& found, const Glyphs& glyphs);
[[nodiscard]] std::string published_json(const simulator::PublishedBacktests& found);

}  // namespace draftscope::cli
