// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decodes with the real CPU backend, in one call.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/speculation/model_families.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../decode/expect_decoded.h"

namespace draftscope::engine {

/// A small random model with synthetic weights. Its sizes vary and are always valid.
[[nodiscard]] Checkpoint random_checkpoint(std::mt19937& random);

/// A small random model of a family, with four layers. Its windows are shorter than a text of 30 tokens.
[[nodiscard]] Checkpoint random_checkpoint(std::mt19937& random, const speculation::ModelFamily& family);

[[nodiscard]] std::unique_ptr<Backend> cpu_backend(const Checkpoint& checkpoint, std::int32_t threads,
                                                   std::int32_t cache_rows);

[[nodiscard]] std::vector<std::int32_t> random_tokens(std::mt19937& random, std::size_t count,
                                                      std::int32_t vocab);

struct Decoded {
  std::vector<std::int32_t> tokens;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
};

[[nodiscard]] Decoded decode_with(Backend& backend, const std::string& specification,
                                  const DecodeRequest& request, std::uint64_t seed = 1);

}  // namespace draftscope::engine
