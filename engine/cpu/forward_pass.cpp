// SPDX-License-Identifier: GPL-3.0-or-later
#include "forward_pass.h"

#include <draftscope/base/to_size.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "checkpoint/element_bits.h"
#include "numbers/trait_numbers.h"

namespace draftscope::engine::cpu {
namespace {

// Shares of outputs are multiples of this: one cache line of fp32 results, and the height of an AMX tile.
constexpr std::int64_t output_granule = 16;
// Outputs per call of oneDNN, which sums a wide matrix in another order than a narrow one. If each thread's
// share were one call, the sums would depend on the number of threads. Large blocks cost less; small ones
// give the threads of a small model enough blocks.
constexpr std::int64_t wide_block = 128;
constexpr std::int64_t small_wide_block = 64;
constexpr std::int64_t small_wide_outputs = 1024;
// Outputs of gate and up that are computed before they are gated, while they are in the first-level cache.
constexpr std::int64_t gated_block = 128;
static_assert(gated_block % wide_block == 0 && gated_block % small_wide_block == 0);

}  // namespace

SpanNames::SpanNames(profiler::SpanRecorder* recorder) {
  if (recorder == nullptr) return;
  layer = recorder->name_id("layer");
  attention_norm = recorder->name_id("attention norm");
  qkv = recorder->name_id("qkv");
  rope = recorder->name_id("rope");
  attention = recorder->name_id("attention");
  output_projection = recorder->name_id("output projection");
  mlp_norm = recorder->name_id("mlp norm");
  gate_up = recorder->name_id("gate up");
  down = recorder->name_id("down");
  head = recorder->name_id("head");
}

ForwardPass::ForwardPass(Engine& engine, const LayerKeys& keys, const Batch& batch, Outputs& outputs)
    : engine_(engine),
      shape_(engine.model.shape),
      workspace_(engine.workspace),
      keys_(keys),
      batch_(batch),
      outputs_(outputs),
      products_(engine.kernels.products[static_cast<std::size_t>(engine.model.dtype)]),
      epsilon_(static_cast<float>(shape_.rms_epsilon)),
      rows_(static_cast<std::int32_t>(batch.rows.size())),
      threads_(engine.team.active()),
      wide_(engine.wide != nullptr && rows_ > max_invariant_rows) {}

void ForwardPass::operator()(std::int32_t thread) {
  load_inputs(thread);
  engine_.team.barrier();
  for (std::int32_t layer = batch_.layers.begin; layer < batch_.layers.end; ++layer) {
    // Readers of the residual stream need no barrier here: the thread that writes it next waits for this one
    // first.
    copy_hidden(thread, layer);
    const profiler::ScopedSpan layer_span(thread == 0 ? engine_.recorder : nullptr, profiler::Level::layers,
                                          engine_.names.layer, layer);
    if (batch_.mask == nullptr || batch_.mask->runs_attention(layer)) attention_sublayer(thread, layer);
    if (batch_.mask == nullptr || batch_.mask->runs_mlp(layer)) mlp_sublayer(thread, layer);
  }
  copy_hidden(thread, batch_.layers.end);
  if (batch_.wanted.head) head(thread);
}

std::int64_t ForwardPass::granule_of(const Matrix& matrix, std::int64_t outputs) const {
  if (!is_wide(matrix)) return output_granule;
  return outputs < small_wide_outputs ? small_wide_block : wide_block;
}

ForwardPass::Share ForwardPass::share_of(std::int64_t n, std::int64_t granule, std::int32_t thread) const {
  const std::int64_t units = (n + granule - 1) / granule;
  return {std::min(n, units * thread / threads_ * granule),
          std::min(n, units * (thread + 1) / threads_ * granule), granule};
}

ForwardPass::Share ForwardPass::share_of_outputs(const Matrix& matrix, std::int32_t thread) const {
  return share_of(matrix.outputs, granule_of(matrix, matrix.outputs), thread);
}

profiler::ScopedSpan ForwardPass::span(std::int32_t thread, traces::StringId name_id,
                                       std::int32_t layer) const {
  return {thread == 0 ? engine_.recorder : nullptr, profiler::Level::ops, name_id, layer};
}

void ForwardPass::load_inputs(std::int32_t thread) {
  const std::int64_t d_model = shape_.d_model;
  const std::int64_t pairs = shape_.rotary_width() / 2;
  const float scale = embedding_scale(shape_, engine_.model.dtype);
  for (std::int32_t row = thread; row < rows_; row += threads_) {
    const Row& input = batch_.rows[to_size(row)];
    float* out = workspace_.residual + row * d_model;
    if (input.token >= 0) {
      copy_row(engine_.model.embedding, input.token, out);
      for (std::int64_t i = 0; scale != 1.0F && i < d_model; ++i) out[i] *= scale;
    } else
      std::memcpy(out, batch_.hidden.data() + input.hidden * d_model,
                  to_size(shape_.d_model) * sizeof(float));
    engine_.rope.angles(input.position, workspace_.cosine + row * pairs, workspace_.sine + row * pairs);
    if (workspace_.local_cosine != nullptr)
      engine_.local_rope.angles(input.position, workspace_.local_cosine + row * pairs,
                                workspace_.local_sine + row * pairs);
  }
}

void ForwardPass::copy_hidden(std::int32_t thread, std::int32_t boundary) {
  const auto wanted = batch_.wanted.hidden_after;
  const auto found = std::lower_bound(wanted.begin(), wanted.end(), boundary);
  if (found == wanted.end() || *found != boundary) return;
  const std::int64_t d_model = shape_.d_model;
  float* out = outputs_.hidden.data() + (found - wanted.begin()) * rows_ * d_model;
  for (std::int32_t row = thread; row < rows_; row += threads_)
    std::memcpy(out + row * d_model, workspace_.residual + row * d_model,
                to_size(shape_.d_model) * sizeof(float));
}

/// Normalises (if there is a norm), rounds and packs rows for a matrix; returns the set to multiply with.
const std::byte* ForwardPass::prepare(std::int32_t thread, const Inputs& inputs, const Matrix& matrix,
                                      std::vector<float>* squares) {
  const std::int64_t depth = matrix.depth;
  ThreadWorkspace& own = workspace_.threads[to_size(thread)];
  const bool alone = inputs.rows <= private_rows && inputs.rows * depth <= private_values;
  std::byte* set = alone ? own.set : workspace_.set;
  for (std::int32_t row = alone ? 0 : thread; row < inputs.rows; row += alone ? 1 : threads_) {
    const float* values = inputs.values + row * depth;
    if (inputs.norm != nullptr) {
      engine_.kernels.rms_norm(values, inputs.norm, depth, epsilon_, own.row);
      values = own.row;
    }
    if (matrix.is_packed())
      engine_.kernels.packed->pack(values, row, depth, set);
    else if (!wide_)
      products_.pack(values, row, depth, set);
    else if (engine_.model.dtype == DType::bf16)
      engine_.kernels.to_bf16(values, depth, reinterpret_cast<std::uint16_t*>(set) + row * depth);
    else
      std::memcpy(reinterpret_cast<float*>(set) + row * depth, values,
                  static_cast<std::size_t>(depth) * sizeof(float));
  }
  if (!alone) engine_.team.barrier();
  // One thread does this, so that there is one order of summation.
  if (squares != nullptr && thread == 0) add_squares(thread, inputs, *squares);
  return set;
}

void ForwardPass::add_squares(std::int32_t thread, const Inputs& inputs, std::vector<float>& sums) {
  const auto n = static_cast<std::int64_t>(sums.size());
  for (std::int32_t row = 0; row < inputs.rows; ++row) {
    const float* values = inputs.values + row * n;
    if (inputs.norm != nullptr) {
      float* own = workspace_.threads[to_size(thread)].row;
      engine_.kernels.rms_norm(values, inputs.norm, n, epsilon_, own);
      values = own;
    }
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[k] * values[k];
  }
}

std::vector<float>* ForwardPass::squares_of(std::int32_t layer, LayerSquares which) const {
  return engine_.squares == nullptr ? nullptr : &(engine_.squares->layers[to_size(layer)].*which);
}

void ForwardPass::product(std::int32_t thread, const Matrix& matrix, const std::byte* set, std::int32_t rows,
                          Share share, bool accumulate, float* out, std::int64_t out_stride) {
  if (share.begin >= share.end) return;
  if (matrix.is_packed()) {
    engine_.kernels.packed->product({matrix.packed(), set, matrix.bias, rows, accumulate, out, out_stride},
                                    share.begin, share.end);
    return;
  }
  if (wide_) return wide_product(thread, matrix, set, rows, share, accumulate, out, out_stride);
  products_.product(
      {matrix.data, set, matrix.bias, matrix.depth, rows, accumulate, out, out_stride, matrix.outputs},
      share.begin, share.end);
}

/// Adds oneDNN's sums to the output, from a buffer of d_model columns: oneDNN can only write plain sums.
void ForwardPass::wide_product(std::int32_t thread, const Matrix& matrix, const std::byte* set,
                               std::int32_t rows, Share share, bool accumulate, float* out,
                               std::int64_t out_stride) {
  float* const sums = accumulate ? workspace_.product : out;
  const std::int64_t row_bytes = matrix.depth * static_cast<std::int64_t>(dtype_bytes(engine_.model.dtype));
  for (std::int64_t begin = share.begin; begin < share.end; begin += share.granule)
    engine_.wide->run(thread,
                      {matrix.data + begin * row_bytes, set, rows, std::min(share.granule, share.end - begin),
                       matrix.depth, sums + begin, out_stride});
  if (!accumulate && matrix.bias == nullptr) return;
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int64_t o = share.begin; o < share.end; ++o) {
      const float dot = sums[row * out_stride + o] + (matrix.bias != nullptr ? matrix.bias[o] : 0.0F);
      float& result = out[row * out_stride + o];
      result = accumulate ? result + dot : dot;
    }
}

