// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a model is, before anybody decodes with it: shape, sizes, tokenizer, and what each strategy can do
// with it as it is.

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
  std::string parameters;              ///< JSON object of all; empty if the model is too small for it
  std::optional<double> draft_layers;  ///< weights of a draft step in layers, head included; none = not fixed
  std::string draft;                   ///< what drafts: "layers 0 to 6", "guesses"; empty for vanilla
  std::string lacks;                   ///< why it can't decode with its defaults; empty = it can
};

struct ModelReport {
  engine::Checkpoint checkpoint;
  std::uintmax_t file_bytes = 0;  ///< of the files that hold the weights; 0 for a synthetic model
  std::size_t kv_bytes_per_token = 0;
  double head_in_layers = 0.0;
  std::string tokenizer;  ///< its kind; empty if `tokenizer_problem` says why there is none
  std::string tokenizer_problem;
  std::optional<NamedToken> bos;
  std::vector<NamedToken> eos;
  bool has_chat_template = false;
  std::vector<StrategyOnModel> strategies;  ///< in the catalogue's order
};

/// `argument` as --model takes it. No weight is read but norms, biases and what opening widens. Fails as
/// open_model() does; a tokenizer that can't be read is part of the report.
[[nodiscard]] Result<ModelReport> describe_model(std::string_view argument);

/// At most 100 columns and 40 lines for a model of the strategies that ship.
[[nodiscard]] std::string model_text(const ModelReport& report);

/// Keys: cli/OUTPUT.md.
[[nodiscard]] std::string model_json(const ModelReport& report);

}  // namespace draftscope::cli
