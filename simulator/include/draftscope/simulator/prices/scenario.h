// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Question to a cost model: which passes, of which model, on which machine.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/traces/writer.h>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// Auxiliary passes of a strategy, other than drafts and verifications: to select sublayers to draft with, or
// by another model. They consist of ordinary operations, so that any machine has a price for them.

enum class AuxiliaryPassKind : std::uint8_t {
  heads,        ///< DEL: final norm and head on the hidden states of all layers below the last.
  window,       ///< DEL: the prompt's last positions through all layers and the head, once per request.
  anchor,       ///< CLaSp: the prompt's last token through all layers, once per request.
  layer,        ///< CLaSp's dynamic programming: one layer on a state for each number of skipped layers.
  candidate,    ///< SWIFT: the output's first tokens through a candidate's sublayers and the head.
  draft_model,  ///< Two models: the other model, which drafts or reads the text that is new to it.
  /// KnapSpec's search: both kinds of sublayers on one row, for their times; each sublayer on the last
  /// tokens' states, once for each time saved; the head on the remaining states.
  knapsack,
  confidences,  ///< ConfLayers: the output's last tokens through all layers but the last, sublayer by
                ///< sublayer.
  stage,        ///< A cascade: a pass of one of its drafters.
  next_token,   ///< The model's next-token layer and the join before it: it drafts or reads the target's
                ///< states.
};
inline constexpr int auxiliary_pass_kind_count = 10;

/// Whether passes of the kind draft beside the target's layers, or read text for that.
[[nodiscard]] constexpr bool drafts_beside(AuxiliaryPassKind kind) {
  return kind == AuxiliaryPassKind::draft_model || kind == AuxiliaryPassKind::next_token;
}

/// Passes with the same cost except for their context.
struct AuxiliaryPass {
  AuxiliaryPassKind kind = AuxiliaryPassKind::heads;
  std::int32_t rows = 1;       ///< Split into several passes if these exceed the maximum of one pass.
  std::int32_t attention = 0;  ///< Sublayers; those of the draft model for draft_model.
  std::int32_t mlp = 0;
  bool has_head = false;

  friend bool operator==(const AuxiliaryPass&, const AuxiliaryPass&) = default;
};

/// Recorded time of a kind of auxiliary passes, relative to the cost law.
struct MeasuredAuxiliaryPass {
  AuxiliaryPassKind kind = AuxiliaryPassKind::heads;
  double factor = 1.0;          ///< Time / time by the law.
  double relative_error = 0.0;  ///< Standard error of `factor` / `factor`, with variation between requests.
};

// Time of an engine per step outside its passes (scheduling, sampling, launches that the device waits for).
// It decides how far tokens per second fall short of the rate of the passes.
//
// The shares are published ones: tokens per second of engines against passes priced by this cost law. A
// well-compiled engine that launches graphs came within 5 %; serving engines on an H100 took 15 to 27 %
// longer than their passes; engines that launch eagerly 53 to 68 %. They are ranges over a few engines and
// models, not a measurement of your engine: `measure` or a file is more accurate.

/// An engine's own cost law on GPUs (simulator/prices/fit/engine_law.h).
struct EngineLaw;

/// A range; its middle is the mean, and four of five engines are assumed to lie in it.
struct HostTime {
  std::string name;        ///< "serving", or the name in a file.
  double min_share = 0.0;  ///< Minimum share of a vanilla step's pass.
  double max_share = 0.0;
  double min_ns = 0.0;  ///< Time per step in addition to the share.
  double max_ns = 0.0;
  /// Whether every pass adds its share, drafts included, as where the host launches each kernel. Otherwise a
  /// vanilla step and a round add it once.
  bool is_per_pass = false;
  /// Law of the engine's passes, constant and static; null = library kernels, as in the GPU's specification.
  const EngineLaw* law = nullptr;

  friend bool operator==(const HostTime&, const HostTime&) = default;
};

