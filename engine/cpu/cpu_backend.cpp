// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/engine/cpu_backend.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "checkpoint/file_watch.h"
#include "cpu/quantised/quantise.h"
#include "forward_pass.h"
#include "input_squares.h"
#include "processor.h"
#include "validate.h"

namespace draftscope::engine {
namespace cpu {
namespace {

constexpr std::int32_t default_cache_rows = 4096;
constexpr std::int32_t largest_batch = 512;  // rows; wide enough that prefill is bound by arithmetic

class CpuBackend final : public Backend {
 public:
  CpuBackend(Checkpoint checkpoint, Model model, KvCache cache, Workspace workspace, const Kernels& kernels,
             std::int32_t threads, bool wide_products)
      : checkpoint_(std::move(checkpoint)),
        model_(std::move(model)),
        cache_(std::move(cache)),
        workspace_(std::move(workspace)),
        kernels_(kernels),
        rope_(model_.shape, cache_.rows()),
        local_rope_(with_local_rope(model_.shape), cache_.rows()),
        team_(threads) {
    if (wide_products) wide_ = make_wide_products(model_.dtype, threads);
  }

  void set_recorder(profiler::SpanRecorder* recorder) override {
    recorder_ = recorder;
    names_ = SpanNames(recorder);
  }
  const speculation::ModelShape& shape() const override { return model_.shape; }
  std::int32_t cache_rows() const override { return cache_.rows(); }
  std::int32_t max_rows() const override { return std::min(largest_batch, cache_.rows()); }
  std::int32_t max_invariant_rows() const override {
    return std::min(cpu::max_invariant_rows, cache_.rows());
  }
  std::int32_t max_verified_rows() const override { return std::min(max_verification_rows, cache_.rows()); }

  BackendDescription describe() const override {
    return {.device = "cpu",
            .processor = processor_name(),
            .kernels = std::string(kernels_.name),
            .threads = team_.size(),
            .kv_bytes = cache_.bytes(),
            .workspace_bytes = workspace_.memory.bytes(),
            .weight_bytes = has_packed_matrices(model_) ? held_bytes(model_) : checkpoint_.weight_bytes(),
            .draft_weight_bytes = draft_weight_bytes(),
            .weights = matrix_formats(model_),
            .draft_formats = draft_formats()};
  }

  Result<void> prepare_draft_weights(speculation::WeightFormat format) override {
    if (copies_.contains(format)) return {};
    if (const auto tile = e4m3_tile(format)) {
      DRAFTSCOPE_TRY_ASSIGN(Matrices copy, copy_in_e4m3(checkpoint_, model_, *tile));
      copies_.emplace(format, std::move(copy));
      return {};
    }
    if (!speculation::makes(speculation::MadeBy::cpu, speculation::weight_format_row(format)))
      return fail("model {}: found draft weights {}, expected one of {}", model_.shape.name,
                  speculation::weight_format_name(format), held_weight_formats());
    DRAFTSCOPE_TRY_ASSIGN(const PackedLayout* layout, made_layout(model_.shape, format));
    DRAFTSCOPE_TRY(note_inputs(*layout));
    DRAFTSCOPE_TRY_ASSIGN(Matrices copy, copy_matrices(checkpoint_, model_, *layout, squares_));
    copies_.emplace(format, std::move(copy));
    return {};
  }

  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    DRAFTSCOPE_TRY(check_batch(batch, model_.shape, {cache_.rows(), max_rows()}));
    DRAFTSCOPE_TRY_ASSIGN(const Matrices* matrices, matrices_for(batch));
    Engine engine{model_,     *matrices, kernels_,    rope_, local_rope_, cache_,
                  workspace_, team_,     wide_.get(), top_,  recorder_,   names_};
    run(engine, batch, outputs);
    return {};
  }

  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    DRAFTSCOPE_TRY(check_moves(moves, cache_.rows()));
    for (const CacheMove& move : moves) cache_.move(move);
    return {};
  }

  Result<void> check_weights() const override { return check_watched_files(); }
  Result<void> check_weights_unchanged() const override { return check_watched_files_unchanged(); }

