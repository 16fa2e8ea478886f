// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes that a strategy makes for its own purposes, beside drafts and verifications: to learn which
// sublayers to draft with, or by another model. They are operations like any others, so that any machine has
// a price for them.

#include <cstdint>

namespace draftscope::simulator {

enum class OwnPassKind : std::uint8_t {
  heads,        ///< DEL: final norm and head on the hidden states of all layers below the last
  window,       ///< DEL: the prompt's last positions through all layers and the head, once a request
  anchor,       ///< CLaSp: the prompt's last token through all layers, once a request
  layer,        ///< CLaSp's dynamic programming: one layer on a state for each number of skipped layers
  candidate,    ///< SWIFT: the output's first tokens through a candidate's sublayers and the head
  draft_model,  ///< two models: the other one, which drafts or reads what it has not seen of the text
};
inline constexpr int own_pass_kind_count = 6;

/// Passes that cost the same but for their context.
struct OwnPass {
  OwnPassKind kind = OwnPassKind::heads;
  std::int32_t rows = 1;       ///< as many passes as it takes where these are more than one pass may have
  std::int32_t attention = 0;  ///< sublayers; of the draft model for draft_model
  std::int32_t mlp = 0;
  bool has_head = false;

  friend bool operator==(const OwnPass& a, const OwnPass& b) {
    return a.kind == b.kind && a.rows == b.rows && a.attention == b.attention && a.mlp == b.mlp &&
           a.has_head == b.has_head;
  }
};

/// Time of a kind of own passes where they were recorded, against the law of costs.
struct MeasuredOwnPass {
  OwnPassKind kind = OwnPassKind::heads;
  double factor = 1.0;          ///< time / time by the law
  double relative_error = 0.0;  ///< standard error of `factor` / `factor`, requests being what varies
};

}  // namespace draftscope::simulator
