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
  probe,   ///< Given by hand.
  random,  ///< Drawn at random.
  model,   ///< Maximum of the upper confidence bound.
  single,  ///< One sublayer, for the ranking of all sublayers.
};

/// "probe", "random", "model" or "single", as files name it.
[[nodiscard]] constexpr std::string_view candidate_origin_name(CandidateOrigin origin) {
  constexpr std::string_view names[] = {"probe", "random", "model", "single"};
  return names[static_cast<std::size_t>(origin)];
}

struct Candidate {
  SublayerMask mask;
  /// Point that the Gaussian process learns from: 0 and 1 for probes and random sets of a given size.
  /// Otherwise the continuous point before its components were rounded to skipped or not, as both codes
  /// register it.
  std::vector<double> point;
  CandidateOrigin origin = CandidateOrigin::random;
};

}  // namespace draftscope::speculation
