// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the fuzzers call, and what the replay test calls for each input of the corpus. They end the process if
// the parser breaks a promise: an accepted header tiles its file, a refusal is one line.

#include <cstddef>
#include <span>

namespace draftscope::engine {

void fuzz_safetensors_header(std::span<const std::byte> input);

/// The part up to the first zero byte is a config.json, the rest a generation_config.json.
void fuzz_config(std::span<const std::byte> input);

}  // namespace draftscope::engine
