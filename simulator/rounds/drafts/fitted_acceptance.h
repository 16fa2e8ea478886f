// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Models of acceptance by run, each fitted when the first question needs it, since a fit takes longer than
// the rest of an answer. Thread-safe; a thread waits only for the model that it needs.

#include <draftscope/traces/ids.h>
#include <map>
#include <mutex>
#include <optional>

#include "rounds/replay/acceptance_models.h"

namespace draftscope::simulator {

class FittedAcceptance {
 public:
  /// Result of `fit()` from the first question about the run; it must depend on the run only.
  template <typename Fit>
  [[nodiscard]] const std::optional<AcceptanceModel>& of(traces::RunId run_id, const Fit& fit) {
    Entry& entry = entry_of(run_id);
    std::call_once(entry.once, [&] { entry.model = fit(); });
    return entry.model;
  }

 private:
  struct Entry {
    std::once_flag once;
    std::optional<AcceptanceModel> model;
  };

  Entry& entry_of(traces::RunId run_id) {
    const std::scoped_lock lock(mutex_);
    return entries_[run_id];
  }

  std::mutex mutex_;
  std::map<traces::RunId, Entry> entries_;  ///< The map's nodes have stable addresses.
};

}  // namespace draftscope::simulator
