// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/prices/calibration.h>
#include <draftscope/speculation/model_shape_json.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view calibration_format = "draftscope calibration";
constexpr int calibration_version = 1;

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

Json laws_json(const CalibrationLaws& laws) {
  Json json{{"products", law_json(laws.products)},
            {"passes", law_json(laws.passes)},
            {"attention", law_json(laws.attention)}};
  Json& widths = json["widths"] = Json::array();
  for (const WidthFactor& width : laws.widths)
    widths.push_back({{"rows", width.rows}, {"context", width.context}, {"factor", width.factor}});
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

constexpr double contradiction = 0.01;  // Relative tolerance; rounding is far below.

constexpr double longest_ns = 1e15;
constexpr double max_samples = 1e9;

Result<speculation::Spread> spread_of(const JsonField& spread) {
  DRAFTSCOPE_TRY(spread.object());
  constexpr double least = 1e-9;
  speculation::Spread found;
  DRAFTSCOPE_TRY_ASSIGN(found.median, spread["median"].number({least, longest_ns}));
  DRAFTSCOPE_TRY_ASSIGN(found.low, spread["low"].number({least, longest_ns}));
  DRAFTSCOPE_TRY_ASSIGN(found.high, spread["high"].number({least, longest_ns}));
  DRAFTSCOPE_TRY_ASSIGN(const double samples, spread["samples"].number({1.0, max_samples}));
  found.samples = std::llround(samples);
  if (found.low > found.median || found.median > found.high)
    return fail("{} has low {}, median {} and high {}, expected them in this order", spread.name(), found.low,
                found.median, found.high);
  return found;
}

Result<std::optional<speculation::Spread>> spread_or_null(const JsonField& field) {
  if (field.is_missing()) return field.wrong("an object or null");
  if (field.is_null()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const speculation::Spread spread, spread_of(field));
  return spread;
}

Result<speculation::Operation> operation_of(const JsonField& object) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, object["operation"].text());
  for (std::size_t i = 0; i < speculation::operation_count; ++i)
    if (speculation::operation_name(static_cast<speculation::Operation>(i)) == text)
      return static_cast<speculation::Operation>(i);
  return object["operation"].wrong("an operation, as 'gate up'");
}

/// Whether two numbers differ relatively; both may be 0.
bool contradicts(double found, double expected) {
  return std::abs(found - expected) > contradiction * std::max(std::abs(found), std::abs(expected));
}

Result<speculation::MeasuredKernel> kernel_of(const JsonField& object, const CalibratedShape& of) {
  DRAFTSCOPE_TRY(object.object());
  speculation::MeasuredKernel kernel;
  speculation::KernelForm& form = kernel.form;
  constexpr std::int32_t max_rows = 4096;
  constexpr double max_context = 1e8;
  DRAFTSCOPE_TRY_ASSIGN(
      form.kind, object["kind"].named(speculation::kernel_kind_name, speculation::KernelKind::step_round));
  if (form.kind == speculation::KernelKind::operation) {
    DRAFTSCOPE_TRY_ASSIGN(form.operation, operation_of(object));
  }
  const std::int32_t n_layers = of.shape.n_layers;
  DRAFTSCOPE_TRY_ASSIGN(form.sublayers.attention,
                        object["attention_sublayers"].integer(Range<std::int32_t>{0, n_layers}));
  DRAFTSCOPE_TRY_ASSIGN(form.sublayers.mlp,
                        object["mlp_sublayers"].integer(Range<std::int32_t>{0, n_layers}));
  const std::int32_t widest = form.kind == speculation::KernelKind::draft_step ? 1 : max_rows;
  DRAFTSCOPE_TRY_ASSIGN(form.rows, object["rows"].integer(Range<std::int32_t>{1, widest}));
  DRAFTSCOPE_TRY_ASSIGN(form.context, object["context"].number({0.0, max_context}));
  DRAFTSCOPE_TRY_ASSIGN(const double bytes, object["bytes"].number({0.0, 1e18}));
  DRAFTSCOPE_TRY_ASSIGN(kernel.ns, spread_of(object["ns"]));
  const double expected = kernel_bytes(form, of.shape, of.weights);
  if (contradicts(bytes, expected))
    return fail("{} is {}, expected {} by the shape", object["bytes"].name(), bytes, expected);
  return kernel;
}

/// Checks stored laws. They are for readers, and only must not contradict the kernels.
Result<void> check_laws(const JsonField& laws, const Json& expected) {
  for (const char* law : {"products", "passes", "attention"}) {
    const JsonField found = laws[law];
    if (found.is_missing()) return found.wrong("a law or null");
    const Json& computed = expected[law];
    if (found.is_null() != computed.is_null())
      return found.wrong(computed.is_null() ? "null by the kernels" : "a law by the kernels");
    if (computed.is_null()) continue;
    DRAFTSCOPE_TRY_ASSIGN(const JsonField object, laws[law].object());
    for (const char* field : {"launch_ns", "ns_per_byte"}) {
      DRAFTSCOPE_TRY_ASSIGN(const double value, object[field].number({0.0, longest_ns}));
      if (contradicts(value, computed[field].get<double>()))
        return fail("{} is {}, expected {} by the kernels", object[field].name(), value,
                    computed[field].get<double>());
    }
  }
  return {};
}

