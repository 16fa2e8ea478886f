// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines of servers' logs that are lists of "name: value".

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

/// Values by name: {"Accepted", {30}}, {"Per-position acceptance rate", {0.7, 0.5}}.
using LogFields = std::map<std::string, std::vector<double>, std::less<>>;

/// Reads "name: 1, name: 2, 3 tokens/s, name: 4%". A part without a name continues the field before it; what
/// is no number, as nan, is left out.
[[nodiscard]] LogFields log_fields_of(std::string_view text);

/// First value of a field; none = the field or its number is absent.
[[nodiscard]] std::optional<double> log_field(const LogFields& fields, std::string_view name);

}  // namespace draftscope::traces
