// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <gtest/gtest.h>
#include <utility>

namespace draftscope::simulator {

/// Value of a result that a test relies on; an error fails the test with its message.
template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return std::move(result).value();
}

}  // namespace draftscope::simulator
