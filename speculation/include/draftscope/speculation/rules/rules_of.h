// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rules as a strategy's specification configures them.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/rules/confidence_skips.h>
#include <draftscope/speculation/rules/del_rule.h>
#include <draftscope/speculation/rules/length_rule.h>
#include <draftscope/speculation/rules/prompt_lookup.h>
#include <draftscope/speculation/rules/suffix_decoding.h>
#include <draftscope/speculation/rules/threshold_rule.h>
#include <draftscope/speculation/rules/token_recycling.h>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// The rule of the mix's length part, or of two models' schedule; nothing if the part has no rule over counts
/// (DEL's).
[[nodiscard]] std::optional<LengthRule> length_rule(const StrategySpecification& mix);
/// The rule of the mix's stop part, or of two models; nothing if it has none, or one that is no rule over
/// counts.
[[nodiscard]] std::optional<ThresholdRule> threshold_rule(const StrategySpecification& mix);
/// The options of a mix with a part of DEL.
[[nodiscard]] DelRule::Options del_options(const StrategySpecification& mix);
/// Whether a part of the mix is DEL's.
[[nodiscard]] bool has_del(const StrategySpecification& mix);

/// Sublayers that SWIFT leaves out at this ratio: the share of all but those of the first and last layer,
/// rounded down.
[[nodiscard]] std::int32_t swift_skipped_sublayers(std::int32_t n_layers, double ratio);

/// The options of a mix with mask=conflayers, on a model of so many layers.
[[nodiscard]] ConfidenceSearches::Options confidence_options(const StrategySpecification& mix,
                                                             std::int32_t n_layers);

/// The layers of "3+5+8", as a specification holds lists of layers; what is no number is left out.
[[nodiscard]] std::vector<std::int32_t> listed_layers(std::string_view text);

[[nodiscard]] LookupOptions lookup_options(const StrategySpecification& prompt_lookup);
[[nodiscard]] SuffixOptions suffix_options(const StrategySpecification& suffix_decoding);
[[nodiscard]] RecyclingOptions recycling_options(const StrategySpecification& token_recycling);

}  // namespace draftscope::speculation
