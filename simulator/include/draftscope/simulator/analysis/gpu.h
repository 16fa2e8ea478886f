// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decoding time from a GPU's specification: the memory bandwidth, the ceiling of the arithmetic, and the
// parameters of the affine law of a kernel,
//     t = t0 + bytes / (e · bandwidth),   e = read_eff · product_eff.
// read_eff is the share of the specified bandwidth that reading alone reaches: measured on an H200, a prior
// per memory type elsewhere. product_eff is the share of it that a matrix product reaches. t0 and e are
// fitted for some GPUs and taken from related GPUs for the others (simulator/data/gpus.csv). Products of
// fewer bits have separate parameters: fp8 and nvfp4 products round their activations first, which adds to t0
// on HBM GPUs. All parameters are fitted to kernel tables of one engine, with passes of 1 to 16 rows.
//
// All functions are thread-safe. The table is part of the program: no file is needed at run time.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/weight_format.h>
#include <draftscope/traces/writer.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// Number types of weights.

/// Number type of the layers' weights. Types below 16 bits apply to the layers only: head, embedding and K/V
/// stay bf16. fp8, int8 and nvfp4 products round their activations to the same type. int4 products widen the
/// weights, in groups of 128 with a 16-bit scale and a zero (AWQ, GPTQ); nvfp4 has an 8-bit scale every 16.
/// The others are blocks that the engine here packs or ggml files hold (speculation::WeightFormat); their
/// products widen the weights.
enum class WeightType : std::uint8_t {
  bf16,
  fp16,
  fp32,
  fp8,
  int8,
  int4,
  nvfp4,
  fp8_block,
  q8_0,
  q6_k,
  q5_1,
  q5_0,
  q5_k,
  q4_1,
  q4_0,
  q4_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  q3_0
};
inline constexpr std::size_t weight_type_count = 20;
inline constexpr auto all_weight_types = [] {
  std::array<WeightType, weight_type_count> types{};
  for (std::size_t i = 0; i < weight_type_count; ++i) types[i] = static_cast<WeightType>(i);
  return types;
}();

[[nodiscard]] std::string_view weight_type_name(WeightType type);
/// Parses a type's name; "f16" and "f32" are fp16 and fp32. Errors: anything else.
[[nodiscard]] Result<WeightType> parse_weight_type(std::string_view text);

/// "bf16, fp16, fp32, fp8, int8, …".
[[nodiscard]] std::string weight_type_names();

/// The type of an engine's format.
[[nodiscard]] WeightType weight_type_of(speculation::WeightFormat format);

/// Whether a type has fewer than 16 bits, so that it applies to the layers only.
[[nodiscard]] bool is_narrow(WeightType type);

/// Whether products widen the weights, so that any GPU can multiply them.
[[nodiscard]] bool is_widened(WeightType type);

/// Bytes of one weight of a layer, including its share of scales.
[[nodiscard]] double layer_weight_bytes(WeightType type);

/// Bytes of an activation, of a K/V element, and of a weight of the head.
[[nodiscard]] double activation_bytes(WeightType type);

/// Decides which prior (t0, e) an unknown GPU gets.
enum class MemoryFamily : std::uint8_t { hbm, gddr, lpddr };

/// Source of (t0, e), which determines their uncertainty.
enum class Calibration : std::uint8_t {
  fitted,   ///< Fitted to kernels measured on this GPU.
  related,  ///< Taken from a fitted GPU of the same chip or generation.
  family,   ///< Taken from the memory family only.
};

/// The affine law of products of a number type, with relative standard deviations.
struct ProductLaw {
  double t0_us = 0.0;
  double efficiency = 0.0;
  Calibration calibration = Calibration::family;
  double t0_sigma = 0.0;
  double efficiency_sigma = 0.0;

  friend bool operator==(const ProductLaw&, const ProductLaw&) = default;
};

struct GpuSpecification {
  std::string name;
  std::string architecture;  ///< "sm90"; empty if unknown
  MemoryFamily memory = MemoryFamily::hbm;
  double bandwidth_gb_s = 0.0;  ///< 10⁹ bytes per second = bytes per nanosecond
  double bf16_tflops = 0.0;     ///< Dense rate, accumulated in fp32.
  std::optional<double> fp8_tflops;
  std::optional<double> memory_gb;
  std::optional<double> l2_mb;
  std::optional<double> link_gb_s;  ///< Bandwidth to one other GPU, one way.
  double read_efficiency = 0.0;     ///< Share of the specified bandwidth that reading alone reaches.
  double t0_us = 0.0;
  double efficiency = 0.0;  ///< e, 0 < e ≤ read_efficiency
  Calibration calibration = Calibration::family;
  /// [WeightType]; types below 16 bits where they are known (t0_us and efficiency apply to 16 bits)
  std::array<std::optional<ProductLaw>, weight_type_count> narrow_products;
  /// [WeightType]; dense rate of types below 16 bits, except fp8
  std::array<std::optional<double>, weight_type_count> narrow_tflops;
  std::vector<WeightType> number_types;  ///< Types that the arithmetic supports; empty = not known.

