// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The numbers of a decoder that its time depends on. Three sources: the table of published models
// (models/models.csv), a Hugging Face config.json, the meta of a trace. All functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

struct ModelShape {
  std::string name;
  std::int32_t n_layers = 0;
  std::int32_t d_model = 0;
  std::int32_t n_heads = 0;
  std::int32_t n_kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t d_ff = 0;
  std::int32_t vocab = 0;

  [[nodiscard]] std::int64_t q_width() const { return std::int64_t{n_heads} * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return std::int64_t{n_kv_heads} * head_dim; }
};

/// Errors: a number that is not positive or beyond 2²⁴, heads that K/V heads do not divide. `name` is what
/// the error calls the source.
[[nodiscard]] Result<void> check_shape(const ModelShape& shape, std::string_view name);

/// Every shape of the table, in its order. Errors: a table that does not parse.
[[nodiscard]] Result<std::vector<ModelShape>> known_model_shapes();

/// By the table's name or its Hugging Face id, regardless of case. Errors: unknown, with the closest names.
[[nodiscard]] Result<ModelShape> find_model_shape(std::string_view name);

/// A config.json of the Llama family and its relatives. `name` is what errors call it.
[[nodiscard]] Result<ModelShape> parse_model_config(std::string_view json, std::string_view name);

/// Of the model that was recorded. Errors: meta lacks `model_shape` or a field of it.
[[nodiscard]] Result<ModelShape> recorded_shape(const traces::Meta& meta);

}  // namespace draftscope::simulator
