// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/next_token.h>

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <utility>

#include "checkpoint/element_bits.h"
#include "numbers/trait_numbers.h"

namespace draftscope::engine {

namespace {

using Table = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Values = Eigen::RowVectorXf;

Table table_of(const TensorView& tensor, float offset) {
  Table table(tensor.rows, tensor.columns);
  for (std::int64_t row = 0; row < tensor.rows; ++row) copy_row(tensor, row, table.row(row).data());
  return table.array() + offset;
}

}  // namespace

struct StateJoin::Tables {
  TensorView embedding;
  std::shared_ptr<const void> storage;  ///< keeps the embedding's memory
  float embedding_scale = 1.0F;
  float epsilon = 0.0F;
  Values token_norm;
  Values state_norm;
  Values final_norms[2];  ///< norms of the target and of the layer, by StateFrom
  Table projection;       ///< [d_model][2 · d_model]

  template <typename Row>
  [[nodiscard]] Values normalised(const Row& values, const Values& norm) const {
    const float mean_square = values.squaredNorm() / static_cast<float>(values.size());
    return (values.array() * norm.array() / std::sqrt(mean_square + epsilon)).matrix();
  }
};

Result<StateJoin> StateJoin::make(const Checkpoint& target, const Checkpoint& layer) {
  if (!layer.weights.join)
    return fail("model {}: has no join of tokens and states, expected a next-token layer", layer.shape.name);
  const JoinWeights& join = *layer.weights.join;
  const float offset = norm_offset(layer.shape);
  auto tables = std::make_shared<Tables>();
  tables->embedding = layer.weights.embedding;
  tables->storage = layer.storage;
  tables->embedding_scale = embedding_scale(layer.shape, layer.weights.embedding.dtype);
  tables->epsilon = static_cast<float>(layer.shape.rms_epsilon);
  tables->token_norm = table_of(join.token_norm, offset);
  tables->state_norm = table_of(join.state_norm, offset);
  tables->final_norms[0] = table_of(target.weights.final_norm, offset);
  tables->final_norms[1] = table_of(layer.weights.final_norm, offset);
  tables->projection = table_of(join.projection, 0.0F);
  return StateJoin(std::move(tables));
}

void StateJoin::join(std::span<const std::int32_t> tokens, std::span<const float> states, StateFrom from,
                     std::vector<float>& inputs) const {
  const Tables& tables = *tables_;
  const auto d_model = tables.projection.rows();
  const auto rows = static_cast<Eigen::Index>(tokens.size());
  const Eigen::Map<const Table> given(states.data(), rows, d_model);
  Table joined(rows, 2 * d_model);
  Values embedding(d_model);
  for (Eigen::Index row = 0; row < rows; ++row) {
    copy_row(tables.embedding, tokens[static_cast<std::size_t>(row)], embedding.data());
    embedding *= tables.embedding_scale;
    const Values state =
        tables.normalised(given.row(row), tables.final_norms[static_cast<std::size_t>(from)]);
    joined.row(row).head(d_model) = tables.normalised(state, tables.state_norm);
    joined.row(row).tail(d_model) = tables.normalised(embedding, tables.token_norm);
  }
  inputs.resize(static_cast<std::size_t>(rows * d_model));
  Eigen::Map<Table>(inputs.data(), rows, d_model).noalias() = joined * tables.projection.transpose();
}

}  // namespace draftscope::engine
