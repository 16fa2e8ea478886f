// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a program is made of (program.h): plain data that the host writes.

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

/// One entry of a model's table; in device memory, copied in chunks of 16 bytes.
struct alignas(16) Operation {
  DeviceLayer layer;  ///< the layer whose sublayer it is; zeros where it belongs to none
  OperationKind kind;
  std::int32_t is_plain;    ///< whether a product has 16-bit weights, whatever the program's layers are in
  std::int32_t is_f16;      ///< whether 16-bit weights, or rows normalised for them, are fp16, not bf16
  Norm norm;                ///< the norm of normalise_rows, and the sublayer of add_outputs
  std::int32_t boundary;    ///< number that keep_states keeps rows under
  float* to;                ///< place that keep_states copies rows to
  const std::byte* pieces;  ///< null of all but products
  PieceLayout layout;       ///< a product's, like tiles and depth
  std::int32_t tiles;
  std::int32_t depth;
};
static_assert(sizeof(Operation) % chunk_bytes == 0);

/// A place among the operations, and how one is run.
using ProgramEntry = std::uint16_t;
inline constexpr ProgramEntry entry_place = 0x0fff;
inline constexpr ProgramEntry entry_two_tiles =
    0x1000;  ///< a block takes two of a product's tiles at once, else one
inline constexpr ProgramEntry entry_upper_rows =
    0x2000;  ///< a product's second turn: rows from max_product_rows on
inline constexpr ProgramEntry entry_reads_normed =
    0x4000;  ///< a product after a norm reads the rows that normalise_rows left
inline constexpr ProgramEntry entry_wants_logits = 0x8000;
inline constexpr int max_program_entries = 2048;

/// A warp's ring of pieces in shared memory (weight_stream.h).
struct RingShape {
  std::int32_t places;       ///< up to max_ring_places
  std::int32_t place_bytes;  ///< a multiple of 128
  std::int32_t parts;        ///< parts that a place holds, up to max_copied_parts, or max_copied_code_parts
};

/// Counters and failure that a program's blocks share; zeros before the first launch.
struct ProgramState {
  unsigned arrivals;          ///< counter of the grid's barriers, 0 between launches
  unsigned failures;          ///< blocks that gave up waiting for others
  std::int32_t failed_entry;  ///< 1 + the entry that the first of them waited at the end of
  std::int32_t failed_block;
};

/// When a block began an operation and when it ended it, in nanoseconds of the device's own clock.
struct OperationTime {
  std::uint64_t begin_ns, end_ns;
};

/// Where a launch records what it ran, if that is asked for: for the n-th operation 1 + its entry, and the
/// times of each block, [n][block].
struct Timeline {
  std::int32_t* entries;
  OperationTime* times;  ///< null = nobody asks
};

struct ProgramParams {
  PassParams pass;
  const Operation* operations;
  const ProgramEntry* entries;
  std::int32_t first, last;      ///< entries that the launch runs
  const ProgramEntry* products;  ///< the entries that are products, in order
  std::int32_t n_products;
  std::int32_t loop_products;  ///< products per loop
  std::int32_t loop_end;       ///< end of a loop that begins with `first`; 0 = there is none
  std::int32_t row_begin;      ///< first row of the pass that is computed
  std::int32_t rows;           ///< computed rows; −1 = all that the state has from row_begin on
  std::int32_t draft_length;   ///< steps of the loop at most
  std::int32_t is_draft_step;  ///< whether it is a draft step launched by itself, which does nothing once the
                               ///< draft stopped
  ProgramState* state;
  Timeline timeline;
  std::int32_t scratch_bytes;    ///< shared memory of an operation, a multiple of 128
  std::int32_t block_bytes;      ///< program_block_bytes(), between that and the rings
  std::int32_t attention_tiles;  ///< most that an item of attention has room for
  RingShape ring;
};

/// A product's pieces as one block takes them, in shared memory.
struct StreamedTiles {
  const std::byte* first;  ///< the block's first tile
  std::int32_t turns;      ///< turns of the block
  std::int16_t together;   ///< tiles that it takes at once in a turn
  std::int16_t slice_runs;
  std::int32_t runs;
  std::int32_t part_bytes;
};

/// Bytes of shared memory that a block needs beside an operation's scratch and the rings: a ProgramBlock,
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

/// A product's matrices to be packed, or unpacked (pack_pieces.h).
struct PieceParams {
  PassParams pass;    ///< the model's shape
  DeviceLayer layer;  ///< zeros of the head
  OperationKind product;
  PieceLayout layout;
  std::int32_t tiles;
  std::int32_t depth;
  std::byte* pieces;
  const std::byte* rows[3];  ///< to pack: each matrix, rows one after another, or groups (grouped_layout.h)
  std::uint16_t* numbers;    ///< to unpack: the matrices' rows one after another, 16-bit
};

}  // namespace draftscope::engine::cuda