ForwardPass::Angles ForwardPass::angles_of(std::int32_t layer) const {
  if (!shape_.rotates(layer)) return {nullptr, nullptr};
  if (workspace_.local_cosine != nullptr && shape_.window_of(layer) > 0)
    return {workspace_.local_cosine, workspace_.local_sine};
  return {workspace_.cosine, workspace_.sine};
}

/// Angles of queries and keys after their norm; none if they were rotated before it.
ForwardPass::Angles ForwardPass::angles_to_come(std::int32_t layer) const {
  if (shape_.traits.qk_norm == speculation::QkNorm::rotated_heads) return {nullptr, nullptr};
  return angles_of(layer);
}

void ForwardPass::turn(float* head, Angles angles, std::int32_t row) const {
  if (angles.cosine == nullptr) return;
  const std::int32_t width = shape_.rotary_width();
  const std::int64_t first = std::int64_t{row} * (width / 2);
  rotate(head, width, angles.cosine + first, angles.sine + first);
}

/// Computes a sublayer's last product, and adds it to the residual stream.
void ForwardPass::finish_sublayer(std::int32_t thread, std::int32_t layer, const LastProduct& last) {
  const auto timed = span(thread, last.name, layer);
  const bool adds = last.norm == nullptr && static_cast<float>(shape_.traits.residual_multiplier) == 1.0F;
  const std::byte* set = prepare(thread, {last.input, nullptr, rows_}, last.matrix, last.squares);
  product(thread, last.matrix, set, rows_, share_of_outputs(last.matrix, thread), adds,
          adds ? workspace_.residual : workspace_.product, shape_.d_model);
  engine_.team.barrier();
  if (!adds) add_to_residual(thread, last.norm);
}

