// SPDX-License-Identifier: GPL-3.0-or-later
#include "kept_decode.h"

#include <gtest/gtest.h>

namespace draftscope::engine {

void KeptDecode::on_round(const RoundReport& report) {
  text.insert(text.end(), report.emitted.begin(), report.emitted.end());
  rounds.push_back({report.round,
                    report.layer_set,
                    {report.draft_tokens.begin(), report.draft_tokens.end()},
                    static_cast<std::int32_t>(report.emitted.size())});
  if (after_round) after_round();
}

void KeptDecode::add(const Decision& decision) {
  taken.push_back({static_cast<std::int32_t>(rounds.size()), std::string(decision.kind), decision.score,
                   decision.adopted, nlohmann::json::parse(decision.detail())});
}

}  // namespace draftscope::engine
