// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_mix.h"

#include <fmt/format.h>

namespace draftscope::engine {

namespace {

class Mixer {
 public:
  Mixer(std::mt19937& random, std::int32_t n_layers, bool takes_weights)
      : random_(random), n_layers_(n_layers), takes_weights_(takes_weights) {}

  std::string operator()() {
    std::string text = "mix:";
    text += mask();
    text += weights();
    text += length();
    text += stop();
    text += shape();
    if (has_del_)
      text += fmt::format(",mode={},most={},prompt-window={}{}", one("paper", "code", "repaired"),
                          pick(1, 20), pick(0, 10), one("", ",exits=1-2", ",exits=every-2"));
    return text;
  }

 private:
  std::int32_t pick(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(random_);
  }
  const char* one(const char* a, const char* b) { return pick(0, 1) == 0 ? a : b; }
  const char* one(const char* a, const char* b, const char* c) { return pick(0, 2) == 0 ? a : one(b, c); }

  std::string mask() {
    switch (pick(0, takes_weights_ ? 6 : 5)) {
      case 6:
        return "mask=full";
      case 5:
        return fmt::format("mask=knapspec,interval={},window={},min-similarity=0.{}", pick(1, 6), pick(1, 12),
                           pick(0, 9));
      case 4:
        return fmt::format("mask=conflayers,ratio=0.{},window={},interval={}", pick(0, 9), pick(1, 12),
                           pick(1, 6));
      case 0:
        exits_early_ = true;
        return fmt::format("mask=exit,exit={}", pick(1, n_layers_ - 1));
      case 1:
        return fmt::format(
            "mask=swift,ratio=0.{},window={},every={},gp-interval={},search-seed={},scored-on={}", pick(1, 9),
            pick(1, 8), pick(1, 3), pick(0, 5), pick(1, 99), one("latest", "first"));
      case 2:
        return fmt::format("mask=clasp,skip={},interval={},unit={},carry-set={}", pick(0, n_layers_),
                           pick(1, 6), one("tokens", "verifications"), one("no", "yes"));
      default:
        has_del_ = true;
        exits_early_ = true;
        return "mask=del";
    }
  }

  /// All layers verify a draft that uses other weights.
  std::string weights() {
    if (!takes_weights_ || pick(0, 3) > 0) return "";
    exits_early_ = false;
    return fmt::format(",weights={}", one("q8_0", "q4_1", "q3_0"));
  }

  std::string length() {
    switch (pick(0, 3)) {
      case 0:
        return fmt::format(",length=fs,gamma={},least={}", pick(1, 8), pick(0, 1));
      case 1:
        return fmt::format(",length=heuristic,gamma={},schedule={}", pick(1, 8), one("kept", "transient"));
      case 2:
        has_del_ = true;
        return ",length=del";
      default:
        return fmt::format(",length=fixed,gamma={}", pick(0, 20));
    }
  }

  std::string stop() {
    switch (pick(0, 5)) {
      case 0:
        return fmt::format(",stop=threshold,threshold=0.{}", pick(0, 99));
      case 1: {
        const char* const rules[] = {"paper", "code", "del"};
        return fmt::format(",stop=adaptive,rule={},epsilon=0.1,carry={}", rules[pick(0, 2)],
                           one("yes", "no"));
      }
      case 3:
        return fmt::format(",stop=roc,threshold=0.{}", pick(0, 99));
      case 4:
        return fmt::format(",stop=entropy,threshold=0.{},entropy-weight=0.{}", pick(0, 99), pick(1, 9));
      case 2:
        has_del_ = true;
        return ",stop=del";
      default:
        return ",stop=none";
    }
  }

  std::string shape() {
    if (pick(0, 1) == 0) return fmt::format(",shape=tree,widths={}", one("paper", "greedy-code"));
    const bool above = exits_early_ && pick(0, 1) == 0;
    return above ? ",shape=chain,verify=above-exit" : ",shape=chain";
  }

  std::mt19937& random_;
  std::int32_t n_layers_;
  bool takes_weights_;
  bool has_del_ = false;
  bool exits_early_ = false;
};

}  // namespace

std::string random_mix(std::mt19937& random, std::int32_t n_layers, bool takes_weights) {
  return Mixer(random, n_layers, takes_weights)();
}

}  // namespace draftscope::engine
