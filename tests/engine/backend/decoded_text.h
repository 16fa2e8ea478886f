// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Texts that strategies decode on whatever backend a test has.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

/// The text of a strategy, always of the same seed. Expects that it comes to be; empty if it does not.
std::vector<std::int32_t> text_under(Backend& backend, const std::string& specification,
                                     const DecodeRequest& request, DecodeListener& listener,
                                     const StrategyResources& resources = {});
std::vector<std::int32_t> text_under(Backend& backend, const std::string& specification,
                                     const DecodeRequest& request, const StrategyResources& resources = {});

/// 1 to `most` tokens.
[[nodiscard]] std::vector<std::int32_t> random_prompt(Random& random, std::int32_t vocab,
                                                      std::int32_t most = 90);

}  // namespace draftscope::engine::test
