// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda/ranks/rank_launcher.h"

#include <draftscope/base/to_size.h>

#include <algorithm>

#include "cuda/kernels/launch_shape.h"
#include "cuda/product_shape.h"

namespace draftscope::engine::cuda {
namespace {

constexpr int sum_blocks_per_multiprocessor = 2;

int ceiling(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace

RankBuffers place_rank_buffers(Pieces& pieces, const RankPart& part, std::int32_t rows) {
  const std::size_t ranks = to_size(part.place.size);
  const std::size_t d_model = to_size(part.checkpoint.shape.d_model);
  const std::size_t tokens = to_size(part.max_tokens());
  RankBuffers buffers;
  buffers.sums =
      pieces.take<float>(to_size(std::max(part.o_parts, part.down_parts)) * to_size(rows) * d_model);
  buffers.gathered = pieces.take<float>(ranks * to_size(max_decode_rows) * d_model);
  buffers.partials = pieces.take<HeadPartial>(ranks * to_size(max_decode_rows) *
                                              ((tokens + tile_outputs - 1) / tile_outputs));
  buffers.logits = pieces.take<float>(ranks * to_size(max_decode_rows) * tokens);
  return buffers;
}

RankLauncher::RankLauncher(Gpu& gpu, const RankPart& part, const RankBuffers& buffers, std::int32_t rows,
                           profiler::DeviceTrace* trace)
    : gpu_(gpu), part_(part), buffers_(buffers), rows_(rows), trace_(trace), device_(gpu.describe()) {}

std::int32_t RankLauncher::parts(Norm sublayer) const {
  return sublayer == Norm::attention ? part_.o_parts : part_.down_parts;
}

std::int32_t RankLauncher::depth(Norm sublayer) const {
  const speculation::ModelShape& shape = part_.checkpoint.shape;
  return (sublayer == Norm::attention ? shape.q_width() : shape.d_ff) / parts(sublayer);
}

std::int32_t RankLauncher::max_tiles() const {
  return ceiling(part_.max_tokens(), tile_outputs);
}

float* RankLauncher::own_sums(std::int32_t rows) const {
  return buffers_.gathered +
         to_size(part_.place.rank) * to_size(rows) * to_size(part_.checkpoint.shape.d_model);
}

Result<void> RankLauncher::add_product(const PassParams& params, WeightFormat format, Norm sublayer,
                                       std::int32_t layer_place, std::int32_t rows) const {
  const std::int32_t d_model = part_.checkpoint.shape.d_model;
  const bool of_attention = sublayer == Norm::attention;
  // One part needs no sum of its own: it goes where the other ranks' will come.
  float* const sums = parts(sublayer) == 1 ? own_sums(rows) : buffers_.sums;
  {
    const profiler::GraphScope scope(trace_, of_attention ? "output projection" : "down", layer_place);
    const ProductShape product =
        product_shape(device_, std::min<std::int32_t>(rows, max_staged_rows), d_model, false, format);
    Launch launch{.kernel = Kernel::rank_product, .format = format};
    launch.columns = product_kernel_columns(product);
    launch.blocks = std::min(parts(sublayer) * ceiling(d_model, tile_outputs), device_.multiprocessors);
    launch.shared_bytes = product_request(device_, product, depth(sublayer), false);
    RankProductParams arguments{
        params,          sublayer,       of_attention ? params.work.attended : params.work.gated, sums, rows,
        parts(sublayer), depth(sublayer)};
    arguments.product = product;
    for (std::int32_t done = 0; done < rows; done += product.rows) {
      arguments.row_begin = done;
      DRAFTSCOPE_TRY(gpu_.launch(launch, arguments));
    }
  }
  const profiler::GraphScope scope(trace_, "all-reduce", layer_place);
  if (parts(sublayer) == 1) return add_sums(params, sublayer, rows);
  return add_parts(params, sublayer, sums, rows, nullptr, rows);
}

RankLauncher::WidePart RankLauncher::wide_part(Norm sublayer, std::int32_t part) const {
  return {part * depth(sublayer),
          buffers_.sums + to_size(part) * to_size(rows_) * to_size(part_.checkpoint.shape.d_model)};
}

Result<void> RankLauncher::add_wide_parts(const PassParams& params, Norm sublayer, const float* scale,
                                          std::int32_t rows) const {
  PassParams arguments = params;
  for (std::int32_t first = 0; first < rows; first += max_decode_rows) {
    arguments.row_begin = first;
    DRAFTSCOPE_TRY(add_parts(arguments, sublayer,
                             buffers_.sums + to_size(first) * to_size(part_.checkpoint.shape.d_model), rows_,
                             scale, std::min(max_decode_rows, rows - first)));
  }
  return {};
}

Result<void> RankLauncher::add_parts(const PassParams& params, Norm sublayer, const float* parts,
                                     std::int32_t part_rows, const float* scale, std::int32_t rows) const {
  const std::int32_t d_model = part_.checkpoint.shape.d_model;
  const int blocks =
      std::min(ceiling(rows * d_model, row_threads), sum_blocks_per_multiprocessor * device_.multiprocessors);
  DRAFTSCOPE_TRY(gpu_.launch({.kernel = Kernel::sum_own_parts, .blocks = blocks},
                             RankSumParams{params, sublayer, parts, std::int64_t{part_rows} * d_model,
                                           this->parts(sublayer), rows, scale, own_sums(rows)}));
  return add_sums(params, sublayer, rows);
}

Result<void> RankLauncher::add_sums(const PassParams& params, Norm sublayer, std::int32_t rows) const {
  const std::int32_t d_model = part_.checkpoint.shape.d_model;
  DRAFTSCOPE_TRY(gpu_.all_gather(buffers_.gathered, to_size(rows) * to_size(d_model) * sizeof(float)));
  const int blocks = params.model.normalises_outputs != 0
                         ? rows
                         : std::min(ceiling(rows * d_model, row_threads),
                                    sum_blocks_per_multiprocessor * device_.multiprocessors);
  return gpu_.launch({.kernel = Kernel::add_rank_sums, .blocks = blocks, .shared_bytes = row_shared_bytes},
                     RankSumParams{params, sublayer, buffers_.gathered, std::int64_t{rows} * d_model,
                                   part_.place.size, rows, nullptr, nullptr});
}

void RankLauncher::aim_head(PassParams& params, std::int32_t rows) const {
  const std::size_t own = to_size(part_.place.rank) * to_size(rows);
  params.model.vocab = tokens();
  params.work.head_partials = buffers_.partials + own * to_size(max_tiles());
  params.work.logits = buffers_.logits + own * to_size(part_.max_tokens());
}

Result<void> RankLauncher::join_head(const PassParams& params, std::int32_t rows) const {
  RankHeadParams arguments{params,
                           buffers_.partials,
                           buffers_.logits,
                           std::int64_t{rows} * max_tiles(),
                           std::int64_t{rows} * part_.max_tokens(),
                           part_.place.size,
                           {}};
  std::copy(part_.first_tokens.begin(), part_.first_tokens.end(), arguments.first_tokens);
  DRAFTSCOPE_TRY(gpu_.all_gather(buffers_.partials,
                                 static_cast<std::size_t>(arguments.partials_stride) * sizeof(HeadPartial)));
  if (params.want_logits != 0)
    DRAFTSCOPE_TRY(
        gpu_.all_gather(buffers_.logits, static_cast<std::size_t>(arguments.logits_stride) * sizeof(float)));
  return gpu_.launch({.kernel = Kernel::join_head, .blocks = rows}, arguments);
}

}  // namespace draftscope::engine::cuda
