// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What writing and reading a calibration file share.

#include <draftscope/simulator/prices/calibration.h>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::simulator {

inline constexpr std::string_view calibration_format = "draftscope calibration";
inline constexpr int calibration_version = 1;

[[nodiscard]] nlohmann::ordered_json laws_json(const CalibrationLaws& laws);

}  // namespace draftscope::simulator
