// SPDX-License-Identifier: GPL-3.0-or-later
#include "rates.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace draftscope::bench {

Rates::Rates(const std::string& device, std::size_t bytes) : bytes_(bytes) {
  if (device == "cpu") return;
  auto made = engine::make_cuda_memory_probe(bytes);
  if (!made) throw std::runtime_error(made.error().message);
  memory_ = std::move(*made);
}

void Rates::probe(std::int32_t threads) {
  if (memory_ == nullptr) memory_ = engine::make_cpu_memory_probe(std::max(threads, 1), bytes_);
  const auto rate = memory_->gb_per_s();
  if (!rate) throw std::runtime_error(rate.error().message);
  read_.push_back(*rate);
}

}  // namespace draftscope::bench
