// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A path that no other test uses. A file there is removed when the test ends.

#include <gtest/gtest.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace draftscope::engine {

class ScratchFile {
 public:
  ScratchFile() {
    static int made = 0;
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("search-" + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".json");
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }
  [[nodiscard]] std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace draftscope::engine
