// SPDX-License-Identifier: GPL-3.0-or-later
// Small models on the interpreted device: every kernel beside the emulated device on the same memory, and
// every check of the interpreter on.

#include <draftscope/base/text_file.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compared_kernels.h"
#include "cuda/backend.h"
#include "cuda_shapes.h"
#include "expected_kernels.h"
#include "ptx_files.h"
#include "ptx_gpu.h"
#include "random_model.h"
#include "weights/held_format.h"
#include "weights/in_q4_k.h"

namespace draftscope::engine::test {
namespace {

using cuda::emulation::Agreement;
using cuda::emulation::ComparedKernels;
using cuda::emulation::PtxGpuOptions;

std::unique_ptr<Backend> backend_of_ptx(const Checkpoint& checkpoint, const std::string& file,
                                        const CudaOptions& options, PtxGpuOptions gpu_options) {
  auto gpu = cuda::emulation::make_ptx_gpu(file, std::move(gpu_options));
  if (!gpu) throw std::runtime_error(gpu.error().message);
  auto backend = cuda::make_backend(std::move(*gpu), checkpoint, options);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

std::vector<std::int32_t> decoded_text(Backend& backend, const std::string& specification,
                                       const DecodeRequest& request) {
  const auto strategy = make_strategy(specification, backend.shape());
  EXPECT_TRUE(strategy) << strategy.error().message;
  if (!strategy) return {};
  SeededChooser chooser(11, 1);
  DecodeListener unheard;
  const auto decoded = decode(backend, *strategy->strategy, request, chooser, unheard);
  EXPECT_TRUE(decoded) << decoded.error().message;
  return decoded ? decoded->tokens : std::vector<std::int32_t>();
}

std::vector<std::int32_t> prompt_of(std::size_t tokens, std::int32_t vocab) {
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < tokens; ++i) prompt.push_back(static_cast<std::int32_t>(i * i) % vocab);
  return prompt;
}

/// Greedy, sampled and coupled rounds of the device's own, a tree, and a prompt that goes through a library's
/// products.
void put_through(Backend& backend) {
  const std::int32_t vocab = backend.shape().vocab;
  const std::vector<std::int32_t> prompt = prompt_of(5, vocab);
  const std::vector<std::int32_t> long_prompt = prompt_of(70, vocab);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = 4};
  (void)decoded_text(backend, "layerskip:exit=1,gamma=2", request);
  (void)decoded_text(backend, "mix:mask=exit,exit=1,shape=tree,gamma=2", request);
  (void)decoded_text(backend, "clasp:skip=1,interval=2", request);  // states in the bank
  request.sampling = {.temperature = 0.9, .top_k = 40, .top_p = 0.9};
  (void)decoded_text(backend, "layerskip:exit=1,gamma=2", request);
  request.sampling.coupled = true;
  (void)decoded_text(backend, "layerskip:exit=1,gamma=2", request);
  (void)decoded_text(backend, "vanilla", {.prompt = long_prompt, .max_new_tokens = 2});
}

/// Options of a device whose kernels are compared.
PtxGpuOptions comparing(ComparedKernels& compared) {
  PtxGpuOptions options;
  options.before = [&](ptx::Device& device, const cuda::Launch& launch, const cuda::KernelParams& params) {
    return compared.before(device, launch, params);
  };
  options.after = [&](ptx::Device& device, const cuda::Launch& launch, const cuda::KernelParams& params,
                      const ptx::LaunchCounts&) { return compared.after(device, launch, params); };
  return options;
}

void print_counts(const ComparedKernels& compared) {
  for (const auto& [name, count] : compared.counts())
    std::printf("  %-60s %4d launches, %4d equal bit for bit\n", name.c_str(), count.launches, count.exact);
}

void compare_kernels(const std::string& file, Agreement agreement, CudaWeights weights,
                     const speculation::ModelShape& shape) {
  const auto checkpoint = make_synthetic(shape, 0.6, 5, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  ComparedKernels compared(agreement);
  const auto backend =
      backend_of_ptx(*checkpoint, file, {.cache_rows = 160, .weights = weights}, comparing(compared));
  put_through(*backend);
  print_counts(compared);
}

/// With norms behind products, heads that are rotated in part and layers that are not rotated.
speculation::ModelShape tiny_shape_with_norms() {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.architecture = "Olmo2ForCausalLM";
  shape.traits = {.norm_place = speculation::NormPlace::after,
                  .qk_norm = speculation::QkNorm::whole,
                  .no_rope_interval = 2,
                  .residual_multiplier = 0.5};
  shape.rope.rotated_dimensions = 24;
  return shape;
}

TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBit) {
  DRAFTSCOPE_NEEDS_PTX();
  compare_kernels(ptx_files().compute_90_unfused, Agreement::exact, CudaWeights(), tiny_cuda_shape());
}

TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBitInFp8) {
  DRAFTSCOPE_NEEDS_PTX();
  compare_kernels(ptx_files().compute_90_unfused, Agreement::exact, speculation::WeightFormat::fp8,
                  tiny_cuda_shape());
}

