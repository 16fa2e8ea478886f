// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weights of a program's products as they come to one warp, through its own ring in shared memory. After
// the warp has read a piece, it requests the piece as far ahead as the ring has places, of the same product
// or a later one, across barriers. If a block takes two tiles at once, their pieces alternate. The
// description of a product's pieces is in shared memory, because a warp that waits for a number from device
// memory requests nothing meanwhile.
//
// No warp waits for another here. A separate warp that copies for all others would be the ninth. Then one
// quarter of a multiprocessor's registers would have to serve three warps instead of two, with 168 registers
// per thread instead of 255.

#include "device.h"
#include "program_params.h"

namespace draftscope::engine::cuda {

/// The products of a program's launch, in order; in shared memory. Places there are offsets, since the
/// compiler could not tell that a pointer points to shared memory.
struct StreamedProducts {
  std::int32_t tiles;  ///< Place of the first product's StreamedTiles.
  std::int32_t n;
  std::int32_t of_step;       ///< The leading products that belong to a draft step; 0 = there is no loop.
  std::int32_t draft_length;  ///< Assumed length of a draft.
};

/// Plain numbers that are the same in all lanes. Between products one lane stores them in shared memory.
class WeightStream {
 public:
  /// Initialises the stream and requests the first pieces. `products`, `filled` and `ring` are in shared
  /// memory; the last two belong to the warp, with as many places as its ring. Called by all lanes.
  DRAFTSCOPE_DEVICE void begin(const StreamedProducts* products, CopyBarrier* filled, std::byte* ring,
                               const RingShape& shape) {
    *this = {};
    products_ = place_in_shared(products);
    filled_ = place_in_shared(filled);
    ring_ = place_in_shared(ring);
    shape_ = shape;
    fill();
  }

  /// Writes the stream to shared memory. Called by all lanes.
  DRAFTSCOPE_DEVICE void keep(WeightStream& to) const {
    synchronise_lanes();
    if (thread_index() % warp_threads == 0) to = *this;
    synchronise_lanes();
  }

  /// Parts of each piece; a slice's last piece may have fewer.
  [[nodiscard]] DRAFTSCOPE_DEVICE int parts() const { return shape_.parts; }
  /// Waits for the next piece, or the one `after` pieces later, and returns it.
  DRAFTSCOPE_DEVICE const std::byte* take(int after = 0) {
    const bool wraps = taken_place_ + after >= shape_.places;
    const int place = taken_place_ + after - (wraps ? shape_.places : 0);
    wait_for_phase(filled(place), taken_parity_ ^ (wraps ? 1U : 0U));
    return shared_memory() + ring_ + place * shape_.place_bytes;
  }
  /// Gives back `pieces` pieces that were taken, after each lane has read what it needs.
  DRAFTSCOPE_DEVICE void give_back(int pieces) {
    synchronise_lanes();
    for (int i = 0; i < pieces; ++i) {
      advance();
      copy();
    }
  }

  /// Must be called where a draft ended earlier than it might have. Drops the pieces that were requested, and
  /// continues after them.
  DRAFTSCOPE_DEVICE void end_draft() {
    forget();
    of_turn_ = 0;
    runs_left_ = 0;
    turns_left_ = 0;
    product_ = products().of_step;
    steps_ = products().draft_length;
    fill();
  }
  /// Waits until no copy is in flight.
  DRAFTSCOPE_DEVICE void forget() {
    while (under_way_ > 0) {
      (void)take();
      synchronise_lanes();
      advance();
    }
  }

  DRAFTSCOPE_DEVICE static int place_in_shared(const void* address) {
    return static_cast<int>(static_cast<const std::byte*>(address) - shared_memory());
  }

 private:
  [[nodiscard]] DRAFTSCOPE_DEVICE const StreamedProducts& products() const {
    return *reinterpret_cast<const StreamedProducts*>(shared_memory() + products_);
  }
  [[nodiscard]] DRAFTSCOPE_DEVICE CopyBarrier* filled(int place) const {
    return reinterpret_cast<CopyBarrier*>(shared_memory() + filled_) + place;
  }
  DRAFTSCOPE_DEVICE void fill() {
    for (int place = 0; place < shape_.places; ++place) copy();
  }
  DRAFTSCOPE_DEVICE void advance() {
    --under_way_;
    if (++taken_place_ < shape_.places) return;
    taken_place_ = 0;
    taken_parity_ ^= 1U;
  }

  /// Requests the next piece, if there is one left; its destination is free.
  DRAFTSCOPE_DEVICE void copy() {
    while (runs_left_ == 0)
      if (!begin_turn()) return;
    const int runs = runs_left_ < shape_.parts ? runs_left_ : shape_.parts;
    const int bytes = runs * part_bytes_;
    begin_piece(shared_memory() + ring_ + copied_place_ * shape_.place_bytes,
                from_ + (of_turn_ == 0 ? 0 : tile_bytes_), static_cast<unsigned>(bytes),
                filled(copied_place_));
    ++under_way_;
    if (++copied_place_ == shape_.places) copied_place_ = 0;
    if (++of_turn_ < together_) return;
    of_turn_ = 0;
    from_ += bytes;
    runs_left_ -= runs;
  }

  /// False if the program has no more pieces.
  DRAFTSCOPE_DEVICE bool begin_turn() {
    while (turns_left_ == 0)
      if (!begin_product()) return false;
    --turns_left_;
    from_ = tile_;
    tile_ += tile_step_;
    runs_left_ = runs_of_tile_;
    return true;
  }
  DRAFTSCOPE_DEVICE bool begin_product() {
    const StreamedProducts& all = products();
    if (product_ == all.n) return false;
    const auto& of = reinterpret_cast<const StreamedTiles*>(shared_memory() + all.tiles)[product_];
    ++product_;
    if (product_ == all.of_step && ++steps_ < all.draft_length) product_ = 0;
    const int warp = thread_index() / warp_threads;
    const PieceLayout layout{of.runs, of.slice_runs, of.part_bytes};
    part_bytes_ = of.part_bytes;
    tile_bytes_ = static_cast<int>(layout.tile_bytes());
    together_ = of.together;
    runs_of_tile_ = layout.runs_of(warp);
    tile_ = of.first + layout.part_at(warp * layout.slice_runs);
    tile_step_ = std::int64_t{block_count()} * together_ * tile_bytes_;
    turns_left_ = runs_of_tile_ == 0 ? 0 : of.turns;
    return true;
  }

  int products_, filled_, ring_;  ///< Places in shared memory.
  RingShape shape_;
  // State of the end that pieces are taken from.
  int taken_place_;
  unsigned taken_parity_;
  int under_way_;
  // State of the end that pieces are copied to.
  int copied_place_;
  int of_turn_;    ///< Number of the next piece's tile among those that a block takes at once.
  int runs_left_;  ///< Runs of those tiles that have not been requested yet.
  int part_bytes_, tile_bytes_;
  int together_;
  const std::byte* from_;  ///< The first tile's next piece.
  int runs_of_tile_;
  int turns_left_;
  const std::byte* tile_;  ///< First tile of the next turn.
  std::int64_t tile_step_;
  int product_;  ///< The next product.
  int steps_;    ///< Draft steps before the next product.
};

}  // namespace draftscope::engine::cuda
