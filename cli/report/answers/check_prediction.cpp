// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/check_prediction.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/sha256.h>
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>
#include <set>

#include "report/figure_text.h"
#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::meta_value;

Result<std::int64_t> start_of(const traces::Recording& measured) {
  const std::string text = meta_value(measured.meta, "clock_start_realtime_ns");
  const auto ns = parse_number<std::int64_t>(text);
  if (!ns)
    return fail("{}: meta clock_start_realtime_ns is {}, expected when the recording began",
                measured.path.string(), quote(text));
  return *ns;
}

/// How the measured prompts differ from the training prompts; "" if they are the same.
std::string prompt_difference(const PredictionFile& prediction, const std::vector<simulator::RunRows>& runs) {
  const std::set<std::string> learnt(prediction.prompts.begin(), prediction.prompts.end());
  std::set<const traces::Prompt*> known;
  std::size_t in_both = 0;
  for (const simulator::RunRows& run : runs)
    for (const simulator::RequestRows& rows : run.requests)
      if (known.insert(rows.prompt).second) in_both += learnt.contains(sha256_of(rows.prompt->text)) ? 1 : 0;
  if (in_both < known.size())
    return fmt::format("prompts: {} of the {} measured are among the {} learnt from", in_both, known.size(),
                       prediction.prompts.size());
  if (known.size() < prediction.prompts.size())
    return fmt::format("prompts: only {} of the {} learnt from were measured", known.size(),
                       prediction.prompts.size());
  return "";
}

/// Why the recording does not answer the question; "" if it does.
std::string not_measured(const WrittenAnswer& asked, const traces::Recording& measured,
                         const speculation::ModelShape& shape) {
  if (!speculation::same_sizes(asked.shape, shape))
    return fmt::format("predicted for the sizes of {}, measured on {}", asked.shape.name, shape.name);
  if (const std::string dtype = meta_value(measured.meta, "dtype"); asked.weights != dtype)
    return fmt::format("predicted for {} weights, measured with {}", asked.weights, dtype);
  if (asked.batch != 1 || asked.tensor_parallel != 1)
    return fmt::format("predicted for a batch of {} on {} GPUs, measured one request at a time on one device",
                       asked.batch, asked.tensor_parallel);
  if (asked.gpu.empty()) return "";
  const std::string device = simulator::is_gpu_recording(measured.meta)
                                 ? simulator::recorded_gpu_name(measured.meta)
                                 : meta_value(measured.meta, "device");
  const auto known = simulator::find_gpu_of_driver(device);
  if (device == asked.gpu || (known && known->name == asked.gpu)) return "";
  return fmt::format("predicted for {}, measured on {}", asked.gpu, device);
}

std::optional<bool> is_inside(const std::optional<simulator::Interval>& interval, double value) {
  if (!interval) return std::nullopt;
  return interval->low <= value && value <= interval->high;
}

}  // namespace

std::optional<bool> MeasuredAnswer::inside_80() const {
  return is_inside(predicted.interval_80, measured.speedup);
}

std::optional<bool> MeasuredAnswer::inside_95() const {
  return is_inside(predicted.interval_95, measured.speedup);
}

std::string MeasuredAnswer::meaning() const {
  const double off = error().value_or(0.0);
  const std::string by =
      fmt::format("{:.1f} % {} than measured", 100.0 * std::abs(off), off < 0.0 ? "lower" : "higher");
  if (!inside_95()) return "The predicted speedup is " + by + "; no interval was predicted.";
  if (inside_80().value_or(false))
    return "The measured speedup lies in the 80 % interval: the prediction holds.";
  if (*inside_95())
    return "The measured speedup lies in the 95 % interval, but not in that of 80 %: the prediction holds, "
           "narrowly.";
  return "The measured speedup lies outside the 95 % interval: the prediction is wrong here, " + by + ".";
}

Result<PredictionCheck> check_prediction(const PredictionFile& prediction,
                                         const traces::Recording& measured) {
  PredictionCheck check{.file = measured.path.filename().string()};
  DRAFTSCOPE_TRY_ASSIGN(check.measured_realtime_ns, start_of(measured));
  if (check.measured_realtime_ns <= prediction.created_realtime_ns)
    return fail("{}: was begun at {}, expected after the prediction of {}", measured.path.string(),
                utc_text_ns(check.measured_realtime_ns), utc_text_ns(prediction.created_realtime_ns));
  DRAFTSCOPE_TRY_ASSIGN(const speculation::ModelShape shape, simulator::recorded_shape(measured.meta));
  const std::vector<simulator::RunRows> runs = simulator::rows_by_run(measured);
  const auto baseline = std::find_if(runs.begin(), runs.end(),
                                     [](const simulator::RunRows& run) { return run.run->is_baseline; });
  if (baseline == runs.end())
    return fail("{}: found no vanilla run, expected one to measure speedups against", measured.path.string());

  for (const simulator::MetaDifference& difference : simulator::meta_differences(
           simulator::Baseline(prediction.recording_meta), simulator::Comparison(measured.meta)))
    if (difference.changes_experiment)
      check.differences.push_back(fmt::format("{}: learnt from \"{}\", measured \"{}\"", difference.key,
                                              difference.baseline, difference.comparison));
  if (std::string prompts = prompt_difference(prediction, runs); !prompts.empty())
    check.differences.push_back(std::move(prompts));

  for (const WrittenAnswer& asked : prediction.answers) {
    std::string reason = not_measured(asked, measured, shape);
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const simulator::RunRows& candidate) {
      return candidate.run->specification == asked.strategy;
    });
    if (reason.empty() && run == runs.end()) reason = "no run of it was recorded";
    if (reason.empty()) {
      if (auto figures = simulator::measured_decoding(*baseline, *run)) {
        check.answers.push_back({asked, *std::move(figures)});
        continue;
      } else {
        reason = figures.error().message;
      }
    }
    check.unmeasured.push_back({asked.strategy, asked.machine, reason});
  }
  for (const Refusal& refusal : prediction.refusals)
    check.unmeasured.push_back(
        {refusal.strategy, refusal.machine, "no answer was predicted: " + refusal.reason});
  if (check.answers.empty())
    return fail("{}: answers none of the {} predictions: {}", measured.path.string(),
                prediction.answers.size(),
                check.unmeasured.empty() ? "there is none" : check.unmeasured.front().reason);
  return check;
}

