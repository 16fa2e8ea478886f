// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// PTX text to a Module.

#include <draftscope/base/result.h>

#include <string>
#include <string_view>

#include "module/module.h"

namespace draftscope::ptx {

/// Reads a whole module. Debug sections, pragmas and linkage are passed over; functions (.func) are refused,
/// for nvcc emits none of these kernels. Errors name the line: "NAME:LINE: what was found, what was
/// expected".
///
/// Source: PTX ISA 9.0, Directives and Syntax.
[[nodiscard]] Result<Module> parse_module(std::string_view name, std::string text);

}  // namespace draftscope::ptx
