// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model's weights: a Hugging Face folder (config.json, generation_config.json, *.safetensors, mmapped
// read-only), a GGUF file, or a synthetic model made in memory. Matrices are row-major [out][in] as in
// safetensors; a folder's plain numbers are neither copied nor repacked.
//
// Ownership: the Checkpoint keeps the mapping or the memory alive; TensorViews point into it. Thread-safety:
// immutable after loading.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

namespace gguf {
struct BlockFormat;
}
struct QuantisedMatrix;

enum class DType : std::uint8_t { f32, bf16, f16 };
[[nodiscard]] std::string_view dtype_name(DType dtype);
[[nodiscard]] constexpr std::size_t dtype_bytes(DType dtype) {
  return dtype == DType::f32 ? 4 : 2;
}

/// A matrix [rows][columns], or a vector with rows = 1. Null data = the tensor is absent (an optional bias).
struct TensorView {
  const std::byte* data = nullptr;
  DType dtype = DType::bf16;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Null = plain numbers. Otherwise rows of a GGUF file's blocks, which a checkpoint has only if they were
  /// asked for; `dtype` is the type they are widened to.
  const gguf::BlockFormat* blocks = nullptr;
  /// Null = not packed as in a folder. Otherwise a matrix of AWQ or GPTQ that is_int4(), or one in e4m3 that
  /// is_fp8() or is_fp8_block(). A checkpoint has these only if they were asked for. This view starts at the
  /// matrix's output `first_row`; `data` points to its words or codes, and `dtype` is the type they are
  /// widened to.
  const QuantisedMatrix* quantised = nullptr;
  std::int64_t first_row = 0;
  [[nodiscard]] bool present() const { return data != nullptr; }
  [[nodiscard]] bool is_plain() const { return blocks == nullptr && quantised == nullptr; }
  /// Whether it is in e4m3 with one scale per output.
  [[nodiscard]] bool is_fp8() const;
  /// Bytes of a row; a folder's packed matrices include the row's share of scales and zero points.
  [[nodiscard]] std::size_t row_bytes() const;
  /// Returns `count` rows, starting at row `first`.
  [[nodiscard]] TensorView rows_from(std::int64_t first, std::int64_t count) const;
  /// Bits per number in memory, including its share of a block's scales.
  [[nodiscard]] double weight_bits() const {
    return 8.0 * static_cast<double>(row_bytes()) / static_cast<double>(columns);
  }
  /// Bytes of all rows, without the scales of fp8.
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(rows) * row_bytes(); }
};

struct LayerWeights {
  TensorView attention_norm;  ///< [1][d_model]; absent, like other norms, if the shape's traits say so
  TensorView q, k, v;         ///< [q_width][d_model], [kv_width][d_model] ×2
  TensorView q_bias, k_bias, v_bias;
  TensorView q_norm, k_norm;  ///< [1][head_dim] ×2, or [1][q_width] and [1][kv_width]
  TensorView o;               ///< [d_model][q_width]
  TensorView o_bias;
  TensorView attention_output_norm;  ///< [1][d_model]
  TensorView mlp_norm;               ///< [1][d_model]
  TensorView gate, up;               ///< [d_ff][d_model] ×2; no gate if the shape's traits say so
  TensorView down;                   ///< [d_model][d_ff]
  TensorView gate_bias, up_bias, down_bias;
  /// [1][1] ×4, numbers of xIELU as files have them, from before the softplus of both alphas; absent with
  /// other activations.
  TensorView alpha_p, alpha_n, beta, epsilon;
  TensorView mlp_output_norm;  ///< [1][d_model]
};

/// Weights with which a next-token layer joins a token's embedding and a state (engine/next_token.h).
struct JoinWeights {
  TensorView token_norm;  ///< [1][d_model]
  TensorView state_norm;  ///< [1][d_model]
  TensorView projection;  ///< [d_model][2 · d_model], columns of the state first
};

