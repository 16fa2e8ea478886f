// SPDX-License-Identifier: GPL-3.0-or-later
#include "published.h"

#include <draftscope/base/csv_table.h>
#include <draftscope/base/number.h>
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <stdexcept>
#include <tuple>

namespace draftscope::simulator {

namespace {

std::optional<std::int32_t> count_of(std::string_view field) {
  if (field.empty()) return std::nullopt;
  const std::int32_t count = parse_number<std::int32_t>(field).value();
  if (count < 1) throw std::domain_error(fmt::format("found {}, expected at least 1", count));
  return count;
}

PublishedRow read_row(const CsvTable& table, std::size_t row) {
  const auto text = [&](const char* column) { return table.text(row, column).value(); };
  const auto number = [&](const char* column) { return table.number(row, column).value(); };
  PublishedRow result{.paper = text("paper"),
                      .model = text("model"),
                      .task = text("task"),
                      .method = text("method"),
                      .setting = text("setting"),
                      .source = text("source_table"),
                      .n_layers = count_of(text("L")),
                      .mean_accepted_length = number("M_or_tau"),
                      .acceptance_rate = number("alpha"),
                      .etpl = number("eTPL"),
                      .expected_speedup = number("expected_speedup"),
                      .measured_speedup = number("measured_speedup")};
  const std::string draft = text("layers_exit_or_skip_ratio");
  if (draft.starts_with("r="))
    result.skip_ratio = parse_number<double>(draft.substr(2)).value();
  else if (!draft.empty() && !draft.starts_with("E="))
    throw std::domain_error(fmt::format("found {}, expected E=layers, E=dyn or r=skip ratio", draft));
  else if (!draft.empty() && draft != "E=dyn")
    result.exit_layer = count_of(draft.substr(2));
  const std::string gamma = text("gamma");
  if (const auto max = std::string_view(gamma); max.starts_with("max="))
    (void)count_of(max.substr(4));  // A cap is no fixed length.
  else
    result.gamma = count_of(gamma);
  return result;
}

double squared_error(std::span<const FixedLengthCell> cells, double h) {
  double sum = 0.0;
  for (const FixedLengthCell& cell : cells)
    sum += std::pow(std::log(pass_overhead_speedup(cell, h) / cell.speedup), 2.0);
  return sum;
}

/// The h at which the model gives the cell's measured speedup; S is linear over linear in h.
double exact_overhead(const FixedLengthCell& cell) {
  const double limit = cell.mean_accepted_length / (cell.gamma + 1.0);
  if (!(cell.speedup > limit && std::isfinite(cell.speedup)))
    throw std::domain_error(
        fmt::format("found a speedup of {}, expected more than the {} that any pass overhead leaves",
                    cell.speedup, limit));
  const double layers = static_cast<double>(cell.gamma) * cell.exit_layer + cell.n_layers;
  const double h = (cell.speedup * layers - cell.mean_accepted_length * cell.n_layers) /
                   (cell.mean_accepted_length - cell.speedup * (cell.gamma + 1.0));
  return std::max(h, 0.0);
}

/// The h fitted to the cells that `teaches` selects.
double overhead_of(std::span<const FixedLengthCell> cells,
                   const std::function<bool(const FixedLengthCell&)>& teaches) {
  std::vector<FixedLengthCell> taught;
  std::ranges::copy_if(cells, std::back_inserter(taught), teaches);
  return fit_pass_overhead(taught);
}

bool is_other_task(const FixedLengthCell& taught, const FixedLengthCell& left_out) {
  return taught.model == left_out.model && taught.task != left_out.task;
}

bool is_other_model(const FixedLengthCell& taught, const FixedLengthCell& left_out) {
  return taught.model != left_out.model;
}

/// Predictions of `predict` for each fixed length.
Predictions predict(
    const PublishedRows& rows,
    const std::function<double(const std::vector<FixedLengthCell>&, const FixedLengthCell&)>& predict) {
  const std::vector<FixedLengthCell> cells = fixed_length_cells(rows);
  Predictions predictions;
  for (const FixedLengthCell& cell : cells)
    predictions.push_back({cell.model, cell.task, predict(cells, cell), cell.speedup});
  return predictions;
}

/// The affine model; for each cell h is fitted to the cells that `teaches` allows.
Predictions predict_left_out(const PublishedRows& rows, bool (*teaches)(const FixedLengthCell& taught,
                                                                        const FixedLengthCell& left_out)) {
  return predict(rows, [&](const std::vector<FixedLengthCell>& cells, const FixedLengthCell& left_out) {
    return pass_overhead_speedup(
        left_out, overhead_of(cells, [&](const FixedLengthCell& other) { return teaches(other, left_out); }));
  });
}

/// A setting whose acceptance is known, with the pass overhead from its model's other tasks.
struct KnownAcceptance {
  const FixedLengthCell* cell = nullptr;
  double alpha = 0.0;
  double overhead = 0.0;  ///< The h of the model, in layers.
};

/// The acceptance of the row's model and task at its exit; absent if unknown.
std::optional<KnownAcceptance> known_at_exit(const std::vector<FixedLengthCell>& cells,
                                             const PublishedRow& row) {
  const auto known = std::ranges::find_if(cells, [&](const FixedLengthCell& cell) {
    return cell.model == row.model && cell.task == row.task && cell.exit_layer == row.exit_layer;
  });
  if (known == cells.end()) return std::nullopt;
  return KnownAcceptance{
      &*known, iid_acceptance_rate(known->mean_accepted_length, known->gamma).value(),
      overhead_of(cells, [&](const FixedLengthCell& taught) { return is_other_task(taught, *known); })};
}

/// Speedup of lengths that grow by one where all of a draft is accepted and shrink by one otherwise, down
/// to 1. This is a birth-death chain, whose shares follow from α^γ, the probability to grow.
double finite_state_speedup(const KnownAcceptance& known) {
  constexpr std::int32_t max_gamma = 63;
  const FixedLengthCell& cell = *known.cell;
  double share = 1.0;
  double tokens = 0.0;
  double layers = 0.0;
  for (std::int32_t gamma = 1; gamma <= max_gamma; ++gamma) {
    const double all = std::pow(known.alpha, gamma);
    tokens += share * expected_tokens(known.alpha, gamma).value();
    layers += share * (gamma * (cell.exit_layer + known.overhead) + cell.n_layers + known.overhead);
    share *= all / std::max(1.0 - all * known.alpha, 1e-12);
  }
  return tokens * (cell.n_layers + known.overhead) / layers;
}

bool is_of_main_tables(const PublishedRow& row) {
  return row.source == "DEL Table 1" || row.source == "DEL Table 2";
}

}  // namespace

const PublishedRows& published_rows() {
  static const PublishedRows rows = [] {
    const std::string file = DRAFTSCOPE_SOURCE_DIR "/simulator/data/published.csv";
    const CsvTable table =
        CsvTable::parse(read_text_file(file, max_settings_bytes).value(), "published.csv").value();
    PublishedRows read;
    for (std::size_t row = 0; row < table.rows(); ++row) read.push_back(read_row(table, row));
    return read;
  }();
  return rows;
}

std::optional<double> setting_number(const PublishedRow& row, std::string_view key) {
  const std::string setting = "; " + row.setting + ";";
  const std::string start = fmt::format("; {}=", key);
  const std::size_t found = setting.find(start);
  if (found == std::string::npos) return std::nullopt;
  const std::size_t value = found + start.size();
  return parse_number<double>(std::string_view(setting).substr(value, setting.find(';', value) - value))
      .value();
}

std::vector<FixedLengthCell> fixed_length_cells(const PublishedRows& rows) {
  std::vector<FixedLengthCell> cells;
  for (const PublishedRow& row : rows) {
    if (row.paper != "DEL" || !row.method.starts_with("LS(") || !row.etpl || !row.measured_speedup) continue;
    FixedLengthCell& cell = cells.emplace_back();
    cell = {.model = row.model,
            .task = row.task,
            .n_layers = row.n_layers.value(),
            .exit_layer = row.exit_layer.value(),
            .gamma = row.gamma.value(),
            .speedup = *row.measured_speedup};
    cell.mean_accepted_length =
        *row.etpl * (static_cast<double>(cell.gamma) * cell.exit_layer + cell.n_layers);
  }
  return cells;
}

double pass_overhead_speedup(const FixedLengthCell& cell, double h) {
  const double target = cell.n_layers + h;
  return cell.mean_accepted_length * target / (cell.gamma * (cell.exit_layer + h) + target);
}

double fit_pass_overhead(std::span<const FixedLengthCell> cells) {
  if (cells.empty()) throw std::domain_error("pass overhead: found no measured cells, expected at least one");
  // Every cell's error grows on both sides of its exact h, so the best h lies between the extremes.
  double low = HUGE_VAL;
  double high = 0.0;
  for (const FixedLengthCell& cell : cells) {
    const double h = exact_overhead(cell);
    low = std::min(low, h);
    high = std::max(high, h);
  }
  // Golden-section search needs no derivative, and the error between two cells' h has one minimum in
  // practice.
  constexpr double shrink = 1.0 / std::numbers::phi;
  constexpr double tolerance = 1e-9;
  while (high - low > tolerance * (1.0 + low)) {
    const double left = high - shrink * (high - low);
    const double right = low + shrink * (high - low);
    if (squared_error(cells, left) <= squared_error(cells, right))
      high = right;
    else
      low = left;
  }
  return (low + high) / 2.0;
}

ErrorSummary errors_of(const Predictions& cells) {
  ErrorSummary summary;
  for (const PredictedCell& cell : cells) {
    summary.mean += cell.error() / static_cast<double>(cells.size());
    summary.mean_absolute += std::abs(cell.error()) / static_cast<double>(cells.size());
    summary.greatest = std::max(summary.greatest, std::abs(cell.error()));
    summary.greatest_difference =
        std::max(summary.greatest_difference, std::abs(cell.predicted - cell.published));
  }
  return summary;
}

bool is_swifts(const PublishedRow& row) {
  return row.paper == "SWIFT" && row.method.starts_with("SWIFT") && row.mean_accepted_length &&
         row.acceptance_rate && row.skip_ratio;
}

Predictions swift_predictions(const PublishedRows& rows, std::optional<double> PublishedRow::*column) {
  Predictions cells;
  for (const PublishedRow& row : rows)
    if (is_swifts(row) && row.*column)
      cells.push_back(
          {row.model, row.task,
           round_speedup(*row.mean_accepted_length,
                         {.steps_per_round = (*row.mean_accepted_length - 1.0) / *row.acceptance_rate,
                          .c = 1.0 - *row.skip_ratio})
               .value(),
           *(row.*column)});
  return cells;
}

Predictions layer_count_predictions(const PublishedRows& rows) {
  return predict(rows, [](const auto&, const FixedLengthCell& cell) { return cell.layers_speedup(); });
}

Predictions across_tasks_predictions(const PublishedRows& rows) {
  return predict_left_out(rows, is_other_task);
}

Predictions across_models_predictions(const PublishedRows& rows) {
  return predict_left_out(rows, is_other_model);
}

Predictions constant_ratio_predictions(const PublishedRows& rows) {
  return predict(rows, [](const std::vector<FixedLengthCell>& cells, const FixedLengthCell& left_out) {
    double log_ratio = 0.0;
    double count = 0.0;
    for (const FixedLengthCell& other : cells) {
      if (!is_other_task(other, left_out)) continue;
      log_ratio += std::log(other.speedup / other.layers_speedup());
      count += 1.0;
    }
    return std::exp(log_ratio / count) * left_out.layers_speedup();
  });
}

Predictions other_length_predictions(const PublishedRows& rows) {
  const std::vector<FixedLengthCell> fixed = fixed_length_cells(rows);
  Predictions cells;
  for (const PublishedRow& row : rows) {
    if (row.source != "DEL Table 3" || !row.method.starts_with("LS(") || !row.gamma || !row.measured_speedup)
      continue;
    const auto known = known_at_exit(fixed, row);
    if (!known || known->cell->gamma == *row.gamma) continue;
    FixedLengthCell asked = *known->cell;
    asked.gamma = *row.gamma;
    asked.mean_accepted_length = expected_tokens(known->alpha, *row.gamma).value();
    cells.push_back(
        {row.model, row.task, pass_overhead_speedup(asked, known->overhead), *row.measured_speedup});
  }
  return cells;
}

Predictions finite_state_predictions(const PublishedRows& rows) {
  const std::vector<FixedLengthCell> fixed = fixed_length_cells(rows);
  Predictions cells;
  for (const PublishedRow& row : rows) {
    if (!is_of_main_tables(row) || !row.method.starts_with("FS(") || !row.measured_speedup || !row.etpl)
      continue;
    if (const auto known = known_at_exit(fixed, row))
      cells.push_back({row.model, row.task, finite_state_speedup(*known), *row.measured_speedup});
  }
  return cells;
}

namespace {

/// Predictions of CLaSp's cells, each from the cells of its model's other tasks at its temperature.
Predictions predict_clasp(const PublishedRows& rows,
                          double (*predict)(const PublishedRow& asked,
                                            const std::vector<const PublishedRow*>& others)) {
  std::vector<const PublishedRow*> cells;
  for (const PublishedRow& row : rows)
    if (row.source == "CLaSp Table 1" && row.method == "CLaSp" && row.mean_accepted_length)
      cells.push_back(&row);
  Predictions predictions;
  for (const PublishedRow* asked : cells) {
    std::vector<const PublishedRow*> others;
    for (const PublishedRow* other : cells)
      if (other->model == asked->model && other->setting == asked->setting && other->task != asked->task)
        others.push_back(other);
    predictions.push_back(
        {asked->model, asked->task, predict(*asked, others), asked->measured_speedup.value()});
  }
  return predictions;
}

}  // namespace

Predictions clasp_predictions(const PublishedRows& rows) {
  return predict_clasp(rows, [](const PublishedRow& asked, const std::vector<const PublishedRow*>& others) {
    constexpr double draft_cost = 36.0 / 80.0;
    const auto passes = [](const PublishedRow& row) { return 1.0 + draft_cost * *row.mean_accepted_length; };
    double overhead = 0.0;
    for (const PublishedRow* other : others)
      overhead += ((*other->mean_accepted_length + 1.0) / other->measured_speedup.value() - passes(*other)) /
                  static_cast<double>(others.size());
    return (*asked.mean_accepted_length + 1.0) / (passes(asked) + overhead);
  });
}

Predictions other_clasp_tasks(const PublishedRows& rows) {
  return predict_clasp(rows, [](const PublishedRow&, const std::vector<const PublishedRow*>& others) {
    double log_sum = 0.0;
    for (const PublishedRow* other : others) log_sum += std::log(other->measured_speedup.value());
    return std::exp(log_sum / static_cast<double>(others.size()));
  });
}

Predictions draft_verify_predictions(const PublishedRows& rows) {
  std::vector<const PublishedRow*> cells;
  const PublishedRow* taught = nullptr;
  for (const PublishedRow& row : rows) {
    if (row.paper != "Draft&Verify" || !row.gamma || !row.measured_speedup) continue;
    if (row.acceptance_rate)
      taught = &row;
    else
      cells.push_back(&row);
  }
  Predictions predictions;
  if (taught == nullptr) return predictions;
  const double accepted_length = 1.0 + *taught->acceptance_rate * *taught->gamma;
  const double alpha = iid_acceptance_rate(accepted_length, *taught->gamma).value();
  const double draft_cost = (accepted_length / *taught->measured_speedup - 1.0) / *taught->gamma;
  for (const PublishedRow* cell : cells)
    predictions.push_back({cell->model, cell->task,
                           leviathan_speedup(alpha, *cell->gamma, draft_cost).value(),
                           *cell->measured_speedup});
  return predictions;
}

Predictions blog_predictions(const PublishedRows& rows) {
  Predictions cells;
  for (const PublishedRow& row : rows)
    if (row.paper == "HF LayerSkip blog" && row.measured_speedup)
      cells.push_back({row.model, row.task,
                       setting_number(row, "ms_per_token_AR").value() /
                           setting_number(row, "ms_per_token_assisted").value(),
                       *row.measured_speedup});
  return cells;
}

std::vector<bool> orderings(const PublishedRows& rows) {
  struct Speedups {
    std::optional<double> del;
    std::optional<double> fs;
    std::optional<double> layerskip;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Speedups> groups;
  for (const PublishedRow& row : rows) {
    if (!is_of_main_tables(row)) continue;
    Speedups& group = groups[{row.source, row.model, row.task}];
    if (row.method == "DEL") group.del = row.measured_speedup;
    if (row.method.starts_with("FS(")) group.fs = row.measured_speedup;
    if (row.method.starts_with("LS(")) group.layerskip = row.measured_speedup;
  }
  std::vector<bool> are_ordered;
  for (const auto& [key, group] : groups)
    are_ordered.push_back(group.del.value() >= group.fs.value() &&
                          group.fs.value() >= group.layerskip.value());
  return are_ordered;
}

}  // namespace draftscope::simulator
