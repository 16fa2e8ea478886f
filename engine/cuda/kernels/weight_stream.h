// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weights of a program's products as they come to one warp, through a ring of its own in shared memory.
// As soon as the warp has read a piece, it asks for the one that is as far ahead as the ring has places: of
// the same product, or of one after it, whatever barriers lie between. Of two tiles that a block takes at
// once, pieces come in turn. What a product's pieces are is in
// shared memory: a warp that waits for a number from device memory asks for nothing meanwhile.
//
// No warp waits for another here. A separate warp that copies for all others would be the ninth: one quarter
// of a multiprocessor's registers would have to serve three warps instead of two, which would leave a thread
// 168 registers instead of 255.

#include "device.h"
#include "program_params.h"

namespace draftscope::engine::cuda {

/// The products of a program's launch, in order; in shared memory. Places there are offsets, for the compiler
/// would not know a pointer to be one to it.
struct StreamedProducts {
  std::int32_t tiles;  ///< place of the first one's StreamedTiles
  std::int32_t n;
  std::int32_t of_step;       ///< the first ones, which are a draft step's; 0 = there is no loop
  std::int32_t draft_length;  ///< the length that a draft is taken to have
};

/// Plain numbers that are the same in all lanes. Between products one lane stores them in shared memory.
class WeightStream {
 public:
  /// `products` in shared memory; `filled` and `ring`: the warp's own there, of as many places. By all lanes.
  /// Asks for the first pieces.
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
  /// The next piece, or the one after it, once it is there.
  DRAFTSCOPE_DEVICE const std::byte* take(int after = 0) {
    const bool wraps = taken_place_ + after >= shape_.places;
    const int place = taken_place_ + after - (wraps ? shape_.places : 0);
    wait_for_phase(filled(place), taken_parity_ ^ (wraps ? 1U : 0U));
    return shared_memory() + ring_ + place * shape_.place_bytes;
  }
  /// Gives back `pieces` pieces that were taken, once each lane has read what it needs.
  DRAFTSCOPE_DEVICE void give_back(int pieces) {
    synchronise_lanes();
    for (int i = 0; i < pieces; ++i) {
      advance();
      copy();
    }
  }

  /// To be called where a draft ended sooner than it might have: drops the pieces that were asked for, and
  /// goes on after them.
  DRAFTSCOPE_DEVICE void end_draft() {
    forget();
    of_turn_ = 0;
    runs_left_ = 0;
    turns_left_ = 0;
    product_ = products().of_step;
    steps_ = products().draft_length;
    fill();
  }
  /// Waits until no copy is on its way.
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

  /// Asks for the next piece, if there is one left; the place that it goes to is free.
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

  int products_, filled_, ring_;  ///< places in shared memory
  RingShape shape_;
  // The end that pieces are taken from.
  int taken_place_;
  unsigned taken_parity_;
  int under_way_;
  // The end that pieces are copied to.
  int copied_place_;
  int of_turn_;    ///< number of the next piece's tile among those that a block takes at once
  int runs_left_;  ///< runs of those tiles that are still to be asked for
  int part_bytes_, tile_bytes_;
  int together_;
  const std::byte* from_;  ///< the first tile's next piece
  int runs_of_tile_;
  int turns_left_;
  const std::byte* tile_;  ///< first tile of the next turn
  std::int64_t tile_step_;
  int product_;  ///< the next one
  int steps_;    ///< draft steps before it
};

}  // namespace draftscope::engine::cuda
