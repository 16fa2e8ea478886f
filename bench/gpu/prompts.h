// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompts of decodes, and error handling of a benchmark.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace draftscope::bench {

/// Throws on an error, since a benchmark can't continue; main() catches it.
inline void expect(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

/// Tokens without a pattern.
[[nodiscard]] std::vector<std::int32_t> some_tokens(const speculation::ModelShape& shape, std::int32_t count);
/// The first `count` token ids of a file.
[[nodiscard]] std::vector<std::int32_t> tokens_in(const std::string& path, std::int32_t count);

}  // namespace draftscope::bench
