// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cuda/passes/pass_launcher.h"
#include "cuda/weights/model_upload.h"
#include "kernels/launch_shape.h"

namespace draftscope::engine::cuda {

namespace {

std::string gigabytes(std::size_t bytes) {
  return fmt::format("{:.3f} GB", static_cast<double>(bytes) * 1e-9);
}

/// The driver allocates additional memory for kernels when they are first launched.
constexpr std::size_t driver_bytes = std::size_t{128} << 20;

}  // namespace

Buffers place_buffers(Pieces& pieces, const speculation::ModelShape& shape, const BufferSizes& sizes) {
  Buffers b;
  const std::size_t d_model = to_size(shape.d_model);
  const std::size_t group = to_size(shape.n_heads / shape.n_kv_heads);
  b.cache = pieces.take<std::uint16_t>(2 * to_size(shape.n_layers) * to_size(sizes.cache_rows) *
                                       to_size(shape.kv_width()));
  b.layers = pieces.take<DeviceLayer>(to_size(shape.n_layers));
  b.extra_keys = pieces.take<std::int32_t>(max_extra_keys);
  b.hidden = pieces.take<float>(to_size(sizes.rows) * d_model);
  b.pairs = pieces.take<NumberPair>(max_pairs);
  b.cosines = pieces.take<float>(max_pairs);
  b.top = pieces.take<HeadResult>(to_size(max_decode_rows) * to_size(std::min(shape.vocab, max_top)));
  b.moves = pieces.take<RowMove>(to_size(sizes.cache_rows));
  b.cosine = pieces.take<float>(to_size(sizes.positions) * to_size(shape.head_dim / 2));
  b.sine = pieces.take<float>(to_size(sizes.positions) * to_size(shape.head_dim / 2));
  Workspace& work = b.work;
  work.n_round_states = (shape.n_layers + 1) * std::min(sizes.rows, max_decode_rows);
  work.round_states = pieces.take<float>(to_size(work.n_round_states) * d_model);
  work.state = pieces.take<PassState>(1);
  work.residual = pieces.take<float>(to_size(sizes.rows) * d_model);
  work.queries = pieces.take<std::uint16_t>(to_size(sizes.rows) * to_size(shape.q_width()));
  work.attended = pieces.take<std::uint16_t>(to_size(sizes.rows) * to_size(shape.q_width()));
  work.gated = pieces.take<std::uint16_t>(to_size(sizes.rows) * to_size(shape.d_ff));
  work.normed = pieces.take<std::uint16_t>(to_size(sizes.rows) * d_model);
  work.wide = pieces.take<float>(PassLauncher::wide_values(shape, sizes.rows));
  const std::size_t places =
      to_size(shape.n_kv_heads) * to_size(max_kept_sums(sizes.cache_rows)) * to_size(max_decode_rows) * group;
  work.split_sums = pieces.take<float>(places * to_size(shape.head_dim));
  work.split_statistics = pieces.take<float>(places * 2);
  work.logits = pieces.take<float>(to_size(max_decode_rows) * to_size(shape.vocab));
  const std::size_t tiles = to_size(tiles_of(shape.vocab));
  work.head_partials = pieces.take<HeadPartial>(to_size(max_decode_rows) * tiles);
  work.head_results = pieces.take<HeadResult>(to_size(max_decode_rows));
  work.draft_logits = pieces.take<float>(to_size(max_drafted_tokens) * to_size(shape.vocab));
  work.draft_rows = pieces.take<WarpedRow>(to_size(max_drafted_tokens));
  work.target_rows = pieces.take<WarpedRow>(to_size(max_decode_rows));
  const std::int32_t widest = std::max(shape.q_width() + 2 * shape.kv_width(), 2 * shape.d_ff);
  work.widened = pieces.take<std::uint16_t>(to_size(widest) * d_model);
  work.extra_keys = b.extra_keys;
  work.hidden = b.hidden;
  return b;
}

Result<void> check_memory(const Gpu& gpu, const Checkpoint& checkpoint, const CudaOptions& options,
                          std::size_t buffer_bytes, std::int32_t cache_rows) {
  const UploadBytes weights = upload_bytes(checkpoint, options.weights);
  // The memory for matrices in transit is released before the buffers are allocated.
  const std::size_t needed = weights.kept + std::max(weights.passing, buffer_bytes) + driver_bytes;
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t free, gpu.free_bytes());
  if (needed <= free) return {};
  return fail(
      "cuda backend: {} needs {} of device memory ({} weights, {} K/V cache of {} rows and buffers, {} "
      "kernels), expected at most what {} has free: {}",
      checkpoint.shape.name, gigabytes(needed), gigabytes(weights.kept), gigabytes(buffer_bytes), cache_rows,
      gigabytes(driver_bytes), gpu.describe().name, gigabytes(free));
}

}  // namespace draftscope::engine::cuda
