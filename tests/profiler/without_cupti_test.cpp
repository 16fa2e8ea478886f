// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/profiler/device_trace.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace draftscope::profiler {
namespace {

TEST(WithoutCupti, StartingSaysSoInOneLine) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("draftscope-without-" + std::to_string(std::random_device{}()) + ".dstrace");
  auto writer = traces::Writer::create(path, {});
  ASSERT_TRUE(writer) << writer.error().message;
  const auto started = start_device_trace(DeviceTraceMode::launches);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message,
            "device trace: built without CUPTI, expected a build made where the CUDA toolkit is installed");
  const auto off = start_device_trace(DeviceTraceMode::off);
  ASSERT_TRUE(off);
  EXPECT_EQ(*off, nullptr);
  writer->reset();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace draftscope::profiler
