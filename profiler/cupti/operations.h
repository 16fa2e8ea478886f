// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers the operations that launches compute, so that a correlation can carry the number.
//
// Thread-safety: all functions are thread-safe.

#include <draftscope/traces/records.h>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace draftscope::profiler::cupti {

struct Operation {
  std::string name;
  std::int32_t layer = -1;             ///< Layer; -1 = that of the launching span.
  std::optional<traces::Phase> phase;  ///< Phase; none = that of the launching span.
};

class Operations {
 public:
  // enter() and leave() bound a scope in which the calling thread launches `op` of `layer`. Scopes nest, and
  // the innermost counts; a phase also applies to inner scopes.

  /// Begins a scope; returns the operation's positive number. Equal operations share a number.
  std::uint64_t enter(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase = {});
  static void leave();

  /// Operation with this number; null if the number was never assigned. Addresses stay valid.
  [[nodiscard]] const Operation* of(std::uint64_t number) const;

 private:
  using LayerAndPhase = std::pair<std::int32_t, std::optional<traces::Phase>>;

  mutable std::mutex mutex_;          // Guards all members below.
  std::deque<Operation> operations_;  // Operation [number - 1].
  // The inner key is the name, which is searched without a copy.
  std::map<LayerAndPhase, std::map<std::string, std::uint64_t, std::less<>>> numbers_;
};

}  // namespace draftscope::profiler::cupti
