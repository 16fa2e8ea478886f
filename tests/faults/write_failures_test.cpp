// SPDX-License-Identifier: GPL-3.0-or-later
// A disk that takes no more, as RLIMIT_FSIZE makes one, at places of each command's writing. It ends in one
// line and leaves no half-written file, or it has written nothing so long.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>

#include "../temporary_folder.h"
#include "../walks.h"
#include "faulted_command.h"

namespace draftscope::test {
namespace {

namespace fs = std::filesystem;

class FailedWrite : public ::testing::TestWithParam<FaultedCommand> {};

TEST_P(FailedWrite, EndsInOneLineAndLeavesNothing) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "in");
  const auto wrong = make_inputs(folder / "in");
  ASSERT_FALSE(wrong) << *wrong;
  const FaultedRun whole(GetParam(), folder / "in", folder / "r00000", {});
  ASSERT_EQ(whole.ended().exit_code, 0) << whole.ended().err;
  std::uintmax_t longest = 0;
  for (const auto& file : fs::recursive_directory_iterator(whole.output()))
    if (file.is_regular_file()) longest = std::max(longest, file.file_size());
  if (longest == 0) GTEST_SKIP() << "this command writes no file";
  std::set<std::uintmax_t> limits{longest / 2};
  const Walks seeds = walks(0);
  if (seeds.last > 0) limits.insert({1, longest - 1});
  for (std::uint32_t seed = seeds.first; seed <= seeds.last; ++seed)
    limits.insert(std::mt19937_64(seed)() % longest);
  for (const std::uintmax_t limit : limits) {
    const fs::path place = folder / fmt::format("r{:05}", 1 + limit % 90'000);
    const auto objection =
        FaultedRun(GetParam(), folder / "in", place, {}, static_cast<std::int64_t>(limit)).objection(whole);
    EXPECT_FALSE(objection) << "files of at most " << limit << " bytes: " << *objection;
    fs::remove_all(place);
  }
}

INSTANTIATE_TEST_SUITE_P(Command, FailedWrite, ::testing::ValuesIn(faulted_commands()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace draftscope::test
