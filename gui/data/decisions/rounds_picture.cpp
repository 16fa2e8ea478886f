// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds_picture.h"

#include <draftscope/simulator/prices/closed_forms.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace draftscope::gui {

namespace {

using simulator::DecisionSeries;
using simulator::DecisionsOfKind;

constexpr float none = std::numeric_limits<float>::quiet_NaN();
/// Longer lengths bring no tokens to any exit.
constexpr std::int32_t max_gamma = 64;

struct Source {
  const OpenedRecording& opened;
  std::size_t run_index;
  const DecisionsOfKind& decisions;
  const std::vector<std::uint32_t>& places;

  [[nodiscard]] std::size_t rounds() const { return opened.runs()[run_index].rounds.size(); }
};

/// Values of decisions, each at the round at which its decision is shown.
template <typename ValueOf>
std::vector<float> at_places(const Source& source, const ValueOf& value_of) {
  std::vector<float> values(source.rounds(), none);
  for (std::size_t i = 0; i < source.places.size(); ++i)
    if (source.places[i] < values.size()) values[source.places[i]] = static_cast<float>(value_of(i));
  return values;
}

const DecisionSeries* series_of(const DecisionsOfKind& decisions, std::string_view key, std::int32_t exit) {
  for (const DecisionSeries& series : decisions.series)
    if (series.row->key == key && series.exit == exit) return &series;
  return nullptr;
}

std::int32_t exits_of(const DecisionsOfKind& decisions, std::string_view key) {
  std::int32_t exits = 0;
  for (const DecisionSeries& series : decisions.series)
    if (series.row->key == key) exits = std::max(exits, series.exit);
  return exits;
}

/// Tokens per nanosecond of all vanilla rounds in the recording, filtered or not; NaN if it has none.
double vanilla_speed(const OpenedRecording& opened) {
  double tokens = 0.0;
  double ns = 0.0;
  for (std::uint32_t round_index = 0; round_index < opened.recording().rounds.size(); ++round_index) {
    if (!opened.runs()[opened.run_of(round_index)].run->is_baseline) continue;
    const traces::Round& round = opened.round(round_index);
    tokens += round.emitted;
    ns += static_cast<double>(round.end_ns - round.start_ns);
  }
  return ns > 0.0 ? tokens / ns : std::numeric_limits<double>::quiet_NaN();
}

/// Speed of each round with a decision, relative to vanilla speed.
std::vector<float> realised_gain(const Source& source) {
  const double vanilla = vanilla_speed(source.opened);
  const std::vector<std::uint32_t>& rounds = source.opened.runs()[source.run_index].rounds;
  return at_places(source, [&](std::size_t i) {
    const traces::Round& round = source.opened.round(rounds[source.places[i]]);
    const auto ns = static_cast<double>(round.end_ns - round.start_ns);
    return ns > 0.0 ? round.emitted / ns / vanilla : std::numeric_limits<double>::quiet_NaN();
  });
}

/// TPL of an exit with this acceptance at its best length, up to the longest length that the run chose.
double best_tpl(double acceptance, std::int32_t exit, std::int32_t n_layers, std::int32_t longest) {
  double best = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(acceptance)) return best;
  for (std::int32_t gamma = 0; gamma <= longest; ++gamma)
    if (const auto tpl = simulator::tokens_per_loaded_layer(acceptance, gamma, exit, n_layers);
        tpl && !(*tpl <= best))
      best = *tpl;
  return best;
}

void add_exits(const Source& source, std::string_view key, RoundsPicture& into) {
  const bool is_tpl = key == "exit_tpl";
  const std::string_view recorded = is_tpl ? "exit_acceptance" : key;
  const std::int32_t exits = exits_of(source.decisions, recorded);
  std::int32_t longest = 1;
  if (const DecisionSeries* gamma = series_of(source.decisions, "gamma", 0))
    for (const double value : gamma->values)
      if (value > longest) longest = static_cast<std::int32_t>(std::min<double>(value, max_gamma));
  for (std::int32_t exit = 1; exit <= exits; ++exit) {
    const DecisionSeries* series = series_of(source.decisions, recorded, exit);
    into.names.push_back(fmt::format("exit {}", exit));
    into.values.emplace_back(at_places(source, [&](std::size_t i) {
      const double value = series == nullptr ? std::numeric_limits<double>::quiet_NaN() : series->values[i];
      if (is_tpl) return best_tpl(value, exit, exits + 1, longest);
      // A threshold of -1 means that too little was seen to set one.
      return value < 0.0 ? std::numeric_limits<double>::quiet_NaN() : value;
    }));
  }
  into.chosen = ValuePyramid(
      at_places(source, [&](std::size_t i) { return series_value(source.decisions, "exit", i); }));
}

