// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random choices that depend on their purpose and not on the number of choices before: a seed reproduces a
// run on any backend and under any order of drafting. The numbers are Philox's (base/counter_random.h).

#include <draftscope/base/counter_random.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace draftscope::engine {

/// Purpose of a choice. Different purposes at one position are independent.
enum class DrawPurpose : std::uint8_t {
  target,  ///< a token from the target's distribution, or from the residual after a rejection
  draft,   ///< a token from the draft's distribution
  accept,  ///< whether a draft token is accepted
  noise,   ///< noise of one token, shared by target and draft
};

struct Draw {
  DrawPurpose purpose = DrawPurpose::target;
  std::int32_t position = 0;  ///< position of the token that is chosen or judged
  std::int32_t branch = 0;    ///< Number of the sibling; for noise, the token. Below 2^24.
};

/// Key with which a device draws exactly these numbers. A uniform number in [0, 1) is the top 53 bits of the
/// first two words of philox({stream, position, purpose + 256 · branch}, seed), low words first.
struct CounterKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// Source of decoding's random choices. One implementation draws them; a test can enumerate all outcomes.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Chooses index i with probability weights[i] / Σ weights. Weights are non-negative and not all zero.
  [[nodiscard]] virtual std::size_t choose(Draw draw, std::span<const double> weights) = 0;
  /// Key of the choices; none if they are not counter-based.
  [[nodiscard]] virtual std::optional<CounterKey> counter_key() const { return std::nullopt; }
};

/// Uniform number in [0, 1) for `draw`, as CounterKey defines it.
[[nodiscard]] double uniform(CounterKey key, Draw draw);

/// Draws from Philox: key = seed, counter = (stream, position, purpose and branch). `stream` distinguishes
/// the requests of one run.
class SeededChooser final : public Chooser {
 public:
  SeededChooser(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  [[nodiscard]] std::size_t choose(Draw draw, std::span<const double> weights) override;
  [[nodiscard]] std::optional<CounterKey> counter_key() const override { return CounterKey{seed_, stream_}; }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace draftscope::engine
