// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads skip_layers.json, the file in which Draft & Verify and SWIFT publish the sublayers their
// drafts skip. It is an object from a name (the model; SWIFT adds the task) to {"attention": [layer, …],
// "mlp": [layer, …]}, with layers counted from 0. The result of `draftscope tune` (policy.h) has such an
// object in its member "skip_sets" and is read likewise.

#include <draftscope/base/result.h>
#include <draftscope/speculation/sublayer_mask.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace draftscope::engine {

/// The set under `name`, for a model of `n_layers`. An error is one line with file, field, what was found and
/// what was expected. Errors: no such file or name, not JSON, a field absent or unknown, a layer that is not
/// an integer, out of range or listed twice. The file does not say how many layers its model has, so a
/// smaller model's set is read without an error.
[[nodiscard]] Result<speculation::SublayerMask> read_skip_set(const std::filesystem::path& file,
                                                              std::string_view name, std::int32_t n_layers);

/// All sets of a file, by name.
[[nodiscard]] Result<std::map<std::string, speculation::SublayerMask>> read_skip_sets(
    const std::filesystem::path& file, std::int32_t n_layers);

}  // namespace draftscope::engine
