// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The account that keeps decoding from being slower than vanilla: each round adds the vanilla rounds that its
// tokens would have taken, less what it took. What may be lost is a share of all that vanilla decoding would
// have taken, and `opening` vanilla rounds; so the whole takes at most (1 + share) times vanilla's time plus
// these, whatever the text does, provided that the vanilla round is known.

#include <algorithm>

namespace draftscope::speculation {

class TimeAccount {
 public:
  struct Options {
    double share = 0.02;     ///< of vanilla's time that may be lost
    double opening = 2.0;    ///< vanilla rounds that may be lost beside it
    double max_gain = 16.0;  ///< vanilla rounds: gains beyond are not kept for later losses
  };
  explicit TimeAccount(const Options& options) : options_(options) {}

  /// A round that emitted `tokens` in the time of `rounds` vanilla rounds.
  void add(double tokens, double rounds) {
    vanilla_ += tokens;
    balance_ = std::min(balance_ + tokens - rounds, options_.max_gain - options_.share * vanilla_);
  }
  /// Vanilla rounds that may be lost from here on.
  [[nodiscard]] double balance() const { return balance_ + options_.share * vanilla_ + options_.opening; }

 private:
  Options options_;
  double balance_ = 0.0;
  double vanilla_ = 0.0;  // rounds that vanilla decoding would have taken so far
};

}  // namespace draftscope::speculation
