// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuning/byte_costs.h"

#include <initializer_list>
#include <numeric>

namespace draftscope::engine {

namespace {

double bytes_of(std::initializer_list<const TensorView*> tensors) {
  std::size_t bytes = 0;
  for (const TensorView* tensor : tensors) bytes += tensor->bytes();
  return static_cast<double>(bytes);
}

}  // namespace

ByteCosts::ByteCosts(const Checkpoint& checkpoint)
    : head_(bytes_of({&checkpoint.weights.final_norm, &checkpoint.weights.head})) {
  for (const LayerWeights& layer : checkpoint.weights.layers) {
    sublayers_.push_back(bytes_of({&layer.attention_norm, &layer.q, &layer.k, &layer.v, &layer.q_bias,
                                   &layer.k_bias, &layer.v_bias, &layer.o, &layer.o_bias}));
    sublayers_.push_back(bytes_of({&layer.mlp_norm, &layer.gate, &layer.up, &layer.down, &layer.gate_bias,
                                   &layer.up_bias, &layer.down_bias}));
  }
  all_ = std::accumulate(sublayers_.begin(), sublayers_.end(), head_);
}

double ByteCosts::draft_step(const traces::LayerSet& set) const {
  double bytes = head_;
  for (std::size_t bit = 0; bit < sublayers_.size(); ++bit)
    if ((set.skipped[bit / 8] >> (bit % 8) & 1U) == 0U) bytes += sublayers_[bit];
  return bytes / all_;
}

}  // namespace draftscope::engine
