// SPDX-License-Identifier: GPL-3.0-or-later
// What the emulated device does with a grid whose blocks are under way at once: copies that arrive by
// themselves, barriers that count them, and barriers of the whole grid.

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

/// Runs a cooperative grid to its end; the line of what was thrown, or none.
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
  CopyBarrier emptied[3];
  unsigned given_up;
};
Shared& shared() {
  return *reinterpret_cast<Shared*>(shared_memory());
}

void init(CopyBarrier& barrier, unsigned arrivals) {
  if (thread_index() == 0) init_barrier(&barrier, arrivals);
  if (thread_index() == 0) shared().given_up = 0;
  synchronise_block();
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
                    EXPECT_TRUE(wait_for_phase(shared().filled, 0, &shared().given_up));
                    EXPECT_EQ(shared_word(0), 1);
                    EXPECT_EQ(shared_word(7), 8);
                    EXPECT_TRUE(wait_for_phase(shared().filled, 0, &shared().given_up));
                  },
                  seed),
              "");
  EXPECT_EQ(before, (std::set<int>{-1, 8}));
}

/// A ring of three stages through which a warp copies twenty pieces for eight that compute.
class Ring {
 public:
  static constexpr int stages = 3;
  static constexpr int pieces = 20;
  static constexpr int words = 4;

  explicit Ring(bool waits_for_emptied = true, bool arrives_late = true)
      : waits_for_emptied_(waits_for_emptied), arrives_late_(arrives_late) {
    for (int i = 0; i < pieces * words; ++i) from_[static_cast<std::size_t>(i)] = 100 + i;
  }

  std::string run(std::uint32_t seed) {
    wrong_ = 0;
    return run_together(
        together(2, 288), [this] { work(); }, seed);
  }
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  void work() {
    if (thread_index() == 0)
      for (int stage = 0; stage < stages; ++stage) {
        init_barrier(&shared().filled[stage], piece_arrivals);
        init_barrier(&shared().emptied[stage], static_cast<unsigned>(block_threads()));
      }
    if (thread_index() == 0) shared().given_up = 0;
    synchronise_block();
    if (thread_index() < block_threads())
      compute();
    else
      copy();
  }
  void copy() const {
    for (int piece = 0; piece < pieces; ++piece) {
      const int stage = piece % stages;
      const unsigned turn = static_cast<unsigned>(piece / stages) % 2;
      if (waits_for_emptied_) wait_for_phase(&shared().emptied[stage], 1 - turn, &shared().given_up);
      begin_piece(shared().bytes + stage * 16, reinterpret_cast<const std::byte*>(&from_[piece * words]), 16,
                  &shared().filled[stage]);
    }
  }
  void compute() {
    for (int piece = 0; piece < pieces; ++piece) {
      const int stage = piece % stages;
      const unsigned turn = static_cast<unsigned>(piece / stages) % 2;
      EXPECT_TRUE(wait_for_phase(&shared().filled[stage], turn, &shared().given_up));
      if (!arrives_late_) arrive_at(&shared().emptied[stage]);
      for (int i = 0; i < words; ++i)
        if (shared_word(stage * words + i) != 100 + piece * words + i) ++wrong_;
      if (arrives_late_) arrive_at(&shared().emptied[stage]);
      if (piece % 7 == 0) synchronise();
    }
  }

  bool waits_for_emptied_;
  bool arrives_late_;
  int wrong_ = 0;
  alignas(16) std::array<int, pieces * words> from_{};
};

TEST(CooperativeGrid, TakesPiecesThroughARing) {
  Ring ring;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_EQ(ring.run(seed), "");
    EXPECT_EQ(ring.wrong(), 0);
  }
}

TEST(CooperativeGrid, ShowsARingWhoseStagesAreFilledOrEmptiedTooEarly) {
  int early = 0;
  int faults = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    Ring arrives_early(true, false);
    if (!arrives_early.run(seed).empty() || arrives_early.wrong() != 0) ++early;
    if (!Ring(false).run(seed).empty()) ++faults;
  }
  EXPECT_GT(early, static_cast<int>(seeds) / 2);
  EXPECT_EQ(faults, static_cast<int>(seeds));
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
          wait_for_phase(&shared().filled[seed % 3], 0, &shared().given_up);
          seen.insert({shared_word(0) == 1, shared_word(4) == 1, shared_word(8) == 1});
          for (CopyBarrier& barrier : shared().filled) wait_for_phase(&barrier, 0, &shared().given_up);
        },
        seed);
  // Each piece alone, and with others.
  EXPECT_GE(seen.size(), 6U);
}

TEST(CooperativeGrid, EndsAPhaseWithItsLastArrivalOrByte) {
  std::vector<int> ended;
  const auto look = [&](CopyBarrier& barrier) {
    unsigned given_up = 1;
    for (unsigned parity : {0U, 1U}) ended.push_back(wait_for_phase(&barrier, parity, &given_up) ? 1 : 0);
  };
  EXPECT_EQ(fault_of([&] {
              CopyBarrier& barrier = shared().filled[0];
              init(barrier, 2);
              if (thread_index() != 0) return;
              look(barrier);
              arrive_at(&barrier);
              look(barrier);
              arrive_at(&barrier);
              look(barrier);
              arrive_at(&barrier);
              arrive_at(&barrier);
              look(barrier);
            }),
            "");
  EXPECT_EQ(ended, (std::vector<int>{0, 1, 0, 1, 1, 0, 0, 1}));
}

