// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace draftscope::profiler::cupti {

/// Readable name of a kernel, from its linker symbol: demangled, without return type and parameters, template
/// arguments kept ("flash::split_kv<128, 4>"). A text that is no symbol comes back as it is.
[[nodiscard]] std::string kernel_name(const char* symbol);

}  // namespace draftscope::profiler::cupti
