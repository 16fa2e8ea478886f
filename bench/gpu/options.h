// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::bench {

/// Value of `weights` for weights as in the checkpoint.
inline constexpr const char* as_stored = "as-stored";

struct Options {
  std::string model = "synthetic:llama-3.2-1b,redundancy=0.9";
  std::string device = "cuda";
  std::string prompt;  // A file of token ids; empty = ids without a pattern.
  std::vector<std::string> weights = {as_stored};
  std::int32_t context = 512;
  std::vector<std::int32_t> contexts;  // Further contexts, for passes of one and eight rows.
  std::int32_t tokens = 128;
  std::int32_t repeats = 7;
  std::vector<std::int32_t> widths = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  std::vector<std::int32_t> exits;
  std::int32_t gamma = 4;
  double sustained_seconds = 0.0;
  std::size_t probe_bytes = std::size_t{2} << 30;
  std::string pass = "program";  // "plain" = one launch per operation.
  bool json = false;
};

}  // namespace draftscope::bench
