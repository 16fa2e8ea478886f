// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/host_states.h>

#include <algorithm>

#include "decode/state_cosine.h"

namespace draftscope::engine {

Result<std::int32_t> HostStates::reserve(std::int32_t count) {
  values_.resize(std::max(values_.size(), static_cast<std::size_t>(count) * d_model_));
  return 0;
}

Result<void> HostStates::put(std::int32_t at, std::span<const float> states) {
  std::copy(states.begin(), states.end(), state(at).begin());
  return {};
}

Result<void> HostStates::move(std::span<const StateMove> moves) {
  for (const StateMove& move : moves) std::copy_n(state(move.from).begin(), d_model_, state(move.to).begin());
  return {};
}

Result<void> HostStates::compare(std::span<const StatePair> pairs, std::vector<double>& cosines) {
  cosines.clear();
  for (const StatePair& pair : pairs) cosines.push_back(state_cosine(state(pair.a), state(pair.b)));
  return {};
}

}  // namespace draftscope::engine
