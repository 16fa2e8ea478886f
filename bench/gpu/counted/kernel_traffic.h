// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the kernels of a decode pass move, counted: the code that nvcc made of them, run by the interpreter
// (tests/engine/cuda/ptx) on a model small enough for it.
//
// Its tiles are whole (every width a multiple of the widest tile, K/V in whole runs of keys), so that what a
// tile moves is what it moves in a model of any size: shares of moved to needed bytes, and instructions a
// byte, carry over. What does not is what a kernel does once a launch, which weighs more here.

#include <draftscope/base/result.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/model_shape.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "needed_bytes.h"
#include "run/counts.h"

namespace draftscope::bench {

/// Kinds of global memory: matrices; K/V; norms, activations and state.
enum class Held : std::uint8_t { weights, cache, others };
inline constexpr std::array<std::string_view, 3> held_names{"weights", "cache", "others"};

inline constexpr std::int32_t max_counted_context = 16384;

struct CountedPass {
  std::string ptx_file;
  std::int32_t multiprocessors = 8;
  std::int32_t rows = 1;
  std::int32_t context = 512;
  engine::CudaWeights weights;                      ///< the layers' matrices
  engine::DType activations = engine::DType::bf16;  ///< and other matrices: bf16 or fp16
  std::size_t shared_bytes = 0;                     ///< of a block; 0 = the interpreter's most
};

/// All launches of one kernel in a pass.
struct KernelTraffic : PassKernel {
  std::int32_t launches = 0;
  NeededBytes needed;
  std::uint64_t asked_again = 0;  ///< bytes of weights that were moved for scales_asked_again()
  std::uint64_t passed_on = 0;    ///< bytes of normalised rows among the others (passed_on_bytes())
  ptx::LaunchCounts counts;       ///< sums; `kinds` by Held

  /// Bytes that reach the device's memory if its second cache holds what a kernel reads again in one launch:
  /// weights, which are too many for it, by the request; all else by the different sectors touched.
  [[nodiscard]] std::uint64_t moved(Held held) const;
  [[nodiscard]] std::uint64_t moved() const;
  /// Bytes of sectors that blocks ask the second cache for.
  [[nodiscard]] std::uint64_t requested(Held held) const;
  /// moved() / needed.total(); 0 where nothing is needed.
  [[nodiscard]] double ratio() const;
};

/// Classes of instructions: "matrix", "global", "shared", "float", "integer", "conversion", "control".
[[nodiscard]] std::string_view instruction_class(std::string_view spelling);

/// A model with the heads of `of` (their size, and how many share K/V) and otherwise `scale` times the
/// smallest that has whole tiles and slices; two layers, with matrices in `weights`.
[[nodiscard]] speculation::ModelShape small_shape(const speculation::ModelShape& of, std::int32_t scale,
                                                  engine::CudaWeights weights = {});

/// One layer of it behind a residual stream four times as wide, 2048 and more, and a head of eight times the
/// queries' width: what a block and a tile do once is spread over about as many weights as a published
/// model's.
[[nodiscard]] speculation::ModelShape deep_shape(const speculation::ModelShape& of, std::int32_t scale,
                                                 engine::CudaWeights weights = {});

/// The same with rows twice as wide: a block of `wide_rows_shared_bytes` has room for attention, and not for
/// eight normalised rows.
inline constexpr std::size_t wide_rows_shared_bytes = std::size_t{80} << 10;
[[nodiscard]] speculation::ModelShape shape_of_wide_rows(const speculation::ModelShape& of,
                                                         std::int32_t scale,
                                                         engine::CudaWeights weights = {});

/// One pass on a model of that shape with made-up weights. In the order of the first launches. Errors: a
/// fault of a kernel, PTX that cannot be read.
[[nodiscard]] Result<std::vector<KernelTraffic>> count_pass(const speculation::ModelShape& shape,
                                                            const CountedPass& pass);

}  // namespace draftscope::bench