void add_lines(const Source& source, RoundsPicture& into) {
  for (const std::string_view line : {into.picture->line, into.picture->other_line}) {
    if (line.empty()) continue;
    if (line == "realised_gain") {
      into.names.emplace_back("realised gain");
      into.values.emplace_back(realised_gain(source));
    } else if (const DecisionSeries* series = series_of(source.decisions, line, 0)) {
      into.names.emplace_back(series->row->title);
      into.values.emplace_back(at_places(source, [&](std::size_t i) { return series->values[i]; }));
    }
  }
}

void add_words(const Source& source, RoundsPicture& into) {
  into.word.assign(source.rounds(), no_index);
  into.adopted.assign(source.rounds(), false);
  for (std::size_t i = 0; i < source.places.size(); ++i)
    if (source.places[i] < source.rounds()) {
      into.places.push_back(source.places[i]);
      into.adopted[source.places[i]] = source.decisions.adopted[i];
    }
  std::sort(into.places.begin(), into.places.end());
  into.places.erase(std::unique(into.places.begin(), into.places.end()), into.places.end());
  for (const simulator::DecisionWords& words : source.decisions.words) {
    if (words.row->key != into.picture->words) continue;
    for (std::size_t i = 0; i < words.values.size(); ++i) {
      if (words.values[i].empty() || source.places[i] >= source.rounds()) continue;
      const auto known = std::find(into.words.begin(), into.words.end(), words.values[i]);
      into.word[source.places[i]] = static_cast<std::uint32_t>(known - into.words.begin());
      // A damaged file may say anything: kinds beyond the number of colours share one entry.
      constexpr std::size_t max_words = 16;
      if (known == into.words.end()) {
        if (into.words.size() < max_words) into.words.push_back(words.values[i]);
        into.word[source.places[i]] = static_cast<std::uint32_t>(into.words.size() - 1);
      }
    }
  }
}

void add_phases(const OpenedRecording& opened, const OpenedRecording& shown, std::size_t run_index,
                const RunHistory& run, RoundsPicture& into) {
  const std::size_t rounds = opened.runs()[run_index].rounds.size();
  const DecisionPicture& picture = *into.picture;
  if (picture.first_phase.empty() || rounds == 0) return;
  std::map<std::size_t, std::string> from{{0, std::string(picture.first_phase)}};
  // A strategy restarts with each repeat of the prompts.
  const std::vector<std::uint32_t>& of_run = opened.runs()[run_index].rounds;
  for (std::size_t place = 1; place < rounds; ++place)
    if (opened.request_of(of_run[place]).repeat != opened.request_of(of_run[place - 1]).repeat)
      from[place] = picture.first_phase;
  if (const std::size_t kind = run.kind_index(picture.phase_kind); kind < run.decisions.kinds.size())
    for (const simulator::DecisionWords& words : run.decisions.kinds[kind].words) {
      if (words.row->key != picture.phase_words) continue;
      // A phase holds from the round after the decision.
      for (std::size_t i = 0; i < words.values.size(); ++i)
        if (!words.values[i].empty() && run.places[kind][i] < rounds)
          from[std::size_t{run.places[kind][i]} + 1] = words.values[i];
    }
  const std::vector<std::uint32_t>& left = shown.runs()[run_index].rounds;
  for (const auto& [number, name] : from) {
    if (number >= rounds || (!into.phases.empty() && into.phases.back().name == name)) continue;
    // Find where the rounds from `number` on begin among those that are left.
    const auto at =
        std::partition_point(left.begin(), left.end(), [&, number = number](std::uint32_t round_index) {
          return shown.number_in_run(round_index) < number;
        });
    const auto first = static_cast<std::size_t>(at - left.begin());
    if (!into.phases.empty()) into.phases.back().last = first;
    into.phases.push_back({first, left.size(), name});
  }
}

