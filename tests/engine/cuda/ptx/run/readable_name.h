// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace draftscope::ptx {

/// A mangled name, of a function or a type, without its namespaces, parameters and result:
/// "entry<AddOutputs>"; what is not mangled as it is.
[[nodiscard]] std::string readable_name(std::string_view name);

}  // namespace draftscope::ptx
