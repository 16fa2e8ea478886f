// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Charts of the page of the device.

#include "charts/chart.h"
#include "data/device/device_answer.h"

namespace draftscope::gui {

[[nodiscard]] Chart gaps_chart(const DeviceAnswer& answer);
/// Share of the time in which the device was busy; point i is the begin of part i.
[[nodiscard]] Chart use_chart(const DeviceAnswer& answer);
/// Durations of one name as a histogram; `other` are those of a second run.
[[nodiscard]] Chart durations_chart(const QString& name, const NamedDurations& durations,
                                    const NamedDurations* other);
[[nodiscard]] Chart layers_chart(const QString& name, const NamedDurations& durations,
                                 const NamedDurations* other);
[[nodiscard]] Chart rounds_chart(const QString& name, const NamedDurations& durations,
                                 const NamedDurations* other);

}  // namespace draftscope::gui
