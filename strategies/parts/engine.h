// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

/// Drafts with the same sublayers in every round: an early exit, or a set from a file.
class FixedMask final : public MaskChoice {
 public:
  FixedMask(speculation::SublayerMask mask, std::string origin)
      : mask_(std::move(mask)), origin_(std::move(origin)) {}
  const speculation::SublayerMask* mask(const RoundView& /*round*/) override { return &mask_; }
  std::string_view origin() const override { return origin_; }

 private:
  speculation::SublayerMask mask_;
  std::string origin_;
};

}  // namespace draftscope::engine
