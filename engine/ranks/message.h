// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What rank 0 tells the others, as bytes. Both ends are the same build on the same kind of machine, so that
// numbers are copied as they are.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/ranks/collective.h>
#include <draftscope/profiler/span_recorder.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::engine {

enum class Command : std::uint8_t { forward, move_rows, hold_weights, record, take_steps, end };

/// A command that owns its arrays. Those of other commands than its own are empty.
struct Message {
  Command command = Command::end;
  std::vector<Row> rows;
  std::vector<float> hidden;
  std::vector<std::uint64_t> ancestors;
  std::vector<std::int32_t> hidden_after;
  std::optional<speculation::SublayerMask> mask;
  Batch batch;  ///< of a forward: its numbers. view() gives it its arrays
  std::vector<CacheMove> moves;
  std::optional<speculation::WeightFormat> weights;  ///< of hold_weights
  profiler::Level level = profiler::Level::off;      ///< of record

  [[nodiscard]] Batch view() const;
};

/// Sends and receives messages; keeps its memory, so that decoding allocates nothing on rank 0.
class MessageStream {
 public:
  explicit MessageStream(Collective& ranks) : ranks_(ranks) {}

  // On rank 0:
  [[nodiscard]] Result<void> send_forward(const Batch& batch);
  [[nodiscard]] Result<void> send_moves(std::span<const CacheMove> moves);
  [[nodiscard]] Result<void> send_weights(speculation::WeightFormat format);
  [[nodiscard]] Result<void> send_level(profiler::Level level);
  [[nodiscard]] Result<void> send(Command command);  ///< one without arguments

  /// On the others: waits for the next one.
  [[nodiscard]] Result<void> receive(Message& message);

 private:
  void begin(Command command);
  template <typename T>
  void put(const T& value);
  template <typename T>
  void put_all(std::span<const T> values);
  [[nodiscard]] Result<void> send();

  Collective& ranks_;
  std::vector<std::byte> bytes_;
  std::vector<std::uint8_t> mask_bits_;
};

}  // namespace draftscope::engine
