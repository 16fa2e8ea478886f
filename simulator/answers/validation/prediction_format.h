// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names that writing and reading a prediction agree on.

#include <nlohmann/json.hpp>
#include <string>

#include <draftscope/base/sha256.h>

namespace draftscope::simulator {

inline constexpr const char* prediction_format = "draftscope prediction";
inline constexpr int prediction_version = 1;

/// Independent of the order of keys and of white space; numbers are as they are read back.
[[nodiscard]] inline std::string prediction_digest(nlohmann::json content) {
  content.erase("digest");
  return sha256_of(content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace draftscope::simulator