void ForwardPass::add_to_residual(std::int32_t thread, const float* norm) {
  const std::int64_t d_model = shape_.d_model;
  const auto multiplier = static_cast<float>(shape_.traits.residual_multiplier);
  float* const own = workspace_.threads[to_size(thread)].row;
  for (std::int32_t row = thread; row < rows_; row += threads_) {
    const float* output = workspace_.product + row * d_model;
    if (norm != nullptr) {
      engine_.kernels.rms_norm(output, norm, d_model, epsilon_, own);
      output = own;
    }
    float* residual = workspace_.residual + row * d_model;
    for (std::int64_t i = 0; i < d_model; ++i) residual[i] += multiplier * output[i];
  }
  engine_.team.barrier();
}

void ForwardPass::attention_sublayer(std::int32_t thread, std::int32_t layer) {
  const Layer& weights = engine_.matrices.layers[to_size(layer)];
  const std::byte* set = nullptr;
  {
    const auto timed = span(thread, engine_.names.attention_norm, layer);
    set = prepare(thread, {workspace_.residual, weights.attention_norm, rows_}, weights.q,
                  squares_of(layer, &InputSquares::Layer::attention));
  }
  {
    const auto timed = span(thread, engine_.names.qkv, layer);
    project_qkv(thread, layer, set);
    engine_.team.barrier();
  }
  {
    const auto timed = span(thread, engine_.names.rope, layer);
    normalise_heads(thread, layer);
    rotate_and_store(thread, layer);
  }
  {
    const auto timed = span(thread, engine_.names.attention, layer);
    attend(thread, layer);
    engine_.team.barrier();
  }
  finish_sublayer(thread, layer,
                  {weights.o, workspace_.attended, weights.attention_output_norm,
                   squares_of(layer, &InputSquares::Layer::output), engine_.names.output_projection});
}

