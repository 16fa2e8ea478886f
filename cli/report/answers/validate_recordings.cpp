// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/validate_recordings.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/answers/answer_figures.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/traces/reader.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>

#include "report/figure_text.h"
#include "report/report_json.h"
#include "terminal/messages.h"
#include "terminal/numbers.h"
#include "terminal/progress_bar.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::CheckedAnswer;
using simulator::ErrorMean;
using simulator::KindErrors;

Json checked_answer_json(const CheckedAnswer& answer) {
  return {{"kind", question_kind_key(answer.kind)},
          {"held_out", answer.held_out},
          {"strategy", answer.strategy},
          {"measured", simulator::figures_object(simulator::measured_decoding_figures(), answer.measured)},
          {"predicted", answer.predicted ? simulator::figures_object(simulator::predicted_decoding_figures(),
                                                                     *answer.predicted)
                                         : Json(nullptr)},
          {"error", json_or_null(answer.error())},
          {"inside_80", json_or_null(answer.inside_80())},
          {"inside_95", json_or_null(answer.inside_95())},
          {"rounds",
           {{"match", round_match_name(answer.rounds.match)},
            {"requests", answer.rounds.requests},
            {"first_difference", answer.rounds.first_difference}}},
          {"refusal", answer.refusal},
          {"notes", answer.notes}};
}

Json mean_json(const ErrorMean& mean) {
  if (mean.count == 0) return nullptr;
  return {{"count", mean.count},
          {"mean_error", mean.mean_absolute},
          {"max_error", mean.greatest},
          {"bias", mean.bias}};
}

Json kind_json(const KindErrors& errors) {
  return {{"kind", question_kind_key(errors.kind)},
          {"questions", errors.questions},
          {"speedup", mean_json(errors.speedup)},
          {"repeat_deviation", json_or_null(errors.repeat_deviation)},
          {"target_step", mean_json(errors.vanilla_step)},
          {"draft_step", mean_json(errors.draft_step)},
          {"verify", mean_json(errors.verify)},
          {"intervals", errors.intervals},
          {"inside_80", errors.inside_80},
          {"inside_95", errors.inside_95},
          {"compared_rounds", errors.compared_rounds},
          {"matching_rounds", errors.matching_rounds}};
}

Json replay_json(const simulator::RunReplay& replay) {
  return {{"strategy", replay.strategy},
          {"status", answer_status_name(replay.check.status)},
          {"requests", replay.check.requests},
          {"rounds", replay.check.rounds},
          {"exact_rounds", replay.check.exact_rounds},
          {"bounded_rounds", replay.check.bounded_rounds},
          {"first_difference", replay.check.reason}};
}

/// Text like "+2.1 %".
std::string signed_percent(const std::optional<double>& share, const Glyphs& glyphs) {
  return share ? signed_text(100.0 * *share, 1, glyphs.characters()) + " %" : std::string(glyphs.absent());
}

std::string repeats_cell(const simulator::MeasuredDecoding& measured, const Glyphs& glyphs) {
  if (measured.by_repeat.size() < 2) return std::string(glyphs.absent());
  const auto [low, high] = std::minmax_element(measured.by_repeat.begin(), measured.by_repeat.end());
  return range_text(*low, *high, glyphs.characters());
}

std::string mean_cell(const ErrorMean& mean, const Glyphs& glyphs) {
  return mean.count > 0 ? percent(mean.mean_absolute) : std::string(glyphs.absent());
}

std::string share_cell(std::size_t part, std::size_t all, const Glyphs& glyphs) {
  return all > 0 ? fmt::format("{} of {}", part, all) : std::string(glyphs.absent());
}

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

