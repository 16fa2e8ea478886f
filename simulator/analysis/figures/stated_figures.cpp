// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/figures/stated_figures.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

/// The names that sources have for a figure of the catalogue.
struct StatedName {
  std::string_view name;
  std::string_view key;
};
constexpr StatedName stated_names[] = {{"requests", "requests"},
                                       {"output_tokens", "output_tokens"},
                                       {"wall_ns", "wall_ns"},
                                       {"verify_steps", "rounds"},
                                       {"drafted_tokens", "drafted_tokens"},
                                       {"drafted", "drafted_tokens"},
                                       {"accepted_tokens", "accepted_tokens"},
                                       {"accepted", "accepted_tokens"},
                                       {"acceptance_rate", "acceptance_rate"},
                                       {"mean_accepted_length", "mean_accepted_length"},
                                       {"acceptance_by_position", "acceptance_by_position"},
                                       {"tokens_per_second", "tokens_per_second"},
                                       {"decode_tokens_per_second", "decode_tokens_per_second"},
                                       {"time_to_first_token_ns", "time_to_first_token.mean_ns"}};

class StatedRun {
 public:
  StatedRun(Figures& figures, const nlohmann::json& stated) : figures_(figures), stated_(stated) {}

  void put() {
    Throughput& speed = figures_.throughput;
    put(speed.requests, "requests");
    put(speed.output_tokens, "output_tokens");
    put(speed.wall_ns, "wall_ns");
    put(speed.tokens_per_second, "tokens_per_second");
    put(speed.decode_tokens_per_second, "decode_tokens_per_second");
    if (const auto mean_ns = number("time_to_first_token.mean_ns"); mean_ns && !speed.time_to_first_token) {
      speed.time_to_first_token = TimeSummary{.mean_ns = *mean_ns};
      figures_.unknown.insert("time_to_first_token.");
      figures_.stated.insert("time_to_first_token.mean_ns");
    }
    if (figures_.acceptance.rounds > 0) return;  // Its rows tell more.
    Acceptance& drafts = figures_.acceptance;
    put(drafts.rounds, "rounds");
    put(drafts.drafted_tokens, "drafted_tokens");
    put(drafts.accepted_tokens, "accepted_tokens");
    put(drafts.acceptance_rate, "acceptance_rate");
    put(drafts.mean_accepted_length, "mean_accepted_length");
    put_positions(drafts);
    if (!figures_.stated.contains("accepted_tokens")) return;
    const auto accepted = static_cast<double>(drafts.accepted_tokens);
    derive(drafts.acceptance_rate, "acceptance_rate", accepted, drafts.drafted_tokens);
    derive(drafts.mean_accepted_length, "mean_accepted_length", accepted + static_cast<double>(drafts.rounds),
           drafts.rounds);
  }

 private:
  /// The number that the source states for a figure; absent if it is no number, or below 0.
  [[nodiscard]] std::optional<double> number(std::string_view key) const {
    for (const StatedName& row : stated_names) {
      const auto found = row.key == key ? stated_.find(row.name) : stated_.end();
      if (found != stated_.end() && found->is_number() && found->get<double>() >= 0.0)
        return found->get<double>();
    }
    return std::nullopt;
  }

  void put(std::int64_t& count, std::string_view key) {
    constexpr double max_count = 0x1p53;  // Greater ones are not exact.
    const auto value = number(key);
    if (!figures_.unknown.contains(key) || !value || *value > max_count) return;
    count = std::llround(*value);
    figures_.stated.emplace(key);
  }

  void put(std::optional<double>& figure, std::string_view key) {
    if (figure) return;
    figure = number(key);
    if (figure) figures_.stated.emplace(key);
  }

  /// Takes the accepted shares of all verifications, by draft position.
  void put_positions(Acceptance& drafts) {
    const auto shares = stated_.find("acceptance_by_position");
    if (shares == stated_.end() || !shares->is_array() || drafts.rounds <= 0) return;
    std::int64_t reached = drafts.rounds;
    for (const nlohmann::json& share : *shares) {
      if (!share.is_number() || !(share.get<double>() >= 0.0 && share.get<double>() <= 1.0)) break;
      const std::int64_t accepted = std::llround(share.get<double>() * static_cast<double>(drafts.rounds));
      drafts.by_position.push_back({drafts.rounds, reached, accepted});
      reached = accepted;
    }
    if (!drafts.by_position.empty()) figures_.stated.emplace("acceptance_by_position");
  }

  void derive(std::optional<double>& figure, std::string_view key, double sum, std::int64_t of) {
    if (figure || of <= 0) return;
    figure = sum / static_cast<double>(of);
    figures_.stated.emplace(key);
  }

  Figures& figures_;
  const nlohmann::json& stated_;
};

/// A speedup of two rates, of which one or both are stated. Nothing else is known of it.
void put_speedup(Figures& figures, const Figures& baseline) {
  const auto& rate = figures.throughput.tokens_per_second;
  const auto& of_baseline = baseline.throughput.tokens_per_second;
  const bool is_stated =
      figures.stated.contains("tokens_per_second") || baseline.stated.contains("tokens_per_second");
  if (figures.speedup || !is_stated || !rate || !of_baseline || !(*of_baseline > 0.0)) return;
  figures.speedup.emplace().value = *rate / *of_baseline;
  figures.unknown.insert("speedup.");
  figures.stated.insert("speedup.value");
}

}  // namespace

nlohmann::json stated_figures(const nlohmann::json& all, const std::string& specification) {
  const auto found = all.find(specification);
  return found != all.end() && found->is_object() ? *found : nlohmann::json::object();
}

void put_stated(RecordingFigures& figures, const traces::Meta& meta) {
  if (!meta.contains("stated_figures")) return;
  const nlohmann::json all = meta_object(meta, "stated_figures");
  for (RunFigures& run : figures.runs) {
    const nlohmann::json stated = stated_figures(all, run.all.run->specification);
    StatedRun(run.all, stated).put();
  }
  const auto baseline = std::ranges::find_if(figures.runs, [&](const RunFigures& run) {
    return figures.baseline != nullptr ? run.all.run == figures.baseline
                                       : run.all.run->is_baseline && !run.all.stated.empty();
  });
  if (baseline == figures.runs.end()) return;
  figures.baseline = baseline->all.run;
  for (RunFigures& run : figures.runs)
    if (run.all.run != figures.baseline) put_speedup(run.all, baseline->all);
}

std::vector<OtherStated> other_stated(const RecordingFigures& figures, const traces::Meta& meta) {
  std::vector<OtherStated> others;
  const nlohmann::json all = meta_object(meta, "stated_figures");
  for (const RunFigures& run : figures.runs) {
    const nlohmann::json stated = stated_figures(all, run.all.run->specification);
    for (const auto& [name, value] : stated.items()) {
      const auto* const row = std::ranges::find(stated_names, std::string_view(name), &StatedName::name);
      if (row == std::end(stated_names) || !run.all.stated.contains(row->key))
        others.push_back(
            {run.all.run, name, value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)});
    }
  }
  return others;
}

bool reports_no_speculation(const Figures& figures, const traces::Meta& meta) {
  if (!traces::is_imported(meta) || figures.run->is_baseline || figures.throughput.requests == 0)
    return false;
  const Acceptance& drafts = figures.acceptance;
  return drafts.rounds == 0 && drafts.drafted_tokens == 0 && !drafts.acceptance_rate &&
         !drafts.mean_accepted_length;
}

}  // namespace draftscope::simulator
