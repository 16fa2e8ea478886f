// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weights of a program's products as they come to one warp, through a ring of its own in shared memory.
// As soon as the warp has read a piece, it asks for the one that is as far ahead as the ring has places: of
// the same product, or of one after it, whatever barriers lie between.
//
// No warp waits for another here. A warp of its own that copies for all others would be a ninth: one quarter
// of a multiprocessor's registers would have to hold three warps instead of two, and threads could have 168
// registers instead of 255.

#include "device.h"
#include "program_params.h"

namespace draftscope::engine::cuda {

/// Which products a warp's pieces are of.
struct StreamedProgram {
  const Operation* operations;
  const ProgramEntry* entries;
  std::int32_t last;                  ///< the entry after the last
  std::int32_t loop_begin, loop_end;  ///< entries of a draft step; none if they are equal
  std::int32_t draft_length;

  [[nodiscard]] DRAFTSCOPE_DEVICE const Operation& operation(int entry) const {
    return operations[entries[entry] & entry_place];
  }
  /// The entry after one, as long as a draft goes on; `steps` counts those of the draft that were taken.
  [[nodiscard]] DRAFTSCOPE_DEVICE int expected_next(int entry, int& steps) const {
    if (loop_begin == loop_end || entry + 1 != loop_end) return entry + 1;
    return ++steps < draft_length ? loop_begin : entry + 1;
  }
};

class WeightStream {
 public:
  /// `filled` and `ring`: the warp's own in shared memory, of as many places. By all lanes.
  DRAFTSCOPE_DEVICE WeightStream(const StreamedProgram& program, CopyBarrier* filled, std::byte* ring,
                                 const RingShape& shape)
      : program_(&program),
        filled_(place_in_shared(filled)),
        ring_(place_in_shared(ring)),
        shape_(shape),
        warp_(thread_index() / warp_threads) {}

  /// Asks for the first pieces from an entry on.
  DRAFTSCOPE_DEVICE void begin(int entry) {
    entry_ = entry;
    find_product();
    begin_product();
    for (int place = 0; place < shape_.places; ++place) copy();
  }

  /// Parts of each piece; a slice's last piece may have fewer.
  [[nodiscard]] DRAFTSCOPE_DEVICE int parts() const { return shape_.parts; }
  /// The next piece, once it is there.
  DRAFTSCOPE_DEVICE const std::byte* take() {
    wait_for_phase(filled(taken_place_), taken_parity_);
    return shared_memory() + ring_ + taken_place_ * shape_.place_bytes;
  }
  /// Follows take(), once each lane has read what it needs.
  DRAFTSCOPE_DEVICE void give_back() {
    synchronise_lanes();
    advance();
    copy();
  }

  /// The program goes on at another entry than was expected: takes and forgets what was asked for.
  DRAFTSCOPE_DEVICE void redirect(int entry) {
    forget();
    begin(entry);
  }
  /// No copy is on its way any more.
  DRAFTSCOPE_DEVICE void forget() {
    while (under_way_ > 0) {
      (void)take();
      synchronise_lanes();
      advance();
    }
  }

 private:
  DRAFTSCOPE_DEVICE static int place_in_shared(const void* address) {
    return static_cast<int>(static_cast<const std::byte*>(address) - shared_memory());
  }
  [[nodiscard]] DRAFTSCOPE_DEVICE CopyBarrier* filled(int place) const {
    return reinterpret_cast<CopyBarrier*>(shared_memory() + filled_) + place;
  }
  DRAFTSCOPE_DEVICE void advance() {
    --under_way_;
    if (++taken_place_ < shape_.places) return;
    taken_place_ = 0;
    taken_parity_ ^= 1U;
  }

  /// Asks for the next piece, if there is one left; the place that it goes to is free.
  DRAFTSCOPE_DEVICE void copy() {
    while (runs_left_ == 0)
      if (!begin_tile()) return;
    const int runs = runs_left_ < shape_.parts ? runs_left_ : shape_.parts;
    const int bytes = runs * part_bytes_;
    begin_piece(shared_memory() + ring_ + copied_place_ * shape_.place_bytes, from_,
                static_cast<unsigned>(bytes), filled(copied_place_));
    from_ += bytes;
    runs_left_ -= runs;
    ++under_way_;
    if (++copied_place_ == shape_.places) copied_place_ = 0;
  }

  /// False if the program has no more pieces.
  DRAFTSCOPE_DEVICE bool begin_tile() {
    while (tiles_left_ == 0) {
      if (next_pieces_ == nullptr) return false;
      begin_product();
    }
    --tiles_left_;
    from_ = tile_;
    tile_ += tile_step_;
    runs_left_ = runs_of_tile_;
    return true;
  }

  /// Goes over to the product that was found, and finds the next one: its numbers arrive while this one's
  /// pieces are asked for.
  DRAFTSCOPE_DEVICE void begin_product() {
    runs_left_ = 0;
    tiles_left_ = 0;
    if (next_pieces_ == nullptr) return;
    const PieceLayout layout = next_layout_;
    part_bytes_ = layout.part_bytes;
    runs_of_tile_ = layout.runs_of(warp_);
    tile_ = next_pieces_ + block_index() * layout.tile_bytes() + layout.part_at(warp_ * layout.slice_runs);
    tile_step_ = block_count() * layout.tile_bytes();
    tiles_left_ = next_tiles_ > block_index() ? (next_tiles_ - block_index() - 1) / block_count() + 1 : 0;
    if (runs_of_tile_ == 0) tiles_left_ = 0;
    find_product();
  }
  DRAFTSCOPE_DEVICE void find_product() {
    next_pieces_ = nullptr;
    while (entry_ < program_->last && next_pieces_ == nullptr) {
      const Operation& of = program_->operation(entry_);
      next_pieces_ = of.pieces;  // null of all but products
      next_layout_ = of.layout;
      next_tiles_ = of.tiles;
      entry_ = program_->expected_next(entry_, steps_);
    }
  }

  const StreamedProgram* program_;
  // Offsets in shared memory, which the compiler would not know a pointer to be in.
  int filled_;
  int ring_;
  RingShape shape_;
  int warp_;
  // The taking end.
  int taken_place_ = 0;
  unsigned taken_parity_ = 0;
  int under_way_ = 0;
  // The copying end.
  int copied_place_ = 0;
  int runs_left_ = 0;  ///< runs of the tile that are still to be asked for
  int part_bytes_ = 0;
  const std::byte* from_ = nullptr;
  int runs_of_tile_ = 0;
  int tiles_left_ = 0;
  const std::byte* tile_ = nullptr;
  std::int64_t tile_step_ = 0;
  const std::byte* next_pieces_ = nullptr;
  PieceLayout next_layout_{};
  int next_tiles_ = 0;
  int entry_ = 0;  ///< the entry after the next product's
  int steps_ = 0;
};

}  // namespace draftscope::engine::cuda
