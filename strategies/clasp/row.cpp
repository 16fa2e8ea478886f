// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include "strategies/row.h"

namespace draftscope::speculation {

namespace {

DraftDescription describe_clasp(const StrategySpecification& mix, const ModelShape& shape) {
  const std::int32_t skipped = mix.integer("skip");
  return {fmt::format("all but {} of {} layers", skipped, shape.n_layers),
          shape.n_layers - skipped + head_in_layers(shape)};
}

}  // namespace

StrategyRows row_of_clasp() {
  return {.parts = {{.kind = PartKind::mask,
                     .name = "clasp",
                     .summary = "layers by dynamic programming from the last verified token",
                     .source = "Chen et al. 2025, CLaSp, Alg. 1",
                     .parameters =
                         {integer("skip", "L/2", "0", "L", "layers", "M: whole layers that are skipped"),
                          of_search(integer("interval", "128", "1", max_rounds, "units",
                                            "from one search to the next; one follows the prefill")),
                          of_search(
                              unrecorded(choice("unit", "tokens", {"tokens", "verifications"},
                                                "what the interval counts: emitted tokens, or verifications"),
                                         "verifications")),
                          of_search(unrecorded(
                              choice("carry-set", "no", {"no", "yes"},
                                     "yes: set and count go on from request to request, of which the first "
                                     "alone is searched for after its prefill"),
                              "no"))},
                     .no_replay = reads_its_own_rows("its layers follow from hidden states, and "),
                     .layers = MaskLayers::beside_searched_set,
                     .describe = describe_clasp}},
          .strategies = {{.name = "clasp",
                          .summary = "chooses the layers to skip by dynamic programming over hidden states",
                          .source = "Chen et al. 2025, CLaSp",
                          .parts = {"clasp", "fixed", "threshold", "chain"},
                          .defaults = {{"gamma", "8"}, {"threshold", "0.7"}}}}};
}

}  // namespace draftscope::speculation
