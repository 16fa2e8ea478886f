// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Description of a model before it is used: shape, sizes, tokenizer, and what each strategy can do with it as
// it is.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct NamedToken {
  std::int32_t id = -1;
  std::string text;
};

/// A strategy with its defaults for the model.
struct StrategyOnModel {
  std::string name;
  std::string parameters;              ///< JSON of all parameters; empty if the model is too small.
  std::optional<double> draft_layers;  ///< Weights of a draft step in layers, with the head; none = varies.
  std::string draft;                   ///< Source of drafts: "layers 0 to 6", "guesses"; empty for vanilla.
  std::string lacks;                   ///< Why it can't decode with its defaults; empty = it can.
};

struct ModelReport {
  engine::Checkpoint checkpoint;
  std::vector<std::string> notes;  ///< Lines about tensors that opening left out, copied or converted.
  std::uintmax_t file_bytes = 0;   ///< Total of the weight files; 0 for a synthetic model.
  std::size_t kv_bytes_per_token = 0;
  double head_in_layers = 0.0;
  std::string tokenizer;  ///< Kind of the tokenizer; empty if `tokenizer_problem` says why there is none.
  std::string tokenizer_problem;
  std::optional<NamedToken> bos;
  std::vector<NamedToken> eos;
  bool has_chat_template = false;
  std::string chat_template_problem;        ///< Why it can't be rendered; empty = it can.
  std::vector<StrategyOnModel> strategies;  ///< Strategies in the catalogue's order.
};

/// Describes the model of a --model argument. Reads only norms, biases and the weights that opening widens.
/// Errors: those of open_model(); an unreadable tokenizer is part of the report.
[[nodiscard]] Result<ModelReport> describe_model(std::string_view argument);

/// Report as text: at most 100 columns, and 40 lines for the strategies that ship.
[[nodiscard]] std::string model_text(const ModelReport& report);

/// Report as JSON (keys: cli/OUTPUT.md).
[[nodiscard]] std::string model_json(const ModelReport& report);

}  // namespace draftscope::cli
