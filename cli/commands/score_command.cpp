// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/simulator/answers/prediction_file.h>
#include <memory>

#include "report/validation/validate_answers.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

struct ScoreOptions {
  std::filesystem::path prediction;
  std::filesystem::path measured;
  std::vector<std::string> bounds;
  bool json = false;
  bool csv = false;
  bool quiet = false;
};

struct Scored {
  const ScoreOptions& options;
  const simulator::PredictionFile& prediction;
  const simulator::PredictionScore& score;
  std::vector<simulator::KindErrors> kinds;
  std::vector<ErrorBound> bounds;
};

std::string header_text(const Scored& scored, const Glyphs& glyphs) {
  const simulator::PredictionFile& prediction = scored.prediction;
  const simulator::PredictionScore& score = scored.score;
  const auto after_ns = static_cast<double>(score.measured_realtime_ns - prediction.created_realtime_ns);
  std::string text = fmt::format(
      "predicted    {} by draftscope {} from {}\n             {}\n"
      "measured     {}, {} later, {}\n",
      utc_text(prediction.created_realtime_ns), printable(prediction.tool_version),
      printable(prediction.recording), prediction.digest, utc_text(score.measured_realtime_ns),
      duration(after_ns, glyphs),
      score.recorded_for_it ? "for this prediction" : "by a recording that names no prediction");
  if (score.differences.empty()) return text + "differences  none: the experiment is the predicted one\n\n";
  for (std::size_t i = 0; i < score.differences.size(); ++i)
    text += (i == 0 ? "differences  " : "             ") + printable(score.differences[i]) + '\n';
  return text + '\n';
}

std::string score_text(const Scored& scored, const Glyphs& glyphs) {
  std::string text = header_text(scored, glyphs);
  text += "Predicted and measured: decoding without prefill, speedup over vanilla\n";
  text += answers_table(scored.score.answers, "machine", glyphs);
  text += "\nErrors by kind of question: predicted / measured - 1\n" + kinds_table(scored.kinds, glyphs);
  text += bounds_table(scored.bounds, glyphs);
  if (scored.options.quiet) return text;
  if (!scored.score.unmeasured.empty()) text += "\nNot measured\n";
  for (const simulator::Unmeasured& one : scored.score.unmeasured)
    text +=
        fmt::format("  {}, {}: {}\n", printable(one.strategy), printable(one.machine), printable(one.reason));
  return text;
}

std::string score_json(const Scored& scored) {
  const simulator::PredictionFile& prediction = scored.prediction;
  const simulator::PredictionScore& score = scored.score;
  Json json = new_document();
  json["prediction"] = {{"digest", prediction.digest},
                        {"created", utc_text(prediction.created_realtime_ns)},
                        {"tool_version", prediction.tool_version},
                        {"recording", prediction.recording},
                        {"recording_sha256", prediction.recording_sha256}};
  json["measurement"] = {{"file", scored.options.measured.filename().string()},
                         {"begun", utc_text(score.measured_realtime_ns)},
                         {"ns_after_prediction", score.measured_realtime_ns - prediction.created_realtime_ns},
                         {"recorded_for_it", score.recorded_for_it}};
  json["differences"] = score.differences;
  json["answers"] = answers_json(score.answers);
  json["kinds"] = kinds_json(scored.kinds);
  json["bounds"] = bounds_json(scored.bounds);
  Json& unmeasured = json["unmeasured"] = Json::array();
  for (const simulator::Unmeasured& one : score.unmeasured)
    unmeasured.push_back({{"strategy", one.strategy}, {"machine", one.machine}, {"reason", one.reason}});
  return json_text(json);
}

Result<int> score(const ScoreOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(std::vector<ErrorBound> bounds, parse_bounds(options.bounds));
  DRAFTSCOPE_TRY_ASSIGN(const simulator::PredictionFile prediction,
                        simulator::read_prediction(options.prediction));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.measured));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording measured, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const simulator::PredictionScore found,
                        simulator::score_prediction(prediction, measured));
  Scored scored{options, prediction, found, simulator::errors_by_kind(found.answers), std::move(bounds)};
  DRAFTSCOPE_TRY(check_bounds(scored.bounds, scored.kinds));
  const int printed = options.json  ? print_out(score_json(scored))
                      : options.csv ? print_out(answers_csv(found.answers))
                                    : print_out(score_text(scored, glyphs_for_stdout()));
  if (printed != 0) return printed;
  return result_of(scored.bounds);
}

}  // namespace

void add_score_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App* command = app.add_subcommand("score", "Compare a prediction with its measurement");
  command->footer(
      "Refuses a prediction that was changed after it was written, and a recording that was begun before "
      "it.\n"
      "What differs between the predicted experiment and the measured one is named.\n"
      "Keys of --json and columns of --csv: cli/OUTPUT.md.\n"
      "Example: draftscope score prediction.json measured.dstrace --bound exit=5");
  command->add_option("PREDICTION", options->prediction, "What draftscope predict wrote")->required();
  command->add_option("TRACE", options->measured, "What draftscope measure recorded")->required();
  command->add_option("--bound", options->bounds, bound_help);
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--csv", options->csv, "Print CSV, one line a prediction")->excludes(json);
  command->add_flag("-q,--quiet", options->quiet, "Not what was left unmeasured");
  command->callback([options, &outcome] { finish(outcome, score(*options)); });
}

}  // namespace draftscope::cli
