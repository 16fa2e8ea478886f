// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which columns of a result hold ids of runs, requests and rounds, so that a cell can lead to what it names.

#include <string_view>
#include <vector>

#include "data/sql_completion.h"

namespace draftscope::gui {

enum class SqlLink : std::uint8_t { none, run, request, round };

/// One a column of the result. A column is one of ids if it is called run, request or round, or id in a
/// result of the table of that alone. A name that stands for something else (… AS round) is not seen through.
[[nodiscard]] std::vector<SqlLink> sql_links(const SqlSchema& schema, std::string_view statement,
                                             const std::vector<std::string>& columns);

}  // namespace draftscope::gui
