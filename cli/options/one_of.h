// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Options that take one of a few words.

#include <draftscope/base/quote.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace draftscope::cli {

[[nodiscard]] inline CLI::Validator one_of(std::vector<std::string> words) {
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("found {}, expected {}{}", quote(text), words.size() > 1 ? "one of " : "",
                       fmt::join(words, ", "));
  };
  return {check, description};
}

}  // namespace draftscope::cli