TEST(CooperativeGrid, LeavesAWaitForAPhaseOnceItIsGivenUp) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(run_together(
                  together(1, 64),
                  [&] {
                    init(shared().filled[0], 1);
                    if (thread_index() < warp_threads) {
                      EXPECT_FALSE(wait_for_phase(shared().filled, 0, &shared().given_up));
                      return;
                    }
                    synchronise_lanes();
                    shared().given_up = 1;
                  },
                  seed),
              "");
}

TEST(CooperativeGrid, RefusesWrongCopies) {
  const auto begin = [](int to, int from, unsigned bytes) {
    return fault_of([=] {
      init(shared().filled[0], piece_arrivals);
      begin_piece(shared().bytes + to, source_bytes() + from, bytes, shared().filled);
      wait_for_phase(shared().filled, 0, &shared().given_up);
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
  EXPECT_EQ(fault_of([] { wait_for_phase(shared().filled, 1, &shared().given_up); }), uninitialised);
  EXPECT_EQ(fault_of([] { arrive_at(shared().filled); }), uninitialised);
  EXPECT_EQ(fault_of([] { begin_piece(shared().bytes, source_bytes(), 16, shared().filled); }),
            uninitialised);
  EXPECT_EQ(fault_of([] { init_barrier(shared().filled, 1); }),
            "kernel emulation: a barrier for copies is initialised twice");
  EXPECT_EQ(fault_of([] {
              if (thread_index() == 0) init_barrier(shared().filled, 0);
            }),
            "kernel emulation: a barrier for copies takes no or too many arrivals");
  // The piece alone ends the phase, some time after the warp has gone on.
  const auto arrives_twice = [](std::uint32_t seed) {
    return run_together(
        together(1),
        [] {
          init(shared().filled[0], piece_arrivals);
          begin_piece(shared().bytes, source_bytes(), 16, shared().filled);
          if (thread_index() == 0) arrive_at(shared().filled);
          wait_for_phase(shared().filled, 0, &shared().given_up);
        },
        seed);
  };
  EXPECT_EQ(arrives_twice(1),
            "kernel emulation: a phase of a barrier for copies has more arrivals than it takes");
  EXPECT_EQ(run_together(
                together(1, 288), [] { synchronise(); }, 1),
            "kernel emulation: a thread that copies reaches a barrier of those that compute");
  EXPECT_THROW(GridRun({.may_start_early = true, .is_cooperative = true}, [] {}), std::logic_error);
  GridRun other({.blocks = 1, .threads = 32, .shared_bytes = 64},
                [] { init_barrier(reinterpret_cast<CopyBarrier*>(shared_memory()), 1); });
  other.let_through();
  EXPECT_THROW(other.go_on(), std::logic_error);
}

TEST(CooperativeGrid, CountsItsComputingThreads) {
  std::set<int> counts;
  std::set<int> passed;
  EXPECT_EQ(run_together(
                together(2, 288),
                [&] {
                  counts.insert(block_threads());
                  if (thread_index() >= block_threads()) return;
                  synchronise();
                  passed.insert(thread_index());
                },
                1),
            "");
  EXPECT_EQ(counts, (std::set<int>{256}));
  EXPECT_EQ(passed.size(), 256U);
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
    if (!wait_for_arrivals(&counter, round * static_cast<unsigned>(block_count()))) shared().given_up = 1;
  }
  synchronise();
  return shared().given_up == 0;
}

TEST(CooperativeGrid, MeetsInEachRoundOfABarrierOfTheGrid) {
  constexpr int blocks = 4;
  constexpr unsigned rounds = 6;
  std::set<bool> are_all_there_before;
  std::set<bool> are_all_there;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    unsigned counter = 0xfffffff0U;  // it wraps
    const unsigned begin = counter / blocks;
    unsigned written[blocks] = {};
    EXPECT_EQ(run_together(
                  together(blocks, 64),
                  [&] {
                    if (thread_index() == 0) shared().given_up = 0;
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
                  together(3, 288),
                  [&] {
                    if (thread_index() == 0) init_barrier(shared().filled, 1);
                    if (thread_index() == 0) shared().given_up = 0;
                    synchronise_block();
                    if (thread_index() >= block_threads())
                      EXPECT_FALSE(wait_for_phase(shared().filled, 0, &shared().given_up));
                    else if (block_index() != 1)  // one block never comes
                      arrived.push_back(synchronise_grid(counter, 1));
                    else
                      shared().given_up = 1;
                  },
                  seed),
              "");
    EXPECT_EQ(arrived, std::vector<bool>(std::size_t{2} * 256, false));
  }
}

TEST(CooperativeGrid, SaysWhatItsThreadsWaitForIfNoneCanGoOn) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const std::string fault = run_together(
        together(2, 288),
        [] {
          if (thread_index() == 0) init_barrier(shared().filled, 1);
          if (thread_index() == 0) shared().given_up = 0;
          synchronise_block();
          if (block_index() == 1)
            synchronise_block();
          else if (thread_index() == 256)
            synchronise_lanes();
          else if (thread_index() > 256)
            wait_for_phase(shared().filled, 0, &shared().given_up);
          else if (thread_index() != 9)
            synchronise();
        },
        seed);
    EXPECT_EQ(
        fault,
        "kernel emulation: no thread of the grid can go on: block 0: of 288 threads 1 wait for lanes of "
        "their warp, 255 wait for the computing threads, 31 wait for a phase of a barrier for copies");
  }
}

}  // namespace
}  // namespace draftscope::engine::cuda::emulation
