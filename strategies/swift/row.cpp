// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include "strategies/row.h"
#include "strategies/swift/rule.h"

namespace draftscope::speculation {

namespace {

DraftDescription describe_swift(const StrategySpecification& mix, const ModelShape& shape) {
  const std::int32_t skipped = swift_skipped_sublayers(shape.n_layers, mix.number("ratio"));
  return {fmt::format("all but {} of {} sublayers", skipped, 2 * shape.n_layers),
          shape.n_layers - 0.5 * skipped + head_in_layers(shape)};
}

}  // namespace

StrategyRows row_of_swift() {
  return {
      .parts =
          {{.kind = PartKind::mask,
            .name = "swift",
            .summary = "a set of sublayers that is searched for while decoding",
            .source = "Xia et al. 2025, SWIFT, §4.1",
            .parameters =
                {number("ratio", "0.45", "share",
                        "of the sublayers but those of the first and last layer that are skipped"),
                 of_search(integer("window", "32", "1", "256", "tokens",
                                   "of the output that candidates are scored on")),
                 of_search(
                     unrecorded(choice("scored-on", "latest", {"latest", "first"},
                                       "the window: the latest tokens of the output, or its first ones, as "
                                       "the public code has it"),
                                "first")),
                 of_search(
                     integer("every", "1", "1", max_rounds, "rounds", "from one candidate to the next")),
                 of_search(integer("gp-interval", "25", "0", max_rounds, "candidates",
                                   "from one that the Gaussian process proposes to the next; 0 = none")),
                 of_search(number("max-score", "0.95", "share", "the search ends with a better candidate")),
                 of_search(integer("max-iterations", "1000", "0", "8000", "candidates",
                                   "the search ends after; 0 = the first set drafts throughout")),
                 of_search(integer("max-tolerance", "300", "1", max_rounds, "candidates",
                                   "without a better one end the search")),
                 of_search(integer("search-seed", "1", "0", max_rounds, "", "of the random candidates"))},
            .min_layers = 3,
            .min_layers_reason = both_ends_are_kept,
            .no_replay = reads_its_own_rows("it searches for the sublayers to skip by drafting, and "),
            .layers = MaskLayers::beside_searched_set,
            .tried_on = "window",
            .describe = describe_swift}},
      .strategies = {{.name = "swift",
                      .summary = "searches the sublayers to skip while it decodes; early stop, token tree",
                      .source = "Xia et al. 2025, SWIFT",
                      .parts = {"swift", "fixed", "threshold", "tree"},
                      .defaults = {{"gamma", "25"}, {"threshold", "0.8"}}}}};
}

}  // namespace draftscope::speculation
