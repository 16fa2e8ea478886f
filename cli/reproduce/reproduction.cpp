// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/reproduction.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/traces/reader.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "report/curve_report.h"
#include "report/figure_text.h"
#include "report/report_json.h"
#include "report/reports.h"
#include "reproduce/figures.h"
#include "reproduce/heat_maps.h"
#include "reproduce/searches.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::ConventionFigures;
using simulator::FigureOf;
using simulator::meta_value;

/// Text like "1.31×–2.60× (40)": from the least to the greatest published value, and their number.
std::string published_cell(const Reproduction& reproduction, const FilledSetting& setting,
                           const FigureOf<ConventionFigures>& figure, const Glyphs& glyphs) {
  const std::vector<double> values = published_values(reproduction, setting, figure.key);
  if (values.empty()) return std::string(glyphs.absent());
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  std::string low = figure_cell(figure.format, *least, glyphs);
  if (values.size() == 1) return low;
  return fmt::format("{}{}{} ({})", low, glyphs.range(), figure_cell(figure.format, *greatest, glyphs),
                     values.size());
}

/// Settings by categories of prompts, a table for each figure.
std::string tables_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  const std::vector<MeasuredSetting> settings = settings_measured(reproduction);
  const std::vector<std::string> categories = categories_of(settings);
  std::string text;
  for (const std::string& key : reproduction.experiment->figures) {
    const FigureOf<ConventionFigures>& figure = convention_figure(key);
    Table table({"setting"}, {"all"});
    for (const std::string& category : categories)
      table.add_column(printable(simulator::category_name(category)));
    table.add_column("published");
    for (const MeasuredSetting& measured : settings) {
      table.add_row({printable(shown_name(*measured.setting)), figure_cell(figure, measured.all, glyphs)});
      for (const std::string& category : categories) {
        const ConventionFigures* part = part_of(measured, category);
        table.add_cell(part == nullptr ? std::string(glyphs.absent()) : figure_cell(figure, *part, glyphs));
      }
      table.add_cell(published_cell(reproduction, *measured.setting, figure, glyphs));
    }
    text += fmt::format("\n{}: {}\n", figure.title, figure.explanation) + table.text(2, glyphs.columns);
  }
  return text;
}

/// Figures over the values of the axis, with the published speedup.
std::string curve_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  const ExperimentRow& experiment = *reproduction.experiment;
  std::vector<std::string> titles;
  for (const std::string& key : experiment.figures) titles.push_back(convention_figure(key).title);
  titles.emplace_back("published speedup");
  std::vector<CurvePoint> points;
  for (const MeasuredSetting& measured : settings_measured(reproduction)) {
    CurvePoint& point = points.emplace_back();
    point.value = shown_name(*measured.setting);
    for (const std::string& key : experiment.figures)
      point.cells.push_back(figure_cell(convention_figure(key), measured.all, glyphs));
    point.cells.push_back(
        published_cell(reproduction, *measured.setting, convention_figure("speedup"), glyphs));
    if (!measured.setting->value.empty()) point.speedup = measured.all.speedup.value_or(1.0);
  }
  return "\n" + curve_table(experiment.axis.key, titles, points, glyphs);
}

/// Time per token of each setting by phase.
std::string phases_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  const std::vector<MeasuredSetting> settings = settings_measured(reproduction);
  const std::vector<std::size_t> phases = phases_of(settings);
  Table table({"setting"}, {"all"});
  for (const std::size_t phase : phases)
    table.add_column(std::string(traces::phase_name(static_cast<traces::Phase>(phase))));
  for (const MeasuredSetting& measured : settings) {
    const simulator::Figures& figures = measured.run->all;
    const auto tokens = static_cast<double>(std::max<std::int64_t>(figures.throughput.output_tokens, 1));
    table.add_row({printable(shown_name(*measured.setting)),
                   duration(static_cast<double>(figures.throughput.wall_ns) / tokens, glyphs)});
    for (const std::size_t phase : phases)
      table.add_cell(duration(phase_ns_per_token(figures, phase), glyphs));
  }
  return "\ntime per output token by phase, prefill included\n" + table.text(2, glyphs.columns) +
         operation_times_text(*reproduction.measured, reproduction.operations, glyphs);
}