/// Table with one line per question.
std::string answers_table(std::span<const CheckedAnswer> answers, const Glyphs& glyphs) {
  Table table({"kind", "held out", "strategy"},
              {"measured", "repeats", "predicted", "error", "80 %", "95 %", "inside", "vanilla step",
               "draft step", "verify", "answer", "rounds"});
  for (const CheckedAnswer& answer : answers) {
    table.add_row({std::string(question_kind_name(answer.kind)), printable(answer.held_out),
                   printable(answer.strategy), factor(answer.measured.speedup, glyphs),
                   repeats_cell(answer.measured, glyphs)});
    if (answer.predicted) {
      const simulator::Answer& predicted = *answer.predicted;
      const auto error = [&](double mine, double truth) {
        return signed_percent(simulator::relative_error(mine, truth), glyphs);
      };
      for (std::string cell :
           {factor(predicted.speedup.middle(), glyphs), signed_percent(answer.error(), glyphs),
            range(predicted.speedup.interval_80(), glyphs), range(predicted.speedup.interval_95(), glyphs),
            inside_cell(answer.inside_80(), answer.inside_95(), glyphs),
            error(predicted.target_step_ns, answer.measured.vanilla_step_ns),
            error(predicted.draft_step_ns(), answer.measured.draft_step_ns),
            error(predicted.verify_ns(), answer.measured.verify_ns),
            fmt::format("{}, {}", round_source_name(predicted.source), answer_status_name(predicted.status)),
            std::string(round_match_name(answer.rounds.match))})
        table.add_cell(std::move(cell));
    } else {
      table.add_cell("no answer");
    }
  }
  return table.text(2, glyphs.columns);
}

std::string kinds_table(std::span<const KindErrors> kinds, const Glyphs& glyphs) {
  Table table({"kind"}, {"questions", "answered", "mean error", "worst", "bias", "repeats' sd", "in 80 %",
                         "in 95 %", "vanilla step", "draft step", "verify", "rounds told"});
  for (const KindErrors& errors : kinds)
    table.add_row(
        {std::string(question_kind_name(errors.kind)), fmt::format("{}", errors.questions),
         fmt::format("{}", errors.speedup.count), mean_cell(errors.speedup, glyphs),
         errors.speedup.count > 0 ? percent(errors.speedup.greatest) : std::string(glyphs.absent()),
         signed_percent(errors.speedup.count > 0 ? std::optional(errors.speedup.bias) : std::nullopt, glyphs),
         percent(errors.repeat_deviation, glyphs), share_cell(errors.inside_80, errors.intervals, glyphs),
         share_cell(errors.inside_95, errors.intervals, glyphs), mean_cell(errors.vanilla_step, glyphs),
         mean_cell(errors.draft_step, glyphs), mean_cell(errors.verify, glyphs),
         share_cell(errors.matching_rounds, errors.compared_rounds, glyphs)});
  return table.text(2, glyphs.columns);
}

/// Refusals, first differences and the basis of predictions, each line once; "" if there is none.
std::string answer_notes(std::span<const CheckedAnswer> answers) {
  std::vector<std::string> lines;
  for (const CheckedAnswer& answer : answers) {
    if (!answer.refusal.empty()) add_once(lines, "no answer: " + answer.refusal);
    if (!answer.rounds.first_difference.empty())
      add_once(lines,
               fmt::format("{}, {}: {}", answer.held_out, answer.strategy, answer.rounds.first_difference));
    if (answer.predicted && !answer.predicted->speedup.min_drafted.no_interval_reason.empty())
      add_once(lines, "no interval: " + answer.predicted->speedup.min_drafted.no_interval_reason);
    for (const std::string& note : answer.notes)
      add_once(lines, fmt::format("{}, {}: {}", answer.held_out, answer.strategy, note));
  }
  std::string text;
  for (const std::string& line : lines) text += "  " + printable(line) + '\n';
  return text;
}

/// Recordings that were trained on and asked about, and the result.
struct RecordingsValidation {
  std::vector<std::string> trained_on;  ///< File names.
  std::vector<std::string> asked;       ///< File names; the trained recording if parts were held out.
  std::vector<simulator::RunReplay> replays;
  std::vector<simulator::CheckedAnswer> answers;
};

struct Opened {
  traces::Reader reader;
  traces::Recording recording;
};

Result<Opened> open(const std::string& file) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  DRAFTSCOPE_TRY_ASSIGN(traces::Recording recording, reader.recording());
  return Opened{std::move(reader), std::move(recording)};
}

