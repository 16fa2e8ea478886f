// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A set of sublayers to skip that a search proposes.

#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// Where a candidate came from.
enum class CandidateOrigin : std::uint8_t {
  probe,   ///< given by hand
  random,  ///< drawn
  model,   ///< maximum of the upper confidence bound
  single,  ///< one sublayer, for the ranking of all
};

/// "probe", "random", "model" or "single", as files name it.
[[nodiscard]] constexpr std::string_view candidate_origin_name(CandidateOrigin origin) {
  constexpr std::string_view names[] = {"probe", "random", "model", "single"};
  return names[static_cast<std::size_t>(origin)];
}

struct Candidate {
  SublayerMask mask;
  /// The point that the Gaussian process is told: 0 and 1 for probes and random sets of a given size,
  /// otherwise the continuous point before components were cut to skipped or not, as both codes register it.
  std::vector<double> point;
  CandidateOrigin origin = CandidateOrigin::random;
};

}  // namespace draftscope::speculation
