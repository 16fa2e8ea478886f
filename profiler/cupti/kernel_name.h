// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace draftscope::profiler::cupti {

/// Readable name of a kernel, from its linker symbol: demangled, without return type and parameters, but with
/// template arguments ("flash::split_kv<128, 4>"). A text that is not a symbol is returned unchanged.
[[nodiscard]] std::string kernel_name(const char* symbol);

}  // namespace draftscope::profiler::cupti
