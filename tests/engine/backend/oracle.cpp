// SPDX-License-Identifier: GPL-3.0-or-later
#include "oracle.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

namespace draftscope::engine::test {
namespace {

double half_value(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 31;
  const double fraction = (bits & 1023U) / 1024.0;
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15));
}

double element(const TensorView& tensor, std::int64_t row, std::int64_t column) {
  const std::byte* at =
      tensor.data + (row * tensor.columns + column) * static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  if (tensor.dtype == DType::f32) {
    float value = 0.0F;
    std::memcpy(&value, at, 4);
    return static_cast<double>(value);
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, 2);
  if (tensor.dtype == DType::f16) return half_value(bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

/// Rounds to 8 significant bits, ties to even. This is bf16 within its range.
double rounded(double value) {
  if (value == 0.0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, 8 - exponent)), exponent - 8);
}

}  // namespace

Oracle::Oracle(const Checkpoint& checkpoint, std::int32_t cache_rows)
    : checkpoint_(checkpoint),
      shape_(checkpoint.shape),
      dtype_(checkpoint.weights.embedding.dtype),
      cache_(static_cast<std::size_t>(shape_.n_layers),
             std::vector<CacheRow>(static_cast<std::size_t>(cache_rows))) {}

Eigen::VectorXd Oracle::normalised(const Eigen::VectorXd& x, const TensorView& weight) const {
  const double scale = 1.0 / std::sqrt(x.squaredNorm() / static_cast<double>(x.size()) + shape_.rms_epsilon);
  Eigen::VectorXd out(x.size());
  const double offset = shape_.traits.norm_weight == speculation::NormWeight::plus_one ? 1.0 : 0.0;
  for (Eigen::Index i = 0; i < x.size(); ++i) out[i] = x[i] * scale * (element(weight, 0, i) + offset);
  return out;
}

Eigen::VectorXd Oracle::normalised_parts(const Eigen::VectorXd& x, const TensorView& weight) const {
  if (!weight.present()) return x;
  Eigen::VectorXd out(x.size());
  for (Eigen::Index first = 0; first < x.size(); first += weight.columns)
    out.segment(first, weight.columns) = normalised(x.segment(first, weight.columns), weight);
  return out;
}

void Oracle::add(const Eigen::VectorXd& output, const TensorView& norm, Eigen::VectorXd& x) const {
  x += shape_.traits.residual_multiplier * (norm.present() ? normalised(output, norm) : output);
}

