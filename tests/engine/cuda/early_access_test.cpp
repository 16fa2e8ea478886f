// SPDX-License-Identifier: GPL-3.0-or-later
// What a kernel may do before its wait, and that the emulated device says so if it does more.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device_accesses.h"
#include "kernel_queue.h"
#include "rows_kernels.h"

namespace draftscope::engine::test {
namespace {

using cuda::emulation::DeviceAccesses;
using cuda::emulation::KernelQueue;

using TestKernel = void (*)(RowsMemory&);

struct Named {
  std::string_view name;
  TestKernel kernel;
  bool may_start_early = true;
};

constexpr Named sets{"sets rows", set_rows_to_four};
constexpr Named between{"between", do_something_else};
constexpr Named writes{"writes rows", write_rows};
constexpr Named counts_early{"counts early", write_rows_counted_early};

/// Result of kernels that ran in a queue of their own.
struct Ran {
  std::string error;  ///< empty if there was none
  RowsMemory memory;

  [[nodiscard]] long written() const { return std::count(memory.written, memory.written + 8, 1); }
};

Ran run_kernels(const std::vector<Named>& kernels, std::uint32_t seed) {
  Ran ran;
  DeviceAccesses accesses;
  accesses.add(&ran.memory, sizeof ran.memory, "memory");
  KernelQueue queue(accesses, seed);
  for (const Named& named : kernels)
    queue.add({[name = named.name] { return std::string(name); },
               {.blocks = 1, .threads = 32, .may_start_early = named.may_start_early},
               [kernel = named.kernel, &ran] { kernel(ran.memory); },
               {}});
  if (const auto done = queue.run(); !done) ran.error = done.error().message;
  return ran;
}

class EarlyAccess : public testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    if (!cuda::emulation::sees_accesses())
      GTEST_SKIP() << "this build has another sanitizer or counts lines: accesses are not seen";
  }
};

TEST_P(EarlyAccess, IsFoundHoweverFarAheadTheWriterIs) {
  for (int ahead = 1; ahead <= 4; ++ahead) {
    std::vector<Named> kernels{sets};
    for (int i = 1; i < ahead; ++i) kernels.push_back(between);
    kernels.push_back(counts_early);
    EXPECT_EQ(run_kernels(kernels, GetParam()).error,
              "emulated GPU: counts early reads memory + 0 before its wait, where sets rows, " +
                  std::to_string(ahead) + " launches ahead of it, writes and may still run");
  }
}

TEST_P(EarlyAccess, IsFoundInTheNextLaunchOfTheSameKernels) {
  EXPECT_EQ(run_kernels({between, counts_early, sets}, GetParam()).error, "");
  EXPECT_NE(run_kernels({between, counts_early, sets, between, counts_early, sets}, GetParam()).error, "");
}

TEST_P(EarlyAccess, MayReadWhatKernelsWroteThatHadEnded) {
  EXPECT_EQ(
      run_kernels({sets, {"a plain launch", do_something_plainly, false}, counts_early}, GetParam()).error,
      "");
}

TEST_P(EarlyAccess, MayReadWhatACopyBrought) {
  EXPECT_EQ(run_kernels({sets, between, {"reads a copy", read_copied_early}}, GetParam()).error, "");
}

TEST_P(EarlyAccess, MayNotWriteAtAll) {
  EXPECT_EQ(run_kernels({{"writes", write_before_the_wait}}, GetParam()).error,
            "emulated GPU: writes writes memory + 8 before its wait");
}

INSTANTIATE_TEST_SUITE_P(Seeds, EarlyAccess, testing::Range(1U, 6U));

TEST(KernelQueue, StartsAKernelBesideAllThoseBeforeIt) {
  std::set<long> counts;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    EXPECT_EQ(run_kernels({sets, between, writes}, seed).written(), 4);
    counts.insert(run_kernels({sets, between, counts_early}, seed).written());
  }
  EXPECT_EQ(counts, (std::set<long>{1, 4}));
}

}  // namespace
}  // namespace draftscope::engine::test
