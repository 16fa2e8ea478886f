// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The cost law of one engine on a GPU, in place of the library kernels that gpus.csv was fitted to.
//
// Times of launches, boundaries and further rows belong to the engine; rates are shares of what reading alone
// reaches on the GPU. A row beyond the first costs each layer a time, however large the layer is, and each
// weight byte a share of its reading. Steps come where the engine's tiles of rows do, or another pass over
// the weights. (Fitted by least squares on relative errors to one H200; bench/gpu/README.md.)

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/writer.h>
#include <array>
#include <string_view>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {

/// Products of one number type.
struct EngineProducts {
  WeightType type = WeightType::bf16;
  double efficiency = 0.0;  ///< Share of the rate of reading.
  double row_share = 0.0;   ///< Time of a further row / time of reading the weights.
};

struct EngineLaw {
  std::string_view gpu;  ///< The GPU that it was measured on, as in gpus.csv.
  double product_us = 0.0;
  double head_us = 0.0;
  double attention_us = 0.0;
  double pass_us = 0.0;
  double draft_start_us = 0.0;      ///< Time that the first step of a round's draft takes longer.
  double head_efficiency = 0.0;     ///< Share of the rate of reading.
  double context_efficiency = 0.0;  ///< Share of the rate of reading at which keys and values are read.
  double context_row_share = 0.0;   ///< Time of a further row's context / time of reading it.
  /// [term of width_basis()]: time a layer takes longer.
  std::array<double, width_terms> layer_us{};
  /// [term of width_basis()]: time a weight byte takes longer / time of reading it. Element 0 is unused,
  /// since EngineProducts::row_share has it.
  std::array<double, width_terms> byte_shares{};
  std::array<EngineProducts, 5> products;
  /// Whether layers of a verification take the steps of the rows that its round planned, since the graph of a
  /// round is launched before its draft may stop. The head takes those of the rows that it has.
  bool launches_as_planned = false;
};

/// The engine of this version.
[[nodiscard]] const EngineLaw& current_engine();
/// The engine of release 0.2.0, without its fault in passes of one row.
[[nodiscard]] const EngineLaw& former_engine();
/// The engine that a recording is of, by its version and by how its GPU was observed.
[[nodiscard]] const EngineLaw& recorded_engine(const traces::Meta& meta);
[[nodiscard]] const EngineLaw& engine_of_version(std::string_view version);

/// The named host of an engine's law, current_engine() or former_engine().
[[nodiscard]] const HostTime& host_of_engine(const EngineLaw& engine);

/// The products of a type; those of the nearest measured number of bits where the engine was not measured.
[[nodiscard]] const EngineProducts& engine_products(const EngineLaw& engine, WeightType type);

/// The affine law of products with its uncertainty: the engine's, or the GPU's own for library kernels
/// (null).
[[nodiscard]] ProductLaw product_law(const GpuSpecification& gpu, WeightType type, const EngineLaw* engine);

}  // namespace draftscope::simulator
