// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Entry points that the fuzzers call, and the replay test for each input of the corpus. They end the process
// if the parser breaks a promise: an accepted header tiles its file, and a refusal is one line.

#include <cstddef>
#include <span>

namespace draftscope::engine {

void fuzz_safetensors_header(std::span<const std::byte> input);

/// Reads a config.json up to the first zero byte, and a generation_config.json after it.
void fuzz_config(std::span<const std::byte> input);

}  // namespace draftscope::engine
