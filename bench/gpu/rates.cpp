// SPDX-License-Identifier: GPL-3.0-or-later
#include "rates.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "read_bandwidth.h"

namespace draftscope::bench {

Rates::Rates(const std::string& device, std::size_t bytes) {
  if (device == "cpu") {
    memory_.assign(bytes, std::byte{1});
    return;
  }
  auto made = engine::make_cuda_memory_probe(bytes);
  if (!made) throw std::runtime_error(made.error().message);
  device_ = std::move(*made);
}

void Rates::probe(std::int32_t threads) {
  if (device_ == nullptr) return read_.push_back(read_bandwidth(memory_, std::max(threads, 1)) * 1e-9);
  const auto rate = device_->gb_per_s();
  if (!rate) throw std::runtime_error(rate.error().message);
  read_.push_back(*rate);
}

}  // namespace draftscope::bench
