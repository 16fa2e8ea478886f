// SPDX-License-Identifier: GPL-3.0-or-later
// Every call to the driver fails once: tests the backend's error, and the objects that it leaves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "small_backend.h"
#include "stand_in.h"

namespace draftscope::cuda_stand_in {
namespace {

/// Decodes a prompt through a library's products, then rounds of the device, and ends: this makes every call
/// of the backend.
std::string error_of_text() {
  const auto text = text_on_device("layerskip:exit=1,gamma=2", 66, 4);
  return text ? "" : text.error().message;
}

/// Whether nobody can be told that a call failed: it releases what is no longer needed, or it is the last of
/// its kind when the device is destroyed.
bool is_of_the_end(const std::string& call, std::int64_t number, std::int64_t count) {
  return call == "cudaFree" || call == "cudaFreeHost" || call.find("Destroy") != std::string::npos ||
         (number == count &&
          (call == "cudaSetDevice" || call == "cudaStreamQuery" || call == "cudaStreamSynchronize"));
}

void expect_one_line(const std::string& error) {
  EXPECT_FALSE(error.empty());
  EXPECT_LT(error.size(), 300U) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(FailedCudaCalls, EndTheTextInALineAndLeaveNothing) {
  reset({});
  ASSERT_EQ(error_of_text(), "");
  ASSERT_EQ(live().all(), 0U);
  const std::map<std::string, std::int64_t> made = calls();
  for (const auto& [call, count] : made) {
    // Test the first and last calls, and some between, since neighbouring calls are of one kind.
    std::set<std::int64_t> numbers{1, 2, 3, count - 1, count};
    for (std::int64_t n = 4; n < count; n += 1 + count / 4) numbers.insert(n);
    for (const std::int64_t n : numbers) {
      if (n < 1 || n > count) continue;
      SCOPED_TRACE(testing::Message() << call << ", call " << n << " of " << count);
      reset({}, {.call = call, .nth = n});
      const std::string error = error_of_text();
      EXPECT_TRUE(has_injected());
      if (!error.empty() || !is_of_the_end(call, n, count)) expect_one_line(error);
      EXPECT_EQ(live().all(), 0U);
    }
  }
}

TEST(FailedCudaCalls, LeaveNothingWhereTheDeviceIsLost) {
  reset({});
  ASSERT_EQ(error_of_text(), "");
  std::int64_t all = 0;
  for (const auto& [call, count] : calls()) all += count;
  for (std::int64_t n = 1; n <= all; n += 1 + all / 40) {
    SCOPED_TRACE(testing::Message() << "call " << n << " of " << all << " and all after it");
    reset({}, {.nth = n, .and_later = true});
    const std::string error = error_of_text();
    EXPECT_TRUE(has_injected());
    if (!error.empty()) expect_one_line(error);
    EXPECT_EQ(live().all(), 0U);
  }
}

}  // namespace
}  // namespace draftscope::cuda_stand_in
