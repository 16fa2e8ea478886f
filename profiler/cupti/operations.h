// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The operations that launches compute, numbered, so that a correlation can carry the number.
//
// Thread-safety: all of it.

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
  std::int32_t layer = -1;             ///< -1 = that of the launching span
  std::optional<traces::Phase> phase;  ///< none = that of the launching span
};

class Operations {
 public:
  // The calling thread launches `op` of `layer` from here to leave(). Scopes nest, the innermost counts; a
  // phase holds for the scopes inside, too.

  /// The operation's number, which is positive; equal operations have one.
  std::uint64_t enter(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase = {});
  static void leave();

  /// Null for a number that was never given. Addresses stay valid.
  [[nodiscard]] const Operation* of(std::uint64_t number) const;

 private:
  using LayerAndPhase = std::pair<std::int32_t, std::optional<traces::Phase>>;  ///< layer and phase

  mutable std::mutex mutex_;          // guards all below
  std::deque<Operation> operations_;  // by number - 1
  // By name, which is asked for without a copy.
  std::map<LayerAndPhase, std::map<std::string, std::uint64_t, std::less<>>> numbers_;
};

}  // namespace draftscope::profiler::cupti
