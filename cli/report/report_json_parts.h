// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON values that report and compare share. Keys keep their order.

#include <draftscope/base/json_text.h>
#include <nlohmann/json.hpp>
#include <optional>

#include <draftscope/simulator/figures/measured_recording.h>

namespace draftscope::cli {

using Json = nlohmann::ordered_json;

template <typename T>
[[nodiscard]] Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Schema version, meta, closed cleanly, dropped rows, warnings.
[[nodiscard]] Json recording_json(const simulator::MeasuredRecording& measured);
[[nodiscard]] Json figures_json(const simulator::Figures& figures);
[[nodiscard]] Json speedup_json(const simulator::Speedup& speedup);
[[nodiscard]] Json identity_json(const simulator::OutputIdentity& identity);

/// A field as RFC 4180 has it: quoted if it holds a comma, quote or line break.
[[nodiscard]] std::string csv_field(const std::string& text);
/// Scalars of `row` joined by commas and ended by a newline; null is empty.
[[nodiscard]] std::string csv_line(const Json& row);
/// The keys of `row`, likewise.
[[nodiscard]] std::string csv_header(const Json& row);

}  // namespace draftscope::cli
