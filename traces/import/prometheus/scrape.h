// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads the text of a server's /metrics (Prometheus' exposition format, version 0.0.4, and OpenMetrics).

#include <draftscope/base/result.h>
#include <map>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// One line: "vllm:spec_decode_num_drafts_total{engine="0"} 12.0".
struct Sample {
  std::string name;  ///< Name with "_" for ":" and without "_total": "vllm_spec_decode_num_drafts".
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0.0;  ///< Value; not a number where the server has none.

  /// The label; empty where there is none.
  [[nodiscard]] std::string label(std::string_view of) const;
  /// Name and labels as one text, the same for the same series.
  [[nodiscard]] std::string key() const;
};

/// Parses a line that is no comment and not blank. Errors begin with `where`: no such line, more than 64
/// labels.
[[nodiscard]] Result<Sample> sample_of(std::string_view line, const std::string& where);

}  // namespace draftscope::traces
