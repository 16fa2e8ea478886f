// SPDX-License-Identifier: GPL-3.0-or-later
#include "compared_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <variant>

#include "block_emulation.h"
#include "device_emulation.h"
#include "emulated_kernels.h"

namespace draftscope::engine::cuda::emulation {

namespace {

/// Whether a kernel calls expf(), exp() or log1p().
bool approximates(Kernel kernel) {
  switch (kernel) {
    case Kernel::gate_up:
    case Kernel::head:
    case Kernel::finish_head:
    case Kernel::finish_draft_step:
    case Kernel::finish_sampled_step:
    case Kernel::warp_rows:
    case Kernel::judge_draft:
    case Kernel::select_top:
    case Kernel::finish_wide_gate:
      return true;
    default:
      return false;
  }
}

/// Kind of what a place of memory holds.
enum class Held : std::uint8_t { words, halves, state, bytes };

/// The buffer that an address is in: of those that begin before it the nearest.
Held held_at(const KernelParams& params, const std::byte* address) {
  const PassParams* const pass = pass_of(params);
  if (pass == nullptr) return Held::bytes;
  const Workspace& work = pass->work;
  struct Buffer {
    const void* begin;
    Held held;
  };
  const Buffer buffers[] = {
      {pass->layers == nullptr ? nullptr : pass->layers[0].keys, Held::halves},
      {pass->layers, Held::bytes},
      {work.state, Held::state},
      {work.residual, Held::words},
      {work.queries, Held::halves},
      {work.attended, Held::halves},
      {work.gated, Held::halves},
      {work.normed, Held::halves},
      {work.wide, Held::words},
      {work.split_sums, Held::words},
      {work.arrivals, Held::bytes},
      {work.logits, Held::words},
      {work.draft_rows, Held::state},
      {std::holds_alternative<TopParams>(params) ? std::get<TopParams>(params).top : nullptr, Held::words},
      {std::holds_alternative<BankParams>(params) ? std::get<BankParams>(params).cosines : nullptr,
       Held::words},
      {work.widened, Held::halves},
  };
  const Buffer* nearest = nullptr;
  for (const Buffer& buffer : buffers)
    if (buffer.begin != nullptr && buffer.begin <= address &&
        (nearest == nullptr || buffer.begin > nearest->begin))
      nearest = &buffer;
  return nearest == nullptr ? Held::bytes : nearest->held;
}

/// Whether an address lies in one of `n` structures at `begin`, behind a member's end `from` and before the
/// next one's `to`.
template <typename T>
bool is_between(const std::byte* address, const T* begin, std::size_t n, std::size_t from, std::size_t to) {
  const auto offset = static_cast<std::size_t>(address - reinterpret_cast<const std::byte*>(begin));
  return offset < n * sizeof(T) && offset % sizeof(T) >= from && offset % sizeof(T) < to;
}

/// Bytes of structures that no member has: a copy may leave them.
bool is_padding(const KernelParams& params, const std::byte* address) {
  const PassParams* const pass = pass_of(params);
  if (pass == nullptr) return false;
  for (const WarpedRow* rows : {pass->work.draft_rows, pass->work.target_rows})
    if (is_between(address, rows, max_decode_rows, offsetof(WarpedRow, maximum) + sizeof(float),
                   offsetof(WarpedRow, total)) ||
        is_between(address, rows, max_decode_rows, offsetof(WarpedRow, choice) + sizeof(std::int32_t),
                   sizeof(WarpedRow)))
      return true;
  return is_between(address, pass->work.state->draft, std::size(pass->work.state->draft),
                    offsetof(DraftedToken, probability) + sizeof(float),
                    offsetof(DraftedToken, drawn_probability));
}

/// The device's own clock tells each device another time.
bool is_clock(const KernelParams& params, const std::byte* address) {
  const PassParams* const pass = pass_of(params);
  if (pass == nullptr) return false;
  const auto* const clocks = reinterpret_cast<const std::byte*>(&pass->work.state->draft_start_ns);
  return address >= clocks && address < clocks + 3 * sizeof(std::uint64_t);
}

bool are_close(double a, double b, double relative) {
  constexpr double absolute = 4e-6;
  if (std::isnan(a) && std::isnan(b)) return true;
  return a == b || std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)) + absolute;
}

