// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/grid_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "run/fault.h"
#include "run/special_registers.h"
#include "run/warp_run.h"

namespace draftscope::ptx {

namespace {

constexpr std::size_t blocks_at_once = 4;
constexpr std::uint64_t max_turn = 4096;  // instructions that a warp runs before another may

void put_constant(Warp& warp, const Constant& constant) {
  warp.words[constant.slot] = all_lanes;
  auto* const to = reinterpret_cast<std::byte*>(warp.words.data() + constant.slot + slot_header);
  if (constant.bytes == 0) {
    std::memcpy(to, &constant.bits, sizeof(Mask));
    return;
  }
  for (std::size_t i = 0; i < warp_lanes; ++i)
    std::memcpy(to + i * constant.bytes, &constant.bits, constant.bytes);
}

void put_special(Warp& warp, const Special& special) {
  warp.words[special.slot] = all_lanes;
  auto* const to = reinterpret_cast<std::byte*>(warp.words.data() + special.slot + slot_header);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t bits = special_value(special.name, warp, lane);
    std::memcpy(to + static_cast<std::size_t>(lane) * special.bytes, &bits, special.bytes);
  }
}

class GridRun {
 public:
  GridRun(Grid& grid, const Schedule& schedule) : grid_(grid), schedule_(schedule), order_(schedule.seed) {}

  Result<void> run() {
    std::vector<std::uint64_t> to_start(grid_.blocks.count());
    std::iota(to_start.begin(), to_start.end(), std::uint64_t{0});
    std::shuffle(to_start.begin(), to_start.end(), order_);
    std::vector<std::unique_ptr<Block>> running;
    while (!to_start.empty() || !running.empty()) {
      while (!to_start.empty() && running.size() < blocks_at_once) {
        running.push_back(started(to_start.back()));
        to_start.pop_back();
      }
      const std::size_t drawn = order_() % running.size();
      DRAFTSCOPE_TRY(run_block(*running[drawn]));
      if (!is_over(*running[drawn])) continue;
      free_.push_back(std::move(running[drawn]));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(drawn));
    }
    return {};
  }

 private:
  std::unique_ptr<Block> started(std::uint64_t index) {
    const Program& program = *grid_.program;
    const auto threads = static_cast<std::size_t>(grid_.threads.count());
    std::unique_ptr<Block> block;
    const bool is_new = free_.empty();
    if (is_new) {
      block = std::make_unique<Block>();
      block->warps.resize((threads + warp_lanes - 1) / warp_lanes);
    } else {
      block = std::move(free_.back());
      free_.pop_back();
    }
    block->grid = &grid_;
    block->index = index;
    block->x = static_cast<std::uint32_t>(index % grid_.blocks.x);
    block->y = static_cast<std::uint32_t>(index / grid_.blocks.x % grid_.blocks.y);
    block->z = static_cast<std::uint32_t>(index / grid_.blocks.x / grid_.blocks.y);
    block->shared = SharedMemory(grid_.shared_bytes);
    block->local.assign(threads * program.local_bytes, std::byte{0xff});
    block->local_written.assign(threads * program.local_bytes, 0);
    for (std::size_t i = 0; i < block->warps.size(); ++i) {
      Warp& warp = block->warps[i];
      warp.block = block.get();
      warp.index = static_cast<int>(i);
      const std::size_t left = threads - i * warp_lanes;
      warp.live = left >= warp_lanes ? all_lanes : (Mask{1} << left) - 1;
      warp.has_waited = 0;
      warp.carry_written = 0;
      warp.copies.clear();
      warp.groups = {{warp.live, 0}};
      if (is_new) {
        warp.words.assign(program.words, 0);
        for (const Constant& constant : program.constants) put_constant(warp, constant);
      }
      for (const Slot slot : program.register_slots) warp.words[slot] = warp.words[slot + 1] = 0;
      for (const Special& special : program.specials) put_special(warp, special);
    }
    return block;
  }

  static bool is_over(const Block& block) {
    return std::all_of(block.warps.begin(), block.warps.end(),
                       [](const Warp& warp) { return warp.live == 0; });
  }

  /// Runs a block up to its next barrier, its end, or for a turn of each warp.
  Result<void> run_block(Block& block) {
    std::vector<std::size_t> warps(block.warps.size());
    std::iota(warps.begin(), warps.end(), std::size_t{0});
    std::shuffle(warps.begin(), warps.end(), order_);
    bool progress = false;
    for (const std::size_t index : warps) {
      Warp& warp = block.warps[index];
      if (!can_go_on(warp)) continue;
      progress = true;
      Position position;
      try {
        steps_ += run_warp(warp, 1 + order_() % max_turn, order_, position);
      } catch (const Fault& fault) {
        return described(block, warp, position, fault);
      }
      if (steps_ > schedule_.max_steps) {
        const auto at = warp.groups.empty() ? position.step : warp.groups.front().at;
        return described(block, warp, {at},
                         {0, fmt::format("no end after {} instructions, expected one", schedule_.max_steps)});
      }
    }
    return progress ? Result<void>() : pass_barrier(block);
  }

  /// Nobody goes on by itself: all must wait at the block's barrier.
  Result<void> pass_barrier(Block& block) {
    const Program& program = *grid_.program;
    const Warp* first = nullptr;
    std::int32_t first_at = -1;
    for (const Warp& warp : block.warps) {
      Position position;
      try {
        const std::int32_t at = barrier_of(warp, position);
        if (at < 0) continue;
        if (first == nullptr) {
          first = &warp;
          first_at = at;
        } else if (program.steps[static_cast<std::size_t>(at)].option !=
                   program.steps[static_cast<std::size_t>(first_at)].option) {
          raise(__builtin_ctz(warp.live),
                "a warp waits at barrier {} and another at barrier {}, expected all at one",
                program.steps[static_cast<std::size_t>(at)].option,
                program.steps[static_cast<std::size_t>(first_at)].option);
        }
      } catch (const Fault& fault) {
        return described(block, warp, position, fault);
      }
    }
    for (Warp& warp : block.warps) leave_barrier(warp);
    block.shared.begin_epoch();
    if (grid_.counts != nullptr) ++grid_.counts->totals.barriers;
    return {};
  }

  Result<void> described(const Block& block, const Warp& warp, const Position& position,
                         const Fault& fault) const {
    const Instruction& instruction =
        grid_.program->entry->instructions[static_cast<std::size_t>(position.step)];
    return fail("{}: PTX line {} ({}{}), block {}, thread {}: {}", grid_.program->name.substr(0, 80),
                instruction.line, instruction.spelling.substr(0, 40), source_text(instruction.source),
                block.index, warp.index * warp_lanes + fault.lane, fault.what);
  }

  /// ", attention.h:210" where the module says which line of source an instruction comes from.
  std::string source_text(const SourceLine& source) const {
    const auto found = grid_.program->module->source_files.find(source.file);
    if (found == grid_.program->module->source_files.end()) return {};
    return fmt::format(", {}:{}", found->second.substr(found->second.rfind('/') + 1), source.line);
  }

  Grid& grid_;
  Schedule schedule_;
  Order order_;
  std::uint64_t steps_ = 0;
  std::vector<std::unique_ptr<Block>> free_;
};

}  // namespace

Result<void> run_grid(Grid& grid, const Schedule& schedule) {
  return GridRun(grid, schedule).run();
}

}  // namespace draftscope::ptx
