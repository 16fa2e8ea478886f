// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decodes a request in one call.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace draftscope::engine {

/// The strategy of a specification. Expects that it can be made; returns null otherwise.
[[nodiscard]] inline std::unique_ptr<Strategy> expect_strategy(std::string_view specification,
                                                               const speculation::ModelShape& shape,
                                                               const StrategyResources& resources = {}) {
  auto made = make_strategy(specification, shape, resources);
  EXPECT_TRUE(made) << specification << ": " << made.error().message;
  return made ? std::move(made->strategy) : nullptr;
}

/// Decodes with a strategy. Expects success; returns an empty text otherwise.
inline DecodeResult expect_decoded(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                                   DecodeListener& listener, std::uint64_t seed = 1) {
  SeededChooser chooser(seed, 1);
  auto result = decode(backend, strategy, request, chooser, listener);
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(result).value() : DecodeResult{};
}

inline DecodeResult expect_decoded(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                                   std::uint64_t seed = 1) {
  DecodeListener unheard;
  return expect_decoded(backend, strategy, request, unheard, seed);
}

/// Decodes with the strategy of a specification.
inline DecodeResult expect_decoded(Backend& backend, std::string_view specification,
                                   const DecodeRequest& request, DecodeListener& listener,
                                   std::uint64_t seed = 1, const StrategyResources& resources = {}) {
  const auto strategy = expect_strategy(specification, backend.shape(), resources);
  return strategy == nullptr ? DecodeResult{} : expect_decoded(backend, *strategy, request, listener, seed);
}

}  // namespace draftscope::engine