/// The default engine: "graph".
[[nodiscard]] const HostTime& graph_host();
/// Engines that have names.
[[nodiscard]] std::span<const HostTime> known_host_times();

/// Finds an engine by its name: "graph", "serving" and "eager" run library kernels; "draftscope" is the
/// engine here and "draftscope-0.2" that of release 0.2.0, both as measured on an H200. Errors: anything
/// else.
[[nodiscard]] Result<HostTime> find_host_time(std::string_view name);

/// Parses a JSON object: `min_share` and `max_share` (of a vanilla step, at least −0.5 and at most 100), or
/// `min_us` and `max_us` (per step, from 0), or all four. `name` and `per_pass` (false) are optional. `file`
/// names the text in errors. Errors: no JSON object, an unknown key, neither range, a range that ends before
/// it begins.
[[nodiscard]] Result<HostTime> parse_host_time(std::string_view text, std::string_view file);

struct CostModel;

/// Launch regime of kernels on a GPU, which decides the overhead of a pass.
enum class Regime : std::uint8_t {
  as_fitted,     ///< The regime of the fit.
  eager_python,  ///< A framework launches every kernel.
  eager_cpp,     ///< A C++ loop launches every kernel.
  graph,         ///< One CUDA graph per pass; the host waits for each.
  device_loop,   ///< Graphs that feed one another; the host waits once per round.
  persistent,    ///< One resident kernel: launch and ramp-up are paid once per pass.
};

inline constexpr std::array<Regime, 6> all_regimes{Regime::as_fitted,   Regime::eager_python,
                                                   Regime::eager_cpp,   Regime::graph,
                                                   Regime::device_loop, Regime::persistent};

[[nodiscard]] std::string_view regime_name(Regime regime);
/// Parses "as-fitted", "eager-python", "eager-cpp", "graph", "device-loop", "persistent".
[[nodiscard]] Result<Regime> parse_regime(std::string_view text);

/// Layers of a verification. It either runs all rows through all layers, or caches the draft's exit states
/// and runs the layers below the exit for one row only.
enum class VerifiedLayers : std::uint8_t { all, above_exit };

/// Cost of a draft step as an input, in place of the price of the draft's layers. It serves heads that no
/// engine here runs (EAGLE, MTP, Medusa). Such a draft has no exit states, so all layers verify.
struct DraftCostInput {
  enum class Kind : std::uint8_t {
    share,       ///< Share of a vanilla step at the same context.
    free,        ///< No time.
    one_layer,   ///< One layer of the target and a head of `vocabulary` rows.
    next_token,  ///< The model's own next-token layer (LayerPlan::next_token), the join before it, the head.
  };
  Kind kind = Kind::free;
  double share = 0.0;
  std::int32_t vocabulary = 0;  ///< Rows of the head for one_layer and next_token; 0 = those of the target.

  /// Whether a draft step has the price of layers.
  [[nodiscard]] bool is_priced() const { return kind == Kind::one_layer || kind == Kind::next_token; }

  friend bool operator==(const DraftCostInput&, const DraftCostInput&) = default;
};

/// Parses "free", "one-layer" (with a head of `vocabulary` rows), "mtp", or a share of a vanilla step such as
/// "0.1".
/// Errors: anything else; a vocabulary with a cost that prices no head.
[[nodiscard]] Result<DraftCostInput> parse_draft_cost(std::string_view text, std::int32_t vocabulary = 0);

