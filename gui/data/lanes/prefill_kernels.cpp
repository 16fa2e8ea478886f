// SPDX-License-Identifier: GPL-3.0-or-later
#include "prefill_kernels.h"

#include <draftscope/simulator/analysis/attribution.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace draftscope::gui {

namespace {

/// Steps of a layer in their order.
constexpr std::array<std::string_view, 5> steps{"qkv", "attention", "output projection", "gate up", "down"};
constexpr std::size_t mlp_step = 3;
constexpr std::size_t last_step = steps.size() - 1;

/// Walks the kernels of a pass.
class LayerWalk {
 public:
  /// Places one kernel; false where it cannot stand here.
  bool add(PrefillKernel& kernel) {
    const std::size_t colon = kernel.name.find(": ");
    const std::string_view operation =
        std::string_view(kernel.name).substr(0, colon == std::string::npos ? 0 : colon);
    if (simulator::is_copy_name(kernel.name) || operation == "rope" || operation == "embedding") return true;
    if (operation == "head") {
      is_at_head_ = true;
      return true;
    }
    if (is_at_head_) return false;
    const bool is_norm = operation.ends_with(" norm") || kernel.name.starts_with("NormaliseRows");
    const auto known = std::find(steps.begin(), steps.end(), operation);
    if (known != steps.end()) {
      if (!go_to(static_cast<std::size_t>(known - steps.begin()))) return false;
      is_step_over_ = operation == "attention" || kernel.name.find(": FinishWide") != std::string::npos;
    } else {
      if (is_step_over_ && !go_to(step_ == last_step ? 0 : step_ + 1)) return false;
      if (is_norm && step_ != 0 && step_ != mlp_step) return false;
      is_step_over_ = kernel.name.starts_with("AddWide");
      if (is_step_over_ && step_ != last_step && steps[step_] != "output projection") return false;
    }
    if (kernel.layer >= 0 && kernel.layer != layer_) return false;
    kernel.layer = layer_;
    if (operation.empty()) {
      std::string name(is_norm ? (step_ == 0 ? "attention norm" : "mlp norm") : steps[step_]);
      kernel.name = name.append(": ").append(kernel.name);
    }
    return true;
  }
  [[nodiscard]] bool is_whole() const { return is_at_head_ && layer_ >= 0 && step_ == last_step; }

 private:
  /// Goes on to a step: this one, the next, or the first of the next layer.
  bool go_to(std::size_t step) {
    if (step == 0 && step_ == last_step)
      ++layer_;
    else if (step != step_ && step != step_ + 1)
      return false;
    step_ = step;
    return true;
  }

  std::int32_t layer_ = -1;
  std::size_t step_ = last_step;
  bool is_step_over_ = true;  ///< Whether a library's kernel would belong to the next step.
  bool is_at_head_ = false;
};

bool are_layers_alike(std::span<const PrefillKernel> kernels) {
  std::vector<std::vector<std::string_view>> layers;
  for (const PrefillKernel& kernel : kernels) {
    if (kernel.layer < 0) continue;
    layers.resize(std::max(layers.size(), static_cast<std::size_t>(kernel.layer) + 1));
    layers[static_cast<std::size_t>(kernel.layer)].push_back(kernel.name);
  }
  return std::adjacent_find(layers.begin(), layers.end(), std::not_equal_to<>()) == layers.end();
}

}  // namespace

bool place_in_layers(std::span<PrefillKernel> kernels) {
  std::vector<PrefillKernel> placed(kernels.begin(), kernels.end());
  LayerWalk walk;
  for (PrefillKernel& kernel : placed)
    if (!walk.add(kernel)) return false;
  if (!walk.is_whole() || !are_layers_alike(placed)) return false;
  std::move(placed.begin(), placed.end(), kernels.begin());
  return true;
}

}  // namespace draftscope::gui
