// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scores a setting that drafts chains under one set of sublayers without decoding: its draft runs over texts
// that vanilla decoding gave, many tokens in one pass, and the rounds that it would have had follow from
// where it predicts the text's next token (Draft & Verify's search, Zhang et al. 2024, §3.3, decodes every
// candidate instead). The score is emitted tokens / vanilla steps that drafts and verifications cost.
//
// Approximate: steps of a draft beyond its first see the K/V of the target for tokens that the draft itself
// had written; after a wrong draft token the draft's confidence is taken from the text's own tokens; the
// prefill and what rounds take beside their passes are left out. Drafts of one step are exact.
//
// Thread-safety: none. Uses the backend alone: any other decode on it voids the texts.

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
  std::int32_t prompts = 0;  ///< scored; fewer than there are where the scoring was stopped early
  double agreement = 0.0;    ///< share of their output tokens that the draft predicts
};

/// A chain's draft: the sublayers that it runs, and on which weights.
struct DraftSubmodel {
  speculation::SublayerMask mask;
  std::optional<speculation::WeightFormat> weights;  ///< none = the target's own
};

class TeacherForced {
 public:
  /// Decodes every prompt once. `setup` must outlive this. None = cancelled. Fails as decode() does, where
  /// the K/V cache has no room for all prompts with `max_tokens` each, and where no text goes on after its
  /// first token.
  [[nodiscard]] static Result<std::optional<TeacherForced>> create(const ScoringSetup& setup,
                                                                   PassCosts costs);
  /// The sub-model that the setting drafts with. Fails as make_strategy() does, and on a setting that is no
  /// chain under a set by its first plan.
  [[nodiscard]] static Result<DraftSubmodel> submodel_of(const std::string& setting,
                                                         const speculation::ModelShape& shape);
  TeacherForced(TeacherForced&&) noexcept;
  TeacherForced& operator=(TeacherForced&&) noexcept;
  ~TeacherForced();

  /// None = cancelled. Stops after the first prompts after which the setting can't reach `floor` any more,
  /// however well it does on the others: whoever would have scored at least `floor` is scored on all. Prompts
  /// come in an order in which the first few are spread over all.
  /// Fails on a setting that is no chain under one set, and as make_strategy() does.
  [[nodiscard]] Result<std::optional<TeacherForcedScore>> score(
      const std::string& setting, double floor = -std::numeric_limits<double>::infinity());
  /// Scores on the first prompts, as many as one pass holds the output of, and at least one.
  [[nodiscard]] Result<std::optional<TeacherForcedScore>> score_in_one_pass(const std::string& setting);

 private:
  struct State;
  explicit TeacherForced(std::unique_ptr<State> state);
  [[nodiscard]] Result<std::optional<TeacherForcedScore>> score_on(std::size_t count,
                                                                   const std::string& setting, double floor);
  std::unique_ptr<State> state_;
};

}  // namespace draftscope::engine