void scale(RoundsPicture& into) {
  if (into.picture->is_share || into.picture->shape == PictureShape::shares) return;
  ValueSummary all;
  for (const ValuePyramid& line : into.values) {
    const ValueSummary summary = line.summarise(0, line.size());
    if (summary.values == 0) continue;
    all.min = std::min(all.min, summary.min);
    all.max = std::max(all.max, summary.max);
    all.values += summary.values;
  }
  if (all.values == 0 || !std::isfinite(all.max) || !std::isfinite(all.min)) return;
  // Ends of the axis are multiples of a quarter in round numbers.
  const double reach =
      std::max(0.0, static_cast<double>(all.max)) - std::min(0.0, static_cast<double>(all.min));
  if (!(reach > 0.0)) return;
  const auto down = [&](double step) {
    return std::floor(std::min(0.0, static_cast<double>(all.min)) / step);
  };
  const auto up = [&](double step) { return std::ceil(std::max(0.0, static_cast<double>(all.max)) / step); };
  constexpr std::array<double, 8> steps{1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 10.0, 20.0};
  const double unit = std::pow(10.0, std::floor(std::log10(reach / 4)));
  double step = unit;
  for (std::size_t i = 0; i < steps.size() && up(step) - down(step) > 4.0; ++i) step = unit * steps[i];
  into.bottom = step * down(step);
  into.top = into.bottom + 4 * step;
}

}  // namespace

double RoundsPicture::share(std::size_t word_index, std::size_t first, std::size_t last) const {
  std::uint32_t all = 0;
  for (const std::vector<std::uint32_t>& before : counted) all += before[last] - before[first];
  return all == 0 ? 0.0
                  : static_cast<double>(counted[word_index][last] - counted[word_index][first]) /
                        static_cast<double>(all);
}

std::uint32_t RoundsPicture::place_near(std::size_t place, int by) const {
  if (places.empty()) return no_index;
  const auto at = std::lower_bound(places.begin(), places.end(), place);
  if (by < 0) return at == places.begin() ? no_index : *std::prev(at);
  if (by > 0) {
    const auto next = at != places.end() && *at == place ? std::next(at) : at;
    return next == places.end() ? no_index : *next;
  }
  if (at == places.end()) return places.back();
  if (at == places.begin() || *at - place <= place - *std::prev(at)) return *at;
  return *std::prev(at);
}

RoundsPicture rounds_picture(const DecisionHistory& history, const OpenedRecording& shown,
                             std::size_t run_index, const DecisionPicture& picture) {
  const RunHistory& run = history.runs[run_index];
  RoundsPicture made;
  made.picture = &picture;
  const std::size_t kind = run.kind_index(picture.kind);
  if (kind == run.decisions.kinds.size()) return made;
  // Translate the run's places to places among the shown rounds.
  const std::vector<std::uint32_t>& rounds = history.recording->runs()[run_index].rounds;
  std::vector<std::uint32_t> places = run.places[kind];
  for (std::uint32_t& place : places)
    if (place != no_index) place = shown.place_in_run(rounds[place]);
  const Source source{shown, run_index, run.decisions.kinds[kind], places};
  add_words(source, made);
  if (picture.shape == PictureShape::lines) add_lines(source, made);
  if (picture.shape == PictureShape::exits) add_exits(source, picture.line, made);
  if (picture.shape == PictureShape::shares)
    for (std::uint32_t word = 0; word < made.words.size(); ++word) {
      std::vector<std::uint32_t>& before = made.counted.emplace_back(1, 0);
      for (const std::uint32_t said : made.word) before.push_back(before.back() + (said == word ? 1 : 0));
    }
  add_phases(*history.recording, shown, run_index, run, made);
  scale(made);
  return made;
}

}  // namespace draftscope::gui
