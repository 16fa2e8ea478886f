// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes and rounds as graphs: captured at the first use of a form, launched from then on.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "gpu.h"
#include "pass_launcher.h"

namespace draftscope::engine::cuda {

/// Key of a pass's graph; two passes of one form differ only in device memory.
struct PassForm {
  std::int32_t slots = 0;  ///< layers that run
  std::int32_t rows = 1;   ///< at most; the number itself is in device memory
  bool head = false;
  bool logits = false;
  std::optional<speculation::WeightFormat> weights;  ///< the draft's; none = the model's own
  /// Slots ahead of which states are kept, ascending; `slots` = after the last. The first is kept as boundary
  /// 0 of RoundStates, and so on.
  std::vector<std::int32_t> kept;

  friend bool operator<(const PassForm& a, const PassForm& b) {
    return std::tie(a.slots, a.rows, a.head, a.logits, a.weights, a.kept) <
           std::tie(b.slots, b.rows, b.head, b.logits, b.weights, b.kept);
  }
};

/// Key of a draft step's graph.
struct StepForm {
  std::int32_t slots = 0;                            ///< layers that run
  std::optional<speculation::WeightFormat> weights;  ///< the draft's; none = the model's own
  bool sampled = false;
  bool above_exit = false;    ///< the verification goes on above these layers
  bool keeps_states = false;  ///< of every boundary

  friend bool operator<(const StepForm& a, const StepForm& b) {
    return std::tie(a.slots, a.weights, a.sampled, a.above_exit, a.keeps_states) <
           std::tie(b.slots, b.weights, b.sampled, b.above_exit, b.keeps_states);
  }
};

/// Where graphs keep hidden states: a row at its place after the root of a round, or the first row of a pass.
struct RoundStates {
  float* inputs = nullptr;      ///< those that the verification above an exit goes on from, [rows][d_model]
  float* boundaries = nullptr;  ///< [n_layers + 1][rows][d_model]
  std::size_t boundary_values = 0;
  [[nodiscard]] float* boundary(std::int32_t index) const {
    return boundaries + static_cast<std::size_t>(index) * boundary_values;
  }
};

class PassGraphs {
 public:
  /// Nothing is owned. `trace`, perhaps null, hears what the graphs compute.
  PassGraphs(Gpu& gpu, PassLauncher& launcher, std::int32_t n_layers, const RoundStates& states,
             profiler::DeviceTrace* trace)
      : gpu_(gpu),
        launcher_(launcher),
        n_layers_(n_layers),
        states_(states),
        trace_(trace),
        has_loops_(gpu.describe().has_loops) {}

  /// Names what runs layers on weights for drafts; not owned.
  void add_draft(speculation::WeightFormat weights, PassLauncher& launcher) {
    drafts_.insert_or_assign(weights, &launcher);
  }

  /// Launches a pass over the slot table's first `form.slots` places, which hold `layers`.
  [[nodiscard]] Result<void> launch_pass(PassForm form, std::span<const std::int32_t> layers);

  /// Launches a round: one graph, in which the device itself ends the draft; or, where the device has no such
  /// graphs or a trace shall tell drafts from verifications, a graph a draft step, `draft_length` times, of
  /// which those after the draft's end do nothing, and one for the verification. `layers` are the draft's:
  /// all below an exit if the verification goes on above.
  [[nodiscard]] Result<void> launch_round(StepForm form, std::int32_t draft_length,
                                          std::span<const std::int32_t> layers);

 private:
  struct VerificationForm {
    std::int32_t rows = 1;
    std::int32_t exit = 0;  ///< the layers below run for the last token alone
    bool sampled = false;
    bool keeps_states = false;

    friend bool operator<(const VerificationForm& a, const VerificationForm& b) {
      return std::tie(a.rows, a.exit, a.sampled, a.keeps_states) <
             std::tie(b.rows, b.exit, b.sampled, b.keeps_states);
    }
  };

  /// Key of a round's graph.
  struct RoundForm {
    StepForm draft;
    VerificationForm verification;

    friend bool operator<(const RoundForm& a, const RoundForm& b) {
      return std::tie(a.draft, a.verification) < std::tie(b.draft, b.verification);
    }
  };

  [[nodiscard]] PassLauncher& launcher_of(std::optional<speculation::WeightFormat> weights) {
    return weights ? *drafts_.at(*weights) : launcher_;
  }
  template <typename Form, typename Launches>
  [[nodiscard]] Result<int> graph_of(std::map<Form, int>& graphs, const Form& form, std::string_view name,
                                     std::optional<traces::Phase> phase, Launches launches);
  [[nodiscard]] Result<void> pass(const PassForm& form);
  [[nodiscard]] Result<void> draft_step(const StepForm& form, std::optional<LoopHandle> loop);
  [[nodiscard]] Result<void> round(const RoundForm& form);
  [[nodiscard]] Result<void> last_token(const VerificationForm& form);
  [[nodiscard]] Result<void> verification(const VerificationForm& form);

  Gpu& gpu_;
  PassLauncher& launcher_;
  std::int32_t n_layers_;
  RoundStates states_;
  profiler::DeviceTrace* trace_;
  std::map<speculation::WeightFormat, PassLauncher*> drafts_;
  std::map<PassForm, int> passes_;
  std::map<StepForm, int> steps_;
  std::map<VerificationForm, int> verifications_;
  std::map<RoundForm, int> rounds_;
  bool has_loops_;
};

}  // namespace draftscope::engine::cuda
