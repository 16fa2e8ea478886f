// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Variables of a chat template as the command line gives them.

#include <draftscope/base/result.h>
#include <span>
#include <string>

namespace draftscope::traces {

/// Arguments NAME=JSON as one JSON object, in their order. Errors: another form, in one line.
[[nodiscard]] Result<std::string> template_arguments_json(std::span<const std::string> arguments);

}  // namespace draftscope::traces
