// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scores a setting that drafts chains under one set of sublayers without decoding. Its draft runs over texts
// that vanilla decoding gave, many tokens in one pass. The rounds it would have had follow from where it
// predicts the text's next token. (Draft & Verify's search, Zhang et al. 2024, §3.3, decodes every candidate
// instead.) The score is emitted tokens / vanilla steps that drafts and verifications cost.
//
// The score is approximate. Draft steps after the first see the target's K/V for tokens whose K/V the draft
// itself would have written. After a wrong draft token the draft's confidence is taken from the text's own
// tokens. The prefill and the time of rounds outside their passes are left out. Drafts of one step are exact.
//
// Thread-safety: none. Needs exclusive use of the backend: any other decode on it invalidates the texts.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/pass_costs.h>
#include <draftscope/engine/tuning/score_setting.h>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace draftscope::engine {

struct TeacherForcedScore {
  Measurement measured;
  std::int32_t prompts = 0;  ///< number of prompts scored; less than all if scoring stopped early
  double agreement = 0.0;    ///< share of their output tokens that the draft predicts
};

/// The draft of a chain: the sublayers that it runs, and the format of their weights.
struct DraftSubmodel {
  speculation::SublayerMask mask;
  std::optional<speculation::WeightFormat> weights;  ///< format of the weights; none = the target's own
};

class TeacherForced {
 public:
  /// Decodes every prompt once. `setup` must outlive this object. None = cancelled. Fails as decode() does,
  /// if the K/V cache has no room for all prompts with `max_tokens` each, and if no text continues after its
  /// first token.
  [[nodiscard]] static Result<std::optional<TeacherForced>> create(const ScoringSetup& setup,
                                                                   PassCosts costs);
  /// The sub-model that the setting drafts with. Fails as make_strategy() does, and on a setting whose first
  /// plan is not a chain under a set.
  [[nodiscard]] static Result<DraftSubmodel> submodel_of(const std::string& setting,
                                                         const speculation::ModelShape& shape);
  TeacherForced(TeacherForced&&) noexcept;
  TeacherForced& operator=(TeacherForced&&) noexcept;
  ~TeacherForced();

  /// Scores the setting; none = cancelled. Stops as soon as the setting can't reach `floor` any more, however
  /// well it does on the remaining prompts. A setting that would score at least `floor` is therefore scored
  /// on all. Prompts come in an order in which the first few are spread over all. Fails on a setting that is
  /// no chain under one set, and as make_strategy() does.
  [[nodiscard]] Result<std::optional<TeacherForcedScore>> score(
      const std::string& setting, double floor = -std::numeric_limits<double>::infinity());
  /// Scores on the first prompts: as many as have an output that fits one pass, and at least one.
  [[nodiscard]] Result<std::optional<TeacherForcedScore>> score_in_one_pass(const std::string& setting);

 private:
  struct State;
  explicit TeacherForced(std::unique_ptr<State> state);
  [[nodiscard]] Result<std::optional<TeacherForcedScore>> score_on(std::size_t count,
                                                                   const std::string& setting, double floor);
  std::unique_ptr<State> state_;
};

}  // namespace draftscope::engine
