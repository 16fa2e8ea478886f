// SPDX-License-Identifier: GPL-3.0-or-later
// Counts of the kernels' PTX: what they are held against, and whether those of a small model are a larger
// one's.

#include <draftscope/speculation/published_models.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernel_traffic.h"
#include "launch_plan.h"
#include "pass_bytes.h"
#include "ptx_file.h"

namespace draftscope::bench {
namespace {

using engine::cuda::Kernel;

constexpr PlannedMachine h200{132, 232448};

TEST(NeededBytes, AreAPassesAltogether) {
  for (const char* name : {"llama-3.2-1b", "llama-3-8b"})
    for (const engine::CudaWeights weights :
         {engine::CudaWeights(), engine::CudaWeights(speculation::WeightFormat::fp8),
          engine::CudaWeights(speculation::WeightFormat::q4_0),
          engine::CudaWeights(speculation::WeightFormat::q4_k),
          engine::CudaWeights(speculation::WeightFormat::int4),
          engine::CudaWeights(speculation::WeightFormat::fp8_block)}) {
      const auto checkpoint = engine::make_synthetic({.model = name}, engine::SyntheticMatrices::by_backend);
      ASSERT_TRUE(checkpoint) << checkpoint.error().message;
      const speculation::ModelShape& shape = checkpoint->shape;
      constexpr std::int32_t context = 511;  // and the row itself
      std::uint64_t bytes = 0;
      const auto plan = launch_plan(shape, h200, 1, weights);
      ASSERT_TRUE(plan) << plan.error().message;
      for (const PlannedKernel& kernel : *plan) {
        const NeededBytes needed = needed_bytes(kernel, shape, 1, context, weights);
        bytes += (needed.weights + needed.cache_read) *
                 (is_of_layers(kernel) ? static_cast<std::uint64_t>(shape.n_layers) : 1U);
      }
      const auto whole = static_cast<double>(pass_bytes(*checkpoint, weights, shape.n_layers, context + 1));
      EXPECT_NEAR(static_cast<double>(bytes) / whole, 1.0, 3e-4) << name;  // norms
    }
}

TEST(LaunchPlans, HaveEveryKernelOfAPassAndTilesToShare) {
  const speculation::ModelShape shape = speculation::find_model_shape("llama-3-8b").value();
  for (const std::int32_t rows : {1, 8, 16}) {
    const auto few = launch_plan(shape, {16, h200.shared_bytes}, rows, std::nullopt);
    const auto many = launch_plan(shape, h200, rows, std::nullopt);
    ASSERT_TRUE(few && many);
    ASSERT_EQ(few->size(), many->size());
    for (const Kernel kernel : {Kernel::load_inputs, Kernel::qkv, Kernel::attention, Kernel::output,
                                Kernel::gate_up, Kernel::down, Kernel::head, Kernel::finish_head})
      EXPECT_TRUE(std::any_of(many->begin(), many->end(), [&](const PlannedKernel& planned) {
        return planned.kernel == kernel;
      })) << kernel_word({kernel});
    for (std::size_t i = 0; i < few->size(); ++i) {
      EXPECT_LE((*few)[i].blocks, (*many)[i].blocks);
      // Tiles of many multiprocessors may be half as wide.
      const std::int32_t tiles = (*few)[i].tiles;
      EXPECT_TRUE((*many)[i].tiles == tiles || (*many)[i].tiles == 2 * tiles) << kernel_word((*few)[i]);
      EXPECT_GE((*few)[i].launches, 1);
    }
  }
}

std::uint64_t needed_by_plan(const speculation::ModelShape& shape, const PlannedMachine& machine,
                             std::int32_t rows) {
  std::uint64_t bytes = 0;
  const auto plan = launch_plan(shape, machine, rows, std::nullopt);
  EXPECT_TRUE(plan) << plan.error().message;
  for (const PlannedKernel& kernel : *plan) bytes += needed_bytes(kernel, shape, rows, 512, {}).total();
  return bytes;
}

/// Each product is one launch, whatever a block holds, and needs no more bytes for it.
TEST(LaunchPlans, NormaliseRowsAheadWhereABlockDoesNotHoldThem) {
  constexpr PlannedMachine small{132, 101376};
  for (const char* name : {"llama-3.2-1b", "llama-3-8b", "llama-3-70b"}) {
    const speculation::ModelShape shape = speculation::find_model_shape(name).value();
    for (const std::int32_t rows : {1, 8, 16}) {
      const auto plan = launch_plan(shape, small, rows, std::nullopt);
      ASSERT_TRUE(plan) << plan.error().message;
      const bool is_normed = rows == 16 || (rows == 8 && shape.d_model == 8192);
      for (const PlannedKernel& kernel : *plan) EXPECT_EQ(kernel.launches, 1) << kernel_word(kernel);
      EXPECT_EQ(plan->size(), is_normed ? 8 + 3U : 8U) << name << ", " << rows << " rows";
      EXPECT_EQ(std::count_if(plan->begin(), plan->end(),
                              [](const PlannedKernel& kernel) { return kernel.reads_normed; }),
                is_normed ? 3 : 0);
      EXPECT_EQ(needed_by_plan(shape, small, rows), needed_by_plan(shape, {132, std::size_t{1} << 20}, rows));
    }
  }
}

const KernelTraffic& of(const std::vector<KernelTraffic>& pass, Kernel kernel) {
  return *std::find_if(pass.begin(), pass.end(),
                       [&](const KernelTraffic& traffic) { return traffic.kernel == kernel; });
}

/// Times 32: lanes may come to one in groups.
std::uint64_t matrix_products(const KernelTraffic& traffic) {
  std::uint64_t lanes = 0;
  for (const ptx::InstructionCount& count : traffic.counts.instructions)
    if (count.spelling.starts_with("mma")) lanes += count.lanes;
  return lanes;
}

std::vector<KernelTraffic> counted(const speculation::ModelShape& shape, std::int32_t rows,
                                   std::int32_t context, engine::CudaWeights weights = {}) {
  const auto pass = count_pass(
      shape, {.ptx_file = kernels_ptx_file(), .rows = rows, .context = context, .weights = weights});
  EXPECT_TRUE(pass) << pass.error().message;
  return pass.value_or(std::vector<KernelTraffic>());
}

std::vector<KernelTraffic> counted_of_wide_rows(const speculation::ModelShape& model, std::int32_t rows,
                                                engine::CudaWeights weights) {
  const auto pass =
      count_pass(shape_of_wide_rows(model, 1, weights), {.ptx_file = kernels_ptx_file(),
                                                         .rows = rows,
                                                         .context = 256,
                                                         .weights = weights,
                                                         .shared_bytes = wide_rows_shared_bytes});
  EXPECT_TRUE(pass) << pass.error().message;
  return pass.value_or(std::vector<KernelTraffic>());
}

constexpr Kernel products[] = {Kernel::qkv, Kernel::output, Kernel::gate_up, Kernel::down, Kernel::head};

/// Twice as wide: four times the weights and what is done for each.
TEST(CountedKernels, OfASmallModelAreThoseOfALargerOne) {
  if (kernels_ptx_file().empty()) GTEST_SKIP() << "no CUDA toolkit at build time: nothing is counted";
  const speculation::ModelShape model = speculation::find_model_shape("llama-3.2-1b").value();
  const std::vector<KernelTraffic> small = counted(small_shape(model, 1), 1, 256);
  const std::vector<KernelTraffic> large = counted(small_shape(model, 2), 1, 256);
  ASSERT_FALSE(small.empty() || large.empty());
  for (const Kernel kernel : products) {
    SCOPED_TRACE(std::string(kernel_word({kernel})));
    const KernelTraffic& a = of(small, kernel);
    const KernelTraffic& b = of(large, kernel);
    EXPECT_EQ(a.moved(Held::weights), a.needed.weights);
    EXPECT_EQ(b.moved(Held::weights), b.needed.weights);
    EXPECT_EQ(4 * a.needed.weights, b.needed.weights);
    EXPECT_EQ(4 * matrix_products(a), matrix_products(b));
    // Parts that grow slower than the weights make the larger one's work a byte no more than the small one's.
    EXPECT_LE(b.counts.warp_instructions, 4 * a.counts.warp_instructions);
    EXPECT_GT(b.counts.warp_instructions, a.counts.warp_instructions);
    EXPECT_EQ(b.counts.useless_prefetches, 0U);
  }
  // Only there is more than the ring takes.
  const KernelTraffic& down = of(large, Kernel::down);
  EXPECT_EQ(down.counts.prefetched_sectors * 32,
            static_cast<std::uint64_t>(down.launches) * down.counts.blocks *
                static_cast<std::uint64_t>(engine::cuda::product_threads * engine::cuda::fetched_bytes));
  const KernelTraffic& a = of(small, Kernel::attention);
  const KernelTraffic& b = of(large, Kernel::attention);
  EXPECT_EQ(a.moved(Held::cache), a.needed.cache_read);
  EXPECT_EQ(b.moved(Held::cache), b.needed.cache_read);
  EXPECT_EQ(2 * matrix_products(a), matrix_products(b));
}

/// Codes are read by the sector, and each sector once. So are scales, but for those that several warps ask
/// for.
TEST(CountedKernels, ReadEachWeightOnceInBlocks) {
  if (kernels_ptx_file().empty()) GTEST_SKIP() << "no CUDA toolkit at build time: nothing is counted";
  const speculation::ModelShape model = speculation::find_model_shape("llama-3.2-1b").value();
  using enum speculation::WeightFormat;
  for (const auto weights : {q8_0, q4_0, q4_k, int4, fp8_block}) {
    speculation::ModelShape shape = small_shape(model, 1, weights);
    shape.d_ff = 3 * shape.d_model;  // parts that begin amid what stands together
    const std::vector<KernelTraffic> pass = counted(shape, 1, 256, weights);
    ASSERT_FALSE(pass.empty());
    std::uint64_t asked_again = 0;
    for (const Kernel kernel : products) {
      SCOPED_TRACE(std::string(kernel_word({kernel})));
      const KernelTraffic& traffic = of(pass, kernel);
      EXPECT_EQ(traffic.moved(Held::weights), traffic.needed.weights + traffic.asked_again);
      asked_again += traffic.asked_again;
      if (kernel == Kernel::head) {
        EXPECT_EQ(traffic.asked_again, 0U);
      }
    }
    EXPECT_GT(asked_again, 0U);  // scales of more values than a slice is a multiple of
  }
}

/// Rows that a block does not hold are moved beside what is needed: once written, and once read from the
/// device's memory.
TEST(CountedKernels, ReadEachWeightOnceOfRowsThatAreNormalisedAhead) {
  if (kernels_ptx_file().empty()) GTEST_SKIP() << "no CUDA toolkit at build time: nothing is counted";
  const speculation::ModelShape model = speculation::find_model_shape("llama-3.2-1b").value();
  using engine::cuda::Norm;
  for (const engine::CudaWeights weights :
       {engine::CudaWeights(), engine::CudaWeights(speculation::WeightFormat::q4_0)}) {
    const std::vector<KernelTraffic> pass = counted_of_wide_rows(model, 16, weights);
    ASSERT_FALSE(pass.empty());
    for (const Kernel kernel : products) {
      SCOPED_TRACE(std::string(kernel_word({kernel})));
      const KernelTraffic& traffic = of(pass, kernel);
      EXPECT_EQ(traffic.reads_normed, kernel != Kernel::output && kernel != Kernel::down);
      EXPECT_EQ(traffic.launches, 1);
      EXPECT_EQ(traffic.moved(Held::weights), traffic.needed.weights + traffic.asked_again);
    }
    const std::uint64_t rows =
        16 * static_cast<std::uint64_t>(shape_of_wide_rows(model, 1, weights).d_model) * 2;
    for (const Norm norm : {Norm::attention, Norm::mlp, Norm::head}) {
      const auto found =
          std::find(pass.begin(), pass.end(), PassKernel{.kernel = Kernel::normalise_rows, .norm = norm});
      ASSERT_NE(found, pass.end());
      EXPECT_EQ(found->passed_on, rows);
      EXPECT_NEAR(static_cast<double>(found->moved(Held::others)),
                  static_cast<double>(found->needed.total() + rows), 256.0);  // the pass's state
    }
    for (const KernelTraffic& kernel : pass)
      EXPECT_EQ(kernel.passed_on, is_of_normed_rows(kernel) ? rows : 0U) << kernel_word(kernel);
  }
}

TEST(CountedKernels, ReadEachWeightOnceForEightRows) {
  if (kernels_ptx_file().empty()) GTEST_SKIP() << "no CUDA toolkit at build time: nothing is counted";
  const speculation::ModelShape model = speculation::find_model_shape("llama-3.2-1b").value();
  const std::vector<KernelTraffic> pass = counted(small_shape(model, 1), 8, 256);
  ASSERT_FALSE(pass.empty());
  for (const Kernel kernel : products) {
    SCOPED_TRACE(std::string(kernel_word({kernel})));
    EXPECT_EQ(of(pass, kernel).moved(Held::weights), of(pass, kernel).needed.weights);
  }
  EXPECT_EQ(of(pass, Kernel::attention).moved(Held::cache), of(pass, Kernel::attention).needed.cache_read);
  for (const KernelTraffic& kernel : pass) EXPECT_GE(kernel.moved(), kernel.needed.weights);
}

}  // namespace
}  // namespace draftscope::bench