/// Outputs of vanilla decoding and of the other settings for the first prompts.
std::string texts_text(const Reproduction& reproduction) {
  constexpr std::size_t max_prompts = 3;
  const traces::Recording& recording = *reproduction.measured->recording;
  std::string text;
  for (std::size_t i = 0; i < std::min(max_prompts, recording.prompts.size()); ++i) {
    const traces::Prompt& prompt = recording.prompts[i];
    text += fmt::format("\nprompt {}, {}: {}\n", i + 1, printable(simulator::category_name(prompt.category)),
                        excerpt(prompt.text));
    for (const MeasuredSetting& measured : settings_measured(reproduction))
      for (const traces::Request& request : recording.requests)
        if (request.prompt_id == prompt.id && request.run_id == measured.run->all.run->id &&
            request.repeat == 0)
          text += fmt::format("  {}, {}: {}\n", printable(measured.setting->row.label),
                              counted(request.tokens.size(), "token"), excerpt(request.text));
  }
  return text;
}

std::string closed_form_text(const Glyphs& glyphs) {
  const ClosedForm form = closed_form();
  Table table({{"acceptance", Align::left}});
  for (const std::int32_t length : form.lengths) table.add_column(fmt::format("K = {}", length));
  for (std::size_t i = 0; i < form.speedup.size(); ++i) {
    table.add_row({fmt::format("{:.2f}", form.acceptance_rates[i])});
    for (const double speedup : form.speedup[i]) table.add_cell(factor(speedup, glyphs));
  }
  return "\nspeedup, computed: a draft twice as fast as the target\n" + table.text(2, glyphs.columns);
}

/// Predictions beside the measurements that came after them.
std::string predictions_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  if (!reproduction.no_prediction.empty())
    return fmt::format("\npredicted before: nothing, {}\n", printable(reproduction.no_prediction));
  Table table({"setting"}, {"predicted", "95 %", "measured", "error"});
  for (const MeasuredSetting& measured : settings_measured(reproduction)) {
    const WrittenAnswer* answer = predicted(reproduction, *measured.setting);
    if (answer == nullptr) continue;
    const std::optional<double> speedup = decode_speedup(measured);
    table.add_row(
        {printable(shown_name(*measured.setting)), factor(answer->speedup, glyphs),
         range(answer->interval_95, glyphs),
         speedup ? factor(*speedup, glyphs) : std::string(glyphs.absent()),
         speedup ? signed_text(100.0 * (answer->speedup / *speedup - 1.0), 1, glyphs.characters()) + " %"
                 : std::string(glyphs.absent())});
  }
  std::string text = "\nspeedup of decoding without prefill, predicted before it was measured\n" +
                     table.text(2, glyphs.columns);
  for (const Refusal& refusal : reproduction.prediction->refusals)
    text += fmt::format("  no answer: {}\n", printable(refusal.reason));
  return text;
}

/// Settings as they were recorded, with the weights of the target and those that only drafts read.
std::string settings_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  const simulator::MeasuredFigure& target = simulator::measured_figure("memory.weight_bytes");
  const simulator::MeasuredFigure& draft = simulator::measured_figure("memory.draft_weight_bytes");
  Table table({"setting"}, {target.title, draft.title}, {"strategy"});
  for (const MeasuredSetting& measured : settings_measured(reproduction))
    table.add_row({printable(shown_name(*measured.setting)), figure_cell(target, measured.run->all, glyphs),
                   figure_cell(draft, measured.run->all, glyphs), printable(measured.setting->strategy)});
  return "\n" + table.text(2, glyphs.columns);
}

/// Names in order of their first appearance, the first few of many.
std::string names_in(const std::vector<PublishedRow>& rows, std::string PublishedRow::*name) {
  std::vector<std::string> names;
  for (const PublishedRow& row : rows) insert_once(names, row.*name);
  constexpr std::size_t shown = 6;
  const std::size_t more = names.size() > shown ? names.size() - shown : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Whether the prediction is not known to be older than the recording, as `validate` asks.
bool is_later(const PredictionFile& prediction, const traces::Recording& recording) {
  const auto began = parse_number<std::int64_t>(meta_value(recording.meta, "clock_start_realtime_ns"));
  return !began || *began <= prediction.created_realtime_ns;
}

/// Published rows of an experiment, one line each.
std::string published_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  std::string text;
  for (const PublishedRow& row : reproduction.published) {
    text += fmt::format("published: {}, {}, {}", printable(row.method), printable(row.model),
                        printable(row.task));
    for (const FigureOf<ConventionFigures>& figure : simulator::convention_figures())
      if (const auto value = published_figure(row, figure.key))
        text += fmt::format(", {} {}", figure.title, figure_cell(figure.format, *value, glyphs));
    text += '\n';
  }
  return text.empty() ? text : '\n' + text;
}

