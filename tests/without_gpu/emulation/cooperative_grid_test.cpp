// SPDX-License-Identifier: GPL-3.0-or-later
// The emulated device with a grid whose blocks run at the same time: asynchronous copies, barriers that count
// them, and barriers of the whole grid.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "block_emulation.h"

#include "cuda/kernels/device.h"

namespace draftscope::engine::cuda::emulation {
namespace {

constexpr std::uint32_t seeds = 24;

/// Runs a cooperative grid to its end; returns the text of an exception, or an empty string.
std::string run_together(const Grid& grid, const std::function<void()>& body, std::uint32_t seed) {
  try {
    GridRun run(grid, body, seed);
    while (run.go_on()) {
    }
  } catch (const std::logic_error& fault) {
    return fault.what();
  }
  return "";
}

Grid together(int blocks, int threads = 32, std::size_t shared_bytes = 1024) {
  return {.blocks = blocks, .threads = threads, .shared_bytes = shared_bytes, .is_cooperative = true};
}

std::string fault_of(const std::function<void()>& body, int blocks = 1) {
  return run_together(together(blocks), body, 1);
}

/// Shared memory of the small kernels.
struct Shared {
  std::byte bytes[256];
  CopyBarrier filled[3];
  bool is_abandoned;
};
Shared& shared() {
  return *reinterpret_cast<Shared*>(shared_memory());
}

void init(CopyBarrier& barrier, unsigned arrivals) {
  if (thread_index() == 0) init_barrier(&barrier, arrivals);
  synchronise();
}

alignas(16) const int source[8] = {1, 2, 3, 4, 5, 6, 7, 8};
const std::byte* source_bytes() {
  return reinterpret_cast<const std::byte*>(source);
}
int shared_word(int i) {
  int word;
  std::memcpy(&word, shared().bytes + i * 4, 4);
  return word;
}

TEST(CooperativeGrid, FindsAPiecesBytesAfterItsPhaseAndMostlyNotBefore) {
  std::set<int> before;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(run_together(
                  together(1),
                  [&] {
                    std::memset(shared().bytes, 0, sizeof shared().bytes);
                    init(shared().filled[0], piece_arrivals);
                    begin_piece(shared().bytes, source_bytes(), 32, shared().filled);
                    before.insert(shared_word(7));
                    synchronise_lanes();
                    before.insert(shared_word(7));
                    wait_for_phase(shared().filled, 0);
                    EXPECT_EQ(shared_word(0), 1);
                    EXPECT_EQ(shared_word(7), 8);
                    wait_for_phase(shared().filled, 0);
                  },
                  seed),
              "");
  EXPECT_EQ(before, (std::set<int>{-1, 8}));
}

/// When a warp refills a place of its ring with the next piece.
enum class Refill { after_all_lanes_read, before_they_read, before_the_wait };

/// Rings of three places, one per warp, through which twenty pieces pass.
class Rings {
 public:
  static constexpr int places = 3;
  static constexpr int pieces = 20;
  static constexpr int words = 4;
  static constexpr int warps = 2;

  explicit Rings(Refill refill) : refill_(refill) {
    for (int i = 0; i < pieces * words; ++i) from_[static_cast<std::size_t>(i)] = 100 + i;
  }

  std::string run(std::uint32_t seed) {
    wrong_ = 0;
    return run_together(
        together(2, warps * warp_threads), [this] { work(); }, seed);
  }
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  struct Ring {
    CopyBarrier filled[places];
    alignas(16) std::byte bytes[places * words * 4];
  };
  static Ring& ring() { return reinterpret_cast<Ring*>(shared_memory())[thread_index() / warp_threads]; }
  void begin(int piece) const {
    if (piece >= pieces) return;
    const int place = piece % places;
    begin_piece(ring().bytes + place * 16, reinterpret_cast<const std::byte*>(&from_[piece * words]), 16,
                &ring().filled[place]);
  }
  void work() {
    if (const int lane = thread_index() % warp_threads; lane < places)
      init_barrier(&ring().filled[lane], piece_arrivals);
    synchronise();
    for (int piece = 0; piece < places; ++piece) begin(piece);
    for (int piece = 0; piece < pieces; ++piece) {
      if (refill_ == Refill::before_the_wait) begin(piece + places);
      wait_for_phase(&ring().filled[piece % places], static_cast<unsigned>(piece / places) % 2);
      if (refill_ == Refill::before_they_read) begin(piece + places);
      for (int i = 0; i < words; ++i) {
        int word;
        std::memcpy(&word, ring().bytes + (piece % places * words + i) * 4, 4);
        if (word != 100 + piece * words + i) ++wrong_;
      }
      synchronise_lanes();
      if (refill_ == Refill::after_all_lanes_read) begin(piece + places);
      if (piece % 7 == 0) synchronise();
    }
  }

