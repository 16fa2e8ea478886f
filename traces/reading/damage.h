// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tells what a failure says about the file from what it says about the machine that reads it.

#include <draftscope/base/result.h>
#include <string>
#include <string_view>

#include "reading/open.h"

namespace draftscope::traces {

/// Words for a violation: what the last failure of a statement on `table` says against the file. An error
/// if it says nothing about the file: no memory, no room for temporary files, an unreadable disk.
[[nodiscard]] Result<std::string> damage_found(const OpenTrace& trace, std::string_view table);

/// The error for such a failure.
[[nodiscard]] tl::unexpected<Error> cant_be_checked(const OpenTrace& trace, std::string_view table,
                                                    std::string_view words);

}  // namespace draftscope::traces