struct Weights {
  TensorView embedding;  ///< [vocab][d_model]
  std::vector<LayerWeights> layers;
  TensorView final_norm;            ///< [1][d_model]
  TensorView head;                  ///< [vocab][d_model]; the embedding when tied
  std::optional<JoinWeights> join;  ///< weights that a next-token layer alone has
};

class Checkpoint {
 public:
  speculation::ModelShape shape;
  Weights weights;
  std::filesystem::path path;  ///< the folder or GGUF file; empty for a synthetic model
  std::string stored_as;  ///< how a file stores the matrices: "safetensors bf16", "safetensors awq 4-bit",
                          ///< "gguf Q4_K, Q6_K"
  /// Why a folder's packed layers were widened although they were asked for as they are (cuda_as_stored):
  /// names the first matrix that prevents it; otherwise empty.
  std::string why_widened;
  bool has_next_token_layer = false;  ///< Whether open_next_token_layer() finds one.
  bool synthetic = false;
  double redundancy = 0.0;  ///< synthetic only
  std::uint64_t seed = 0;   ///< synthetic only
  /// False = a synthetic model whose matrices a backend makes one by one. The views exist and read as zeros
  /// except where the hash samples them; norms and biases are filled.
  bool matrices_in_memory = true;
  std::string hash;  ///< XXH3-128 hex over config.json, the files' headers and sampled pages; stable

  /// Count of the numbers in all tensors; tied tensors count once.
  [[nodiscard]] std::size_t parameters() const;
  /// Bytes of all tensors, and bytes that a decode step reads (the embedding table counts one row unless
  /// tied).
  [[nodiscard]] std::size_t weight_bytes() const;
  [[nodiscard]] std::size_t bytes_per_step() const;
  /// Whether any matrix is stored in blocks (BlockMatrices::as_stored, cuda_as_stored).
  [[nodiscard]] bool has_blocks() const;
  /// Whether the layers' matrices are in e4m3 (BlockMatrices::cuda_as_stored).
  [[nodiscard]] bool has_fp8() const;
  /// Whether the layers' matrices are packed as in their folder (BlockMatrices::cuda_as_stored).
  [[nodiscard]] bool has_quantised() const;

  std::shared_ptr<const void> storage;  ///< keeps the mapping or memory alive
};

/// Ways to represent matrices that files have packed. The hash does not depend on it, nor do the numbers,
/// except for the rounding of widened ones.
enum class BlockMatrices : std::uint8_t {
  widened,  ///< to plain numbers, which every user of a checkpoint can read
  /// Leaves a GGUF file's blocks as stored where a backend can multiply them (TensorView::blocks). For the
  /// CPU backend only.
  as_stored,
  /// Leaves the layers' matrices as stored if the CUDA backend can multiply all of them. These are a folder's
  /// e4m3 (TensorView::is_fp8()), its integers or blocks of e4m3 with those of its head, or a GGUF file's
  /// blocks of one format with its head in that format. Of a GGUF file's Q4_K, some matrices may suffice,
  /// without its head. For the CUDA backend only.
  cuda_as_stored,
};

/// Loads and checks a Hugging Face folder. Every tensor must be present, have the shape config.json asks for
/// and one of the three dtypes or fp64, and lie inside its file. Tensor data is not read, except for norms
/// and biases, which must be finite, and for numbers that are off their alignment or not of the matrices'
/// type: these are copied (engine/checkpoint/plain_tensors.h). Matrices that `quantization_config` says are
/// packed are widened in memory to the type of those that are not, each number rounded once. With
/// cuda_as_stored, the layers' matrices stay e4m3 if all of them are, with one scale per matrix or per
/// output. They stay as they are if all are is_int4() or, in a folder of bf16, is_fp8_block()
/// (engine/checkpoint/quantised/int4.h, fp8_block.h).
[[nodiscard]] Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder,
                                                 BlockMatrices blocks = BlockMatrices::widened);