Json published_json(const PublishedRow& row) {
  Json json{{"model", row.model},
            {"task", row.task},
            {"method", row.method},
            {"setting", row.setting},
            {"source_table", row.source}};
  for (const auto& [figure, value] : row.figures) json[std::string(figure)] = json_or_null(value);
  return json;
}

Json figures_as_json(const ConventionFigures& figures) {
  return simulator::figures_object(simulator::convention_figures(), figures);
}

Json setting_json(const Reproduction& reproduction, const MeasuredSetting& measured) {
  const FilledSetting& setting = *measured.setting;
  Json json{{"label", setting.row.label},
            {"strategy", setting.strategy},
            {"value", setting.value.empty() ? Json(nullptr) : Json(setting.value)}};
  json["figures"] = figures_as_json(measured.all);
  json["categories"] = json_list(measured.by_category, [](const ConventionFigures& part) -> Json {
    return {{"category", part.category}, {"figures", figures_as_json(part)}};
  });
  Json& phases = json["phase_ns_per_token"] = Json::object();
  for (std::size_t phase = 0; phase < traces::phase_count; ++phase)
    phases[std::string(traces::phase_name(static_cast<traces::Phase>(phase)))] =
        json_or_null(phase_ns_per_token(measured.run->all, phase));
  if (!reproduction.operations.empty()) {
    Json& kinds = json["operation_ns_per_token"] = Json::object();
    for (std::size_t kind = 0; kind < simulator::operation_kinds.size(); ++kind)
      kinds[std::string(simulator::operation_kinds[kind])] = kind_ns_per_token(reproduction, measured, kind);
  }
  json["decode_speedup"] = json_or_null(decode_speedup(measured));
  const WrittenAnswer* answer = predicted(reproduction, setting);
  json["predicted"] = answer == nullptr ? Json(nullptr)
                                        : Json{{"decode_speedup", answer->speedup},
                                               {"interval_95", interval_json(answer->interval_95)}};
  Json& published = json["published"] = Json::array();
  for (const PublishedRow& row : reproduction.published)
    if (is_of_setting(row, setting.row, reproduction.experiment->axis, setting.value))
      published.push_back(published_json(row));
  return json;
}

/// Differences between the experiment here and the publication's, one line each.
std::vector<std::string> differences(const Reproduction& reproduction) {
  const std::vector<PublishedRow>& published = reproduction.published;
  std::vector<std::string> lines;
  const auto add_ground = [&](const std::string& model, const std::string& layers, const std::string& texts,
                              const std::string& max_tokens, const traces::Meta& machine) {
    lines.push_back(
        fmt::format("model: {}, {}{}", model, layers,
                    published.empty() ? "" : "; published: " + names_in(published, &PublishedRow::model)));
    lines.push_back(
        fmt::format("texts: {}; at most {} tokens{}", texts, max_tokens,
                    published.empty() ? "" : "; published: " + names_in(published, &PublishedRow::task)));
    lines.push_back(fmt::format("machine: {}, {}; the publication names its own",
                                meta_value(machine, "processor"), meta_value(machine, "device")));
  };
  if (reproduction.measured) {
    const traces::Recording& recording = *reproduction.measured->recording;
    std::vector<std::string> categories;
    for (const traces::Prompt& prompt : recording.prompts)
      insert_once(categories, simulator::category_name(prompt.category));
    add_ground(
        meta_value(recording.meta, "model"),
        counted(static_cast<std::size_t>(simulator::model_layers(recording)), "layer"),
        fmt::format("{}, {}", counted(recording.prompts.size(), "prompt"), fmt::join(categories, ", ")),
        meta_value(recording.meta, "max_tokens"), recording.meta);
  } else if (reproduction.policy) {
    const speculation::PolicyFile& policy = *reproduction.policy;
    const auto count_of = [](const speculation::Facts& facts, const std::string& key, const char* noun) {
      const auto count = parse_number<std::size_t>(meta_value(facts, key));
      return count ? counted(*count, noun) : meta_value(facts, key) + " " + noun + "s";
    };
    add_ground(meta_value(policy.model, "name"), count_of(policy.model, "n_layers", "layer"),
               fmt::format("{} of {}", count_of(policy.prompts, "questions", "prompt"),
                           meta_value(policy.prompts, "file")),
               meta_value(policy.settings, "max_tokens"), policy.machine);
  }
  if (!reproduction.experiment->differs.empty()) lines.push_back(reproduction.experiment->differs);
  if (published.empty()) lines.emplace_back("published: published.csv has no figures of this item");
  return lines;
}