Result<CalibratedShape> shape_of(const JsonField& object) {
  DRAFTSCOPE_TRY(object.object());
  CalibratedShape of;
  DRAFTSCOPE_TRY_ASSIGN(of.shape, speculation::parse_named_sizes(object));
  DRAFTSCOPE_TRY_ASSIGN(const std::string weights, object["weights"].text());
  const auto type = parse_weight_type(weights);
  const bool is_measured =
      type && (!is_narrow(*type) || *type == WeightType::fp8);  // Number types that engines here have.
  if (!is_measured) return object["weights"].wrong("bf16, fp16, fp32 or fp8");
  of.weights = *type;
  DRAFTSCOPE_TRY_ASSIGN(const auto kernels, object["kernels"].list());
  for (const JsonField& kernel : kernels) {
    DRAFTSCOPE_TRY_ASSIGN(speculation::MeasuredKernel measured, kernel_of(kernel, of));
    of.kernels.push_back(measured);
  }
  DRAFTSCOPE_TRY_ASSIGN(const JsonField laws, object["laws"].object());
  DRAFTSCOPE_TRY(check_laws(laws, laws_json(calibration_laws(of))));
  return of;
}

Result<void> read_machine(const JsonField& machine, MachineCalibration& calibration) {
  constexpr std::int32_t max_threads = 1 << 16;
  DRAFTSCOPE_TRY_ASSIGN(calibration.device, machine["device"].text());
  if (calibration.device != "cpu" && calibration.device != "cuda")
    return machine["device"].wrong("cpu or cuda");
  DRAFTSCOPE_TRY_ASSIGN(calibration.processor, machine["processor"].text());
  DRAFTSCOPE_TRY_ASSIGN(calibration.kernel_set, machine["kernel_set"].text());
  DRAFTSCOPE_TRY_ASSIGN(calibration.threads, machine["threads"].integer(Range<std::int32_t>{0, max_threads}));
  DRAFTSCOPE_TRY_ASSIGN(calibration.engine_version, machine["engine_version"].text());
  DRAFTSCOPE_TRY_ASSIGN(calibration.date, machine["date"].text());
  DRAFTSCOPE_TRY_ASSIGN(calibration.cache_bytes, machine["cache_bytes"].number({0.0, 1e15}));
  const JsonField gpu = machine["gpu"];
  if (gpu.is_missing()) return gpu.wrong("a GPU's name or null");
  if (gpu.is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(calibration.gpu, gpu.text());
  const auto known = find_gpu(calibration.gpu);
  if (!known) return fail("{}: {}", gpu.name(), known.error().message);
  return {};
}

/// Fails at a key that the file would not have if what was read of it were written, but for one of 0.2: the
/// time of a pass without a graph.
Result<void> check_keys(const JsonField& found, const Json& written) {
  if (found.value().is_object() && written.is_object()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto members, found.members());
    for (const auto& [key, member] : members) {
      if (key == "eager_pass_ns") continue;
      const auto known = written.find(key);
      if (known == written.end())
        return fail("{} is not known, expected the keys of calibrate", member.name());
      DRAFTSCOPE_TRY(check_keys(member, *known));
    }
  }
  if (found.value().is_array() && written.is_array()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto elements, found.list());
    for (std::size_t i = 0; i < std::min(elements.size(), written.size()); ++i)
      DRAFTSCOPE_TRY(check_keys(elements[i], written[i]));
  }
  return {};
}

}  // namespace

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

Result<MachineCalibration> parse_calibration(std::string_view text, std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(nlohmann::json json, parse_json_object(text, name));
  const JsonField file(json, name);
  if (file["format"].value() != calibration_format) return file["format"].wrong(quote(calibration_format));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t version, file["version"].integer(Range<std::int32_t>{0, 1 << 24}));
  if (version != calibration_version) return file["version"].wrong(std::to_string(calibration_version));
  MachineCalibration calibration;
  DRAFTSCOPE_TRY_ASSIGN(const JsonField machine, file["machine"].object());
  DRAFTSCOPE_TRY(read_machine(machine, calibration));
  DRAFTSCOPE_TRY_ASSIGN(const JsonField probes, file["probes"].object());
  DRAFTSCOPE_TRY_ASSIGN(calibration.memory_gb_s, spread_or_null(probes["memory_gb_s"]));
  DRAFTSCOPE_TRY_ASSIGN(calibration.empty_pass_ns, spread_or_null(probes["empty_pass_ns"]));
  DRAFTSCOPE_TRY_ASSIGN(const auto shapes, file["shapes"].list());
  for (const JsonField& object : shapes) {
    DRAFTSCOPE_TRY_ASSIGN(CalibratedShape shape, shape_of(object));
    calibration.shapes.push_back(std::move(shape));
  }
  for (const CalibratedShape& shape : calibration.shapes) {
    const auto fit = fit_calibration(calibration, shape.shape, shape.weights);
    if (!fit) return fail("{}: {}: {}", name, shape.shape.name, fit.error().message);
  }
  if (calibration.shapes.empty()) return fail("{} is empty, expected at least one", file["shapes"].name());
  DRAFTSCOPE_TRY(check_keys(file, Json::parse(calibration_json(calibration))));
  return calibration;
}

}  // namespace draftscope::simulator
