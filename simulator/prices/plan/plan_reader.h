// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Steps of reading a config.json into a LayerPlan. Facts about families beyond their config.json are rows of
// one table, from Hugging Face transformers' configuration and modelling classes.

#include <draftscope/base/json_field.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

inline constexpr Range<std::int32_t> plan_layers{1, 1024};
inline constexpr Range<std::int32_t> plan_width{1, 1 << 20};
inline constexpr Range<std::int32_t> plan_width_or_none{0, 1 << 20};
inline constexpr Range<std::int32_t> plan_heads{1, 1024};

enum class Recurrence : std::uint8_t { none, delta_rule, mamba2, mamba1, convolution };

/// Departures of a family, added up in PlannedFamily::traits.
enum PlanTrait : std::uint8_t {
  plain_traits = 0,
  gated_queries = 1,          ///< A gate as wide as the queries multiplies attention's output.
  ungated_mlp = 2,            ///< An MLP has two matrices.
  shares_an_expert = 4,       ///< All rows also use an expert of the experts' width.
  mlp_beside_experts = 8,     ///< A dense MLP runs beside the experts.
  tied_head = 16,             ///< The head is the embedding where no key says.
  windows_are_asked_for = 32  ///< A window applies only if use_sliding_window is true.
};

struct PlannedFamily {
  std::string_view model_type;
  Recurrence recurrence = Recurrence::none;
  int traits = plain_traits;
  std::string_view needs;  ///< Keys, separated by spaces, whose defaults would change what layers are.

  [[nodiscard]] bool has(PlanTrait trait) const { return (traits & trait) != 0; }
};

/// Row of a model_type; null if the table lacks it.
[[nodiscard]] const PlannedFamily* planned_family(std::string_view model_type);

/// Errors: a key of what has no honest price, a key that the family needs and the file lacks.
[[nodiscard]] Result<void> check_priced(const JsonField& config, const PlannedFamily& family);

/// The first of these keys that is not null; the first key if all are.
[[nodiscard]] JsonField first_of(const JsonField& config, std::initializer_list<const char*> keys);

/// [layer]: kind of layer, as a list, a pattern or the family says. Errors name the field.
[[nodiscard]] Result<std::vector<std::string>> layer_kinds(const JsonField& config,
                                                           const PlannedFamily& family,
                                                           std::int32_t n_layers);

/// Mixers of a layer of this kind; none of one that is an MLP. Errors: a kind that is not known, a size that
/// is missing or out of its range.
[[nodiscard]] Result<std::vector<MixerKind>> mixers_of(const JsonField& config, const PlannedFamily& family,
                                                       const ModelShape& shape, const std::string& kind);

/// Which layers have experts.
class ExpertLayers {
 public:
  /// Errors name the field.
  [[nodiscard]] static Result<ExpertLayers> read(const JsonField& config);
  [[nodiscard]] bool has_experts(std::int32_t layer) const;

 private:
  std::int32_t first_ = 0;
  std::int32_t step_ = 1;
  std::int32_t period_ = 1;
  std::int32_t offset_ = 0;
  std::int32_t every_ = 1;
  std::vector<double> dense_;
  std::vector<double> sparse_;
  std::vector<std::string> kinds_;
};

struct MlpKinds {
  MlpKind dense;
  MlpKind experts;  ///< Without experts if there are none.
};

/// Errors: a size that is missing or out of its range.
[[nodiscard]] Result<MlpKinds> mlps_of(const JsonField& config, const PlannedFamily& family);

}  // namespace draftscope::simulator
