// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/answers/prediction.h>
#include <span>

namespace draftscope::simulator {

/// cluster_bootstrap() where prices are uncertain, too: `noise` is added to ln(value) draw by draw, around
/// its mean; none: prices are certain. Errors: those, a draw that is no number.
[[nodiscard]] Result<RatioEstimate> noisy_bootstrap(std::span<const ClusterSums> clusters, RatioMean mean,
                                                    std::span<const double> noise,
                                                    const BootstrapOptions& options);

}  // namespace draftscope::simulator