/// Projects q, k and v. They are one list of granules, divided into shares regardless of where a matrix ends.
void ForwardPass::project_qkv(std::int32_t thread, std::int32_t layer, const std::byte* set) {
  const Layer& weights = engine_.matrices.layers[to_size(layer)];
  const std::int64_t width = shape_.q_width() + 2 * std::int64_t{shape_.kv_width()};
  const std::array<const Matrix*, 3> matrices{&weights.q, &weights.k, &weights.v};
  const std::int64_t granule = granule_of(weights.q, width);
  const auto granules = [&](const Matrix& matrix) { return (matrix.outputs + granule - 1) / granule; };
  std::int64_t all = 0;
  for (const Matrix* matrix : matrices) all += granules(*matrix);
  const Share share = share_of(all, 1, thread);
  std::int64_t before = 0;  // number of granules
  std::int64_t column = 0;
  for (const Matrix* matrix : matrices) {
    const Share part{std::max(share.begin - before, std::int64_t{0}) * granule,
                     std::min((share.end - before) * granule, matrix->outputs), granule};
    product(thread, *matrix, set, rows_, part, false, workspace_.qkv + column, width);
    before += granules(*matrix);
    column += matrix->outputs;
  }
}

/// Normalises queries and keys in place, head by head (rotated before, where the model does so) or a row's
/// whole projection.
void ForwardPass::normalise_heads(std::int32_t thread, std::int32_t layer) {
  const speculation::QkNorm kind = shape_.traits.qk_norm;
  if (kind == speculation::QkNorm::none) return;
  const Layer& weights = engine_.matrices.layers[to_size(layer)];
  const std::int64_t width = shape_.q_width() + 2 * std::int64_t{shape_.kv_width()};
  const bool whole = kind == speculation::QkNorm::whole;
  const std::int32_t queries = whole ? 1 : shape_.n_heads;
  const std::int32_t parts = queries + (whole ? 1 : shape_.n_kv_heads);
  for (std::int32_t task = thread; task < rows_ * parts; task += threads_) {
    const std::int32_t part = task % parts;
    const bool is_query = part < queries;
    const std::int64_t first =
        whole ? (is_query ? 0 : shape_.q_width()) : std::int64_t{part} * shape_.head_dim;
    const std::int64_t n = whole ? (is_query ? shape_.q_width() : shape_.kv_width()) : shape_.head_dim;
    float* values = workspace_.qkv + task / parts * width + first;
    if (kind == speculation::QkNorm::rotated_heads) turn(values, angles_of(layer), task / parts);
    engine_.kernels.rms_norm(values, is_query ? weights.q_norm : weights.k_norm, n, epsilon_, values);
  }
  engine_.team.barrier();
}

/// Rotates keys and stores them with the values, head by head; queries are rotated where they are used.
void ForwardPass::rotate_and_store(std::int32_t thread, std::int32_t layer) {
  const std::int64_t width = shape_.q_width() + 2 * std::int64_t{shape_.kv_width()};
  const Angles angles = angles_to_come(layer);
  const Share heads = share_of(shape_.n_kv_heads, 1, thread);
  for (auto head = static_cast<std::int32_t>(heads.begin); head < heads.end; ++head)
    for (std::int32_t row = 0; row < rows_; ++row) {
      float* key = workspace_.qkv + row * width + shape_.q_width() + std::int64_t{head} * shape_.head_dim;
      turn(key, angles, row);
      const std::int64_t offset = (batch_.first_row + row) * engine_.cache.row_bytes();
      engine_.cache.store(engine_.cache.keys(layer, head) + offset, key);
      engine_.cache.store(engine_.cache.values(layer, head) + offset, key + shape_.kv_width());
    }
}

