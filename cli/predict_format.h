// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What writing and reading a prediction agree on.

#include <nlohmann/json.hpp>
#include <string>

#include <draftscope/traces/sha256.h>

namespace draftscope::cli {

inline constexpr const char* prediction_format = "draftscope prediction";
inline constexpr int prediction_version = 1;

/// Independent of the order of keys and of white space; numbers are as they are read back.
[[nodiscard]] inline std::string prediction_digest(nlohmann::json content) {
  content.erase("digest");
  return traces::sha256_of(content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace draftscope::cli