  std::optional<std::string> non_finite_weight(std::int32_t layer) const override {
    return engine::non_finite_weight(checkpoint_, layer);
  }

  /// Rounds the plain matrices, if they have not been rounded yet.
  Result<void> round_weights(speculation::WeightFormat format) {
    DRAFTSCOPE_TRY_ASSIGN(const PackedLayout* layout, made_layout(model_.shape, format));
    DRAFTSCOPE_TRY(note_inputs(*layout));
    return round_matrices(checkpoint_, *layout, squares_, model_);
  }

 private:
  void run(Engine& engine, const Batch& batch, Outputs& outputs) {
    const Wanted& wanted = batch.wanted;
    const auto d_model = static_cast<std::size_t>(model_.shape.d_model);
    const std::size_t head_rows =
        wanted.head ? batch.rows.size() - static_cast<std::size_t>(wanted.head_from) : 0;
    const auto top_k = static_cast<std::size_t>(wanted.head ? wanted.top_k : 0);
    outputs.hidden.resize(wanted.hidden_after.size() * batch.rows.size() * d_model);
    outputs.logits.resize(wanted.logits ? head_rows * static_cast<std::size_t>(model_.shape.vocab) : 0);
    outputs.top.resize(head_rows * top_k);
    top_.reset(team_.active(), static_cast<std::int32_t>(head_rows), static_cast<std::int32_t>(top_k));
    if (batch.layers.begin < batch.layers.end) {
      for (std::size_t i = 0; i < batch.rows.size(); ++i)
        engine.cache.set_position(batch.first_row + static_cast<std::int32_t>(i), batch.rows[i].position);
      const speculation::ModelShape& shape = model_.shape;
      const bool has_window = shape.sliding_window > 0;
      if (!has_window || shape.traits.full_attention_interval > 0)
        keys_.full.build(batch, engine.cache.positions(), 0);
      if (has_window) keys_.windowed.build(batch, engine.cache.positions(), shape.sliding_window);
    }
    // Each thread has its own pass, since a pass stores the steps of its thread.
    auto body = [&](std::int32_t thread) { ForwardPass(engine, keys_, batch, outputs)(thread); };
    team_.run(body);
  }

  /// Fills squares_ if the layout needs them. Uses a separate cache, so that the conversation's stays, and
  /// our kernels, whose sums do not depend on the number of threads.
  Result<void> note_inputs(const PackedLayout& layout) {
    if (!weighs_columns(layout) || !squares_.layers.empty()) return {};
    constexpr std::int32_t noted_rows = 128;
    const std::int32_t n = std::min(noted_rows, max_rows());
    DRAFTSCOPE_TRY_ASSIGN(KvCache cache, KvCache::allocate(model_.shape, model_.cache_dtype(), n));
    std::vector<Row> rows;
    for (const std::int32_t token : random_tokens(model_.shape.vocab, static_cast<std::size_t>(n)))
      rows.push_back({.token = token, .position = static_cast<std::int32_t>(rows.size())});
    Batch batch{.rows = rows, .layers = {0, model_.shape.n_layers}};
    batch.wanted.head = true;
    batch.wanted.top_k = 1;
    InputSquares squares = zero_squares(model_.shape);
    const SpanNames names;
    Engine engine{model_, model_.matrices, kernels_, rope_,   local_rope_, cache,   workspace_,
                  team_,  nullptr,         top_,     nullptr, names,       &squares};
    Outputs outputs;
    run(engine, batch, outputs);
    drop_non_finite(squares);
    squares_ = std::move(squares);
    return {};
  }

  Result<const Matrices*> matrices_for(const Batch& batch) const {
    if (!batch.weights) return &model_.matrices;
    if (const auto found = copies_.find(*batch.weights); found != copies_.end()) return &found->second;
    std::string held;
    for (const auto& [format, matrices] : copies_)
      held += ", " + std::string(speculation::weight_format_name(format));
    return fail("batch.weights is {}, expected the model's own{}",
                speculation::weight_format_name(*batch.weights), held);
  }