/// Widths that are multiples of a block, and of no run of it.
speculation::ModelShape tiny_shape_of_blocks() {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.d_model = 96;
  shape.d_ff = 160;
  return shape;
}

TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBitInBlocks) {
  DRAFTSCOPE_NEEDS_PTX();
  for (const speculation::WeightFormat weights :
       {speculation::WeightFormat::q8_0, speculation::WeightFormat::q4_0, speculation::WeightFormat::q4_k,
        speculation::WeightFormat::int4, speculation::WeightFormat::fp8_block})
    compare_kernels(ptx_files().compute_90_unfused, Agreement::exact, weights, tiny_shape_of_blocks());
}

/// Layers in two formats, of which each launch takes its own matrices.
TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBitInQ4KBesidePlainMatrices) {
  DRAFTSCOPE_NEEDS_PTX();
  Random random(43);
  speculation::ModelShape shape = random_q4_k_shape(random);
  shape.n_layers = 2;
  shape.d_ff = 256;
  InQ4K model(random_checkpoint(shape, DType::bf16, 7), random, 0.5);
  ComparedKernels compared(Agreement::exact);
  const auto backend =
      backend_of_ptx(model.packed(), ptx_files().compute_90_unfused, {.cache_rows = 40}, comparing(compared));
  Outputs outputs;
  ASSERT_TRUE(backend->forward(chain(shape, random, 3, 0).view(), outputs));
  ASSERT_TRUE(backend->forward(tree(shape, random, 11, 3).view(), outputs));
  print_counts(compared);
}

/// Int4 has activations of either type; synthetic models are in bf16.
TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBitInInt4OfFp16) {
  DRAFTSCOPE_NEEDS_PTX();
  const Checkpoint checkpoint = random_checkpoint(tiny_shape_of_blocks(), DType::f16, 7);
  ComparedKernels compared(Agreement::exact);
  const auto backend =
      backend_of_ptx(checkpoint, ptx_files().compute_90_unfused,
                     {.cache_rows = 160, .weights = speculation::WeightFormat::int4}, comparing(compared));
  put_through(*backend);
  print_counts(compared);
}

/// A block that holds attention of a tiny model's rows, and not twelve normalised ones of `wide_rows`.
constexpr std::size_t little_shared_bytes = std::size_t{64} << 10;
constexpr std::int32_t wide_rows = 768;

speculation::ModelShape tiny_shape_of_wide_rows() {
  speculation::ModelShape shape = tiny_shape_of_blocks();
  shape.d_model = wide_rows;
  return shape;
}

/// Launches of products of a format whose rows are normalised ahead.
using NormedLaunches = std::map<std::string, int>;

/// Twelve rows of a tree behind one of a prompt.
std::vector<float> logits_of_wide_rows(const Checkpoint& checkpoint, const std::string& file,
                                       CudaWeights weights, PtxGpuOptions options, NormedLaunches& normed) {
  options.before = [&, before = options.before](ptx::Device& device, const cuda::Launch& launch,
                                                const cuda::KernelParams& params) -> Result<void> {
    if (launch.reads_normed || launch.kernel == cuda::Kernel::normalise_rows)
      ++normed[cuda::emulation::entry_name(launch)];
    return before ? before(device, launch, params) : Result<void>();
  };
  const auto backend =
      backend_of_ptx(checkpoint, file, {.cache_rows = 40, .weights = weights}, std::move(options));
  Random random(17);
  Outputs outputs;
  for (const std::int32_t rows : {1, 12}) {
    const auto done =
        backend->forward(tree(checkpoint.shape, random, rows, rows == 1 ? 0 : 1).view(), outputs);
    if (!done) throw std::runtime_error(done.error().message);
  }
  return std::move(outputs.logits);
}

TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBitOfRowsThatAreNormalisedAhead) {
  DRAFTSCOPE_NEEDS_PTX();
  ComparedKernels compared(Agreement::exact);
  NormedLaunches normed;
  for (const HeldFormat& held : every_held_format()) {
    const Checkpoint checkpoint = random_checkpoint(tiny_shape_of_wide_rows(), held.dtype, 9);
    PtxGpuOptions options = comparing(compared);
    options.shared_bytes = little_shared_bytes;
    (void)logits_of_wide_rows(checkpoint, ptx_files().compute_90_unfused, held.weights, options, normed);
  }
  // q, k and v, gate and up in each of nine formats; heads, which are plain, and norms in bf16 and f16.
  EXPECT_EQ(normed.size(), 2 * 9 + 2 + 2U);
  print_counts(compared);
}

/// As the engine is built, too, where products and sums may be fused in one kernel and not in another.
TEST(KernelsAsPtx, NormaliseRowsAheadToTheBitsOfThoseThatABlockHolds) {
  DRAFTSCOPE_NEEDS_PTX();
  for (const HeldFormat& held : every_held_format()) {
    const Checkpoint checkpoint = random_checkpoint(tiny_shape_of_wide_rows(), held.dtype, 9);
    SCOPED_TRACE(held.weights ? speculation::weight_format_name(*held.weights) : dtype_name(held.dtype));
    NormedLaunches staged;
    NormedLaunches normed;
    const std::string& file = ptx_files().compute_90;
    const std::vector<float> expected = logits_of_wide_rows(checkpoint, file, held.weights, {}, staged);
    EXPECT_EQ(
        logits_of_wide_rows(checkpoint, file, held.weights, {.shared_bytes = little_shared_bytes}, normed),
        expected);
    EXPECT_EQ(staged.size(), 0U);
    EXPECT_EQ(normed.size(), 4U);
  }
}

TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesBitForBitWithNorms) {
  DRAFTSCOPE_NEEDS_PTX();
  compare_kernels(ptx_files().compute_90_unfused, Agreement::exact, CudaWeights(), tiny_shape_with_norms());
}

TEST(KernelsAsPtx, ComputeItWithinRoundingAsTheEngineIsBuilt) {
  DRAFTSCOPE_NEEDS_PTX();
  for (const speculation::ModelShape& shape : {tiny_cuda_shape(), tiny_shape_with_norms()})
    compare_kernels(ptx_files().compute_90, Agreement::contracted, CudaWeights(), shape);
}

TEST(KernelsAsPtx, ComputeWhatTheirSourceDoesOnRandomShapes) {
  DRAFTSCOPE_NEEDS_PTX();
  Random random(41);
  ComparedKernels compared(Agreement::exact);
  for (int round = 0; round < 8; ++round) {
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.head_dim = 32 * (round % 4 + 1);
    const DType dtype = round / 4 == 0 ? DType::bf16 : DType::f16;
    SCOPED_TRACE(testing::Message() << "round " << round);
    const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
    PtxGpuOptions options = comparing(compared);
    options.multiprocessors = pick(random, 1, 3);
    options.seed = static_cast<std::uint32_t>(round + 1);
    const auto backend =
        backend_of_ptx(checkpoint, ptx_files().compute_90_unfused, {.cache_rows = 200}, options);
    Outputs outputs;
    const std::int32_t context = pick(random, 1, 40);
    OwnedBatch prompt = chain(shape, random, context, 0);
    prompt.wanted.head_from = context - 1;
    const auto first = backend->forward(prompt.view(), outputs);
    ASSERT_TRUE(first) << first.error().message;
    OwnedBatch batch = tree(shape, random, pick(random, 9, 40), context);
    if (chance(random, 0.5)) batch.mask = random_mask(random, shape.n_layers, 0.4);
    const auto second = backend->forward(batch.view(), outputs);
    ASSERT_TRUE(second) << second.error().message;
  }
  print_counts(compared);
}

