// SPDX-License-Identifier: GPL-3.0-or-later
// occupancy_golden.csv comes from CUDA's own occupancy calculator, by occupancy_golden.py.
#include <draftscope/simulator/analysis/device_timeline.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace draftscope::simulator {
namespace {

constexpr MultiprocessorLimits h200{.compute_capability = 90,
                                    .multiprocessors = 132,
                                    .warps = 64,
                                    .blocks = 32,
                                    .registers = 65'536,
                                    .shared_bytes = 233'472};

traces::Kernel kernel_of(std::int32_t threads, std::int32_t registers, std::int32_t shared_bytes) {
  traces::Kernel kernel;
  kernel.grid_x = kernel.grid_y = kernel.grid_z = kernel.block_y = kernel.block_z = 1;
  kernel.block_x = threads;
  kernel.registers_per_thread = registers;
  kernel.dynamic_shared_bytes = shared_bytes;
  return kernel;
}

std::int32_t blocks_of(const traces::Kernel& kernel) {
  const auto fits = occupancy_of(kernel, h200);
  return fits ? fits->blocks : 0;
}

TEST(Occupancy, IsThatOfCudasOwnHeader) {
  std::ifstream file(std::string(DRAFTSCOPE_SOURCE_DIR) +
                     "/tests/simulator/analysis/device/occupancy_golden.csv");
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::array<std::int32_t, 10> number{};
    std::istringstream cells(line);
    std::string cell;
    for (std::int32_t& value : number) {
      std::getline(cells, cell, ',');
      value = std::stoi(cell);
    }
    const MultiprocessorLimits limits{.compute_capability = number[0],
                                      .warps = number[1],
                                      .blocks = number[2],
                                      .registers = number[3],
                                      .shared_bytes = number[4]};
    traces::Kernel kernel = kernel_of(number[5], number[6], number[8]);
    kernel.static_shared_bytes = number[7];
    const auto fits = occupancy_of(kernel, limits);
    EXPECT_EQ(fits ? fits->blocks : 0, number[9]) << line;
  }
  EXPECT_EQ(rows, 96);
}

TEST(Occupancy, IsAllThatFitsAndFallsWithEveryNeed) {
  std::mt19937 random(5);
  const auto between = [&](std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const std::int32_t threads = between(1, 1024);
    const std::int32_t registers = between(1, 64);
    const std::int32_t shared_bytes = between(0, 200'000);
    const auto fits = occupancy_of(kernel_of(threads, registers, shared_bytes), h200);
    ASSERT_TRUE(fits);
    const std::int32_t warps = (threads + 31) / 32;
    EXPECT_EQ(fits->warps, fits->blocks * warps);
    EXPECT_LE(fits->warps, h200.warps);
    EXPECT_LE(fits->blocks, h200.blocks);
    EXPECT_LE(fits->warps * 32 * registers, h200.registers);
    EXPECT_LE(fits->blocks * (shared_bytes + 1024), h200.shared_bytes);
    // One more breaks the limit that is named.
    if (fits->limited_by == "warps") {
      EXPECT_GT(fits->warps + warps, h200.warps);
    } else if (fits->limited_by == "blocks") {
      EXPECT_EQ(fits->blocks, h200.blocks);
    } else if (fits->limited_by == "shared memory") {
      EXPECT_GT((fits->blocks + 1) * (shared_bytes + 1024 + 127), h200.shared_bytes);
    }
    EXPECT_LE(blocks_of(kernel_of(threads + 1, registers, shared_bytes)), fits->blocks);
    EXPECT_LE(blocks_of(kernel_of(threads, registers + 1, shared_bytes)), fits->blocks);
    EXPECT_LE(blocks_of(kernel_of(threads, registers, shared_bytes + 1)), fits->blocks);
  }
}

TEST(Occupancy, IsAbsentWhereTheRowOrTheRecordingDoesNotTell) {
  EXPECT_FALSE(occupancy_of(kernel_of(128, 0, 0), h200)) << "no registers: an older recording";
  EXPECT_FALSE(occupancy_of(kernel_of(0, 96, 0), h200)) << "no kernel";
  EXPECT_FALSE(occupancy_of(kernel_of(128, 96, 300'000), h200)) << "no block fits";
  EXPECT_FALSE(multiprocessor_limits({}));
  const std::string limits =
      R"({"compute_capability":"9.0","multiprocessors":132,"max_warps":64,"max_blocks":32,)"
      R"("max_registers":65536,"max_shared_bytes":233472})";
  const auto read = multiprocessor_limits({{"device_limits", limits}});
  ASSERT_TRUE(read);
  EXPECT_EQ(occupancy_of(kernel_of(256, 124, 65'536), *read)->blocks, 2);
  for (const char* const bad : {"", "[]", "{}", R"({"compute_capability":"9.x","max_warps":64})",
                                R"({"compute_capability":"9.0","max_warps":-1})"})
    EXPECT_FALSE(multiprocessor_limits({{"device_limits", bad}})) << bad;
}

}  // namespace
}  // namespace draftscope::simulator