double Oracle::activated(double x, const LayerWeights& layer) const {
  const speculation::Activation kind = shape_.traits.activation;
  if (kind == speculation::Activation::silu) return x / (1.0 + std::exp(-x));
  if (kind == speculation::Activation::relu_squared) return x > 0.0 ? x * x : 0.0;
  if (kind == speculation::Activation::xielu) {
    const double beta = element(layer.beta, 0, 0);
    const auto softplus = [](double raw) { return std::log(1.0 + std::exp(raw)); };
    if (x > 0.0) return softplus(element(layer.alpha_p, 0, 0)) * x * x + beta * x;
    const double bent = std::exp(std::min(x, element(layer.epsilon, 0, 0))) - 1.0 - x;
    return (beta + softplus(element(layer.alpha_n, 0, 0))) * bent + beta * x;
  }
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

Eigen::VectorXd Oracle::product(const TensorView& matrix, const TensorView& bias,
                                const Eigen::VectorXd& x) const {
  Eigen::VectorXd out(matrix.rows);
  for (std::int64_t o = 0; o < matrix.rows; ++o) {
    double sum = bias.present() ? element(bias, 0, o) : 0.0;
    for (std::int64_t k = 0; k < matrix.columns; ++k)
      sum += element(matrix, o, k) * (dtype_ == DType::bf16 ? rounded(x[k]) : x[k]);
    out[o] = sum;
  }
  return out;
}

Oracle::Heads Oracle::heads_of(const Eigen::VectorXd& x, std::int32_t position, std::int32_t layer,
                               bool rotated) const {
  const std::int32_t width =
      shape_.rope.rotated_dimensions > 0 ? shape_.rope.rotated_dimensions : shape_.head_dim;
  const std::int32_t half = width / 2;
  const std::int32_t unrotated = shape_.traits.no_rope_interval;
  if (unrotated > 0 && (layer + 1) % unrotated == 0) rotated = false;
  const bool is_local = shape_.rope.local_theta > 0.0 && window_of(layer) > 0;
  const double theta = is_local ? shape_.rope.local_theta : shape_.rope.theta;
  Heads heads;
  for (Eigen::Index first = 0; first < x.size(); first += shape_.head_dim) {
    Eigen::VectorXd head = x.segment(first, shape_.head_dim);
    for (std::int32_t i = 0; rotated && i < half; ++i) {
      const double angle = position * std::pow(theta, -2.0 * i / width);
      const std::complex<double> turned = std::complex(head[i], head[i + half]) * std::polar(1.0, angle);
      head[i] = turned.real();
      head[i + half] = turned.imag();
    }
    heads.push_back(head);
  }
  return heads;
}

Oracle::Heads Oracle::turned(const Eigen::VectorXd& x, const TensorView& norm, std::int32_t position,
                             std::int32_t layer) const {
  if (shape_.traits.qk_norm != speculation::QkNorm::rotated_heads)
    return heads_of(normalised_parts(x, norm), position, layer, true);
  Heads heads = heads_of(x, position, layer, true);
  for (Eigen::VectorXd& head : heads) head = normalised(head, norm);
  return heads;
}

double Oracle::query_scale(std::int32_t position) const {
  const speculation::RopeScaling& rope = shape_.rope;
  if (rope.query_beta == 0.0) return 1.0;
  return 1.0 + rope.query_beta *
                   std::log(1.0 + std::floor(static_cast<double>(position) / rope.original_max_positions));
}

std::int32_t Oracle::window_of(std::int32_t layer) const {
  const std::int32_t full = shape_.traits.full_attention_interval;
  return full > 0 && (layer + 1) % full == 0 ? 0 : shape_.sliding_window;
}

std::vector<std::int32_t> Oracle::keys_of(const Batch& batch, std::int32_t row) const {
  std::vector<std::int32_t> keys;
  for (std::int32_t key = 0; key < batch.committed; ++key) keys.push_back(key);
  const std::size_t words =
      (static_cast<std::size_t>(batch.first_row - batch.committed) + batch.rows.size() + 63) / 64;
  const std::int32_t self = batch.first_row + row;
  for (std::int32_t key = batch.committed;
       key < batch.first_row + static_cast<std::int32_t>(batch.rows.size()); ++key) {
    const auto bit = static_cast<std::size_t>(key - batch.committed);
    const bool ancestor =
        batch.ancestors.empty()
            ? key < self
            : (batch.ancestors[static_cast<std::size_t>(row) * words + bit / 64] >> (bit % 64) & 1U) != 0;
    if (ancestor && key != self) keys.push_back(key);
  }
  keys.push_back(self);
  return keys;
}

Eigen::VectorXd Oracle::attend(std::int32_t layer, const Heads& queries, std::int32_t position,
                               const std::vector<std::int32_t>& keys) const {
  const auto& rows = cache_[static_cast<std::size_t>(layer)];
  const double multiplier = shape_.traits.attention_multiplier > 0.0
                                ? shape_.traits.attention_multiplier
                                : 1.0 / std::sqrt(static_cast<double>(shape_.head_dim));
  const double cap = shape_.traits.attention_logit_cap;
  const std::int32_t window = window_of(layer);
  Eigen::VectorXd out(shape_.q_width());
  for (std::int32_t head = 0; head < shape_.n_heads; ++head) {
    const auto kv_head = static_cast<std::size_t>(head / (shape_.n_heads / shape_.n_kv_heads));
    Eigen::VectorXd mixed = Eigen::VectorXd::Zero(shape_.head_dim);
    double total = 0.0;
    for (const std::int32_t key : keys) {
      const CacheRow& row = rows[static_cast<std::size_t>(key)];
      if (window > 0 && position - row.position >= window) continue;
      const double score = multiplier * queries[static_cast<std::size_t>(head)].dot(row.keys[kv_head]);
      const double weight = std::exp(cap > 0.0 ? cap * std::tanh(score / cap) : score);
      total += weight;
      mixed += weight * row.values[kv_head];
    }
    out.segment(std::int64_t{head} * shape_.head_dim, shape_.head_dim) = mixed / total;
  }
  return out;
}

Oracle::Result Oracle::forward(const Batch& batch) {
  const Weights& weights = checkpoint_.weights;
  const std::size_t n = batch.rows.size();
  const speculation::ArchitectureTraits& traits = shape_.traits;
  const double scale =
      traits.embedding_multiplier > 0.0 ? traits.embedding_multiplier : std::sqrt(shape_.d_model);
  std::vector<Eigen::VectorXd> x;
  for (const Row& row : batch.rows) {
    Eigen::VectorXd input(shape_.d_model);
    for (std::int32_t i = 0; i < shape_.d_model; ++i)
      input[i] =
          row.token >= 0
              ? element(weights.embedding, row.token, i) * (dtype_ == DType::bf16 ? rounded(scale) : scale)
              : static_cast<double>(batch.hidden[static_cast<std::size_t>(row.hidden) *
                                                     static_cast<std::size_t>(shape_.d_model) +
                                                 static_cast<std::size_t>(i)]);
    x.push_back(input);
  }
  Result result;
  const auto keep = [&](std::int32_t boundary) {
    for (const std::int32_t wanted : batch.wanted.hidden_after)
      if (wanted == boundary) result.hidden.push_back(x);
  };
  for (std::int32_t l = batch.layers.begin; l < batch.layers.end; ++l) {
    keep(l);
    const LayerWeights& layer = weights.layers[static_cast<std::size_t>(l)];
    if (batch.mask == nullptr || batch.mask->runs_attention(l)) {
      std::vector<Heads> queries;
      for (std::size_t i = 0; i < n; ++i) {
        const Eigen::VectorXd normal =
            layer.attention_norm.present() ? normalised(x[i], layer.attention_norm) : x[i];
        const std::int32_t position = batch.rows[i].position;
        queries.push_back(turned(product(layer.q, layer.q_bias, normal), layer.q_norm, position, l));
        for (Eigen::VectorXd& query : queries.back()) query *= query_scale(position);
        CacheRow row{position, turned(product(layer.k, layer.k_bias, normal), layer.k_norm, position, l),
                     heads_of(product(layer.v, layer.v_bias, normal), position, l, false)};
        for (Heads* heads : {&row.keys, &row.values})
          for (Eigen::VectorXd& head : *heads)
            if (dtype_ != DType::f32) head = head.unaryExpr(&rounded);
        cache_[static_cast<std::size_t>(l)][static_cast<std::size_t>(batch.first_row) + i] = row;
      }
      for (std::size_t i = 0; i < n; ++i)
        add(product(
                layer.o, layer.o_bias,
                attend(l, queries[i], batch.rows[i].position, keys_of(batch, static_cast<std::int32_t>(i)))),
            layer.attention_output_norm, x[i]);
    }
    if (batch.mask == nullptr || batch.mask->runs_mlp(l))
      for (Eigen::VectorXd& row : x) {
        const Eigen::VectorXd normal = layer.mlp_norm.present() ? normalised(row, layer.mlp_norm) : row;
        Eigen::VectorXd inner = product(layer.up, layer.up_bias, normal);
        if (traits.gated_mlp) {
          const Eigen::VectorXd gate = product(layer.gate, layer.gate_bias, normal);
          for (Eigen::Index i = 0; i < inner.size(); ++i) inner[i] *= activated(gate[i], layer);
        } else {
          for (double& value : inner) value = activated(value, layer);
        }
        add(product(layer.down, layer.down_bias, inner), layer.mlp_output_norm, row);
      }
  }
  keep(batch.layers.end);
  for (std::size_t i = static_cast<std::size_t>(batch.wanted.head_from); batch.wanted.head && i < n; ++i) {
    Eigen::VectorXd logits =
        traits.logit_multiplier * product(weights.head, {}, normalised(x[i], weights.final_norm));
    if (traits.logit_cap > 0.0)
      logits = logits.unaryExpr(
          [&](double logit) { return traits.logit_cap * std::tanh(logit / traits.logit_cap); });
    result.logits.push_back(logits);
  }
  return result;
}

}  // namespace draftscope::engine::test