  Refill refill_;
  int wrong_ = 0;
  alignas(16) std::array<int, pieces * words> from_{};
};

TEST(CooperativeGrid, TakesPiecesThroughRings) {
  Rings rings(Refill::after_all_lanes_read);
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_EQ(rings.run(seed), "");
    EXPECT_EQ(rings.wrong(), 0);
  }
}

TEST(CooperativeGrid, ShowsRingsWhosePlacesAreFilledTooEarly) {
  Rings before_reads(Refill::before_they_read);
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_EQ(before_reads.run(seed), "");
    EXPECT_GT(before_reads.wrong(), 0);
    EXPECT_EQ(Rings(Refill::before_the_wait).run(seed),
              "kernel emulation: a piece is begun where another one comes that nobody has waited for");
  }
}

TEST(CooperativeGrid, BringsPiecesInAnyOrder) {
  std::set<std::array<bool, 3>> seen;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed)
    run_together(
        together(1),
        [&] {
          for (CopyBarrier& barrier : shared().filled) init(barrier, piece_arrivals);
          for (int i = 0; i < 3; ++i)
            begin_piece(shared().bytes + i * 16, source_bytes(), 16, &shared().filled[i]);
          wait_for_phase(&shared().filled[seed % 3], 0);
          seen.insert({shared_word(0) == 1, shared_word(4) == 1, shared_word(8) == 1});
          for (CopyBarrier& barrier : shared().filled) wait_for_phase(&barrier, 0);
        },
        seed);
  // Each piece is seen alone, and together with others.
  EXPECT_GE(seen.size(), 6U);
}

TEST(CooperativeGrid, EndsAPhaseWithTheLastOfItsPieces) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(run_together(
                  together(1),
                  [] {
                    init(shared().filled[0], 2 * piece_arrivals);
                    wait_for_phase(shared().filled, 1);  // As if a phase had come before the first.
                    for (int phase = 0; phase < 3; ++phase) {
                      for (int piece = 0; piece < 2; ++piece)
                        begin_piece(shared().bytes + piece * 16, source_bytes() + piece * 16, 16,
                                    shared().filled);
                      wait_for_phase(shared().filled, static_cast<unsigned>(phase % 2));
                      EXPECT_EQ(shared_word(0), 1);
                      EXPECT_EQ(shared_word(4), 5);
                      synchronise_lanes();
                    }
                  },
                  seed),
              "");
}

TEST(CooperativeGrid, RefusesWrongCopies) {
  const auto begin = [](int to, int from, unsigned bytes) {
    return fault_of([=] {
      init(shared().filled[0], piece_arrivals);
      std::byte* const place = shared().bytes;
      begin_piece(place + to, source_bytes() + from, bytes, shared().filled);
      wait_for_phase(shared().filled, 0);
    });
  };
  EXPECT_EQ(begin(16, 16, 16), "");
  EXPECT_EQ(begin(8, 0, 16), "kernel emulation: a piece is not aligned to 16 bytes");
  EXPECT_EQ(begin(0, 8, 16), "kernel emulation: a piece is not aligned to 16 bytes");
  EXPECT_EQ(begin(0, 0, 8), "kernel emulation: a piece is not a multiple of 16 bytes");
  EXPECT_EQ(begin(0, 0, 0), "kernel emulation: a piece is not a multiple of 16 bytes");
  EXPECT_EQ(begin(1024, 0, 16), "kernel emulation: a piece goes elsewhere than to the block's shared memory");
  EXPECT_EQ(fault_of([] {
              init(shared().filled[0], piece_arrivals);
              begin_piece(shared().bytes + thread_index() / 16 * 16, source_bytes(), 16, shared().filled);
            }),
            "kernel emulation: lanes of a warp begin different pieces");
}

TEST(CooperativeGrid, MustWaitForItsPieces) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(
        run_together(
            together(1),
            [] {
              init(shared().filled[0], piece_arrivals);
              begin_piece(shared().bytes, source_bytes(), 16, shared().filled);
              synchronise();
            },
            seed),
        "kernel emulation: a block ends while a piece is under way, or has come and nobody waited for it");
}