/// Every kernel of a device alone, with every check of the interpreter; keys of more than one split.
TEST(KernelsAsPtx, GoThroughEverythingWithoutAFault) {
  DRAFTSCOPE_NEEDS_PTX();
  std::set<cuda::Kernel> seen;
  using enum speculation::WeightFormat;
  for (const speculation::ModelShape& shape :
       {tiny_cuda_shape(), tiny_shape_with_norms(), tiny_shape_of_blocks()})
    for (const CudaWeights weights : {CudaWeights(), CudaWeights(fp8), CudaWeights(q8_0), CudaWeights(q4_0),
                                      CudaWeights(q4_k), CudaWeights(int4), CudaWeights(fp8_block)}) {
      const bool in_blocks = weights && *weights != fp8;
      if (in_blocks != (shape.d_model == tiny_shape_of_blocks().d_model)) continue;
      const auto checkpoint = make_synthetic(shape, 0.6, 5, SyntheticMatrices::by_backend);
      ASSERT_TRUE(checkpoint) << checkpoint.error().message;
      PtxGpuOptions options;
      options.before = [&](ptx::Device&, const cuda::Launch& launch,
                           const cuda::KernelParams&) -> Result<void> {
        seen.insert(launch.kernel);
        return {};
      };
      const auto backend = backend_of_ptx(*checkpoint, ptx_files().compute_90,
                                          {.cache_rows = 300, .weights = weights}, options);
      put_through(*backend);
      if (weights) continue;
      const std::vector<std::int32_t> long_prompt = prompt_of(270, shape.vocab);
      (void)decoded_text(*backend, "vanilla", {.prompt = long_prompt, .max_new_tokens = 2});
    }
  expect_every_kernel(seen);
}

/// The first fault of a text's passes if the kernels' PTX has `from` replaced by `to` everywhere.
std::string fault_with(const std::string& from, const std::string& to) {
  std::string text = read_text_file(ptx_files().compute_90, max_settings_bytes).value();
  std::size_t replaced = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    ++replaced;
  }
  EXPECT_GT(replaced, 0U) << from;
  const std::string file = testing::TempDir() + "changed_kernels.ptx";
  std::ofstream(file) << text;
  const auto checkpoint = make_synthetic(tiny_cuda_shape(), 0.6, 5, SyntheticMatrices::by_backend);
  if (!checkpoint) return checkpoint.error().message;
  const auto backend = backend_of_ptx(*checkpoint, file, {.cache_rows = 160}, {});
  std::filesystem::remove(file);
  const auto strategy = make_strategy("layerskip:exit=1,gamma=2", backend->shape());
  SeededChooser chooser(11, 1);
  DecodeListener unheard;
  const std::vector<std::int32_t> prompt = prompt_of(5, 70);
  const auto decoded =
      decode(*backend, *strategy->strategy, {.prompt = prompt, .max_new_tokens = 4}, chooser, unheard);
  return decoded ? "no fault" : decoded.error().message;
}

TEST(KernelsAsPtx, HaveFaultsWithoutWhatHoldsThemTogether) {
  DRAFTSCOPE_NEEDS_PTX();
  EXPECT_EQ(fault_with("bar.sync", "bar.sync"), "no fault");
  EXPECT_THAT(fault_with("bar.sync \t0;", ""), testing::HasSubstr("between the same barriers"));
  EXPECT_THAT(fault_with("griddepcontrol.wait;", ""), testing::HasSubstr("griddepcontrol.wait"));
}

/// The matrices of a pass's layers.
std::vector<ptx::CountedRange> matrices_of(const cuda::PassParams& pass, std::int32_t n_layers) {
  std::vector<ptx::CountedRange> ranges;
  const cuda::DeviceModel& model = pass.model;
  const auto add = [&](const cuda::DeviceMatrix& matrix, std::int32_t outputs, std::int32_t depth) {
    ranges.push_back({reinterpret_cast<std::uintptr_t>(matrix.data),
                      2 * static_cast<std::size_t>(outputs) * static_cast<std::size_t>(depth), 0});
  };
  for (std::int32_t i = 0; i < n_layers; ++i) {
    const cuda::DeviceLayer& layer = pass.layers[i];
    add(layer.q, model.n_heads * model.head_dim, model.d_model);
    add(layer.k, model.n_kv_heads * model.head_dim, model.d_model);
    add(layer.v, model.n_kv_heads * model.head_dim, model.d_model);
    add(layer.o, model.d_model, model.n_heads * model.head_dim);
    add(layer.gate, model.d_ff, model.d_model);
    add(layer.up, model.d_ff, model.d_model);
    add(layer.down, model.d_model, model.d_ff);
  }
  return ranges;
}