void ForwardPass::attend(std::int32_t thread, std::int32_t layer) {
  // A thread that attends with the heads it has just stored needs no barrier in between. With many rows, or
  // heads that do not divide evenly, tasks are dealt out one by one instead: later rows have more keys.
  constexpr std::int32_t few_rows = 16;
  const std::int32_t kv_heads = shape_.n_kv_heads;
  if (rows_ <= few_rows && kv_heads % threads_ == 0) {
    const Share heads = share_of(kv_heads, 1, thread);
    for (auto head = static_cast<std::int32_t>(heads.begin); head < heads.end; ++head)
      for (std::int32_t row = 0; row < rows_; ++row) attend_one(thread, layer, head, row);
    return;
  }
  engine_.team.barrier();
  for (std::int32_t task = thread; task < kv_heads * rows_; task += threads_)
    attend_one(thread, layer, task / rows_, task % rows_);
}

void ForwardPass::attend_one(std::int32_t thread, std::int32_t layer, std::int32_t kv_head,
                             std::int32_t row) {
  const ThreadWorkspace& own = workspace_.threads[to_size(thread)];
  const std::int64_t width = shape_.q_width() + 2 * std::int64_t{shape_.kv_width()};
  const std::int32_t head_dim = shape_.head_dim;
  const std::int32_t stride = engine_.cache.head_stride();
  const std::int32_t group = shape_.n_heads / shape_.n_kv_heads;
  const std::int64_t first_column = std::int64_t{kv_head} * group * head_dim;
  const float scale = attention_scale(shape_) * query_scale(shape_.rope, batch_.rows[to_size(row)].position);
  const Angles angles = angles_to_come(layer);

  const float* source = workspace_.qkv + row * width + first_column;
  for (std::int32_t head = 0; head < group; ++head) {
    float* query = own.queries + head * stride;
    std::copy_n(source + head * head_dim, head_dim, query);
    turn(query, angles, row);
    for (std::int32_t d = 0; d < head_dim; ++d) query[d] *= scale;
  }
  AttentionTask task;
  task.queries = own.queries;
  task.heads = group;
  task.head_stride = stride;
  task.keys = engine_.cache.keys(layer, kv_head);
  task.values = engine_.cache.values(layer, kv_head);
  task.row_bytes = engine_.cache.row_bytes();
  task.score_cap = static_cast<float>(shape_.traits.attention_logit_cap);
  const KeyLists& lists = shape_.window_of(layer) > 0 ? keys_.windowed : keys_.full;
  const KeyListRange& range = lists.ranges()[to_size(row)];
  task.list = {range.begin, range.end, lists.extra().data() + range.extra_begin,
               range.extra_end - range.extra_begin};
  task.scores = own.scores;
  task.score_stride = workspace_.score_stride;
  task.out = own.attended;
  engine_.kernels.attention[engine_.model.cache_dtype() == DType::f32 ? 0 : 1](task);

  float* out = workspace_.attended + std::int64_t{row} * shape_.q_width() + first_column;
  for (std::int32_t head = 0; head < group; ++head)
    std::copy_n(own.attended + head * stride, head_dim, out + head * head_dim);
}

/// Activates `n` inner values of an MLP from `first` on, and multiplies them with the up projection if there
/// is a gate.
void ForwardPass::activate(const Layer& weights, std::int64_t first, std::int64_t n) {
  float* const inner = workspace_.gate + first;
  const speculation::Activation kind = shape_.traits.activation;
  if (kind == speculation::Activation::relu_squared) return engine_.kernels.relu_squared(inner, n);
  if (kind == speculation::Activation::xielu) return engine_.kernels.xielu(inner, weights.xielu, n);
  engine_.kernels.gate[static_cast<std::size_t>(kind)](inner, workspace_.up + first, n);
}

void ForwardPass::mlp_sublayer(std::int32_t thread, std::int32_t layer) {
  const Layer& weights = engine_.matrices.layers[to_size(layer)];
  const std::int64_t d_ff = shape_.d_ff;
  const bool gated = shape_.traits.gated_mlp;
  const Matrix& first = gated ? weights.gate : weights.up;
  const std::byte* set = nullptr;
  {
    const auto timed = span(thread, engine_.names.mlp_norm, layer);
    set = prepare(thread, {workspace_.residual, weights.mlp_norm, rows_}, first,
                  squares_of(layer, &InputSquares::Layer::mlp));
  }
  {
    const auto timed = span(thread, engine_.names.gate_up, layer);
    const Share share = share_of_outputs(first, thread);
    for (std::int64_t begin = share.begin; begin < share.end; begin += gated_block) {
      const Share block{begin, std::min(begin + gated_block, share.end), share.granule};
      product(thread, first, set, rows_, block, false, workspace_.gate, d_ff);
      if (gated) product(thread, weights.up, set, rows_, block, false, workspace_.up, d_ff);
      for (std::int32_t row = 0; row < rows_; ++row)
        activate(weights, row * d_ff + block.begin, block.end - block.begin);
    }
    engine_.team.barrier();
  }
  finish_sublayer(thread, layer,
                  {weights.down, workspace_.gate, weights.mlp_output_norm,
                   squares_of(layer, &InputSquares::Layer::down), engine_.names.down});
}

