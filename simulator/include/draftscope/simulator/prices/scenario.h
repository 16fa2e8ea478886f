// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is asked of a cost model: which passes, of which model, on which machine.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/gpu.h>
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

// Passes that a strategy makes for its own purposes, beside drafts and verifications: to learn which
// sublayers to draft with, or by another model. They are operations like any others, so that any machine has
// a price for them.

enum class AuxiliaryPassKind : std::uint8_t {
  heads,        ///< DEL: final norm and head on the hidden states of all layers below the last
  window,       ///< DEL: the prompt's last positions through all layers and the head, once a request
  anchor,       ///< CLaSp: the prompt's last token through all layers, once a request
  layer,        ///< CLaSp's dynamic programming: one layer on a state for each number of skipped layers
  candidate,    ///< SWIFT: the output's first tokens through a candidate's sublayers and the head
  draft_model,  ///< two models: the other one, which drafts or reads what it has not seen of the text
  /// KnapSpec's search: both kinds of sublayers on one row, for their times; each sublayer on the last
  /// tokens' states, once for each time saved; the head on those that are left.
  knapsack,
  confidences,  ///< ConfLayers: the output's last tokens through all layers but the last, sublayer by
                ///< sublayer
  stage,        ///< a cascade: a pass of one of its drafters
};
inline constexpr int auxiliary_pass_kind_count = 9;

/// Passes that cost the same but for their context.
struct AuxiliaryPass {
  AuxiliaryPassKind kind = AuxiliaryPassKind::heads;
  std::int32_t rows = 1;       ///< as many passes as it takes where these are more than one pass may have
  std::int32_t attention = 0;  ///< sublayers; of the draft model for draft_model
  std::int32_t mlp = 0;
  bool has_head = false;

  friend bool operator==(const AuxiliaryPass&, const AuxiliaryPass&) = default;
};

/// Time of a kind of auxiliary passes where they were recorded, against the law of costs.
struct MeasuredAuxiliaryPass {
  AuxiliaryPassKind kind = AuxiliaryPassKind::heads;
  double factor = 1.0;          ///< time / time by the law
  double relative_error = 0.0;  ///< standard error of `factor` / `factor`, requests being what varies
};

// Time that an engine takes per step beside its passes (scheduling, sampling, launches that the device waits
// for), which decides how far tokens per second are from what the passes take.
//
// The shares are published ones: tokens per second of engines against passes priced by this cost law. A
// well-compiled engine that launches graphs came within 5 %; serving engines on an H100 took 15 to 27 %
// longer than their passes; engines that launch eagerly 53 to 68 %. They are ranges over a few engines and
// models, not a measurement of yours: `measure` or a file beats them.

/// A range; its middle is the mean, and four of five engines are taken to lie in it.
struct HostTime {
  std::string name;        ///< "serving", or what a file names
  double min_share = 0.0;  ///< of a vanilla step's pass
  double max_share = 0.0;
  double min_ns = 0.0;  ///< beside the share, per step
  double max_ns = 0.0;
  /// Whether every pass takes its share, drafts included, as where the host launches each kernel; else a
  /// vanilla step and a round take it once.
  bool is_per_pass = false;

  friend bool operator==(const HostTime&, const HostTime&) = default;
};

/// The engine that is taken where nobody named one: "graph".
[[nodiscard]] const HostTime& graph_host();
/// Those that have names.
[[nodiscard]] std::span<const HostTime> known_host_times();

/// "graph", "serving", "eager". Errors: anything else.
[[nodiscard]] Result<HostTime> find_host_time(std::string_view name);

/// A JSON object: `min_share` and `max_share` (of a vanilla step, at least −0.5 and at most 100), or `min_us`
/// and `max_us` (per step, from 0), or all four, with a `name` and `per_pass` (false) if you like. `file`
/// names the text in errors. Errors: no JSON object, an unknown key, neither range, a range that ends before
/// it begins.
[[nodiscard]] Result<HostTime> parse_host_time(std::string_view text, std::string_view file);

struct CostModel;

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

  friend bool operator==(const DraftCostInput&, const DraftCostInput&) = default;
};

/// "free", "one-layer", whose head has `vocabulary` rows, or a share of a vanilla step: "0.1". Errors:
/// anything else.
[[nodiscard]] Result<DraftCostInput> parse_draft_cost(std::string_view text, std::int32_t vocabulary = 0);

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
  std::vector<AuxiliaryPass> auxiliary_passes;  ///< priced as Prices::auxiliary
  std::int32_t widest_auxiliary_pass = 64;      ///< rows; wider ones are several passes
  std::optional<ModelShape> draft_model;  ///< of auxiliary passes of that kind; absent: the model itself

  friend bool operator==(const Scenario&, const Scenario&) = default;
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

// Whether a scenario fits into a GPU's memory, and what would. Bytes follow from shapes; norms and biases,
// which are thousandths of the weights, are left out. Pure functions, safe from any thread.
//
// K/V has room for every request's longest context. Activations are those of the widest pass: the residual
// stream twice, what the widest sublayer makes, and fp32 logits. 5 % of the memory are taken to be the
// runtime's (contexts, kernels, what lies between blocks).

/// Bytes on each GPU.
struct MemoryNeed {
  double weights = 0.0;  ///< embedding and head included
  double kv = 0.0;
  double activations = 0.0;
  double draft_model = 0.0;  ///< weights and K/V of another model that drafts

  [[nodiscard]] double total() const { return weights + kv + activations + draft_model; }
};

/// Need of one of the scenario's GPUs: vocabulary, heads and MLP are split, K/V heads only as far as there
/// are any.
[[nodiscard]] MemoryNeed memory_need(const Scenario& scenario);

/// Bytes that a model may take of a GPU; none where its specification does not say.
[[nodiscard]] std::optional<double> usable_memory(const GpuSpecification& gpu);

/// The first change that makes it fit: more GPUs (up to 8), fewer bits that the GPU's arithmetic has, a
/// shorter context, a smaller batch, in this order. One phrase: "4 GPUs (--tensor-parallel 4)". None if none
/// does.
[[nodiscard]] std::optional<std::string> first_that_fits(const Scenario& scenario,
                                                         const GpuSpecification& gpu);

/// Error: the scenario does not fit; one line with what is needed of what, how much there is, and what would
/// fit. A GPU of unknown memory fits.
[[nodiscard]] Result<void> check_memory(const Scenario& scenario, const GpuSpecification& gpu);

/// "16.1 GB of weights, 0.54 GB of K/V and 0.02 GB of activations".
[[nodiscard]] std::string memory_text(const MemoryNeed& need);

}  // namespace draftscope::simulator