  /// Law of products of this type. Where it is unknown, it is the middle of the fitted GPUs of the family,
  /// with larger uncertainty. Products of 5 to 8 bits then use fp8's law, those of fewer bits nvfp4's.
  [[nodiscard]] ProductLaw products(WeightType type) const;
  /// Dense rate of products of this type; where it is unknown, the rate of fp8 or bf16. Widened weights have
  /// bf16's rate.
  [[nodiscard]] double tflops(WeightType type) const;

  /// FLOP per byte at which arithmetic takes as long as the memory.
  [[nodiscard]] double ridge() const { return bf16_tflops * 1e3 / bandwidth_gb_s; }
  /// Relative standard deviations of t0 and e: 0.12 and 0.04 where fitted; else 0.35 and 0.06, the spread of
  /// the six fitted GPUs.
  [[nodiscard]] double t0_sigma() const { return calibration == Calibration::fitted ? 0.12 : 0.35; }
  [[nodiscard]] double efficiency_sigma() const { return calibration == Calibration::fitted ? 0.04 : 0.06; }

  friend bool operator==(const GpuSpecification&, const GpuSpecification&) = default;
};

/// Checks that the GPU supports the type; the error lists the supported ones. A GPU with unknown types
/// supports all; fp32 and widened types are always supported.
[[nodiscard]] Result<void> check_number_type(const GpuSpecification& gpu, WeightType type);

/// Every GPU in order of the table; empty only if the table did not parse, which find_gpu() reports.
[[nodiscard]] std::span<const GpuSpecification> known_gpus();

/// Finds a GPU by its name or by a unique prefix ("B200"); case, spaces, '-' and '_' do not matter. Errors:
/// an unknown name, with the closest ones.
[[nodiscard]] Result<GpuSpecification> find_gpu(std::string_view name);

/// Parses a user-defined specification: a JSON object or a CSV table of one row, with the column names of
/// gpus.csv. name, mem_type, mem_bw_gbs and bf16_dense_tflops are required. t0_us, read_eff and product_eff
/// default to those of the memory family, as do fp8_t0_us, fp8_product_eff and their int8, int4 and nvfp4
/// counterparts. `number_types` lists types separated by spaces. Error messages call the text `name`. Errors:
/// an unknown key, an unknown type, rates that are not positive, shares above 1, a stated ridge that
/// contradicts the rates by more than 2 %, fp8 slower than bf16.
[[nodiscard]] Result<GpuSpecification> parse_gpu_specification(std::string_view text, std::string_view name);

// Identification of the GPU of a recording. Drivers and specifications name a GPU differently: "NVIDIA H100
// 80GB HBM3" is the H100-SXM5-80GB.

/// Whether a GPU decoded: meta's `device` is neither "cpu" nor missing.
[[nodiscard]] bool is_gpu_recording(const traces::Meta& meta);

/// The driver's name of the recorded GPU: `processor` of a recording with device "cuda", else `device`
/// itself.
[[nodiscard]] std::string recorded_gpu_name(const traces::Meta& meta);

/// Finds a GPU by the driver's name or the table's. Errors: an unknown GPU, with the closest names.
[[nodiscard]] Result<GpuSpecification> find_gpu_of_driver(std::string_view name);

// Facts about the model that a recording contains.

using speculation::ModelShape;

/// Shape of the recorded model. Errors: meta lacks `model_shape` or one of its sizes, sizes that are
/// inconsistent. Thread-safe.
[[nodiscard]] Result<ModelShape> recorded_shape(const traces::Meta& meta);

/// Number type that prices the target's layers. Errors: meta names none.
[[nodiscard]] Result<WeightType> recorded_weight_type(const traces::Meta& meta);

/// Bits per weight of the target as the engine stored it. Errors: meta names no format.
[[nodiscard]] Result<double> recorded_weight_bits(const traces::Meta& meta);

}  // namespace draftscope::simulator
