// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/decode.h>
#include <cstdint>

namespace draftscope::engine::test {

/// Counts the draft tokens of all rounds that are reported to it.
struct CountedDrafts : DecodeListener {
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  void on_round(const RoundReport& report) override {
    drafted += report.round.drafted;
    accepted += report.round.accepted;
  }
};

}  // namespace draftscope::engine::test
