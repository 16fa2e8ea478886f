// SPDX-License-Identifier: GPL-3.0-or-later
#include "rates.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "read_bandwidth.h"

namespace draftscope::bench {

Rates::Rates(const std::string& device, std::size_t bytes) : bytes_(bytes) {
  if (device == "cpu") {
    memory_.assign(bytes, std::byte{1});
    return;
  }
  auto made = make_memory_rates(bytes);
  if (!made) throw std::runtime_error(made.error().message);
  device_ = std::move(*made);
}

void Rates::probe(std::int32_t threads) {
  if (device_ == nullptr) return read_.push_back(read_bandwidth(memory_, std::max(threads, 1)) * 1e-9);
  const auto rates = device_->read(bytes_, 1);
  if (!rates) throw std::runtime_error(rates.error().message);
  read_.push_back(rates->front() * 1e-9);
}

}  // namespace draftscope::bench
