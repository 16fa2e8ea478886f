// SPDX-License-Identifier: GPL-3.0-or-later
#include "program_timeline.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <algorithm>
#include <utility>

namespace draftscope::engine::cuda {

void ClockDifference::add(std::int64_t before_ns, std::int64_t after_ns, std::int64_t first_there_ns,
                          std::int64_t last_there_ns) {
  constexpr std::int64_t kept_ns = 1'000'000'000;  // Clocks drift by some microseconds per second.
  const std::int64_t low = before_ns - first_there_ns;
  const std::int64_t high = after_ns - last_there_ns;
  const bool contradicts = low > high_ns_ || high < low_ns_;
  if (!begin_ns_ || contradicts || before_ns - *begin_ns_ > kept_ns) {
    begin_ns_ = before_ns;
    low_ns_ = low;
    high_ns_ = std::max(low, high);
    return;
  }
  low_ns_ = std::max(low_ns_, low);
  high_ns_ = std::min(high_ns_, high);
}

Result<void> ProgramTimeline::begin(std::vector<NotedOperation> entries, std::int32_t operations,
                                    std::int32_t blocks, std::int32_t keys, std::int64_t cache_bytes) {
  const std::size_t needed = to_size(operations);
  if (needed > room_) {
    memory_ = {};
    room_ = 0;
    DRAFTSCOPE_TRY_ASSIGN(memory_,
                          DeviceMemory::allocate(
                              gpu_, needed * (sizeof(std::int32_t) + to_size(blocks) * sizeof(OperationTime)),
                              "times of operations"));
    room_ = needed;
  }
  stride_ = blocks;
  auto* const ran = memory_.data() + room_ * to_size(blocks) * sizeof(OperationTime);
  DRAFTSCOPE_TRY(gpu_.clear(ran, needed * sizeof(std::int32_t)));
  Program& program = programs_.emplace_back();
  program.entries = std::move(entries);
  program.launched_ns = now_ns();
  program.keys = keys;
  program.cache_bytes = cache_bytes;
  return {};
}

Timeline ProgramTimeline::next(std::int32_t operations, std::int32_t blocks) {
  std::vector<Launch>& launches = programs_.back().launches;
  const std::int32_t first = launches.empty() ? 0 : launches.back().first + launches.back().operations;
  launches.push_back({first, operations, blocks});
  auto* const times = reinterpret_cast<OperationTime*>(memory_.data());
  auto* const ran = reinterpret_cast<std::int32_t*>(times + room_ * to_size(stride_));
  return {ran + first, times + to_size(first) * to_size(stride_)};
}

Result<void> ProgramTimeline::end() {
  Program& program = programs_.back();
  const Launch& last = program.launches.back();
  const std::size_t operations = to_size(last.first + last.operations);
  program.ran.resize(operations);
  program.times.resize(operations * to_size(stride_));
  DRAFTSCOPE_TRY(
      gpu_.download(program.times.data(), memory_.data(), program.times.size() * sizeof(OperationTime)));
  return gpu_.download(program.ran.data(), memory_.data() + room_ * to_size(stride_) * sizeof(OperationTime),
                       program.ran.size() * sizeof(std::int32_t));
}

void ProgramTimeline::report() {
  const std::int64_t waited_ns = now_ns();
  for (const Program& program : programs_) report(program, waited_ns);
  programs_.clear();
}

void ProgramTimeline::report(const Program& program, std::int64_t waited_ns) {
  rows_.clear();
  std::int32_t steps = 0;  // Steps of the draft.
  const auto signed_time = [](std::uint64_t time) { return static_cast<std::int64_t>(time); };
  for (const Launch& launch : program.launches)
    for (std::int32_t n = 0; n < launch.operations; ++n) {
      const std::int32_t entry = program.ran[to_size(launch.first + n)] - 1;
      if (entry < 0) break;
      const NotedOperation& noted = program.entries[to_size(entry)];
      if (entry == 0 && noted.phase == traces::Phase::draft) ++steps;
      // A launch's times are [operation][block], with its own number of blocks.
      const OperationTime* const times = program.times.data() + to_size(launch.first) * to_size(stride_) +
                                         to_size(n) * to_size(launch.blocks);
      profiler::TimedOperation row{.name = noted.name, .layer = noted.layer, .phase = noted.phase};
      std::int64_t ends = 0;
      row.start_ns = signed_time(times[0].begin_ns);
      row.block_start_ns = row.start_ns;
      row.end_ns = row.first_end_ns = row.block_end_ns = signed_time(times[0].end_ns);
      for (std::int32_t block = 0; block < launch.blocks; ++block) {
        const std::int64_t end = signed_time(times[block].end_ns);
        row.start_ns = std::min(row.start_ns, signed_time(times[block].begin_ns));
        if (end < row.first_end_ns) row.first_end_ns = end, row.first_block = block;
        if (end > row.end_ns) row.end_ns = end, row.last_block = block;
        ends += end - signed_time(times[0].end_ns);
      }
      row.blocks = launch.blocks;
      row.wait_ns = row.end_ns - signed_time(times[0].end_ns) - ends / launch.blocks;
      const std::int64_t drafted = noted.phase == traces::Phase::draft ? steps - 1 : steps;
      row.bytes = noted.weight_bytes;
      if (noted.reads_cache) row.bytes += (program.keys + drafted) * program.cache_bytes;
      rows_.push_back(row);
    }
  if (rows_.empty()) return;
  clock_.add(program.launched_ns, waited_ns, rows_.front().start_ns, rows_.back().end_ns);
  for (profiler::TimedOperation& row : rows_)
    for (std::int64_t* const time :
         {&row.start_ns, &row.end_ns, &row.first_end_ns, &row.block_start_ns, &row.block_end_ns})
      *time = clock_.here(*time);
  trace_.add_operations(rows_, clock_.error_ns());
}

}  // namespace draftscope::engine::cuda
