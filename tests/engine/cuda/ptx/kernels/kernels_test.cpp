// SPDX-License-Identifier: GPL-3.0-or-later
// What nvcc makes of the kernels, read and decoded whole.

#include <draftscope/base/text_file.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda/dispatch.h"
#include "device.h"
#include "ptx_files.h"
#include "ptx_gpu.h"
#include "run/readable_name.h"

namespace draftscope::engine::test {
namespace {

TEST(KernelsPtx, ConsistsOfKnownInstructionsOnly) {
  DRAFTSCOPE_NEEDS_PTX();
  const PtxFiles files = ptx_files();
  for (const std::string& file : {files.compute_90, files.compute_80, files.compute_90_unfused}) {
    SCOPED_TRACE(file);
    ptx::Device device;
    const auto text = read_text_file(file, max_settings_bytes);
    ASSERT_TRUE(text) << text.error().message;
    const auto loaded = device.load(file, *text);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto decoded = device.decode_all();
    ASSERT_TRUE(decoded) << decoded.error().message;
    std::map<std::string_view, std::size_t> spellings;
    std::size_t instructions = 0;
    for (const ptx::Entry& entry : device.module().entries)
      for (const ptx::Instruction& instruction : entry.instructions) {
        ++spellings[instruction.spelling];
        ++instructions;
      }
    EXPECT_GT(device.module().entries.size(), 50U);
    EXPECT_GT(instructions, 50'000U);
    // For the eye: `tests_ptx_kernels --gtest_filter=KernelsPtx.*`.
    std::printf("%s: %zu kernels, %zu instructions, %zu spellings\n",
                std::string(device.module().target).c_str(), device.module().entries.size(), instructions,
                spellings.size());
    for (const auto& [spelling, count] : spellings)
      std::printf("  %6zu %s\n", count, std::string(spelling).c_str());
  }
}

TEST(KernelsPtx, HasAnEntryForEveryLaunchAndNoOther) {
  DRAFTSCOPE_NEEDS_PTX();
  ptx::Device device;
  ASSERT_TRUE(device.load("kernels", read_text_file(ptx_files().compute_90, max_settings_bytes).value()));
  std::set<std::string> entries;
  for (const ptx::Entry& entry : device.module().entries) entries.insert(ptx::readable_name(entry.name));
  std::set<std::string> launched;
  for (const cuda::Launch& launch : cuda::emulation::all_launches())
    launched.insert(cuda::emulation::entry_name(launch));
  EXPECT_EQ(entries, launched);
}

}  // namespace
}  // namespace draftscope::engine::test
