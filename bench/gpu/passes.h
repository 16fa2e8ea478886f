// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Single forward passes, timed from the call until the host has the best tokens.

#include <draftscope/engine/backend.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace draftscope::bench {

/// Thrown, for a benchmark has nothing to go on with; caught in main().
inline void expect(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

/// Tokens that no pattern favours.
[[nodiscard]] std::vector<std::int32_t> some_tokens(const speculation::ModelShape& shape, std::int32_t count);
/// The first `count` token ids of a file of them.
[[nodiscard]] std::vector<std::int32_t> tokens_in(const std::string& path, std::int32_t count);

class Passes {
 public:
  explicit Passes(engine::Backend& backend) : backend_(backend) {}

  /// Gives the first `rows` cache rows values.
  void prefill(std::int32_t rows);
  /// Seconds of `rows` rows after `context` committed ones through layers [0, n_layers) and the head.
  [[nodiscard]] double seconds(std::int32_t rows, std::int32_t context, std::int32_t n_layers);

 private:
  engine::Backend& backend_;
  engine::Outputs outputs_;
  std::vector<engine::Row> rows_;
};

}  // namespace draftscope::bench
