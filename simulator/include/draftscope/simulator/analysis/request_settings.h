// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/writer.h>
#include <string>

namespace draftscope::simulator {

/// Settings in which the requests of a server's recording differ, from meta's `question_settings`, in one
/// line: "max tokens 4 to 64; temperature 0.7 in 2, 1.2 in 1 of 5 requests". Empty where they agree or the
/// row is absent. Thread-safe.
[[nodiscard]] std::string differing_settings(const traces::Meta& meta);

}  // namespace draftscope::simulator
