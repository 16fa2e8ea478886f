// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether a scenario fits into a GPU's memory, and what would. Bytes follow from shapes; norms and biases,
// which are thousandths of the weights, are left out. Pure functions, safe from any thread.
//
// K/V has room for every request's longest context. Activations are those of the widest pass: the residual
// stream twice, what the widest sublayer makes, and fp32 logits. 5 % of the memory are taken to be the
// runtime's (contexts, kernels, what lies between blocks).

#include <draftscope/base/result.h>
#include <draftscope/simulator/hardware/scenario.h>
#include <optional>
#include <string>

namespace draftscope::simulator {

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