/// The experiment in its printer's form.
std::string form_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  switch (reproduction.experiment->printer) {
    case Printer::table:
      return tables_text(reproduction, glyphs);
    case Printer::curve:
      return curve_text(reproduction, glyphs);
    case Printer::phases:
      return phases_text(reproduction, glyphs);
    case Printer::decisions:
      return decisions_text(*reproduction.measured, reproduction.decisions, glyphs);
    case Printer::texts:
      return texts_text(reproduction);
    case Printer::trials:
      return trials_text(*reproduction.policy, glyphs);
    case Printer::sets:
      return sets_text(*reproduction.policy, glyphs);
    case Printer::heat_maps:
      return heat_maps_text(*reproduction.measured->recording, glyphs);
    case Printer::closed_form:
      return closed_form_text(glyphs);
  }
  return {};
}

}  // namespace

const FigureOf<ConventionFigures>& convention_figure(std::string_view key) {
  return *simulator::find_figure(simulator::convention_figures(), key);
}

std::vector<MeasuredSetting> settings_measured(const Reproduction& reproduction) {
  const traces::Recording& recording = *reproduction.measured->recording;
  const simulator::Convention convention = reproduction.experiment->convention;
  const std::vector<ConventionFigures> all = figures_as(convention, recording);
  const auto by_category = category_figures_as(convention, recording);
  const std::vector<std::string> strategies = strategies_of(reproduction.settings);
  std::vector<MeasuredSetting> measured;
  for (const FilledSetting& setting : reproduction.settings) {
    const auto place = std::find(strategies.begin(), strategies.end(), setting.strategy);
    const auto run = static_cast<std::size_t>(place - strategies.begin());
    measured.push_back({&setting, &reproduction.measured->figures.runs[run], all[run], by_category[run]});
  }
  return measured;
}

std::string shown_name(const FilledSetting& setting) {
  return setting.value.empty() ? setting.row.label : setting.value;
}

std::vector<std::string> categories_of(const std::vector<MeasuredSetting>& settings) {
  std::vector<std::string> categories;
  for (const MeasuredSetting& measured : settings)
    for (const ConventionFigures& part : measured.by_category) insert_once(categories, part.category);
  return categories;
}

const ConventionFigures* part_of(const MeasuredSetting& measured, const std::string& category) {
  for (const ConventionFigures& part : measured.by_category)
    if (part.category == category) return &part;
  return nullptr;
}

std::vector<double> published_values(const Reproduction& reproduction, const FilledSetting& setting,
                                     std::string_view figure) {
  std::vector<double> values;
  for (const PublishedRow& row : reproduction.published)
    if (is_of_setting(row, setting.row, reproduction.experiment->axis, setting.value))
      if (const auto value = published_figure(row, figure)) values.push_back(*value);
  return values;
}

const WrittenAnswer* predicted(const Reproduction& reproduction, const FilledSetting& setting) {
  if (!reproduction.prediction) return nullptr;
  for (const WrittenAnswer& answer : reproduction.prediction->answers)
    if (answer.strategy == setting.strategy) return &answer;
  return nullptr;
}

std::optional<double> decode_speedup(const MeasuredSetting& measured) {
  const auto& speedup = measured.run->all.speedup;
  return speedup ? speedup->decode_value : std::nullopt;
}

std::optional<double> phase_ns_per_token(const simulator::Figures& figures, std::size_t phase) {
  const auto tokens = static_cast<double>(figures.throughput.output_tokens);
  if (figures.breakdown.source == simulator::BreakdownSource::none || !(tokens > 0.0)) return std::nullopt;
  return static_cast<double>(figures.breakdown.by_phase[phase]) / tokens;
}

std::vector<std::size_t> phases_of(const std::vector<MeasuredSetting>& settings) {
  std::vector<std::size_t> phases;
  for (std::size_t phase = 0; phase < traces::phase_count; ++phase)
    if (std::any_of(settings.begin(), settings.end(), [&](const MeasuredSetting& measured) {
          return phase_ns_per_token(measured.run->all, phase).value_or(0.0) > 0.0;
        }))
      phases.push_back(phase);
  return phases;
}

double kind_ns_per_token(const Reproduction& reproduction, const MeasuredSetting& measured,
                         std::size_t kind) {
  std::int64_t ns = 0;
  for (const simulator::OperationTimes& times : reproduction.operations)
    if (times.run == measured.run->all.run->id) ns += times.ns[kind];
  const std::int64_t tokens = measured.run->all.throughput.output_tokens;
  return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(tokens, 1));
}

