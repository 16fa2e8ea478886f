// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Outputs that the tests of the commands check: files that were written and the keys of JSON documents.

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "../temporary_folder.h"

namespace draftscope::cli {

using test::bytes_of;

/// Keys of all objects of a document, except inside those under the keys `closed`.
[[nodiscard]] std::set<std::string> keys_of(const nlohmann::json& document,
                                            const std::set<std::string>& closed = {});

/// Expects that cli/OUTPUT.md names each key, whole or as the last or first part of a path.
void expect_documented(const std::set<std::string>& keys);

/// Compares with a file of tests/cli/golden. DRAFTSCOPE_UPDATE_GOLDEN=1 writes it anew; look at the
/// difference before committing it.
void expect_golden(const std::string& name, std::string text);

/// Compares with the part between `head` and `foot` of a page, named from the source folder.
/// DRAFTSCOPE_UPDATE_GOLDEN=1 writes it anew; look at the difference before committing it.
void expect_on_page(const std::string& page, const std::string& head, const std::string& foot,
                    const std::string& text);

}  // namespace draftscope::cli
