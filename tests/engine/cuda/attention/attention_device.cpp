// SPDX-License-Identifier: GPL-3.0-or-later
#include "attention_device.h"

#include <draftscope/base/to_size.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cpu/kernels/bf16.h"
#include "cuda/kernels/launch_shape.h"
#include "device_emulation.h"

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
  std::vector<void*> allocated;
  std::size_t n_arrivals = 0;

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
  cuda::DeviceLayer layer{};
  layer.keys = m.uploaded(*gpu_, m.keys, "keys");
  layer.values = m.uploaded(*gpu_, m.values, "values");
  m.params.layers = m.uploaded(*gpu_, std::vector{layer}, "layers");
  cuda::Workspace& work = m.params.work;
  work.slots = m.uploaded(*gpu_, std::vector{cuda::LayerSlot{0, 1, 1}}, "slots");
  work.state = m.allocate<cuda::PassState>(*gpu_, 1, "state");
  work.queries = m.allocate<std::uint16_t>(*gpu_, m.queries.size(), "queries");
  work.attended = m.allocate<std::uint16_t>(*gpu_, m.queries.size(), "attended");
  const std::size_t places = to_size(shape.n_kv_heads) * to_size(cuda::max_splits(shape.cache_rows)) *
                             to_size(cuda::max_attention_rows) * to_size(shape.group);
  work.split_sums = m.allocate<float>(*gpu_, places * to_size(shape.head_dim), "split_sums");
  work.split_statistics = m.allocate<float>(*gpu_, places * 2, "split_statistics");
  m.n_arrivals =
      to_size(shape.n_kv_heads) * to_size(cuda::arrival_groups(cuda::max_attention_rows * shape.group));
  work.arrivals = m.uploaded(*gpu_, std::vector<unsigned>(m.n_arrivals, 0U), "arrivals");
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
  cuda::Launch launch{.kernel = cuda::Kernel::prefill_attention,
                      .format = shape_.is_f16 ? cuda::WeightFormat::f16 : cuda::WeightFormat::bf16,
                      .head_dim = shape_.head_dim};
  if (is_prefill) {
    launch.blocks = cuda::prefill_blocks(rows, shape_.n_heads(), shape_.n_kv_heads);
    launch.shared_bytes = cuda::prefill_shared_bytes(shape_.head_dim);
    return checked(gpu_->launch(launch, params));
  }
  launch.kernel = cuda::Kernel::attention;
  launch.blocks = 2 * gpu_->describe().multiprocessors;
  cuda::PassParams part = params;
  for (part.row_begin = 0; part.row_begin < rows; part.row_begin += cuda::max_attention_rows) {
    const int launched = std::min(rows - part.row_begin, cuda::max_attention_rows);
    launch.shared_bytes = cuda::attention_shared_bytes(shape_.head_dim, launched * shape_.group);
    checked(gpu_->launch(launch, part));
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
  std::vector<unsigned> arrivals(m.n_arrivals);
  checked(gpu_->download(attended.data(), m.params.work.attended, attended.size() * sizeof(std::uint16_t)));
  checked(gpu_->download(arrivals.data(), m.params.work.arrivals, arrivals.size() * sizeof(unsigned)));
  checked(gpu_->synchronise());
  gpu_->release(extra);
  EXPECT_TRUE(std::ranges::all_of(arrivals, [](unsigned n) { return n == 0; }));
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
