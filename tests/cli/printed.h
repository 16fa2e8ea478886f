// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Outputs that the tests of the commands check: files that were written and the keys of JSON documents.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace draftscope::cli {

/// All bytes of a file; empty if it can't be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Keys of all objects of a document, except inside those under the keys `closed`.
[[nodiscard]] std::set<std::string> keys_of(const nlohmann::json& document,
                                            const std::set<std::string>& closed = {});

}  // namespace draftscope::cli