template <typename T>
T value_at(const std::byte* from, std::size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof value);
  return value;
}

/// Whether four bytes hold as good as the same; `offset` is a multiple of four.
bool are_close(const std::byte* a, const std::byte* b, std::size_t offset, Held held, bool is_f16) {
  constexpr double word_tolerance = 5e-5;
  const auto float_a = static_cast<double>(value_at<float>(a, offset));
  const auto float_b = static_cast<double>(value_at<float>(b, offset));
  switch (held) {
    case Held::words:
      return are_close(float_a, float_b, word_tolerance);
    case Held::state: {
      const std::size_t whole = offset / sizeof(double) * sizeof(double);
      return are_close(float_a, float_b, word_tolerance) ||
             are_close(value_at<double>(a, whole), value_at<double>(b, whole), word_tolerance);
    }
    case Held::halves: {
      const double half_tolerance = is_f16 ? 0x1p-9 : 0x1p-6;
      const auto value = [&](const std::byte* from, std::size_t at) {
        const auto bits = value_at<std::uint16_t>(from, at);
        return static_cast<double>(is_f16 ? F16::to_float(bits) : Bf16::to_float(bits));
      };
      return are_close(value(a, offset), value(b, offset), half_tolerance) &&
             are_close(value(a, offset + 2), value(b, offset + 2), half_tolerance);
    }
    default:
      return false;
  }
}

}  // namespace

Result<void> ComparedKernels::before(ptx::Device& device, const Launch& launch, const KernelParams& params) {
  std::vector<Bytes> at_first;
  for (const auto& region : device.memory().regions())
    at_first.emplace_back(region->data(), region->data() + region->bytes());
  const QueuedKernel kernel = emulated_kernel(launch, params);
  GridRun run(kernel.grid, kernel.body, static_cast<std::uint32_t>(counts_.size() + 1));
  run.let_through();
  while (run.go_on()) {
  }
  emulated_.clear();
  std::size_t i = 0;
  for (const auto& region : device.memory().regions()) {
    emulated_.emplace_back(region->data(), region->data() + region->bytes());
    emulated_.back().resize(region->bytes() + sizeof(double));  // the last words are looked at as wider ones
    std::copy(at_first[i].begin(), at_first[i].end(), region->data());
    ++i;
  }
  return {};
}

Result<void> ComparedKernels::after(ptx::Device& device, const Launch& launch, const KernelParams& params) {
  const std::string name = entry_name(launch);
  ComparedCount& count = counts_[name];
  ++count.launches;
  const bool must_be_exact = agreement_ == Agreement::exact && !approximates(launch.kernel);
  bool is_exact = true;
  std::size_t i = 0;
  for (const auto& region : device.memory().regions()) {
    const std::byte* const found = region->data();
    const std::byte* const expected = emulated_[i++].data();
    if (std::memcmp(found, expected, region->bytes()) == 0) continue;
    for (std::size_t at = 0; at < region->bytes(); at += 4) {
      const std::size_t n = std::min<std::size_t>(4, region->bytes() - at);
      if (std::memcmp(found + at, expected + at, n) == 0 || is_clock(params, found + at) ||
          is_padding(params, found + at))
        continue;
      is_exact = false;
      const Held held = held_at(params, found + at);
      if (must_be_exact || n < 4 || !are_close(found, expected, at, held, launch.format == WeightFormat::f16))
        return fail("{}: {} + {} is {:#x} ({}) as PTX, expected {:#x} ({}) as emulated", name, region->name(),
                    at, value_at<std::uint32_t>(found, at), value_at<float>(found, at),
                    value_at<std::uint32_t>(expected, at), value_at<float>(expected, at));
    }
  }
  if (is_exact) ++count.exact;
  return {};
}

}  // namespace draftscope::engine::cuda::emulation
