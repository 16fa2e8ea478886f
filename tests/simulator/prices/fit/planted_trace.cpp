// SPDX-License-Identifier: GPL-3.0-or-later
#include "planted_trace.h"

#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/traces/writer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "prices/fit/cost_parameters.h"
#include "prices/passes/cost_prices.h"
#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

namespace {

class Planter {
 public:
  Planter(const PlantedTrace& planted, traces::Writer& writer) : planted_(planted), writer_(writer) {
    Scenario scenario = fitted_scenario(planted.truth);
    CostModel without_start = planted.truth;
    without_start.values[draft_start_parameter] = 0.0;  // Otherwise it is in the prices of verifications.
    prices_ = prices(without_start, scenario).value();
    const bool on_gpu = planted.device != "cpu";
    track_id_ = writer.add(traces::Track{.kind = on_gpu ? "stream" : "host", .name = "planted"});
  }

  void run(const PlantedSetting& setting) {
    const traces::RunId run_id =
        writer_.add(traces::Run{.strategy = setting.exit > 0 ? "layerskip" : "vanilla",
                                .specification = specification(setting),
                                .parameters = "{}",
                                .is_baseline = setting.exit == 0});
    const traces::PromptId prompt_id = writer_.add(traces::Prompt{.tokens = {1, 2, 3}});
    traces::Request request{
        .id = writer_.next_request_id(), .run_id = run_id, .prompt_id = prompt_id, .start_ns = now_};
    writer_.begin(request);
    for (int index = 0; index < planted_.rounds_per_setting; ++index) round(setting, request.id, index);
    request.first_token_ns = request.start_ns;
    request.end_ns = now_;
    writer_.finish(request);
  }

 private:
  static std::string specification(const PlantedSetting& setting) {
    if (setting.exit == 0) return "vanilla";
    return fmt::format("layerskip:exit={},gamma={}", setting.exit, setting.gamma);
  }

  static double factor(const std::map<std::int32_t, double>& factors, std::int32_t of) {
    const auto found = factors.find(of);
    return found == factors.end() ? 1.0 : found->second;
  }

  void round(const PlantedSetting& setting, traces::RequestId request_id, int index) {
    traces::Round round{
        .id = writer_.next_round_id(), .request_id = request_id, .index = index, .start_ns = now_};
    round.root_position = 10 + index * 7;
    round.verify_rows = setting.gamma + 1;
    round.emitted = 1;
    double draft_ns = 0.0;
    if (setting.exit > 0) {
      const std::int32_t layers = planted_.truth.shape.n_layers;
      round.layer_set_id = writer_.add(set_without(setting.exit, layers, layers, setting.exit, "fixed"));
      round.exit_layer = setting.exit;
      round.drafted = round.tree_depth = setting.gamma;
      round.planned = std::max(setting.planned, setting.gamma);
      for (int step = 0; step < setting.gamma; ++step)
        draft_ns +=
            prices_.drafts[static_cast<std::size_t>(setting.exit)].step.at(round.root_position + step);
      const CostModel& truth = planted_.truth;
      draft_ns +=
          truth.values[draft_start_parameter] *
          draft_start_coefficients(truth.shape, truth.weights, truth.width_law, setting.exit, setting.exit)
              .fixed[draft_start_parameter];
      draft_ns *= factor(planted_.of_exit, setting.exit);
    }
    const AffineTime& verify = setting.exit > 0
                                   ? prices_.drafts[1].verify[static_cast<std::size_t>(round.verify_rows)]
                                   : prices_.target_step;
    round.draft_ns = interrupted(noisy(draft_ns));
    DraftStatistics planned;
    count_planned(planned, round.verify_rows, round.planned + 1);
    const double planned_ns = setting.exit > 0 ? planned_time_ns(planned, prices_.drafts[1]) : 0.0;
    round.verify_ns = interrupted(
        noisy((verify.at(round.root_position) + planned_ns) * factor(planted_.of_rows, round.verify_rows)));
    if (planted_.with_operations) {
      for (int step = 0; step < setting.gamma; ++step)
        operations(round, traces::Phase::draft, setting.exit, 1, round.root_position + step);
      operations(round, traces::Phase::verify, planted_.truth.shape.n_layers, round.verify_rows,
                 round.root_position);
    }
    now_ +=
        round.draft_ns + round.verify_ns + noisy(setting.exit > 0 ? prices_.round_ns : prices_.step_round_ns);
    round.end_ns = now_;
    std::vector<traces::DraftToken> tokens;
    for (int i = 0; i < round.drafted; ++i)
      tokens.push_back({.round_id = round.id, .index = i, .parent = i - 1});
    writer_.add(round, tokens);
    now_ += 1000;
  }

  void operations(const traces::Round& round, traces::Phase phase, std::int32_t layers, std::int32_t rows,
                  std::int32_t context) {
    const CostModel& truth = planted_.truth;
    if (round.start_ns > operation_ns_) begun_ns_ = operation_ns_ = round.start_ns;
    for (std::int32_t layer = 0; layer <= layers; ++layer)
      for (std::size_t i = 0; i < speculation::operation_count; ++i) {
        const auto operation = static_cast<speculation::Operation>(i);
        if ((operation == speculation::Operation::head) != (layer == layers)) continue;
        const CostCoefficients one = operation_coefficients(
            operation, truth.shape, truth.weights, truth.width_law, {.rows = static_cast<double>(rows)});
        double ns = 0.0;
        for (std::size_t j = 0; j < cost_parameter_count; ++j)
          ns += truth.values[j] * (one.fixed[j] + context * one.a_context_row[j]);
        if (operation == speculation::Operation::small)
          for (const char* name : {"attention norm", "rope", "mlp norm"})
            put(round, phase, layer, name, ns / 3.0);
        else
          put(round, phase, layer == layers ? -1 : layer, speculation::operation_name(operation), ns);
      }
  }

