// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decodes texts with a strategy on any backend.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

/// Decodes with a strategy and a fixed seed. Expects success; returns an empty text otherwise.
std::vector<std::int32_t> text_under(Backend& backend, const std::string& specification,
                                     const DecodeRequest& request, DecodeListener& listener,
                                     const StrategyResources& resources = {});
std::vector<std::int32_t> text_under(Backend& backend, const std::string& specification,
                                     const DecodeRequest& request, const StrategyResources& resources = {});

/// A prompt of 1 to `most` random tokens.
[[nodiscard]] std::vector<std::int32_t> random_prompt(Random& random, std::int32_t vocab,
                                                      std::int32_t most = 90);

}  // namespace draftscope::engine::test