std::string name_of(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

template <typename T>
void append(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Result<void> hold_out(const std::string& file, const simulator::ValidationOptions& options,
                      RecordingsValidation& validation) {
  DRAFTSCOPE_TRY_ASSIGN(Opened opened, open(file));
  DRAFTSCOPE_TRY_ASSIGN(auto answers, simulator::ask_held_out(opened.reader, opened.recording, options));
  append(validation.answers, std::move(answers));
  DRAFTSCOPE_TRY_ASSIGN(validation.replays, simulator::check_replays(opened.reader, opened.recording));
  return {};
}

Result<void> ask_each(const std::vector<std::string>& learn_from, const std::vector<std::string>& files,
                      const simulator::ValidationOptions& options, RecordingsValidation& validation) {
  for (const std::string& source : learn_from) {
    DRAFTSCOPE_TRY_ASSIGN(Opened learnt, open(source));
    for (const std::string& file : files) {
      DRAFTSCOPE_TRY_ASSIGN(const Opened asked, open(file));
      auto answers = simulator::ask_across(learnt.reader, learnt.recording, asked.recording, options);
      if (!answers) return fail("{} from {}: {}", file, source, answers.error().message);
      append(validation.answers, *std::move(answers));
    }
  }
  return {};
}

std::string replays_text(const std::vector<simulator::RunReplay>& replays, const Glyphs& glyphs) {
  if (replays.empty()) return "";
  Table table({"strategy"}, {"requests", "rounds", "exact", "bounded"}, {"replay", "first difference"});
  for (const simulator::RunReplay& replay : replays)
    table.add_row({printable(replay.strategy), fmt::format("{}", replay.check.requests),
                   fmt::format("{}", replay.check.rounds), fmt::format("{}", replay.check.exact_rounds),
                   fmt::format("{}", replay.check.bounded_rounds),
                   std::string(answer_status_name(replay.check.status)), printable(replay.check.reason)});
  return "The recorded policies, replayed round by round\n" + table.text(2, glyphs.columns) + "\n";
}

std::string validation_text(const RecordingsValidation& validation, const std::vector<KindErrors>& kinds,
                            bool quiet, const Glyphs& glyphs) {
  std::string text = replays_text(validation.replays, glyphs);
  text += fmt::format("{} from {}: decoding without prefill, speedup over vanilla\n",
                      fmt::join(validation.asked, ", "), fmt::join(validation.trained_on, ", "));
  text += answers_table(validation.answers, glyphs);
  text += "\nErrors by kind of question: predicted / measured - 1\n" + kinds_table(kinds, glyphs);
  const std::string notes = quiet ? "" : answer_notes(validation.answers);
  if (!notes.empty()) text += "\nWhat the answers rest on\n" + notes;
  return text;
}

std::string validation_json(const RecordingsValidation& validation, const std::vector<KindErrors>& kinds) {
  Json json = new_document();
  json["trained_on"] = validation.trained_on;
  json["asked"] = validation.asked;
  json["replays"] = json_list(validation.replays, replay_json);
  json["answers"] = json_list(validation.answers, checked_answer_json);
  json["kinds"] = json_list(kinds, kind_json);
  return json_text(json);
}

}  // namespace

Result<int> validate_recordings(const ValidateRecordingsOptions& options) {
  RecordingsValidation validation;
  ProgressBar progress("validating", options.quiet);
  simulator::ValidationOptions asking{
      .draws = options.draws, .recorded_on = {}, .progress = [&](std::int64_t done, std::int64_t all) {
        progress.update(done, all);
      }};
  if (!options.recorded_gpu.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(asking.recorded_on, simulator::find_gpu(options.recorded_gpu));
  }
  std::vector<std::string> files = options.files;
  std::vector<std::string> learn_from = options.learn_from;
  if (learn_from.empty()) {
    learn_from.push_back(files.front());
    if (files.size() > 1) files.erase(files.begin());
  }
  for (const std::string& file : learn_from) validation.trained_on.push_back(name_of(file));
  for (const std::string& file : files) validation.asked.push_back(name_of(file));
  const bool is_held_out = options.learn_from.empty() && options.files.size() == 1;
  DRAFTSCOPE_TRY(is_held_out ? hold_out(files.front(), asking, validation)
                             : ask_each(learn_from, files, asking, validation));

  const std::vector<KindErrors> kinds = simulator::errors_by_kind(validation.answers);
  return print_out(options.json ? validation_json(validation, kinds)
                                : validation_text(validation, kinds, options.quiet, glyphs_for_stdout()));
}

}  // namespace draftscope::cli