struct Scenario {
  std::optional<GpuSpecification> gpu;  ///< Absent = the machine that the model was fitted on.
  ModelShape shape;
  /// Kinds of the shape's layers where they differ; absent = all alike.
  std::optional<LayerPlan> plan;
  /// Whether the model has a next-token layer although no plan describes it; it is like the shape's layers.
  bool has_next_token_layer = false;
  WeightType weights = WeightType::bf16;
  Regime regime = Regime::as_fitted;
  /// The engine's time outside passes, where the costs come from a specification. Absent = a graph engine's
  /// (graph_host()), unless the regime says otherwise.
  std::optional<HostTime> host;
  std::optional<DraftCostInput> draft_cost;  ///< Absent = the draft's layers are priced.
  VerifiedLayers verified_layers = VerifiedLayers::all;
  /// Number of requests decoded together. All are assumed to have the same rows and context, so a pass has
  /// batch · rows; prices are a request's share of it. With rounds of unequal lengths the width is Σ (γ_i +
  /// 1). Then this is a lower bound where some rounds are longer than the priced one, and no request waits
  /// for another's round.
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;  ///< GPUs that share the model.
  std::int32_t widths = 18;          ///< Rows of the widest verification that is priced.
  /// Maximum context, in K/V rows. Notes compare it with the measured contexts. In the eager regimes it is
  /// where the maximum over the host's and the GPU's time is decided, which is not affine.
  double context = 1024.0;
  /// Element i is priced as Prices::drafts[i + 1]; empty = the exits 1 … n_layers − 1.
  std::vector<speculation::DraftSublayers> drafts;
  std::vector<AuxiliaryPass> auxiliary_passes;  ///< Priced as Prices::auxiliary.
  std::int32_t widest_auxiliary_pass = 64;      ///< Maximum rows; wider ones are split into several passes.
  std::optional<ModelShape> draft_model;  ///< Model of the draft_model passes; absent = the model itself.

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

/// Scenario of the fitted machine, shape and number type, at the longest context of the fit.
[[nodiscard]] Scenario fitted_scenario(const CostModel& model);

/// Differences from the recorded conditions, in a few words: "H200 Llama-3-8B batch 4". `place` names the
/// machine; empty = the GPU's name, or "as recorded".
[[nodiscard]] std::string scenario_name(const Scenario& scenario, const Scenario& recorded,
                                        std::string place = {});

/// Checks a scenario. Errors name the field: numbers out of range, a degree that does not divide the heads,
/// sublayers beyond the model's, verification above the exit of drafts that are no exits.
[[nodiscard]] Result<void> check_scenario(const Scenario& scenario);

// Whether a scenario fits into a GPU's memory, and which change would make it fit. Bytes follow from shapes;
// norms and biases, which are thousandths of the weights, are left out. Pure functions, safe from any thread.
//
// K/V has room for every request's longest context. Activations are those of the widest pass: the residual
// stream twice, the output of the widest sublayer, and fp32 logits. The runtime is assumed to take 5 % of the
// memory (contexts, kernels, gaps between blocks).

/// Bytes on each GPU.
struct MemoryNeed {
  double weights = 0.0;  ///< Embedding and head included.
  double kv = 0.0;
  double activations = 0.0;
  double draft_model = 0.0;  ///< Weights and K/V of another model that drafts.

  [[nodiscard]] double total() const { return weights + kv + activations + draft_model; }
};

/// Need of one of the scenario's GPUs: vocabulary, heads and MLP are split; K/V heads only up to their
/// number.
[[nodiscard]] MemoryNeed memory_need(const Scenario& scenario);

/// Maximum bytes of a GPU that a model may take; absent where its specification does not say.
[[nodiscard]] std::optional<double> usable_memory(const GpuSpecification& gpu);

/// The first change that makes it fit: more GPUs (up to 8), fewer bits that the GPU's arithmetic supports, a
/// shorter context, a smaller batch, in this order. One phrase: "4 GPUs (--tensor-parallel 4)". Absent if
/// none does.
[[nodiscard]] std::optional<std::string> first_that_fits(const Scenario& scenario,
                                                         const GpuSpecification& gpu);

/// The error is one line with the need by part, the usable memory, and a change that would fit. A GPU of
/// unknown memory fits.
[[nodiscard]] Result<void> check_memory(const Scenario& scenario, const GpuSpecification& gpu);

/// "16.1 GB of weights, 0.54 GB of K/V and 0.02 GB of activations".
[[nodiscard]] std::string memory_text(const MemoryNeed& need);

}  // namespace draftscope::simulator
