// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy decides each round from what it saw of earlier ones: which sublayers draft, how long, when to
// stop, how to verify. It never touches a backend; decode() does what the plan says and reports what came of
// it.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/model_shape.h>
#include <draftscope/engine/sublayer_mask.h>
#include <draftscope/result.h>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// What a strategy knows when it plans.
struct RoundView {
  std::int32_t index = 0;             ///< of the round within the request
  std::int32_t root_position = 0;     ///< position of the last emitted token
  std::int32_t remaining_tokens = 0;  ///< token budget, ≥ 1
};

/// How the target checks the draft.
enum class Verification : std::uint8_t {
  all_layers,  ///< one forward over root and draft tokens
  above_exit,  ///< keeps the draft's K/V and exit states: layers below the exit run for the last draft token
               ///< only
};

struct RoundPlan {
  const SublayerMask* mask = nullptr;  ///< the draft's; owned by the strategy. Null = no draft
  std::int32_t draft_length = 0;       ///< γ; decode() cuts it at the token budget and the context
  double threshold =
      -1.0;  ///< draft-exit threshold: a draft token of lower confidence is the round's last; -1 = none
  Verification verification = Verification::all_layers;  ///< above_exit needs an early-exit mask
  std::string_view origin = "fixed";                     ///< what chose the mask, for the record
};

struct DraftStep {
  std::int32_t index = 0;
  std::int32_t token = -1;
  double confidence = 0.0;
};

struct RoundOutcome {
  std::int32_t drafted = 0;
  std::int32_t accepted = 0;
  std::span<const DraftStep> steps;
};

/// Thread-safety: none. One instance decodes one request at a time.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Forgets what it learnt if it learns per request.
  virtual void begin_request() {}
  [[nodiscard]] virtual RoundPlan plan(const RoundView& round) = 0;
  virtual void observe(const RoundOutcome& /*outcome*/) {}
};

/// One parameter of a strategy, as `draftscope strategies` lists it.
struct ParameterDescription {
  std::string name;
  std::string default_value;
  std::string unit;
  std::string meaning;
};

struct StrategyDescription {
  std::string name;
  std::string summary;
  std::string source;
  std::vector<ParameterDescription> parameters;
};

[[nodiscard]] std::span<const StrategyDescription> strategy_descriptions();

/// A strategy ready to decode, with what a trace says of it.
struct ConfiguredStrategy {
  std::string name;
  std::string specification;  ///< "layerskip:exit=4,gamma=6"
  std::string parameters;     ///< JSON object with every parameter, defaults filled in
  bool is_vanilla = false;
  std::unique_ptr<Strategy> strategy;
};

/// Parses `name:key=value,…` for a model. Unknown names, unknown or repeated keys and values out of range are
/// errors.
[[nodiscard]] Result<ConfiguredStrategy> make_strategy(std::string_view specification,
                                                       const ModelShape& shape);

}  // namespace draftscope::engine
