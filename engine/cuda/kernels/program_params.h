// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The elements of a program (program.h): plain data that the host writes.

#include <cstddef>
#include <cstdint>

#include "params.h"
#include "piece_layout.h"

namespace draftscope::engine::cuda {

enum class OperationKind : std::int32_t {
  load_inputs,
  normalise_rows,
  qkv,
  normalise_heads,
  attention,
  combine_attention,
  output,
  gate_up,
  down,
  add_outputs,
  keep_states,
  head,
  finish_head,
  finish_draft_step,
  finish_sampled_step,
  begin_last_token,
  begin_verification,
  warp_rows,
  judge_draft,
};

/// One entry of a model's table in device memory; it is copied in chunks of 16 bytes.
struct alignas(16) Operation {
  DeviceLayer layer;  ///< The layer of the operation's sublayer; zeros where it belongs to none.
  OperationKind kind;
  std::int32_t is_plain;    ///< Whether a product has 16-bit weights, in a program of any format.
  std::int32_t is_f16;      ///< Whether 16-bit weights, or rows normalised for them, are fp16, not bf16.
  Norm norm;                ///< The norm of normalise_rows, and the sublayer of add_outputs.
  std::int32_t boundary;    ///< Number under which keep_states stores rows.
  float* to;                ///< Destination to which keep_states copies rows.
  const std::byte* pieces;  ///< null for all but products
  PieceLayout layout;       ///< Layout of a product's pieces; like tiles and depth, only products have it.
  std::int32_t tiles;
  std::int32_t depth;
};
static_assert(sizeof(Operation) % chunk_bytes == 0);

/// A place among the operations, with flags for how it is run.
using ProgramEntry = std::uint16_t;
inline constexpr ProgramEntry entry_place = 0x0fff;
inline constexpr ProgramEntry entry_two_tiles =
    0x1000;  ///< A block takes two of a product's tiles at once, else one.
inline constexpr ProgramEntry entry_upper_rows =
    0x2000;  ///< A product's second turn: rows from max_product_rows on.
inline constexpr ProgramEntry entry_reads_normed =
    0x4000;  ///< A product after a norm reads the rows that normalise_rows left.
inline constexpr ProgramEntry entry_wants_logits = 0x8000;
inline constexpr int max_program_entries = 2048;

/// A warp's ring of pieces in shared memory (weight_stream.h).
struct RingShape {
  std::int32_t places;       ///< At most max_ring_places.
  std::int32_t place_bytes;  ///< A multiple of 128.
  std::int32_t parts;        ///< Parts per place, at most max_copied_parts, or max_copied_code_parts.
};

/// Counters and failure that a program's blocks share; zeros before the first launch.
struct ProgramState {
  unsigned arrivals;          ///< Counter of the grid's barriers; 0 between launches.
  unsigned failures;          ///< Blocks that gave up waiting for others.
  std::int32_t failed_entry;  ///< 1 + the entry at whose end the first of them waited.
  std::int32_t failed_block;
};

/// Start and end of an operation in one block, in nanoseconds of the device's own clock.
struct OperationTime {
  std::uint64_t begin_ns, end_ns;
};

/// Where a launch records what it ran, on request: for the n-th operation 1 + its entry, and the times of
/// each block, [n][block].
struct Timeline {
  std::int32_t* entries;
  OperationTime* times;  ///< null = nothing is recorded
};

struct ProgramParams {
  PassParams pass;
  const Operation* operations;
  const ProgramEntry* entries;
  std::int32_t first, last;      ///< Entries that the launch runs.
  const ProgramEntry* products;  ///< The entries that are products, in order.
  std::int32_t n_products;
  std::int32_t loop_products;  ///< Products per loop.
  std::int32_t loop_end;       ///< End of a loop that begins with `first`; 0 = there is none.
  std::int32_t row_begin;      ///< First row of the pass that is computed.
  std::int32_t rows;           ///< Computed rows; −1 = all that the state has from row_begin on.
  std::int32_t draft_length;   ///< Maximum steps of the loop.
  std::int32_t is_draft_step;  ///< Whether it is a draft step launched separately, which does nothing once
                               ///< the draft has stopped.
  ProgramState* state;
  Timeline timeline;
  std::int32_t scratch_bytes;    ///< Shared memory of an operation, a multiple of 128.
  std::int32_t block_bytes;      ///< program_block_bytes(), between scratch and rings.
  std::int32_t attention_tiles;  ///< Maximum tiles of an item of attention.
  RingShape ring;
};

/// A product's pieces as one block takes them, in shared memory.
struct StreamedTiles {
  const std::byte* first;  ///< The block's first tile.
  std::int32_t turns;      ///< Turns of the block.
  std::int16_t together;   ///< Tiles that it takes at once in a turn.
  std::int16_t slice_runs;
  std::int32_t runs;
  std::int32_t part_bytes;
};

/// Bytes of shared memory per block in addition to an operation's scratch and the rings: a ProgramBlock,
/// products, entries. A multiple of 128.
inline constexpr int program_state_bytes = 6 * 1024;
inline constexpr int program_block_bytes(int entries, int products) {
  return (program_state_bytes + products * static_cast<int>(sizeof(StreamedTiles)) +
          entries * static_cast<int>(sizeof(ProgramEntry)) + 127) /
         128 * 128;
}

constexpr bool changes_rows(OperationKind kind) {
  return kind == OperationKind::begin_last_token || kind == OperationKind::begin_verification;
}
constexpr bool ends_draft_step(OperationKind kind) {
  return kind == OperationKind::finish_draft_step || kind == OperationKind::finish_sampled_step;
}

/// A product's matrices to pack or unpack (pack_pieces.h).
struct PieceParams {
  PassParams pass;    ///< The model's shape.
  DeviceLayer layer;  ///< Zeros for the head.
  OperationKind product;
  PieceLayout layout;
  std::int32_t tiles;
  std::int32_t depth;
  std::byte* pieces;
  const std::byte* rows[3];  ///< To pack: each matrix as consecutive rows, or groups (grouped_layout.h).
  std::uint16_t* numbers;    ///< To unpack: the matrices' rows one after another, 16-bit.
};

}  // namespace draftscope::engine::cuda
