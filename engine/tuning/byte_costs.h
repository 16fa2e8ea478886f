// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cost of a pass over a part of the layers by the weights it reads, in passes over all of them. A decode
// step of one row is bound by those bytes; K/V is left out.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/traces/records.h>
#include <vector>

namespace draftscope::engine {

class ByteCosts {
 public:
  explicit ByteCosts(const Checkpoint& checkpoint);

  /// A step of a draft that skips these sublayers, final norm and head included.
  [[nodiscard]] double draft_step(const traces::LayerSet& set) const;

 private:
  std::vector<double> sublayers_;  ///< bytes, in the order of the set's bits
  double head_ = 0.0;
  double all_ = 0.0;
};

}  // namespace draftscope::engine
