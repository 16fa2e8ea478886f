// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>
#include <draftscope/speculation/model_shape_json.h>

#include <nlohmann/json.hpp>

#include "prices/calibration_format.h"

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const std::optional<speculation::Spread>& spread) {
  if (!spread) return nullptr;
  return {
      {"median", spread->median}, {"low", spread->low}, {"high", spread->high}, {"samples", spread->samples}};
}

Json kernel_json(const speculation::MeasuredKernel& kernel, const CalibratedShape& of) {
  const speculation::KernelForm& form = kernel.form;
  Json json{{"name", kernel_name(form, of.shape)}, {"kind", speculation::kernel_kind_name(form.kind)}};
  json["operation"] = nullptr;
  if (form.kind == speculation::KernelKind::operation)
    json["operation"] = speculation::operation_name(form.operation);
  json["attention_sublayers"] = form.sublayers.attention;
  json["mlp_sublayers"] = form.sublayers.mlp;
  json["rows"] = form.rows;
  json["context"] = form.context;
  json["bytes"] = kernel_bytes(form, of.shape, of.weights);
  json["ns"] = spread_json(kernel.ns);
  return json;
}

Json shape_json(const CalibratedShape& of) {
  Json json = speculation::named_sizes_json(of.shape);
  json["weights"] = weight_type_name(of.weights);
  Json& kernels = json["kernels"] = Json::array();
  for (const speculation::MeasuredKernel& kernel : of.kernels) kernels.push_back(kernel_json(kernel, of));
  json["laws"] = laws_json(calibration_laws(of));
  return json;
}

Json law_json(const std::optional<AffineLaw>& law) {
  if (!law) return nullptr;
  return {{"launch_ns", law->law.launch_ns},
          {"launch_sigma_ns", law->law.launch_sigma},
          {"ns_per_byte", law->law.ns_per_byte},
          {"ns_per_byte_sigma", law->law.ns_per_byte_sigma},
          {"kernels", law->kernels},
          {"residual_p50", law->residual_p50},
          {"residual_max", law->residual_greatest}};
}

}  // namespace

Json laws_json(const CalibrationLaws& laws) {
  Json json{{"products", law_json(laws.products)},
            {"passes", law_json(laws.passes)},
            {"attention", law_json(laws.attention)}};
  Json& widths = json["widths"] = Json::array();
  for (const WidthFactor& width : laws.widths)
    widths.push_back({{"rows", width.rows}, {"factor", width.factor}});
  return json;
}

std::string calibration_json(const MachineCalibration& calibration) {
  Json json{{"format", calibration_format}, {"version", calibration_version}};
  Json& machine = json["machine"];
  machine = {{"device", calibration.device},
             {"processor", calibration.processor},
             {"kernel_set", calibration.kernel_set},
             {"threads", calibration.threads},
             {"engine_version", calibration.engine_version},
             {"date", calibration.date}};
  machine["gpu"] = calibration.gpu.empty() ? Json(nullptr) : Json(calibration.gpu);
  machine["cache_bytes"] = calibration.cache_bytes;
  json["probes"] = {{"memory_gb_s", spread_json(calibration.memory_gb_s)},
                    {"empty_pass_ns", spread_json(calibration.empty_pass_ns)}};
  Json& shapes = json["shapes"] = Json::array();
  for (const CalibratedShape& shape : calibration.shapes) shapes.push_back(shape_json(shape));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace draftscope::simulator