/// Applies the multiplier and cap of the logits, if the architecture has them.
void ForwardPass::finish_logits(float* logits, std::int64_t n) const {
  const auto multiplier = static_cast<float>(shape_.traits.logit_multiplier);
  for (std::int64_t i = 0; multiplier != 1.0F && i < n; ++i) logits[i] *= multiplier;
  const auto cap = static_cast<float>(shape_.traits.logit_cap);
  if (cap > 0.0F) engine_.kernels.soft_cap(logits, cap, n);
}

/// Computes the final norm, the logits block by block, and per block the inputs of top-k and of the softmax's
/// denominator. Logits that are not wanted therefore never leave the cache.
void ForwardPass::head(std::int32_t thread) {
  const auto timed = span(thread, engine_.names.head, -1);
  const Wanted& wanted = batch_.wanted;
  const std::int32_t head_rows = rows_ - wanted.head_from;
  wide_ = false;  // Logits must have one order of summation at any width.
  const std::byte* set =
      prepare(thread,
              {workspace_.residual + std::int64_t{wanted.head_from} * shape_.d_model,
               engine_.model.final_norm, head_rows},
              engine_.matrices.head, engine_.squares == nullptr ? nullptr : &engine_.squares->head);
  multiply_head(thread, set, head_rows);
  merge_top(thread, head_rows);
}

void ForwardPass::multiply_head(std::int32_t thread, const std::byte* set, std::int32_t head_rows) {
  const Wanted& wanted = batch_.wanted;
  const Matrix& matrix = engine_.matrices.head;
  const ThreadWorkspace& own = workspace_.threads[to_size(thread)];
  const std::int64_t vocab = shape_.vocab;
  const std::int64_t n_blocks = (vocab + head_block - 1) / head_block;
  const Share share = share_of(n_blocks, 1, thread);
  for (std::int64_t block = share.begin; block < share.end; ++block) {
    const std::int64_t begin = block * head_block;
    const std::int64_t end = std::min(begin + head_block, vocab);
    float* logits = wanted.logits ? outputs_.logits.data() : own.logits - begin;
    const std::int64_t stride = wanted.logits ? vocab : head_block;
    product(thread, matrix, set, head_rows, {begin, end, head_block}, false, logits, stride);
    for (std::int32_t row = 0; row < head_rows; ++row)
      finish_logits(logits + row * stride + begin, end - begin);
    if (wanted.top_k == 0) continue;
    for (std::int32_t row = 0; row < head_rows; ++row) {
      const float* values = logits + row * stride + begin;
      const BlockSoftmax statistics = engine_.kernels.block_softmax(values, end - begin);
      workspace_.blocks[row * n_blocks + block] = statistics;
      engine_.top.offer(thread, row, {values, static_cast<std::size_t>(end - begin)},
                        static_cast<std::int32_t>(begin), statistics.maximum);
    }
  }
}

/// Merges the best tokens of all threads, with their probabilities.
void ForwardPass::merge_top(std::int32_t thread, std::int32_t head_rows) {
  const auto k = to_size(batch_.wanted.top_k);
  if (k == 0) return;
  const auto n_blocks = static_cast<std::size_t>((shape_.vocab + head_block - 1) / head_block);
  engine_.team.barrier();
  for (std::int32_t row = thread; row < head_rows; row += threads_) {
    const std::span<TopToken> top{outputs_.top.data() + to_size(row) * k, k};
    engine_.top.merge(row, top);
    const std::span<const BlockSoftmax> blocks{workspace_.blocks + to_size(row) * n_blocks, n_blocks};
    float maximum = blocks.front().maximum;
    for (const BlockSoftmax& block : blocks) maximum = std::max(maximum, block.maximum);
    // NaN as soon as one logit is NaN or +inf, or all are -inf: see has_distribution().
    float sum = 0.0F;
    for (const BlockSoftmax& block : blocks) sum += block.sum * std::exp(block.maximum - maximum);
    for (TopToken& token : top) token.probability = std::exp(token.logit - maximum) / sum;
  }
}

}  // namespace draftscope::engine::cpu
