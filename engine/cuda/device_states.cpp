// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_states.h"

#include <draftscope/base/to_size.h>
#include <algorithm>

namespace draftscope::engine::cuda {

Result<std::int32_t> DeviceStates::reserve(std::int32_t count) {
  const std::int32_t first = buffers_.work.n_round_states;
  if (count <= reserved_) return first;
  memory_ = {};  // The old memory is released before more is allocated.
  reserved_ = 0;
  DRAFTSCOPE_TRY_ASSIGN(memory_, DeviceMemory::allocate(gpu_, to_size(count) * d_model_ * sizeof(float),
                                                        "a search's hidden states"));
  reserved_ = count;
  state_.bank = reinterpret_cast<float*>(memory_.data());
  DRAFTSCOPE_TRY(gpu_.upload(reinterpret_cast<std::byte*>(buffers_.work.state) + offsetof(PassState, bank),
                             &state_.bank, sizeof state_.bank));
  return first;
}

Result<void> DeviceStates::put(std::int32_t at, std::span<const float> states) {
  const std::int32_t beyond = at - buffers_.work.n_round_states;
  if (beyond < 0 || to_size(beyond) + states.size() / d_model_ > to_size(reserved_))
    return fail("states: found {} for numbers from {} on, expected them within {} to {}",
                states.size() / d_model_, at, buffers_.work.n_round_states, size());
  return gpu_.upload(state_.bank + to_size(beyond) * d_model_, states.data(), states.size_bytes());
}

Result<void> DeviceStates::upload_pairs() {
  for (const NumberPair& pair : pairs_)
    for (const std::int32_t number : {pair.first, pair.second})
      if (number < 0 || number >= size())
        return fail("states: found number {}, expected 0 to {}", number, size() - 1);
  return gpu_.upload(buffers_.pairs, pairs_.data(), pairs_.size() * sizeof(NumberPair));
}

Result<void> DeviceStates::move(std::span<const StateMove> moves) {
  for (; !moves.empty(); moves = moves.subspan(pairs_.size())) {
    pairs_.clear();
    for (const StateMove& move : moves.first(std::min(moves.size(), max_pairs)))
      pairs_.push_back({move.from, move.to});
    DRAFTSCOPE_TRY(upload_pairs());
    DRAFTSCOPE_TRY(launcher_.run_bank(Kernel::move_states, static_cast<std::int32_t>(pairs_.size()),
                                      buffers_.pairs, nullptr));
  }
  return {};
}

Result<void> DeviceStates::compare(std::span<const StatePair> pairs, std::vector<double>& cosines) {
  cosines_.resize(pairs.size());
  for (std::size_t done = 0; done < pairs.size(); done += pairs_.size()) {
    pairs_.clear();
    for (const StatePair& pair : pairs.subspan(done, std::min(pairs.size() - done, max_pairs)))
      pairs_.push_back({pair.a, pair.b});
    DRAFTSCOPE_TRY(upload_pairs());
    DRAFTSCOPE_TRY(launcher_.run_bank(Kernel::compare_states, static_cast<std::int32_t>(pairs_.size()),
                                      buffers_.pairs, buffers_.cosines));
    DRAFTSCOPE_TRY(gpu_.download(cosines_.data() + done, buffers_.cosines, pairs_.size() * sizeof(float)));
  }
  DRAFTSCOPE_TRY(gpu_.synchronise());
  cosines.assign(cosines_.begin(), cosines_.end());
  return {};
}

}  // namespace draftscope::engine::cuda
