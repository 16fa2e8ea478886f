// SPDX-License-Identifier: GPL-3.0-or-later
#include "prompts.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "calibration/pass_times.h"

namespace draftscope::bench {

std::vector<std::int32_t> some_tokens(const speculation::ModelShape& shape, std::int32_t count) {
  std::vector<std::int32_t> tokens;
  tokens.reserve(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) tokens.push_back(engine::token_at(i, shape.vocab));
  return tokens;
}

std::vector<std::int32_t> tokens_in(const std::string& path, std::int32_t count) {
  std::ifstream file(path);
  std::vector<std::int32_t> tokens;
  for (std::int32_t token = 0; std::ssize(tokens) < count && file >> token;) tokens.push_back(token);
  if (std::ssize(tokens) < count)
    throw std::runtime_error(fmt::format("{}: found {} token ids, expected {}", path, tokens.size(), count));
  return tokens;
}

}  // namespace draftscope::bench
