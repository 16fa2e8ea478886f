// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is asked of a cost model: which passes, of which model, on which machine.

#include <draftscope/base/result.h>
#include <draftscope/simulator/hardware/gpu.h>
#include <draftscope/simulator/hardware/host_time.h>
#include <draftscope/simulator/hardware/own_pass.h>
#include <draftscope/simulator/hardware/weight_type.h>
#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/traces/writer.h>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

struct CostModel;

using speculation::ModelShape;

/// Shape of the model that a recording was made with. Errors: meta lacks `model_shape` or one of its sizes,
/// sizes that do not fit together. Thread-safe.
[[nodiscard]] Result<ModelShape> recorded_shape(const traces::Meta& meta);

/// Way in which kernels get to a GPU, which decides what a pass takes beside them.
enum class Regime : std::uint8_t {
  as_fitted,     ///< what the cost model was fitted to
  eager_python,  ///< a framework launches every kernel
  eager_cpp,     ///< a C++ loop launches every kernel
  graph,         ///< one CUDA graph a pass, the host waits for each
  device_loop,   ///< graphs that feed one another: the host waits once a round
  persistent,    ///< one resident kernel: launch and ramp-up are paid once a pass
};

inline constexpr std::array<Regime, 6> all_regimes{Regime::as_fitted,   Regime::eager_python,
                                                   Regime::eager_cpp,   Regime::graph,
                                                   Regime::device_loop, Regime::persistent};

[[nodiscard]] std::string_view regime_name(Regime regime);
/// "as-fitted", "eager-python", "eager-cpp", "graph", "device-loop", "persistent".
[[nodiscard]] Result<Regime> parse_regime(std::string_view text);

/// A verification either runs all rows through all layers, or keeps the draft's exit states and runs the
/// layers below the exit for one row alone.
enum class VerifiedLayers : std::uint8_t { all, above_exit };

/// Cost of a draft step as an input, in place of the price of the draft's layers: of heads that no engine
/// here runs (EAGLE, MTP, Medusa). Such a draft has no exit states: all layers verify.
struct DraftCostInput {
  enum class Kind : std::uint8_t {
    share,      ///< of a vanilla step at the same context
    free,       ///< takes no time
    one_layer,  ///< one layer of the target and a head of `vocabulary` rows
  };
  Kind kind = Kind::free;
  double share = 0.0;
  std::int32_t vocabulary = 0;  ///< rows of the head of one_layer; 0: the target's
};

struct Scenario {
  std::optional<GpuSpecification> gpu;  ///< absent: the machine that the model was fitted on
  ModelShape shape;
  WeightType weights = WeightType::bf16;
  Regime regime = Regime::as_fitted;
  /// The engine's time beside passes, where the costs are a specification's; absent: a graph engine's
  /// (graph_host()), unless the regime says otherwise.
  std::optional<HostTime> host;
  std::optional<DraftCostInput> draft_cost;  ///< absent: the draft's layers are priced
  VerifiedLayers verified_layers = VerifiedLayers::all;
  /// Requests decoded together. Each is taken to have the same rows and context, so that a pass has
  /// batch · rows of them; prices are a request's share of it. With rounds of unlike lengths the width is
  /// Σ (γ_i + 1), which this bounds from below where some rounds are longer than the priced one, and no
  /// request waits for another's round.
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;  ///< GPUs that share the model
  std::int32_t widths = 18;          ///< rows of the widest verification that is priced
  /// The longest context that occurs, K/V rows: what notes hold beside the measured ones, and where a maximum
  /// over the host's and the GPU's time is decided, which is not affine (the eager regimes).
  double context = 1024.0;
  /// Prices are means, with the recording's stalls spread over all passes; else typical (median) times.
  bool with_stalls = true;
  /// Element i is priced as Prices::drafts[i + 1]; empty: the exits 1 … n_layers − 1.
  std::vector<speculation::DraftSublayers> drafts;
  std::vector<OwnPass> own_passes;        ///< priced as Prices::own
  std::int32_t widest_own_pass = 64;      ///< rows; wider ones are several passes
  std::optional<ModelShape> draft_model;  ///< of own passes of that kind; absent: the model itself
};

/// The model's own machine, shape and number type, at the longest context that it was fitted to.
[[nodiscard]] Scenario fitted_scenario(const CostModel& model);

/// Differences from the recorded circumstances, in a few words: "H200 Llama-3-8B batch 4". `place` names the
/// machine; empty: the GPU's name, or "as recorded".
[[nodiscard]] std::string scenario_name(const Scenario& scenario, const Scenario& recorded,
                                        std::string place = {});

/// Errors name the field: numbers out of range, a degree that does not divide the heads, sublayers beyond the
/// model's, verification above the exit of drafts that are no exits.
[[nodiscard]] Result<void> check_scenario(const Scenario& scenario);

}  // namespace draftscope::simulator
