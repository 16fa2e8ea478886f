// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/validate_recordings.h"

#include <draftscope/base/number.h>
#include <fmt/format.h>

#include <algorithm>

#include "report/answers/validate_answers.h"
#include "terminal/messages.h"
#include "terminal/progress_bar.h"
#include "terminal/table.h"

namespace draftscope::cli {

Result<std::vector<ErrorBound>> parse_bounds(std::span<const std::string> texts) {
  std::vector<ErrorBound> bounds;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return fail("--bound {}: expected KIND=PERCENT", text);
    const auto kind = simulator::parse_question_kind(text.substr(0, equals));
    if (!kind) return fail("--bound {}: {}", text, kind.error().message);
    const auto percent = parse_number<double>(std::string_view(text).substr(equals + 1));
    if (!percent || *percent < 0.0)
      return fail("--bound {}: expected KIND=PERCENT with a percentage of at least 0", text);
    const bool is_known = std::any_of(bounds.begin(), bounds.end(),
                                      [&](const ErrorBound& bound) { return bound.kind == *kind; });
    if (is_known) return fail("--bound {}: the kind is given twice, expected once", text);
    bounds.push_back({*kind, *percent / 100.0, 0.0});
  }
  return bounds;
}

Result<void> check_bounds(std::vector<ErrorBound>& bounds, std::span<const simulator::KindErrors> kinds) {
  for (ErrorBound& bound : bounds) {
    const auto errors = std::find_if(kinds.begin(), kinds.end(), [&](const simulator::KindErrors& candidate) {
      return candidate.kind == bound.kind && candidate.speedup.count > 0;
    });
    if (errors == kinds.end())
      return fail("--bound {}: found no answered question of that kind, expected at least one",
                  simulator::question_kind_key(bound.kind));
    bound.found = errors->speedup.mean_absolute;
  }
  return {};
}

Result<int> result_of(std::span<const ErrorBound> bounds) {
  for (const ErrorBound& bound : bounds)
    if (!bound.held())
      return fail("--bound {}: found a mean error of {:.2f} %, expected at most {:g} %",
                  simulator::question_kind_key(bound.kind), 100.0 * bound.found, 100.0 * bound.limit);
  return 0;
}

namespace {

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
  Table table({{"strategy", Align::left},
               {"requests"},
               {"rounds"},
               {"exact"},
               {"bounded"},
               {"replay", Align::left},
               {"first difference", Align::left}});
  for (const simulator::RunReplay& replay : replays)
    table.add_row({printable(replay.strategy), fmt::format("{}", replay.check.requests),
                   fmt::format("{}", replay.check.rounds), fmt::format("{}", replay.check.exact_rounds),
                   fmt::format("{}", replay.check.bounded_rounds),
                   std::string(answer_status_name(replay.check.status)), printable(replay.check.reason)});
  return "The recorded policies, replayed round by round\n" + table.text(2, glyphs.columns) + "\n";
}

std::string validation_text(const RecordingsValidation& validation,
                            const std::vector<simulator::KindErrors>& kinds, bool quiet,
                            const Glyphs& glyphs) {
  std::string text = replays_text(validation.replays, glyphs);
  text += fmt::format("{} from {}: decoding without prefill, speedup over vanilla\n",
                      fmt::join(validation.asked, ", "), fmt::join(validation.trained_on, ", "));
  text += answers_table(validation.answers, "held out", glyphs);
  text += "\nErrors by kind of question: predicted / measured - 1\n" + kinds_table(kinds, glyphs);
  text += bounds_table(validation.bounds, glyphs);
  const std::string notes = quiet ? "" : answer_notes(validation.answers);
  if (!notes.empty()) text += "\nWhat the answers rest on\n" + notes;
  return text;
}

std::string validation_json(const RecordingsValidation& validation,
                            const std::vector<simulator::KindErrors>& kinds) {
  Json json = new_document();
  json["trained_on"] = validation.trained_on;
  json["asked"] = validation.asked;
  auto& replays = json["replays"] = Json::array();
  for (const simulator::RunReplay& replay : validation.replays)
    replays.push_back({{"strategy", replay.strategy},
                       {"status", answer_status_name(replay.check.status)},
                       {"requests", replay.check.requests},
                       {"rounds", replay.check.rounds},
                       {"exact_rounds", replay.check.exact_rounds},
                       {"bounded_rounds", replay.check.bounded_rounds},
                       {"first_difference", replay.check.reason}});
  json["answers"] = answers_json(validation.answers);
  json["kinds"] = kinds_json(kinds);
  json["bounds"] = bounds_json(validation.bounds);
  return json_text(json);
}

}  // namespace

Result<int> validate_recordings(const ValidateRecordingsOptions& options) {
  RecordingsValidation validation;
  DRAFTSCOPE_TRY_ASSIGN(validation.bounds, parse_bounds(options.bounds));
  ProgressBar progress("validating", options.quiet);
  simulator::ValidationOptions asking{
      .draws = {.draws = options.draws, .seed = options.seed},
      .recorded_on = {},
      .progress = [&](std::int64_t done, std::int64_t all) { progress.update(done, all); }};
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

  const std::vector<simulator::KindErrors> kinds = simulator::errors_by_kind(validation.answers);
  DRAFTSCOPE_TRY(check_bounds(validation.bounds, kinds));
  const int printed =
      print_out(options.json ? validation_json(validation, kinds)
                             : validation_text(validation, kinds, options.quiet, glyphs_for_stdout()));
  if (printed != 0) return printed;
  return result_of(validation.bounds);
}

}  // namespace draftscope::cli
