// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint_hash.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <new>

#include "checkpoint/element_bits.h"

namespace draftscope::engine {

CheckpointHash::CheckpointHash() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void CheckpointHash::add_bytes(std::span<const std::byte> bytes) {
  std::array<std::uint8_t, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<std::uint8_t>(bytes.size() >> (8 * i));
  XXH3_128bits_update(state_.get(), length.data(), length.size());
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

void CheckpointHash::add_text(std::string_view text) {
  add_bytes(std::as_bytes(std::span(text)));
}

HashSample hash_sample(const TensorView& tensor) {
  constexpr std::size_t sample_bytes = 4096;
  const std::size_t all = static_cast<std::size_t>(tensor.rows) * static_cast<std::size_t>(tensor.columns) *
                          dtype_bytes(tensor.dtype);
  const auto bytes = std::min(sample_bytes, all);
  return {(all - bytes) / 2, bytes};
}

void CheckpointHash::add_sample(const TensorView& tensor) {
  add_text(fmt::format("{} [{}, {}]", dtype_name(tensor.dtype), tensor.rows, tensor.columns));
  const HashSample sample = hash_sample(tensor);
  if (tensor.is_plain()) return add_bytes({tensor.data + sample.offset, sample.bytes});
  const std::size_t row_bytes = static_cast<std::size_t>(tensor.columns) * dtype_bytes(tensor.dtype);
  const std::size_t first = sample.offset / row_bytes;
  const std::size_t end = (sample.offset + sample.bytes + row_bytes - 1) / row_bytes;
  const auto begin_row = static_cast<std::int64_t>(first);
  const auto n_rows = static_cast<std::int64_t>(end - first);
  const auto rows = widened_rows(tensor, begin_row, n_rows);
  add_bytes({rows.data() + (sample.offset - first * row_bytes), sample.bytes});
}

std::string CheckpointHash::hex() const {
  XXH128_canonical_t canonical{};
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
  std::string text;
  for (const auto byte : canonical.digest) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

}  // namespace draftscope::engine
