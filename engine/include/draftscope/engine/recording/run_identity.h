// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Describes where a trace comes from, for the table `meta` (keys in traces/SCHEMA.md).

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/stop_strings.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <string>

namespace draftscope::engine {

struct DecodingOptions {
  SamplingOptions sampling;
  std::uint64_t seed = 0;
  std::int32_t max_tokens = 128;
  StopStrings stop_strings;
};

struct RecordingSettings {
  std::string prompts_file;
  std::int32_t repeats = 0;
  std::string level;
  std::string command_line;
  std::string weights = "as-stored";  ///< format of the layers' weights in the backend
  std::string launches = "program";   ///< value of the key `launches`, where a GPU computes
};

[[nodiscard]] traces::Meta run_identity(const Checkpoint& checkpoint, const Backend& backend,
                                        const DecodingOptions& decoding, const RecordingSettings& settings);

}  // namespace draftscope::engine
