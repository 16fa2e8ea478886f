// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/swift/engine.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strategies/engine.h"
#include "strategies/engine_window.h"
#include "strategies/swift/rule.h"

namespace draftscope::engine {

namespace {

std::string_view name_of(CandidateOrigin origin) {
  switch (origin) {
    case CandidateOrigin::probe:
      return "probe";
    case CandidateOrigin::random:
      return "random";
    case CandidateOrigin::single:  // SWIFT has no ranking, which this origin needs
      return "single";
    case CandidateOrigin::model:
      break;
  }
  return "gaussian process";
}

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::score:
      return "max-score";
    case StopReason::tolerance:
      return "max-tolerance";
    case StopReason::iterations:
      break;
  }
  return "max-iterations";
}

/// Lists the layers whose attention (or MLP) is skipped: "0,2,5".
std::string skipped(const speculation::SublayerMask& mask, bool attention) {
  std::string text;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer)
    if (!(attention ? mask.runs_attention(layer) : mask.runs_mlp(layer)))
      text += fmt::format("{}{}", text.empty() ? "" : ",", layer);
  return text;
}

}  // namespace

Result<std::optional<double>> matchness(Probe& probe, const speculation::SublayerMask& mask,
                                        std::span<const std::int32_t> text, std::int32_t from,
                                        std::int32_t window, std::vector<Row>& rows, Outputs& outputs,
                                        std::string& hits) {
  if (probe.room() < std::min(window, speculation::swift_pass_rows)) return std::nullopt;
  hits.clear();
  while (static_cast<std::int32_t>(hits.size()) < window) {
    const auto first = from + static_cast<std::int32_t>(hits.size());
    rows.clear();
    for (std::int32_t i = first; i < std::min(first + speculation::swift_pass_rows, from + window); ++i)
      rows.push_back({.token = text[to_size(i)], .hidden = -1, .position = i});
    DRAFTSCOPE_TRY(probe.run({.rows = rows,
                              .context = first,
                              .mask = &mask,
                              .layers = {0, mask.exit_layer()},
                              .wanted = {.head = true, .top_k = 1}},
                             outputs));
    for (std::size_t i = 0; i < rows.size(); ++i)
      hits += has_distribution(outputs.top[i]) && outputs.top[i].token == text[to_size(first) + i + 1] ? '1'
                                                                                                       : '0';
  }
  return static_cast<double>(std::ranges::count(hits, '1')) / static_cast<double>(window);
}

SwiftMask::SwiftMask(LayerSetSearch search, const Options& options)
    : search_(std::move(search)), options_(options), mask_(search_.best_set()) {}

void SwiftMask::begin_request(const RequestView& request) {
  prompt_size_ = static_cast<std::int32_t>(request.prompt.size());
  rounds_ = 0;
  emitted_ = 1;  // the prefill's token
}

void SwiftMask::observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* /*log*/) {
  ++rounds_;
  emitted_ += static_cast<std::int64_t>(outcome.emitted.size());
}

bool SwiftMask::wants_to_optimise() const {
  return !search_.stopped() && rounds_ > 0 && rounds_ % options_.every == 0 && emitted_ > options_.window + 1;
}

Result<void> SwiftMask::optimise(const RoundView& view, Probe& probe, DecisionLog* log) {
  const auto latest = window_before_root(view, options_.window);
  if (!latest) return {};
  const std::int64_t start_ns = now_ns();
  search_.propose(candidate_);
  const std::int32_t from = options_.scores_first ? std::min(prompt_size_, *latest) : *latest;
  DRAFTSCOPE_TRY_ASSIGN(
      const std::optional<double> score,
      matchness(probe, candidate_.mask, view.text, from, options_.window, rows_, outputs_, hits_));
  if (!score) return {};
  if (log != nullptr && search_.iterations() == 0)
    log->add({.kind = "phase", .adopted = true, .start_ns = start_ns, .end_ns = start_ns, .detail = [&] {
                return fmt::format(R"({{"from":"accumulation","to":"search","tokens":{}}})", emitted_);
              }});
  const double before = search_.best_score();
  DRAFTSCOPE_TRY(search_.observe(candidate_, *score));
  const bool adopted = search_.best_score() > before;
  if (adopted) mask_ = search_.best_set();
  if (log == nullptr) return {};
  log->add(
      {.kind = "layer set",
       .score = *score,
       .has_score = true,
       .adopted = adopted,
       .start_ns = start_ns,
       .end_ns = now_ns(),
       .detail = [&] {
         return fmt::format(
             R"({{"phase":"search","candidate":"{}","skipped_attention":[{}],"skipped_mlp":[{}],)"
             R"("scored_from":{},"hits":"{}","best_before":{},"iteration":{},"tolerance":{},"stopped":{}}})",
             name_of(candidate_.origin), skipped(candidate_.mask, true), skipped(candidate_.mask, false),
             from, hits_, before, search_.iterations(), search_.tolerance(), search_.stopped().has_value());
       }});
  if (search_.stopped())
    log->add({.kind = "phase",
              .score = search_.best_score(),
              .has_score = true,
              .start_ns = start_ns,
              .end_ns = now_ns(),
              .detail = [&] {
                return fmt::format(R"({{"from":"search","to":"plain","because":"{}","candidates":{}}})",
                                   name_of(*search_.stopped()), search_.iterations());
              }});
  return {};
}

namespace {

Result<void> add_swift(const speculation::StrategySpecification& mix, const speculation::ModelShape& shape,
                       Parts& parts) {
  SearchOptions search = swift_search(shape.n_layers, mix.number("ratio"));
  search.gp_interval = mix.integer("gp-interval");
  search.max_score = mix.number("max-score");
  search.max_iterations = mix.integer("max-iterations");
  search.max_tolerance = mix.integer("max-tolerance");
  search.seed = static_cast<std::uint64_t>(mix.integer("search-seed"));
  DRAFTSCOPE_TRY_ASSIGN(LayerSetSearch started, LayerSetSearch::create(search));
  const SwiftMask::Options options{mix.integer("window"), mix.integer("every"),
                                   mix.text("scored-on") == "first"};
  parts.mask = learn(parts, std::make_shared<SwiftMask>(std::move(started), options));
  return {};
}

}  // namespace

StrategyMakers engine_of_swift() {
  return {.parts = {{speculation::PartKind::mask, "swift", add_swift}}};
}

}  // namespace draftscope::engine
