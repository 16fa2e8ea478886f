// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/decode.h>
#include <cstdint>

namespace draftscope::engine::test {

/// Draft tokens of all rounds that it hears of.
struct CountedDrafts : DecodeListener {
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  void on_round(const RoundReport& report) override {
    drafted += report.round.drafted;
    accepted += report.round.accepted;
  }
};

}  // namespace draftscope::engine::test
