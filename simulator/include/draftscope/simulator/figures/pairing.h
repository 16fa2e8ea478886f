// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which request of one run answers to which of another. Two runs are only ever compared on what both decoded.

#include <draftscope/simulator/figures/run_rows.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::simulator {

// The two sides of a comparison are different types, so that they can't be swapped by mistake.
template <typename T>
struct Baseline {
  explicit Baseline(const T& side) : value(side) {}
  explicit Baseline(const T&&) = delete;  // would dangle
  const T& value;
};
template <typename T>
struct Comparison {
  explicit Comparison(const T& side) : value(side) {}
  explicit Comparison(const T&&) = delete;
  const T& value;
};

struct RequestPair {
  const traces::Request* baseline = nullptr;
  const traces::Request* comparison = nullptr;
  std::size_t prompt = 0;  ///< dense number of the prompt among those paired
};

struct Pairing {
  std::vector<RequestPair> pairs;  ///< by prompt, then repeat
  std::size_t prompts = 0;
  std::size_t unpaired = 0;  ///< requests of either side without a partner
};

/// Pairs by (prompt text, repeat). A text that occurs in several prompts of a recording is matched by the
/// order of its occurrences, so prompt ids may differ between recordings.
[[nodiscard]] Pairing pair_requests(Baseline<RunRows> baseline, Comparison<RunRows> comparison);

/// Do both give the same tokens? Greedy decoding of one model must.
struct OutputDifference {
  std::size_t pair = 0;      ///< into Pairing::pairs
  std::size_t position = 0;  ///< first output token that differs
};

struct OutputIdentity {
  std::size_t compared_requests = 0;
  std::size_t compared_prompts = 0;
  std::size_t differing_prompts = 0;
  std::vector<OutputDifference> differences;
};

[[nodiscard]] OutputIdentity output_identity(const Pairing& pairing);

}  // namespace draftscope::simulator