namespace {

std::string header_text(const PredictionFile& prediction, const PredictionCheck& check,
                        const Glyphs& glyphs) {
  const auto after_ns = static_cast<double>(check.measured_realtime_ns - prediction.created_realtime_ns);
  std::string text = fmt::format(
      "predicted    {} by draftscope {} from {}\n             {}\nmeasured     {}, {} later, {}\n",
      utc_text(prediction.created_realtime_ns), printable(prediction.tool_version),
      printable(prediction.recording), prediction.digest, utc_text(check.measured_realtime_ns),
      duration(after_ns, glyphs), printable(check.file));
  if (check.differences.empty()) return text + "differences  none: the experiment is the predicted one\n\n";
  for (std::size_t i = 0; i < check.differences.size(); ++i)
    text += (i == 0 ? "differences  " : "             ") + printable(check.differences[i]) + '\n';
  return text + '\n';
}

std::string comparison_table(const PredictionCheck& check, const Glyphs& glyphs) {
  Table table({"strategy", "machine"}, {"measured", "predicted", "error", "80 %", "95 %", "inside"});
  for (const MeasuredAnswer& answer : check.answers)
    table.add_row(
        {printable(answer.predicted.strategy), printable(answer.predicted.machine),
         factor(answer.measured.speedup, glyphs), factor(answer.predicted.speedup, glyphs),
         answer.error() ? fmt::format("{:+.1f} %", 100.0 * *answer.error()) : std::string(glyphs.absent()),
         range(answer.predicted.interval_80, glyphs), range(answer.predicted.interval_95, glyphs),
         inside_cell(answer.inside_80(), answer.inside_95(), glyphs)});
  return table.text(2, glyphs.columns);
}

Json measured_answer_json(const MeasuredAnswer& answer) {
  return {{"strategy", answer.predicted.strategy},
          {"machine", answer.predicted.machine},
          {"measured_speedup", answer.measured.speedup},
          {"predicted_speedup", answer.predicted.speedup},
          {"error", json_or_null(answer.error())},
          {"interval_80", interval_json(answer.predicted.interval_80)},
          {"interval_95", interval_json(answer.predicted.interval_95)},
          {"inside_80", json_or_null(answer.inside_80())},
          {"inside_95", json_or_null(answer.inside_95())},
          {"measured_tokens_per_round", answer.measured.tokens_per_round},
          {"predicted_tokens_per_round", answer.predicted.tokens_per_round},
          {"meaning", answer.meaning()}};
}

}  // namespace

std::string check_text(const PredictionFile& prediction, const PredictionCheck& check, bool quiet,
                       const Glyphs& glyphs) {
  std::string text = header_text(prediction, check, glyphs);
  text += "Decoding without prefill, speedup over vanilla\n" + comparison_table(check, glyphs) + '\n';
  for (const MeasuredAnswer& answer : check.answers)
    text += fmt::format("{}, {}: {}\n", printable(answer.predicted.strategy),
                        printable(answer.predicted.machine), answer.meaning());
  if (quiet || check.unmeasured.empty()) return text;
  text += "\nNot measured\n";
  for (const Refusal& one : check.unmeasured)
    text += fmt::format("  {}{}: {}\n", printable(one.strategy),
                        one.machine.empty() ? "" : ", " + printable(one.machine), printable(one.reason));
  return text;
}

std::string check_json(const PredictionFile& prediction, const PredictionCheck& check) {
  Json json = new_document();
  json["prediction"] = {{"digest", prediction.digest},
                        {"created", utc_text(prediction.created_realtime_ns)},
                        {"tool_version", prediction.tool_version},
                        {"command_line", prediction.command_line},
                        {"recording", prediction.recording},
                        {"recording_sha256", prediction.recording_sha256}};
  json["measurement"] = {
      {"file", check.file},
      {"begun", utc_text(check.measured_realtime_ns)},
      {"ns_after_prediction", check.measured_realtime_ns - prediction.created_realtime_ns}};
  json["differences"] = check.differences;
  json["answers"] = json_list(check.answers, measured_answer_json);
  json["unmeasured"] = refusals_json(check.unmeasured);
  return json_text(json);
}

}  // namespace draftscope::cli
