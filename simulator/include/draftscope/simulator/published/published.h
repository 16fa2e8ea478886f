// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Published result rows of self-speculative decoding, from simulator/data/published.csv, which the build
// embeds: LayerSkip, Draft & Verify, SWIFT, DEL and CLaSp as their tables print them, and the LayerSkip
// benchmark of the Hugging Face blog. Ratios without a unit; what a table does not say is absent.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

struct PublishedRow {
  std::string paper;
  std::string model;
  std::string task;
  std::string method;
  std::string setting;  ///< "key=value" and words, parted by "; "
  std::string source;   ///< table or section

  std::optional<std::int32_t> n_layers;        ///< L
  std::optional<std::int32_t> exit_layer;      ///< E; absent where it changes ("E=dyn")
  std::optional<double> skip_ratio;            ///< r, of sublayers
  std::optional<std::int32_t> gamma;           ///< fixed draft length; absent where it is a cap ("max=25")
  std::optional<double> mean_accepted_length;  ///< M; CLaSp's own rows print τ = M − 1
  std::optional<double> acceptance_rate;       ///< accepted / drafted
  std::optional<double> etpl;
  std::optional<double> expected_speedup;
  std::optional<double> measured_speedup;
};

/// The embedded rows, in the file's order. An error is a defect of the build.
[[nodiscard]] Result<std::vector<PublishedRow>> published_rows();

/// Rows of a CSV file with the same columns. Errors name `name`, the row and the column.
[[nodiscard]] Result<std::vector<PublishedRow>> read_published(std::string_view csv, std::string name);

/// The number after "key=" in the row's setting; absent if the key is.
[[nodiscard]] Result<std::optional<double>> setting_number(const PublishedRow& row, std::string_view key);

}  // namespace draftscope::simulator