TEST(CooperativeGrid, RefusesWrongUsesOfItsBarriers) {
  constexpr const char* uninitialised = "kernel emulation: a barrier for copies was not initialised";
  EXPECT_EQ(fault_of([] { wait_for_phase(shared().filled, 1); }), uninitialised);
  EXPECT_EQ(fault_of([] { begin_piece(shared().bytes, source_bytes(), 16, shared().filled); }),
            uninitialised);
  EXPECT_EQ(fault_of([] { init_barrier(shared().filled, 1); }),
            "kernel emulation: a barrier for copies is initialised twice");
  EXPECT_EQ(fault_of([] {
              if (thread_index() == 0) init_barrier(shared().filled, 0);
            }),
            "kernel emulation: a barrier for copies takes no or too many arrivals");
  EXPECT_EQ(fault_of([] {
              init(shared().filled[0], piece_arrivals);
              for (int piece = 0; piece < 2; ++piece)
                begin_piece(shared().bytes + piece * 16, source_bytes(), 16, shared().filled);
            }),
            "kernel emulation: a phase of a barrier for copies has more arrivals than it takes");
  GridRun other({.blocks = 1, .threads = 32, .shared_bytes = 64},
                [] { init_barrier(reinterpret_cast<CopyBarrier*>(shared_memory()), 1); });
  EXPECT_THROW(other.go_on(), std::logic_error);
}

TEST(CooperativeGrid, LetsBlocksGoOnInsideBarrierIntervals) {
  std::set<std::vector<int>> orders;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    std::vector<int> order;
    run_together(
        together(3),
        [&] {
          for (int i = 0; i < 8; ++i) {
            if (thread_index() == 0) order.push_back(block_index());
            synchronise_lanes();
          }
        },
        seed);
    EXPECT_EQ(order.size(), 24U);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), seeds / 2);
}

/// A barrier of the whole grid; false if a block gives up.
bool synchronise_grid(unsigned& counter, unsigned round) {
  synchronise();
  if (thread_index() == 0) {
    arrive(&counter, 1);
    shared().is_abandoned = !wait_for_arrivals(&counter, round * static_cast<unsigned>(block_count()));
  }
  synchronise();
  return !shared().is_abandoned;
}

TEST(CooperativeGrid, MeetsInEachRoundOfABarrierOfTheGrid) {
  constexpr int blocks = 4;
  constexpr unsigned rounds = 6;
  std::set<bool> are_all_there_before;
  std::set<bool> are_all_there;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    unsigned counter = 0xfffffff0U;  // The counter wraps around.
    const unsigned begin = counter / blocks;
    unsigned written[blocks] = {};
    EXPECT_EQ(run_together(
                  together(blocks, 64),
                  [&] {
                    for (unsigned round = 1; round <= rounds; ++round) {
                      if (thread_index() == 40) ++written[block_index()];
                      are_all_there_before.insert(std::count(written, written + blocks, round) == blocks);
                      are_all_there.insert(synchronise_grid(counter, begin + 2 * round - 1));
                      are_all_there.insert(std::count(written, written + blocks, round) == blocks);
                      are_all_there.insert(synchronise_grid(counter, begin + 2 * round));
                    }
                  },
                  seed),
              "");
  }
  EXPECT_EQ(are_all_there_before, (std::set<bool>{false, true}));
  EXPECT_EQ(are_all_there, (std::set<bool>{true}));
}

TEST(CooperativeGrid, EndsWaitsForArrivalsThatCannotCome) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    unsigned counter = 0;
    std::vector<bool> arrived;
    EXPECT_EQ(run_together(
                  together(3, 64),
                  [&] {
                    // One block never arrives.
                    if (block_index() != 1) arrived.push_back(synchronise_grid(counter, 1));
                  },
                  seed),
              "");
    EXPECT_EQ(arrived, std::vector<bool>(std::size_t{2} * 64, false));
  }
}

TEST(CooperativeGrid, SaysWhatItsThreadsWaitForIfNoneCanGoOn) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const std::string fault = run_together(
        together(2, 96),
        [] {
          init(shared().filled[0], piece_arrivals);
          if (block_index() == 1) return synchronise();
          if (thread_index() == 64) return synchronise_lanes();
          if (thread_index() > 64) return wait_for_phase(shared().filled, 0);
          if (thread_index() != 9) synchronise();
        },
        seed);
    EXPECT_EQ(
        fault,
        "kernel emulation: no thread of the grid can go on: block 0: of 96 threads 1 wait for lanes of "
        "their warp, 63 wait for all threads of the block, 31 wait for a phase of a barrier for copies");
  }
}

}  // namespace
}  // namespace draftscope::engine::cuda::emulation