/// Loads the next-token layer of a folder (MTP): one layer that predicts the token after the next, with the
/// model's own embedding and head, and Weights::join. These are the tensors "model.mtp_layers.0.", in the
/// form of MiMo-7B. Errors: those of load_checkpoint(); a model without such a layer.
[[nodiscard]] Result<Checkpoint> open_next_token_layer(const Checkpoint& model,
                                                       BlockMatrices blocks = BlockMatrices::widened);

/// Loads and checks a GGUF file of version 2 or 3, or all parts of a split one, given its first. Matrices of
/// one plain type (F32, F16, BF16) are mapped as they are; all others are widened to bf16 in memory, row by
/// row, or stay in blocks. Norms and biases keep their type. Rows of queries and keys are in the order of
/// Hugging Face's files. Errors: one line that names the file and the key or tensor; nothing is loaded then.
[[nodiscard]] Result<Checkpoint> load_gguf(const std::filesystem::path& path,
                                           BlockMatrices blocks = BlockMatrices::widened);

/// Reads every weight once and fails with the name of the first tensor that contains a NaN or an infinity.
[[nodiscard]] Result<void> check_finite(const Checkpoint& checkpoint);

/// Describes the first tensor of a layer that contains a NaN or an infinity, as "NAME holds inf". Layer −1 is
/// the embedding, n_layers the final norm and the head. Empty if all are finite.
[[nodiscard]] std::string non_finite_weight(const Checkpoint& checkpoint, std::int32_t layer);

/// A model of a published shape (models/models.csv) with deterministic bf16 weights, the same on every
/// machine. `redundancy` in [0, 1) scales the residual contributions of all sublayers by 1 - redundancy, so
/// that skipping layers changes less and acceptance rises. Recipe: engine/checkpoint/synthetic_fill.h.
struct SyntheticOptions {
  std::string model;  ///< a row of models.csv, case-insensitive: "llama-3.2-1b"
  double redundancy = 0.0;
  std::uint64_t seed = 1;
  std::int32_t n_layers = 0;  ///< 0 = as published
  std::int32_t vocab = 0;     ///< 0 = as published
};
/// Where the matrices are made. The CUDA backend can make them one by one; the hash and the model are the
/// same either way.
enum class SyntheticMatrices : std::uint8_t { in_memory, by_backend };
[[nodiscard]] Result<Checkpoint> make_synthetic(const SyntheticOptions& options,
                                                SyntheticMatrices matrices = SyntheticMatrices::in_memory);
[[nodiscard]] Result<Checkpoint> make_synthetic(const speculation::ModelShape& shape, double redundancy,
                                                std::uint64_t seed,
                                                SyntheticMatrices matrices = SyntheticMatrices::in_memory);

/// Opens the model that `--model` names: a folder, a GGUF file, or
/// "synthetic:NAME[,redundancy=R][,seed=N][,layers=N][,vocab=N]". `matrices` applies only to synthetic
/// models, `blocks` only to GGUF files and packed folders.
[[nodiscard]] Result<Checkpoint> open_model(std::string_view argument,
                                            SyntheticMatrices matrices = SyntheticMatrices::in_memory,
                                            BlockMatrices blocks = BlockMatrices::widened);

/// LoRA adapters as PEFT saves them: adapter_config.json and adapter_model.safetensors, which has two
/// matrices per module, A [r][in] and B [out][r].
///
/// Source: Hu et al. 2021, arXiv:2106.09685; Kalajdzievski 2023, arXiv:2312.03732 (rslora).
///
/// Adds an adapter to the matrices it covers: W + s · B · A, with s = lora_alpha / r, or / √r with
/// use_rslora, in fp32 and rounded once to W's type. Merged matrices are copies; the rest stays mapped. The
/// checkpoint's name and hash become those of the two together. Not thread-safe: call it before a backend is
/// made. Errors leave the checkpoint as it was. They are: an adapter that is not plain LoRA, a module that
/// the model lacks, a rank or shape that contradicts the files, numbers that are not finite, too little
/// memory.
[[nodiscard]] Result<void> merge_adapter(const std::filesystem::path& folder, Checkpoint& checkpoint);

}  // namespace draftscope::engine
