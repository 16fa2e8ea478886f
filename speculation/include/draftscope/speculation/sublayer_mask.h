// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which sublayers a draft runs: two bits per layer, attention and MLP. A skipped sublayer adds nothing to the
// residual stream and, if it is attention, writes no K/V.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::speculation {

class SublayerMask {
 public:
  SublayerMask() = default;
  /// Makes a mask that skips nothing.
  explicit SublayerMask(std::int32_t n_layers) : skipped_(2 * static_cast<std::size_t>(n_layers), 0) {}
  /// Makes a mask that skips everything from layer `exit` on: an early exit.
  [[nodiscard]] static SublayerMask early_exit(std::int32_t n_layers, std::int32_t exit) {
    SublayerMask mask(n_layers);
    for (std::int32_t layer = exit; layer < n_layers; ++layer) mask.skip_attention(layer).skip_mlp(layer);
    return mask;
  }

  [[nodiscard]] std::int32_t n_layers() const { return static_cast<std::int32_t>(skipped_.size() / 2); }
  [[nodiscard]] bool runs_attention(std::int32_t layer) const { return skipped_[attention_bit(layer)] == 0; }
  [[nodiscard]] bool runs_mlp(std::int32_t layer) const { return skipped_[attention_bit(layer) + 1] == 0; }
  SublayerMask& skip_attention(std::int32_t layer) { return skipped_[attention_bit(layer)] = 1, *this; }
  SublayerMask& skip_mlp(std::int32_t layer) { return skipped_[attention_bit(layer) + 1] = 1, *this; }

  /// The first layer from which everything is skipped; n_layers if the last layer runs something.
  [[nodiscard]] std::int32_t exit_layer() const {
    std::int32_t exit = n_layers();
    while (exit > 0 && !runs_attention(exit - 1) && !runs_mlp(exit - 1)) --exit;
    return exit;
  }
  /// Whether nothing below exit_layer() is skipped.
  [[nodiscard]] bool is_early_exit() const {
    const auto below = skipped_.begin() + 2 * static_cast<std::ptrdiff_t>(exit_layer());
    return std::all_of(skipped_.begin(), below, [](std::uint8_t skipped) { return skipped == 0; });
  }
  /// Packs the mask into little-endian bits: 2ℓ = attention of layer ℓ skipped, 2ℓ+1 = its MLP
  /// (traces::LayerSet::skipped).
  [[nodiscard]] std::vector<std::uint8_t> packed() const {
    std::vector<std::uint8_t> bytes;
    pack(bytes);
    return bytes;
  }
  /// Packs the mask as packed() does, into existing memory.
  void pack(std::vector<std::uint8_t>& bytes) const {
    bytes.assign((skipped_.size() + 7) / 8, 0);
    for (std::size_t bit = 0; bit < skipped_.size(); ++bit)
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | (skipped_[bit] << (bit % 8)));
  }
  friend bool operator==(const SublayerMask&, const SublayerMask&) = default;

 private:
  static std::size_t attention_bit(std::int32_t layer) { return 2 * static_cast<std::size_t>(layer); }
  // The vector has one byte per bit, because the innermost decision of every layer reads it.
  std::vector<std::uint8_t> skipped_;
};

}  // namespace draftscope::speculation
