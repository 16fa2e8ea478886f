// SPDX-License-Identifier: GPL-3.0-or-later
#include "attention_device.h"

#include <draftscope/base/to_size.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cuda/kernels/launch_shape.h"
#include "device_emulation.h"
#include "numbers/bf16.h"
#include "one_operation.h"

namespace draftscope::engine::test {

namespace {

constexpr float made_up_scale = 0.21F;

int key_count(const cuda::KeyRun& keys) {
  return keys.end - keys.begin + (keys.extra_end - keys.extra_begin);
}

template <typename T>
T checked(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace

struct AttentionDevice::Memory {
  std::vector<std::uint16_t> keys, values, queries;  ///< [kv_head][cache row][dim], [query][head][dim]
  cuda::PassParams params{};
  cuda::DeviceLayer layer{};
  std::vector<void*> allocated;

  template <typename T>
  T* allocate(cuda::Gpu& gpu, std::size_t count, std::string_view what) {
    allocated.push_back(checked(gpu.allocate(count * sizeof(T), what)));
    return static_cast<T*>(allocated.back());
  }
  template <typename T>
  T* uploaded(cuda::Gpu& gpu, const std::vector<T>& from, std::string_view what) {
    T* to = allocate<T>(gpu, from.size(), what);
    checked(gpu.upload(to, from.data(), from.size() * sizeof(T)));
    return to;
  }
};

AttentionRows AttentionRows::only(int row) const {
  AttentionRows one;
  one.keys = {keys[to_size(row)]};
  one.extra = extra;
  one.query = {query[to_size(row)]};
  one.shared_keys = one.keys[0].begin == 0 ? std::min(shared_keys, one.keys[0].end) : 0;
  return one;
}

AttentionDevice::AttentionDevice(const AttentionShape& shape, std::uint64_t seed,
                                 std::unique_ptr<cuda::Gpu> gpu)
    : shape_(shape), gpu_(std::move(gpu)), memory_(std::make_unique<Memory>()) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const auto made_up = [&](std::size_t n) {
    std::vector<std::uint16_t> values(n);
    for (std::uint16_t& value : values)
      value = shape.is_f16 ? cuda::F16::from_float(normal(random)) : cuda::Bf16::from_float(normal(random));
    return values;
  };
  Memory& m = *memory_;
  const std::size_t plane = to_size(shape.cache_rows) * to_size(shape.head_dim);
  m.keys = made_up(to_size(shape.n_kv_heads) * plane);
  m.values = made_up(to_size(shape.n_kv_heads) * plane);
  m.queries = made_up(to_size(n_made_up_queries) * to_size(shape.n_heads()) * to_size(shape.head_dim));
  cuda::DeviceModel& model = m.params.model;
  model.n_heads = shape.n_heads();
  model.n_kv_heads = shape.n_kv_heads;
  model.head_dim = shape.head_dim;
  model.cache_rows = shape.cache_rows;
  model.attention_scale = made_up_scale;
  cuda::DeviceLayer& layer = m.layer;
  layer.keys = m.uploaded(*gpu_, m.keys, "keys");
  layer.values = m.uploaded(*gpu_, m.values, "values");
  cuda::Workspace& work = m.params.work;
  work.state = m.allocate<cuda::PassState>(*gpu_, 1, "state");
  work.queries = m.allocate<std::uint16_t>(*gpu_, m.queries.size(), "queries");
  work.attended = m.allocate<std::uint16_t>(*gpu_, m.queries.size(), "attended");
  const std::size_t places = to_size(shape.n_kv_heads) * to_size(cuda::max_kept_sums(shape.cache_rows)) *
                             to_size(cuda::max_attention_rows) * to_size(shape.group);
  work.split_sums = m.allocate<float>(*gpu_, places * to_size(shape.head_dim), "split_sums");
  work.split_statistics = m.allocate<float>(*gpu_, places * 2, "split_statistics");
}

AttentionDevice::~AttentionDevice() {
  for (void* memory : memory_->allocated) gpu_->release(memory);
}

std::vector<std::uint16_t> AttentionDevice::decode(const AttentionRows& rows) {
  return run(rows, false);
}

std::vector<std::uint16_t> AttentionDevice::prefill(const AttentionRows& rows) {
  return run(rows, true);
}

void AttentionDevice::launch(const cuda::PassParams& params, int rows, bool is_prefill) {
  const cuda::KernelFormat format = shape_.is_f16 ? cuda::KernelFormat::f16 : cuda::KernelFormat::bf16;
  if (is_prefill)
    return checked(gpu_->launch({.kernel = cuda::Kernel::prefill_attention,
                                 .format = format,
                                 .head_dim = shape_.head_dim,
                                 .blocks = cuda::prefill_blocks(rows, shape_.n_heads(), shape_.n_kv_heads),
                                 .shared_bytes = cuda::prefill_shared_bytes(shape_.head_dim)},
                                cuda::WideParams{params, memory_->layer, rows, cuda::Norm::attention}));
  // The maximum tiles per item must not change any bits.
  launches_ += 1;
  const int tiles = 1 + launches_ % cuda::max_item_tiles;
  for (int first = 0; first < rows; first += cuda::max_attention_rows) {
    const int count = std::min(rows - first, cuda::max_attention_rows);
    const std::size_t scratch = cuda::attention_shared_bytes(shape_.head_dim, count * shape_.group, tiles);
    for (const cuda::OperationKind kind :
         {cuda::OperationKind::attention, cuda::OperationKind::combine_attention})
      checked(run_operation(*gpu_, format, params, {.layer = memory_->layer, .kind = kind}, first, count,
                            scratch, tiles));
  }
}

std::vector<std::uint16_t> AttentionDevice::run(const AttentionRows& rows, bool is_prefill) {
  Memory& m = *memory_;
  auto state = std::make_unique<cuda::PassState>();
  state->rows = rows.size();
  state->shared_keys = rows.shared_keys;
  const std::size_t width = to_size(shape_.n_heads()) * to_size(shape_.head_dim);
  std::vector<std::uint16_t> queries;
  for (int i = 0; i < rows.size(); ++i) {
    state->row[i].keys = rows.keys[to_size(i)];
    state->max_keys = std::max(state->max_keys, key_count(rows.keys[to_size(i)]));
    const auto from =
        m.queries.begin() + static_cast<std::ptrdiff_t>(to_size(rows.query[to_size(i)]) * width);
    queries.insert(queries.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
  checked(gpu_->upload(m.params.work.state, state.get(), sizeof *state));
  checked(gpu_->upload(m.params.work.queries, queries.data(), queries.size() * sizeof(std::uint16_t)));
  cuda::PassParams params = m.params;
  void* extra = checked(gpu_->allocate((rows.extra.size() + 1) * sizeof(std::int32_t), "extra_keys"));
  checked(gpu_->upload(extra, rows.extra.data(), rows.extra.size() * sizeof(std::int32_t)));
  params.work.extra_keys = static_cast<const std::int32_t*>(extra);
  launch(params, rows.size(), is_prefill);
  std::vector<std::uint16_t> attended(queries.size());
  checked(gpu_->download(attended.data(), m.params.work.attended, attended.size() * sizeof(std::uint16_t)));
  checked(gpu_->synchronise());
  gpu_->release(extra);
  return attended;
}

double AttentionDevice::value(std::uint16_t bits) const {
  return static_cast<double>(shape_.is_f16 ? cuda::F16::to_float(bits) : cuda::Bf16::to_float(bits));
}

double AttentionDevice::largest() const {
  double most = 0.0;
  for (const std::uint16_t bits : memory_->values) most = std::max(most, std::abs(value(bits)));
  return most;
}

std::vector<double> AttentionDevice::expected(const AttentionRows& rows) const {
  const std::size_t dim = to_size(shape_.head_dim);
  std::vector<double> all;
  for (int i = 0; i < rows.size(); ++i) {
    const cuda::KeyRun& keys = rows.keys[to_size(i)];
    std::vector<std::size_t> cache_rows;
    for (int row = keys.begin; row < keys.end; ++row) cache_rows.push_back(to_size(row));
    for (int e = keys.extra_begin; e < keys.extra_end; ++e)
      cache_rows.push_back(to_size(rows.extra[to_size(e)]));
    for (int head = 0; head < shape_.n_heads(); ++head) {
      const std::uint16_t* query =
          memory_->queries.data() +
          (to_size(rows.query[to_size(i)]) * to_size(shape_.n_heads()) + to_size(head)) * dim;
      const std::size_t plane = to_size(head / shape_.group) * to_size(shape_.cache_rows);
      std::vector<double> scores;
      for (const std::size_t row : cache_rows) {
        double score = 0.0;
        for (std::size_t d = 0; d < dim; ++d)
          score += value(query[d]) * value(memory_->keys[(plane + row) * dim + d]);
        scores.push_back(score * static_cast<double>(made_up_scale));
      }
      const double most = *std::ranges::max_element(scores);
      double total = 0.0;
      std::vector<double> sums(dim);
      for (std::size_t j = 0; j < scores.size(); ++j) {
        const double weight = std::exp(scores[j] - most);
        total += weight;
        for (std::size_t d = 0; d < dim; ++d)
          sums[d] += weight * value(memory_->values[(plane + cache_rows[j]) * dim + d]);
      }
      for (const double sum : sums) all.push_back(sum / total);
    }
  }
  return all;
}

}  // namespace draftscope::engine::test
