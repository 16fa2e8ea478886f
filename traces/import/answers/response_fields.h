// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Fields of what engines say of a request, as JSON objects. Names move from version to version, so that each
// value has a list of them. Sums without an order fill no rounds: they go to stated_figures.

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foreign/foreign_round.h"
#include "foreign/json_fields.h"

namespace draftscope::traces {

inline constexpr std::int64_t max_response_count = std::int64_t{1} << 40U;
inline constexpr double response_ms_ns = 1e6;
inline constexpr double response_second_ns = 1e9;

/// One value under the names that it has or had, the newest first.
using FieldNames = std::span<const char* const>;
inline constexpr std::array verify_step_names{"spec_verify_ct", "num_spec_steps", "num_verification_steps"};

/// The object of that name in an object; null where there is none.
[[nodiscard]] const nlohmann::json* object_in(const nlohmann::json* object, const char* name);

[[nodiscard]] Result<std::optional<std::int64_t>> first_of(const JsonFields& fields, FieldNames names);

/// A duration in a field, in nanoseconds; -1 if absent.
[[nodiscard]] Result<std::int64_t> duration_in(const nlohmann::json* object, const char* name, double unit_ns,
                                               const std::string& where);

/// The rounds of one request, from its ordered lists; no rounds where it has no lists.
[[nodiscard]] Result<std::vector<ForeignRound>> ordered_rounds(const JsonFields& fields,
                                                               const std::string& where);

/// Sums over a whole run of counts that a request does not order by round.
struct ResponseSums {
  std::map<std::string, std::int64_t> counts;
  std::map<std::int64_t, std::int64_t> histogram;  ///< by accepted draft tokens, without the bonus token

  /// Adds the counts of one request. Errors: counts that contradict each other, or are no counts.
  [[nodiscard]] Result<void> add(const JsonFields& fields, const std::string& where);
  /// As JSON, for stated_figures.
  [[nodiscard]] std::string text() const;
};

}  // namespace draftscope::traces
