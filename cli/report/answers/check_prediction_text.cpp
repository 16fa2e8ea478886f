// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/utc_time.h>

#include <algorithm>

#include "report/answers/check_prediction.h"
#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

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

std::string interval_text(const std::optional<simulator::Interval>& interval, const Glyphs& glyphs) {
  return interval ? fmt::format("{:.2f}{}{:.2f}", interval->low, glyphs.range(), interval->high)
                  : std::string(glyphs.absent());
}

std::string inside_cell(const MeasuredAnswer& answer, const Glyphs& glyphs) {
  if (!answer.inside_95()) return std::string(glyphs.absent());
  return answer.inside_80().value_or(false) ? "80 %" : *answer.inside_95() ? "95 %" : "outside";
}

std::string comparison_table(const PredictionCheck& check, const Glyphs& glyphs) {
  Table table({{"strategy", Align::left},
               {"machine", Align::left},
               {"measured"},
               {"predicted"},
               {"error"},
               {"80 %"},
               {"95 %"},
               {"inside"}});
  for (const MeasuredAnswer& answer : check.answers)
    table.add_row(
        {printable(answer.predicted.strategy), printable(answer.predicted.machine),
         factor(answer.measured.speedup, glyphs), factor(answer.predicted.speedup, glyphs),
         answer.error() ? fmt::format("{:+.1f} %", 100.0 * *answer.error()) : std::string(glyphs.absent()),
         interval_text(answer.predicted.interval_80, glyphs),
         interval_text(answer.predicted.interval_95, glyphs), inside_cell(answer, glyphs)});
  return table.text(2, glyphs.columns);
}

Json answer_json(const MeasuredAnswer& answer) {
  const auto interval = [](const std::optional<simulator::Interval>& found) {
    return found ? Json{found->low, found->high} : Json(nullptr);
  };
  return {{"strategy", answer.predicted.strategy},
          {"machine", answer.predicted.machine},
          {"measured_speedup", answer.measured.speedup},
          {"predicted_speedup", answer.predicted.speedup},
          {"error", json_or_null(answer.error())},
          {"interval_80", interval(answer.predicted.interval_80)},
          {"interval_95", interval(answer.predicted.interval_95)},
          {"inside_80", json_or_null(answer.inside_80())},
          {"inside_95", json_or_null(answer.inside_95())},
          {"measured_tokens_per_round", answer.measured.mean_accepted_length},
          {"predicted_tokens_per_round", answer.predicted.tokens_per_round},
          {"meaning", answer.meaning()}};
}

/// Intervals as two columns.
Json csv_row(const Json& answer) {
  Json row = Json::object();
  for (const auto& [key, value] : answer.items())
    if (key.starts_with("interval_")) {
      row[key + "_low"] = value.is_null() ? value : value[0];
      row[key + "_high"] = value.is_null() ? value : value[1];
    } else {
      row[key] = value;
    }
  return row;
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
  Json& answers = json["answers"] = Json::array();
  for (const MeasuredAnswer& answer : check.answers) answers.push_back(answer_json(answer));
  json["unmeasured"] = refusals_json(check.unmeasured);
  return json_text(json);
}

std::string check_csv(const PredictionCheck& check) {
  std::string text;
  for (const MeasuredAnswer& answer : check.answers) {
    const Json row = csv_row(answer_json(answer));
    if (text.empty()) text = csv_header(row);
    text += csv_line(row);
  }
  return text;
}

}  // namespace draftscope::cli