std::uint64_t weight_bytes_loaded(const ptx::LaunchCounts& counts) {
  return counts.kinds.front().loads.bytes;
}

TEST(KernelsAsPtx, LoadEachWeightOnceAPass) {
  DRAFTSCOPE_NEEDS_PTX();
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.d_model = 64;
  shape.d_ff = 128;
  const auto checkpoint = make_synthetic(shape, 0.6, 5, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  std::map<cuda::Kernel, ptx::LaunchCounts> last;
  PtxGpuOptions options{.counts = true};
  options.ranges = [&](ptx::Device&, const cuda::KernelParams& params) {
    const auto* pass = std::get_if<cuda::PassParams>(&params);
    return pass == nullptr ? std::vector<ptx::CountedRange>() : matrices_of(*pass, shape.n_layers);
  };
  options.after = [&](ptx::Device&, const cuda::Launch& launch, const cuda::KernelParams&,
                      const ptx::LaunchCounts& counts) -> Result<void> {
    last[launch.kernel] = counts;
    return {};
  };
  const auto backend = backend_of_ptx(*checkpoint, ptx_files().compute_90, {.cache_rows = 160}, options);
  const std::vector<std::int32_t> prompt = prompt_of(5, shape.vocab);
  (void)decoded_text(*backend, "vanilla", {.prompt = prompt, .max_new_tokens = 2});
  const std::uint64_t bytes_of_value = 2;
  const std::uint64_t heads = 3 + 2;
  EXPECT_EQ(weight_bytes_loaded(last.at(cuda::Kernel::qkv)), heads * 32 * 64 * bytes_of_value);
  EXPECT_EQ(weight_bytes_loaded(last.at(cuda::Kernel::output)), 64 * 96 * bytes_of_value);
  EXPECT_EQ(weight_bytes_loaded(last.at(cuda::Kernel::gate_up)), 2 * 128 * 64 * bytes_of_value);
  EXPECT_EQ(weight_bytes_loaded(last.at(cuda::Kernel::down)), 64 * 128 * bytes_of_value);
  // What must move is at least that, and a request of 32 lanes takes 16 sectors where all have a load.
  const ptx::LaunchCounts& down = last.at(cuda::Kernel::down);
  EXPECT_GE(down.global_loads.unique_bytes, 64 * 128 * bytes_of_value);
  EXPECT_GE(down.global_loads.sectors * 32, down.global_loads.unique_bytes);
  for (const cuda::Kernel kernel : {cuda::Kernel::qkv, cuda::Kernel::attention, cuda::Kernel::down})
    std::printf("%s", table_of(last.at(kernel), 6).c_str());
}

/// Every launch of a text's rounds, with no device beside it: as fast as the interpreter goes.
TEST(KernelsAsPtx, DecodeTheSameTextUnderEveryStrategyAndOrder) {
  DRAFTSCOPE_NEEDS_PTX();
  const auto checkpoint = make_synthetic(tiny_cuda_shape(), 0.6, 5, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const std::vector<std::int32_t> prompt = prompt_of(5, 70);
  std::vector<std::int32_t> expected;
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    const auto backend = backend_of_ptx(*checkpoint, ptx_files().compute_90, {.cache_rows = 160},
                                        {.multiprocessors = 3, .seed = seed});
    for (const char* strategy :
         {"vanilla", "layerskip:exit=1,gamma=3", "mix:mask=exit,exit=1,shape=tree,gamma=3"}) {
      const std::vector<std::int32_t> text =
          decoded_text(*backend, strategy, {.prompt = prompt, .max_new_tokens = 8});
      if (expected.empty()) expected = text;
      EXPECT_EQ(text, expected) << strategy << ", seed " << seed;
    }
  }
  EXPECT_EQ(expected.size(), 8U);
}

}  // namespace
}  // namespace draftscope::engine::test
