// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Keys that files of draftscope 0.1 have for figures, turned into those of the catalogues. Files that are
// read back go through this, so that readers know one set of keys.

#include <nlohmann/json.hpp>

namespace draftscope::simulator {

/// Renames, in a calibration, the `laws` of each of the `shapes`.
void rename_earlier_calibration_keys(nlohmann::json& file);

}  // namespace draftscope::simulator
