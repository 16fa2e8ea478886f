// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A guess of a text's continuation, made without a model.

#include <cstdint>

namespace draftscope::speculation {

/// One token of a chain or tree of guesses; parents come before their children.
struct TextGuess {
  std::int32_t token = -1;
  std::int32_t parent = -1;  ///< Index of an earlier guess; -1 = the text's end.
  /// Estimated probability of the path down to the token.
  double probability = 1.0;
  friend bool operator==(const TextGuess&, const TextGuess&) = default;
};

}  // namespace draftscope::speculation
