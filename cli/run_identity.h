// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a trace says of where it comes from: the table `meta` (keys in traces/SCHEMA.md).

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <string>

#include "model_options.h"

namespace draftscope::cli {

struct RecordingSettings {
  std::string prompts_file;
  std::int32_t repeats = 0;
  std::string level;
  std::string command_line;
  std::string weights = "as-stored";  ///< of the layers, as the backend holds them
};

[[nodiscard]] traces::Meta run_identity(const engine::Checkpoint& checkpoint, const engine::Backend& backend,
                                        const DecodingOptions& decoding, const RecordingSettings& settings);

}  // namespace draftscope::cli