  std::vector<speculation::WeightFormat> draft_formats() const {
    std::vector<speculation::WeightFormat> formats;
    for (const speculation::WeightFormatRow& row : speculation::weight_formats())
      if (made_layout(model_.shape, row.format)) formats.push_back(row.format);
    return formats;
  }

  /// Names of the formats that prepare_draft_weights() takes.
  static std::string held_weight_formats() {
    std::string names = speculation::made_weight_formats(speculation::MadeBy::cpu);
    for (const speculation::WeightFormatRow& row : speculation::weight_formats())
      if (e4m3_tile(row.format)) names += ", " + std::string(row.name);
    return names;
  }

  std::size_t draft_weight_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [format, matrices] : copies_) bytes += matrices.packed.bytes();
    return bytes;
  }

  Checkpoint checkpoint_;
  Model model_;
  std::map<speculation::WeightFormat, Matrices> copies_;  // copies of the matrices for drafts
  InputSquares squares_;                                  // empty until weights are rounded by them
  KvCache cache_;
  Workspace workspace_;
  const Kernels& kernels_;
  Rope rope_;
  Rope local_rope_;
  SpanNames names_;
  profiler::SpanRecorder* recorder_ = nullptr;
  std::unique_ptr<WideProducts> wide_;
  TopTokens top_;
  LayerKeys keys_;
  ThreadTeam team_;  // Declared last, so that its threads end before the members they use.
};

Result<const Kernels*> choose_kernels(std::string_view name) {
  const std::vector<const Kernels*> available = available_kernels();
  if (name.empty()) return available.back();
  std::string names;
  for (const Kernels* kernels : available) {
    if (kernels->name == name) return kernels;
    names += (names.empty() ? "" : ", ") + std::string(kernels->name);
  }
  return fail("cpu backend: kernels {} are not available, expected those of this processor ({})", quote(name),
              names);
}

}  // namespace
}  // namespace cpu

Result<std::unique_ptr<Backend>> make_cpu_backend(Checkpoint checkpoint, const CpuOptions& options) {
  constexpr std::int32_t max_threads = 1024;
  if (options.threads < 0 || options.threads > max_threads)
    return fail("cpu backend: threads is {}, expected 0 to {}", options.threads, max_threads);
  if (options.cache_rows < 0)
    return fail("cpu backend: cache_rows is {}, expected 0 or more", options.cache_rows);
  if (!checkpoint.matrices_in_memory)
    return fail("cpu backend: {}'s matrices are not in memory, expected a model opened with them",
                checkpoint.shape.name);
  if (checkpoint.has_fp8())
    return fail("cpu backend: {}'s matrices are in fp8, expected them widened", checkpoint.shape.name);
  if (checkpoint.has_quantised())
    return fail("cpu backend: {}'s matrices are packed, expected them widened", checkpoint.shape.name);
  DRAFTSCOPE_TRY_ASSIGN(const cpu::Kernels* kernels, cpu::choose_kernels(options.kernels));
  DRAFTSCOPE_TRY_ASSIGN(cpu::Model model, cpu::prepare_model(checkpoint));
  const speculation::ModelShape& shape = model.shape;
  const std::int32_t threads = options.threads > 0 ? options.threads : cpu::usable_cores();
  const std::int32_t cache_rows =
      options.cache_rows > 0 ? options.cache_rows : std::min(shape.max_positions, cpu::default_cache_rows);
  DRAFTSCOPE_TRY_ASSIGN(cpu::KvCache cache, cpu::KvCache::allocate(shape, model.cache_dtype(), cache_rows));
  DRAFTSCOPE_TRY_ASSIGN(
      cpu::Workspace workspace,
      cpu::Workspace::allocate(shape, kernels->products[static_cast<std::size_t>(model.dtype)],
                               std::min(cpu::largest_batch, cache_rows), cache_rows, threads));
  auto backend =
      std::make_unique<cpu::CpuBackend>(std::move(checkpoint), std::move(model), std::move(cache),
                                        std::move(workspace), *kernels, threads, options.wide_products);
  if (options.weights) DRAFTSCOPE_TRY(backend->round_weights(*options.weights));
  return backend;
}

}  // namespace draftscope::engine
