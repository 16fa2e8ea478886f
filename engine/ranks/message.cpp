// SPDX-License-Identifier: GPL-3.0-or-later
#include "message.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace draftscope::engine {
namespace {

/// Bytes of the first broadcast: the message's length and its beginning. A pass of a few rows fits.
constexpr std::size_t frame_bytes = 1024;
constexpr std::size_t length_bytes = sizeof(std::uint64_t);

/// Takes values out of a message in the order in which they were put.
class Taker {
 public:
  explicit Taker(std::span<const std::byte> bytes) : left_(bytes) {}
  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (left_.size() < sizeof(T)) return is_short_ = true, value;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return value;
  }
  template <typename T>
  void take_all(std::vector<T>& values) {
    const auto count = take<std::uint64_t>();
    if (left_.size() / sizeof(T) < count) {
      is_short_ = true;
      return;
    }
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), left_.data(), count * sizeof(T));
    left_ = left_.subspan(count * sizeof(T));
  }
  [[nodiscard]] bool is_whole() const { return !is_short_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool is_short_ = false;
};

speculation::SublayerMask mask_of(const std::vector<std::uint8_t>& packed, std::int32_t n_layers) {
  speculation::SublayerMask mask(n_layers);
  const auto is_set = [&](std::int32_t bit) {
    const auto byte = static_cast<std::size_t>(bit) / 8;
    return byte < packed.size() && (packed[byte] >> (bit % 8) & 1U) != 0;
  };
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    if (is_set(2 * layer)) mask.skip_attention(layer);
    if (is_set(2 * layer + 1)) mask.skip_mlp(layer);
  }
  return mask;
}

void take_batch(Taker& taker, Message& message) {
  Batch& batch = message.batch;
  taker.take_all(message.rows);
  taker.take_all(message.hidden);
  taker.take_all(message.ancestors);
  taker.take_all(message.hidden_after);
  batch.committed = taker.take<std::int32_t>();
  batch.first_row = taker.take<std::int32_t>();
  batch.layers = taker.take<LayerRange>();
  batch.wanted.head_from = taker.take<std::int32_t>();
  batch.wanted.head = taker.take<bool>();
  batch.wanted.logits = taker.take<bool>();
  batch.wanted.top_k = taker.take<std::int32_t>();
  batch.weights = taker.take<std::optional<speculation::WeightFormat>>();
  const auto masked_layers = taker.take<std::int32_t>();
  std::vector<std::uint8_t> packed;
  taker.take_all(packed);
  message.mask.reset();
  if (masked_layers >= 0) message.mask = mask_of(packed, masked_layers);
}

}  // namespace

Batch Message::view() const {
  Batch whole = batch;
  whole.rows = rows;
  whole.hidden = hidden;
  whole.ancestors = ancestors;
  whole.mask = mask ? &*mask : nullptr;
  whole.wanted.hidden_after = hidden_after;
  return whole;
}

void MessageStream::begin(Command command) {
  bytes_.resize(length_bytes);
  put(command);
}

template <typename T>
void MessageStream::put(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = bytes_.size();
  bytes_.resize(at + sizeof(T));
  std::memcpy(bytes_.data() + at, &value, sizeof(T));
}

template <typename T>
void MessageStream::put_all(std::span<const T> values) {
  put(static_cast<std::uint64_t>(values.size()));
  const std::size_t at = bytes_.size();
  bytes_.resize(at + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
}

Result<void> MessageStream::send() {
  const auto length = static_cast<std::uint64_t>(bytes_.size());
  std::memcpy(bytes_.data(), &length, sizeof length);
  if (bytes_.size() < frame_bytes) bytes_.resize(frame_bytes);
  const std::span<std::byte> bytes(bytes_);
  DRAFTSCOPE_TRY(ranks_.broadcast(bytes.first(frame_bytes)));
  return length > frame_bytes ? ranks_.broadcast(bytes.subspan(frame_bytes)) : Result<void>{};
}

Result<void> MessageStream::send(Command command) {
  begin(command);
  return send();
}

Result<void> MessageStream::send_forward(const Batch& batch) {
  begin(Command::forward);
  put_all(batch.rows);
  put_all(batch.hidden);
  put_all(batch.ancestors);
  put_all(batch.wanted.hidden_after);
  put(batch.committed);
  put(batch.first_row);
  put(batch.layers);
  put(batch.wanted.head_from);
  put(batch.wanted.head);
  put(batch.wanted.logits);
  put(batch.wanted.top_k);
  put(batch.weights);
  put(batch.mask == nullptr ? std::int32_t{-1} : batch.mask->n_layers());
  mask_bits_.clear();
  if (batch.mask != nullptr) batch.mask->pack(mask_bits_);
  put_all(std::span<const std::uint8_t>(mask_bits_));
  return send();
}

Result<void> MessageStream::send_moves(std::span<const CacheMove> moves) {
  begin(Command::move_rows);
  put_all(moves);
  return send();
}

Result<void> MessageStream::send_weights(speculation::WeightFormat format) {
  begin(Command::hold_weights);
  put(format);
  return send();
}

Result<void> MessageStream::send_level(profiler::Level level) {
  begin(Command::record);
  put(level);
  return send();
}

Result<void> MessageStream::receive(Message& message) {
  bytes_.resize(std::max(bytes_.size(), frame_bytes));
  DRAFTSCOPE_TRY(ranks_.broadcast(std::span(bytes_).first(frame_bytes)));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length > frame_bytes) {
    bytes_.resize(std::max<std::size_t>(bytes_.size(), length));
    DRAFTSCOPE_TRY(ranks_.broadcast(std::span(bytes_).subspan(frame_bytes, length - frame_bytes)));
  }
  const std::uint64_t taken = std::max<std::uint64_t>(length, length_bytes) - length_bytes;
  Taker taker(std::span<const std::byte>(bytes_).subspan(length_bytes, taken));
  message.command = taker.take<Command>();
  switch (message.command) {
    case Command::forward:
      take_batch(taker, message);
      break;
    case Command::move_rows:
      taker.take_all(message.moves);
      break;
    case Command::hold_weights:
      message.weights = taker.take<speculation::WeightFormat>();
      break;
    case Command::record:
      message.level = taker.take<profiler::Level>();
      break;
    case Command::take_steps:
    case Command::end:
      break;
  }
  if (taker.is_whole()) return {};
  return fail("rank 0: found a command of {} bytes that ends elsewhere, expected one of this build", length);
}

}  // namespace draftscope::engine