  void put(const traces::Round& round, traces::Phase phase, std::int32_t layer, std::string_view name,
           double ns) {
    const std::int64_t at = operation_ns_;
    const std::int64_t end = at + noisy(ns);
    if (planted_.device == "cpu") {
      const traces::Span span{.id = writer_.next_span_id(),
                              .track_id = track_id_,
                              .request_id = round.request_id,
                              .round_id = round.id,
                              .start_ns = at,
                              .end_ns = end,
                              .name_id = writer_.intern(name),
                              .layer = layer,
                              .depth = 2,
                              .phase = phase};
      writer_.add(std::span(&span, 1));
    } else {
      traces::Kernel kernel;
      kernel.id = writer_.next_kernel_id();
      kernel.track_id = track_id_;
      kernel.request_id = round.request_id;
      kernel.round_id = round.id;
      kernel.start_ns = begun_ns_ = std::min(at, std::max(begun_ns_ + 1, at - planted_.early_ns));
      kernel.end_ns = end;
      kernel.short_name_id = writer_.intern(std::string(name) + ": skinny_product<8>");
      kernel.layer = layer;
      kernel.phase = phase;
      writer_.add(std::span(&kernel, 1));
    }
    operation_ns_ = end;
  }

  std::int64_t noisy(double ns) {
    std::normal_distribution<double> normal(0.0, planted_.noise);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const double outlier = unit(random_) < planted_.outliers ? 1.5 + 2.5 * unit(random_) : 1.0;
    return std::llround(ns * std::exp(normal(random_)) * outlier);
  }

  /// Adds interruptions by time, whatever runs.
  std::int64_t interrupted(std::int64_t ns) {
    if (planted_.interrupted_every_ns <= 0.0) return ns;
    since_interruption_ += static_cast<double>(ns);
    for (; since_interruption_ >= planted_.interrupted_every_ns;
         since_interruption_ -= planted_.interrupted_every_ns)
      ns += static_cast<std::int64_t>(planted_.interruption_ns);
    return ns;
  }

  const PlantedTrace& planted_;
  traces::Writer& writer_;
  Prices prices_;
  traces::TrackId track_id_;
  std::int64_t now_ = 1'000'000'000;
  std::int64_t begun_ns_ = 0;      ///< Start of the latest operation.
  std::int64_t operation_ns_ = 0;  ///< End of the latest operation.
  double since_interruption_ = 0.0;
  std::mt19937_64 random_{5};
};

}  // namespace

double mean_factor(const PlantedTrace& planted) {
  constexpr double mean_outlier = 2.75;
  return std::exp(0.5 * planted.noise * planted.noise) * (1.0 + planted.outliers * (mean_outlier - 1.0));
}

void write_planted_trace(const PlantedTrace& planted, const std::filesystem::path& path) {
  const ModelShape& shape = planted.truth.shape;
  const traces::Meta meta{
      {"device", planted.device}, {"dtype", std::string(weight_type_name(planted.truth.weights))},
      {"model", shape.name},      {"tool_version", planted.version},
      {"max_tokens", "1000"},     {"cache_rows", "4096"},
      {"temperature", "0"},       {"model_shape", speculation::recorded_shape_json(shape)}};
  auto writer = traces::Writer::create(path, meta, {.overwrite = true});
  ASSERT_TRUE(writer) << writer.error().message;
  Planter planter(planted, **writer);
  for (const PlantedSetting& setting : planted.settings) planter.run(setting);
  const auto closed = (*writer)->close();
  ASSERT_TRUE(closed) << closed.error().message;
}

CostModel planted_cpu() {
  CostModel model;
  model.shape = {"planted", "", 8, 512, 8, 4, 64, 1536, 8192};
  model.covariance.assign(cost_parameter_count * cost_parameter_count, 0.0);
  CostVector& values = model.values;
  for (std::size_t i = 0; i < speculation::product_count; ++i) {
    const auto product = static_cast<speculation::Operation>(i);
    values[launch_parameter(product)] = 4000.0;
    values[per_byte_parameter(product)] = 0.05;
    for (std::size_t term = 0; term < width_terms; ++term) values[width_parameter(product, term)] = 0.006;
  }
  values[launch_parameter(speculation::Operation::attention)] = 5000.0;
  values[per_byte_parameter(speculation::Operation::attention)] = 0.06;
  values[attention_row_kv_parameter] = 0.05;
  values[launch_parameter(speculation::Operation::small)] = 400.0;
  values[layer_parameter] = 1000.0;
  values[draft_step_parameter] = 20000.0;
  values[target_pass_parameter] = 30000.0;
  values[round_parameter] = 15000.0;
  values[step_round_parameter] = 7000.0;
  return model;
}

}  // namespace draftscope::simulator
