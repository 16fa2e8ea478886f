// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_launcher.h"

#include <algorithm>
#include <array>

#include "kernels/launch_shape.h"
#include "product_shape.h"

namespace draftscope::engine::cuda {

namespace {

constexpr int attention_blocks_per_multiprocessor = 2;
constexpr int widen_blocks = 8;  // a multiprocessor

/// The words of the CPU's spans; RoPE, gates and residuals are fused into the products, and most norms.
std::string_view operation(Kernel kernel) {
  switch (kernel) {
    case Kernel::qkv:
      return "qkv";
    case Kernel::normalise_heads:
      return "rope";
    case Kernel::attention:
    case Kernel::prefill_attention:
      return "attention";
    case Kernel::output:
      return "output projection";
    case Kernel::gate_up:
      return "gate up";
    case Kernel::down:
      return "down";
    case Kernel::load_inputs:
      return "embedding";
    case Kernel::begin_last_token:
    case Kernel::begin_verification:
    case Kernel::finish_draft_step:
    case Kernel::keep_states:
      return "round control";
    case Kernel::finish_sampled_step:
    case Kernel::warp_rows:
    case Kernel::judge_draft:
      return "sampling";
    default:
      return "head";
  }
}

std::string_view operation(Norm norm) {
  switch (norm) {
    case Norm::attention:
      return "attention norm";
    case Norm::mlp:
      return "mlp norm";
    default:
      return operation(Kernel::head);
  }
}

bool is_normalised(Kernel product) {
  return product != Kernel::output && product != Kernel::down;
}

/// The norm ahead of a product that is_normalised().
Norm norm_of(Kernel product) {
  if (product == Kernel::head) return Norm::head;
  return product == Kernel::qkv ? Norm::attention : Norm::mlp;
}

std::int32_t outputs_of(Kernel kernel, const ProductOutputs& outputs) {
  switch (kernel) {
    case Kernel::qkv:
      return outputs.qkv;
    case Kernel::output:
      return outputs.output;
    case Kernel::gate_up:
      return outputs.gate_up;
    default:
      return outputs.down;
  }
}

int ceiling(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace

PassLauncher::PassLauncher(Gpu& gpu, PassParams base, const speculation::ModelShape& shape,
                           const PassFormats& formats, profiler::DeviceTrace* trace)
    : gpu_(gpu), base_(base), shape_(shape), formats_(formats), trace_(trace), device_(gpu.describe()) {}

PassParams PassLauncher::params(std::int32_t slot, std::int32_t first_row) const {
  PassParams result = base_;
  result.slot = slot;
  result.row_begin = first_row;
  return result;
}

std::int32_t PassLauncher::place_of(std::int32_t slot) const {
  return slot % shape_.n_layers;
}

Result<void> PassLauncher::load_inputs(std::int32_t rows) {
  const profiler::OperationScope scope(trace_, operation(Kernel::load_inputs));
  return gpu_.launch({.kernel = Kernel::load_inputs, .format = formats_.stored, .blocks = rows},
                     params(0, 0));
}

Result<void> PassLauncher::product(Kernel kernel, std::int32_t slot, std::int32_t first_row,
                                   std::int32_t rows, bool logits) {
  const std::array<ProductPart, 2> parts = parts_of(kernel);
  if (is_normalised(kernel)) {
    const bool is_read = std::any_of(parts.begin(), parts.end(), [&](const ProductPart& part) {
      return part.outputs > 0 && product_shape(device_, rows, shape_.d_model, true, part.format).reads_normed;
    });
    if (is_read) DRAFTSCOPE_TRY(normalise_rows(norm_of(kernel), parts.front().format, slot, first_row, rows));
  }
  const profiler::OperationScope scope(trace_, operation(kernel),
                                       kernel == Kernel::head ? -1 : place_of(slot));
  for (const ProductPart& part : parts)
    if (part.outputs > 0) DRAFTSCOPE_TRY(product_in(part, kernel, slot, first_row, rows, logits));
  return {};
}

std::array<PassLauncher::ProductPart, 2> PassLauncher::parts_of(Kernel product) const {
  if (product == Kernel::head) return {{{formats_.head, shape_.vocab}, {}}};
  // What a layer has in each format is in device memory: a launch finds there what it is to do, if anything.
  const ProductOutputs whole{shape_.q_width() + 2 * shape_.kv_width(), shape_.d_model, 2 * shape_.d_ff,
                             shape_.d_model};
  return {{{formats_.layers, outputs_of(product, whole)},
           {WeightFormat::bf16_beside_groups, outputs_of(product, formats_.others)}}};
}

Result<void> PassLauncher::normalise_rows(Norm norm, WeightFormat format, std::int32_t slot,
                                          std::int32_t first_row, std::int32_t rows) {
  const profiler::OperationScope scope(trace_, operation(norm), norm == Norm::head ? -1 : place_of(slot));
  return gpu_.launch(
      {.kernel = Kernel::normalise_rows, .format = format, .blocks = rows, .shared_bytes = row_shared_bytes},
      WideParams{params(slot, first_row), rows, norm});
}

Result<void> PassLauncher::product_in(const ProductPart& part, Kernel kernel, std::int32_t slot,
                                      std::int32_t first_row, std::int32_t rows, bool logits) {
  const bool normalises = is_normalised(kernel);
  const int depth = normalises ? shape_.d_model : kernel == Kernel::output ? shape_.q_width() : shape_.d_ff;
  Launch launch{.kernel = kernel, .format = part.format};
  const ProductShape product = product_shape(device_, rows, shape_.d_model, normalises, part.format);
  launch.columns = product_kernel_columns(product);
  launch.reads_normed = product.reads_normed;
  const bool has_narrow_tiles =
      kernel != Kernel::gate_up && kernel != Kernel::head && launch.columns < widest_columns;
  // Outputs that the busiest block computes.
  const auto busiest_outputs = [&](int half) {
    return ceiling(ceiling(part.outputs, 2 * half), device_.multiprocessors) * 2 * half;
  };
  if (has_narrow_tiles && busiest_outputs(narrow_half) < busiest_outputs(tile_half))
    launch.half_outputs = narrow_half;
  launch.blocks = std::min(ceiling(part.outputs, 2 * launch.half_outputs), device_.multiprocessors);
  launch.shared_bytes = product_request(device_, product, depth, normalises);
  for (std::int32_t done = 0; done < rows; done += product.rows) {
    PassParams arguments = params(slot, first_row + done);
    arguments.want_logits = logits ? 1 : 0;
    arguments.product = product;
    DRAFTSCOPE_TRY(gpu_.launch(launch, arguments));
  }
  return {};
}

Result<void> PassLauncher::attention(std::int32_t slot, std::int32_t first_row, std::int32_t rows) {
  const profiler::OperationScope scope(trace_, operation(Kernel::attention), place_of(slot));
  return gpu_.launch(
      {.kernel = Kernel::attention,
       .format = formats_.layers,
       .head_dim = shape_.head_dim,
       .blocks = attention_blocks_per_multiprocessor * device_.multiprocessors,
       .shared_bytes = attention_shared_bytes(shape_.head_dim, rows * (shape_.n_heads / shape_.n_kv_heads))},
      params(slot, first_row));
}

Result<void> PassLauncher::wide_attention(std::int32_t slot, std::int32_t rows, bool keys_are_ranges) {
  if (keys_are_ranges)
    return gpu_.launch({.kernel = Kernel::prefill_attention,
                        .format = formats_.layers,
                        .head_dim = shape_.head_dim,
                        .blocks = prefill_blocks(rows, shape_.n_heads, shape_.n_kv_heads),
                        .shared_bytes = prefill_shared_bytes(shape_.head_dim)},
                       params(slot, 0));
  for (std::int32_t first = 0; first < rows; first += max_decode_rows)
    DRAFTSCOPE_TRY(attention(slot, first, std::min(rows - first, max_decode_rows)));
  return {};
}

Result<void> PassLauncher::normalise_heads(std::int32_t slot, std::int32_t rows) {
  if (base_.model.normalises_qk == 0) return {};
  const profiler::OperationScope scope(trace_, operation(Kernel::normalise_heads), place_of(slot));
  constexpr int warps = row_threads / warp_threads;
  return gpu_.launch({.kernel = Kernel::normalise_heads,
                      .format = formats_.layers,
                      .blocks = ceiling(rows * (shape_.n_heads + shape_.n_kv_heads), warps)},
                     params(slot, 0));
}

Result<void> PassLauncher::add_outputs(std::int32_t slot, std::int32_t rows, Norm sublayer) {
  if (base_.model.normalises_outputs == 0) return {};
  const Kernel product = sublayer == Norm::attention ? Kernel::output : Kernel::down;
  const profiler::OperationScope scope(trace_, operation(product), place_of(slot));
  return gpu_.launch({.kernel = Kernel::add_outputs, .blocks = rows, .shared_bytes = row_shared_bytes},
                     WideParams{params(slot, 0), rows, sublayer});
}

Result<void> PassLauncher::finish_sublayer(std::int32_t slot, std::int32_t rows, Norm sublayer) {
  DRAFTSCOPE_TRY(product(sublayer == Norm::attention ? Kernel::output : Kernel::down, slot, 0, rows, false));
  return add_outputs(slot, rows, sublayer);
}

Result<void> PassLauncher::layer(std::int32_t slot, std::int32_t rows) {
  DRAFTSCOPE_TRY(product(Kernel::qkv, slot, 0, rows, false));
  DRAFTSCOPE_TRY(normalise_heads(slot, rows));
  DRAFTSCOPE_TRY(attention(slot, 0, rows));
  DRAFTSCOPE_TRY(finish_sublayer(slot, rows, Norm::attention));
  DRAFTSCOPE_TRY(product(Kernel::gate_up, slot, 0, rows, false));
  return finish_sublayer(slot, rows, Norm::mlp);
}

Result<void> PassLauncher::multiply(const DeviceMatrix& matrix, const void* x, float* out,
                                    const WideShape& wide) {
  const bool is_plain = is_plain_beside_groups(matrix);
  const void* weights = is_plain ? matrix.plain : matrix.data;
  const WeightFormat held = is_plain ? WeightFormat::bf16 : formats_.layers;
  WeightFormat format = held;
  if (is_widened(held)) {
    // One queue: the product before has read the buffer.
    format = has_f16_activations(held) ? WeightFormat::f16 : WeightFormat::bf16;
    weights = base_.work.widened;
    const Kernel kernel = held == WeightFormat::fp8 ? Kernel::widen_rows : Kernel::widen_groups;
    QuantiseParams widen{};
    widen.values = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(matrix.data));
    widen.widened = base_.work.widened;
    widen.rows = wide.outputs;
    widen.depth = wide.depth;
    DRAFTSCOPE_TRY(gpu_.launch(
        {.kernel = kernel, .format = held, .blocks = widen_blocks * device_.multiprocessors}, widen));
  }
  return gpu_.multiply({format, weights, x, out, wide.rows, wide.outputs, wide.depth, wide.out_stride});
}

Result<void> PassLauncher::finish_wide_sublayer(std::int32_t slot, const DeviceMatrix& matrix,
                                                std::int32_t rows, Norm sublayer) {
  const bool of_attention = sublayer == Norm::attention;
  const std::uint16_t* x = of_attention ? base_.work.attended : base_.work.gated;
  const std::int32_t depth = of_attention ? shape_.q_width() : shape_.d_ff;
  const std::int32_t d_model = shape_.d_model;
  DRAFTSCOPE_TRY(multiply(matrix, x, base_.work.wide, {rows, d_model, depth, d_model}));
  if (base_.model.normalises_outputs != 0) return add_outputs(slot, rows, sublayer);
  return gpu_.launch({.kernel = Kernel::add_wide,
                      .format = formats_.layers,
                      .blocks = rows,
                      .shared_bytes = row_shared_bytes},
                     WideParams{params(slot, 0), rows, sublayer});
}

Result<void> PassLauncher::wide_layer(std::int32_t slot, const DeviceLayer& layer, std::int32_t rows,
                                      bool keys_are_ranges, bool attends, bool runs_mlp) {
  const auto launch_wide = [&](Kernel kernel, Norm norm) {
    return gpu_.launch(
        {.kernel = kernel, .format = formats_.layers, .blocks = rows, .shared_bytes = row_shared_bytes},
        WideParams{params(slot, 0), rows, norm});
  };
  const Workspace& work = base_.work;
  const std::int32_t d_model = shape_.d_model;
  if (attends) {
    const std::int32_t q = shape_.q_width();
    const std::int32_t kv = shape_.kv_width();
    const std::int32_t stride = q + 2 * kv;
    DRAFTSCOPE_TRY(normalise_rows(Norm::attention, formats_.layers, slot, 0, rows));
    DRAFTSCOPE_TRY(multiply(layer.q, work.normed, work.wide, {rows, q, d_model, stride}));
    DRAFTSCOPE_TRY(multiply(layer.k, work.normed, work.wide + q, {rows, kv, d_model, stride}));
    DRAFTSCOPE_TRY(multiply(layer.v, work.normed, work.wide + q + kv, {rows, kv, d_model, stride}));
    DRAFTSCOPE_TRY(launch_wide(Kernel::finish_wide_qkv, Norm::attention));
    DRAFTSCOPE_TRY(normalise_heads(slot, rows));
    DRAFTSCOPE_TRY(wide_attention(slot, rows, keys_are_ranges));
    DRAFTSCOPE_TRY(finish_wide_sublayer(slot, layer.o, rows, Norm::attention));
  }
  if (!runs_mlp) return {};
  const std::int32_t d_ff = shape_.d_ff;
  float* up = work.wide + static_cast<std::size_t>(rows) * static_cast<std::size_t>(d_ff);
  DRAFTSCOPE_TRY(normalise_rows(Norm::mlp, formats_.layers, slot, 0, rows));
  DRAFTSCOPE_TRY(multiply(layer.gate, work.normed, work.wide, {rows, d_ff, d_model, d_ff}));
  DRAFTSCOPE_TRY(multiply(layer.up, work.normed, up, {rows, d_ff, d_model, d_ff}));
  DRAFTSCOPE_TRY(launch_wide(Kernel::finish_wide_gate, Norm::mlp));
  return finish_wide_sublayer(slot, layer.down, rows, Norm::mlp);
}

std::size_t PassLauncher::wide_values(const speculation::ModelShape& shape, std::int32_t rows) {
  const std::int32_t widest =
      std::max({shape.q_width() + 2 * shape.kv_width(), 2 * shape.d_ff, shape.d_model});
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(widest);
}

Result<void> PassLauncher::head(std::int32_t first_row, std::int32_t rows, bool logits) {
  return product(Kernel::head, 0, first_row, rows, logits);
}

Result<void> PassLauncher::finish_head(std::int32_t rows) {
  const profiler::OperationScope scope(trace_, operation(Kernel::finish_head));
  return gpu_.launch({.kernel = Kernel::finish_head, .blocks = rows, .shared_bytes = row_shared_bytes},
                     params(0, 0));
}

Result<void> PassLauncher::select_top(std::int32_t rows, std::int32_t k, HeadResult* top) {
  return gpu_.launch({.kernel = Kernel::select_top, .blocks = rows, .shared_bytes = row_shared_bytes},
                     TopParams{params(0, 0), k, top});
}

Result<void> PassLauncher::finish_draft_step(bool sampled, std::optional<LoopHandle> loop) {
  const Kernel kernel = sampled ? Kernel::finish_sampled_step : Kernel::finish_draft_step;
  const profiler::OperationScope scope(trace_, operation(kernel));
  return gpu_.launch({.kernel = kernel, .shared_bytes = sampled ? sampling_shared_bytes : row_shared_bytes},
                     StepParams{params(0, 0), loop.value_or(0), loop ? 1 : 0});
}

Result<void> PassLauncher::judge_draft(std::int32_t rows) {
  const profiler::OperationScope scope(trace_, operation(Kernel::judge_draft));
  DRAFTSCOPE_TRY(gpu_.launch(
      {.kernel = Kernel::warp_rows, .blocks = rows, .shared_bytes = sampling_shared_bytes}, params(0, 0)));
  return gpu_.launch({.kernel = Kernel::judge_draft, .shared_bytes = row_shared_bytes}, params(0, 0));
}

Result<void> PassLauncher::keep_states(std::int32_t rows, float* to, std::int32_t boundary) {
  const profiler::OperationScope scope(trace_, operation(Kernel::keep_states));
  return gpu_.launch({.kernel = Kernel::keep_states, .blocks = rows},
                     StateParams{params(0, 0), to, boundary});
}

Result<void> PassLauncher::run_bank(Kernel kernel, std::int32_t n, const NumberPair* pairs, float* cosines) {
  constexpr int warps = row_threads / warp_threads;
  const int wanted = kernel == Kernel::move_states ? n : ceiling(n, warps);
  return gpu_.launch({.kernel = kernel, .blocks = std::min(wanted, widen_blocks * device_.multiprocessors)},
                     BankParams{params(0, 0), n, pairs, cosines});
}

Result<void> PassLauncher::begin_last_token() {
  const profiler::OperationScope scope(trace_, operation(Kernel::begin_last_token));
  return gpu_.launch({.kernel = Kernel::begin_last_token}, params(0, 0));
}

Result<void> PassLauncher::begin_verification() {
  const profiler::OperationScope scope(trace_, operation(Kernel::begin_verification));
  return gpu_.launch({.kernel = Kernel::begin_verification}, params(0, 0));
}

Result<void> PassLauncher::move_cache_rows(std::int32_t n_layers, std::int32_t n_moves,
                                           const RowMove* moves) {
  return gpu_.launch({.kernel = Kernel::move_cache_rows, .blocks = n_layers * shape_.n_kv_heads},
                     MoveParams{params(0, 0), n_layers, n_moves, moves});
}

}  // namespace draftscope::engine::cuda
