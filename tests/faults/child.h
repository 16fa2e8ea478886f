// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a program as a user would, and says how it ended.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::test {

struct Ended {
  int exit_code = -1;  ///< -1 if it did not end by itself
  int signal = 0;      ///< that ended it
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// `arguments` begins with the program; `environment` ("NAME=text") is put before the caller's own. Output
/// goes through files in `folder`, which are removed again. A child that is still there after `limit` is
/// killed. May be called from several threads, with a folder each. Throws std::system_error where no process
/// can be started.
[[nodiscard]] Ended run_child(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::filesystem::path& folder, std::chrono::seconds limit);

}  // namespace draftscope::test
