// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::cli {

/// Words of a command line, which is split at its blanks. Each {} in it stands for the next of `values`,
/// which may hold blanks.
[[nodiscard]] inline std::vector<std::string> words_of(std::string_view line,
                                                       const std::vector<std::string>& values = {}) {
  std::vector<std::string> words;
  auto value = values.begin();
  std::istringstream stream{std::string(line)};
  for (std::string word; stream >> word; words.push_back(word))
    if (const std::size_t place = word.find("{}"); place != std::string::npos)
      word.replace(place, 2, *value++);
  EXPECT_EQ(value, values.end()) << line;
  return words;
}

}  // namespace draftscope::cli