Result<Reproduction> read_reproduction(const ExperimentRow& experiment, const Plan& plan) {
  Reproduction reproduction{.experiment = &experiment, .settings = plan.settings};
  DRAFTSCOPE_TRY_ASSIGN(reproduction.published, published_rows(experiment));
  if (experiment.printer == Printer::closed_form) {
    reproduction.no_prediction = "a closed form is a prediction";
    return reproduction;
  }
  if (plan.recording.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(reproduction.policy, speculation::read_policy(plan.searches.back().output));
    reproduction.no_prediction = "a search is not predicted";
    return reproduction;
  }
  const std::filesystem::path& file = plan.recording.back().output;
  DRAFTSCOPE_TRY_ASSIGN(reproduction.measured, simulator::measure_recording(file));
  const traces::Recording& recording = *reproduction.measured->recording;
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  if (experiment.printer == Printer::decisions) {
    DRAFTSCOPE_TRY_ASSIGN(reproduction.decisions, simulator::read_decisions(reader, recording));
  }
  if (experiment.printer == Printer::phases) {
    DRAFTSCOPE_TRY_ASSIGN(reproduction.operations, simulator::read_operation_times(reader, recording));
  }
  const std::size_t runs = recording.runs.size();
  if (const std::size_t planned = strategies_of(plan.settings).size(); runs != planned)
    return fail("{}: found {} runs, expected the {} of this experiment", file.string(), runs, planned);
  if (plan.prediction.empty()) {
    reproduction.no_prediction = "this row predicts nothing";
  } else if (auto prediction = read_prediction(plan.prediction.back().output)) {
    if (is_later(*prediction, recording))
      reproduction.no_prediction = "the prediction is later than the recording";
    else
      reproduction.prediction = *std::move(prediction);
  } else {
    reproduction.no_prediction = prediction.error().message;
  }
  return reproduction;
}

std::string reproduction_text(const Reproduction& reproduction, const Glyphs& glyphs) {
  const ExperimentRow& experiment = *reproduction.experiment;
  std::string text = fmt::format("{}, {}\n", experiment.document, experiment.item);
  if (reproduction.measured && experiment.printer != Printer::decisions)
    text += header_text(*reproduction.measured, glyphs);
  text += form_text(reproduction, glyphs);
  if (!experiment.figures.empty()) {
    const simulator::ConventionRow& row =
        simulator::conventions()[static_cast<std::size_t>(experiment.convention)];
    text += fmt::format("\ncounted as {}\n", row.title) + convention_explanation(row);
  }
  if (reproduction.measured && experiment.printer != Printer::decisions)
    text += predictions_text(reproduction, glyphs) + settings_text(reproduction, glyphs);
  else
    text += published_text(reproduction, glyphs);
  if (!reproduction.figure.empty()) text += fmt::format("\nfigure: {}\n", reproduction.figure.string());
  text += "\nWhat differs from the publication\n";
  for (const std::string& line : differences(reproduction)) text += "  " + printable(line) + '\n';
  return text;
}

std::string reproduction_json(const Reproduction& reproduction) {
  const ExperimentRow& experiment = *reproduction.experiment;
  Json json = new_document();
  json["experiment"] = experiment.name;
  json["document"] = experiment.document;
  json["item"] = experiment.item;
  json["axis"] = experiment.axis.key.empty() ? Json(nullptr) : Json(experiment.axis.key);
  json["recording"] = reproduction.measured ? recording_json(*reproduction.measured) : Json(nullptr);
  Json& settings = json["settings"] = Json::array();
  if (reproduction.measured)
    for (const MeasuredSetting& measured : settings_measured(reproduction))
      settings.push_back(setting_json(reproduction, measured));
  if (reproduction.settings.empty()) json["published"] = json_list(reproduction.published, published_json);
  json["figure"] = reproduction.figure.empty() ? Json(nullptr) : Json(reproduction.figure.string());
  if (reproduction.policy) json["search"] = search_json(*reproduction.policy);
  if (experiment.printer == Printer::closed_form) {
    const ClosedForm form = closed_form();
    json["closed_form"] = {
        {"lengths", form.lengths}, {"acceptance_rates", form.acceptance_rates}, {"speedup", form.speedup}};
  }
  json["no_prediction"] =
      reproduction.no_prediction.empty() ? Json(nullptr) : Json(reproduction.no_prediction);
  json["differs"] = differences(reproduction);
  return json_text(json);
}

}  // namespace draftscope::cli
