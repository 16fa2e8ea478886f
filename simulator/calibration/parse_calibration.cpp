// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include "calibration_format.h"
#include "catalogue/earlier_keys.h"

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

constexpr double contradiction = 0.01;  // relative; rounding is far below

std::string shown(const Json& value) {
  constexpr std::size_t most = 40;
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, most);
}

/// An object of the file with the name that errors give it.
struct Object {
  const Json* json = nullptr;
  std::string path;  ///< "machine.json: shapes[0]"

  [[nodiscard]] std::string name_of(const std::string& field) const {
    return path.ends_with(": ") ? path + field : path + "." + field;
  }
};

Result<const Json*> field_of(const Object& object, const std::string& field, const char* expected) {
  const auto found = object.json->find(field);
  if (found == object.json->end()) return fail("{} is missing, expected {}", object.name_of(field), expected);
  return &*found;
}

Result<Object> object_of(const Object& parent, const std::string& field) {
  DRAFTSCOPE_TRY_ASSIGN(const Json* value, field_of(parent, field, "an object"));
  if (!value->is_object())
    return fail("{} is {}, expected an object", parent.name_of(field), value->type_name());
  return Object{value, parent.name_of(field)};
}

Result<std::vector<Object>> list_of(const Object& parent, const std::string& field) {
  DRAFTSCOPE_TRY_ASSIGN(const Json* value, field_of(parent, field, "a list"));
  if (!value->is_array()) return fail("{} is {}, expected a list", parent.name_of(field), value->type_name());
  std::vector<Object> objects;
  for (std::size_t i = 0; i < value->size(); ++i) {
    const Json& element = (*value)[i];
    std::string path = fmt::format("{}[{}]", parent.name_of(field), i);
    if (!element.is_object()) return fail("{} is {}, expected an object", path, element.type_name());
    objects.push_back({&element, std::move(path)});
  }
  return objects;
}

Result<std::string> text_of(const Object& object, const std::string& field) {
  DRAFTSCOPE_TRY_ASSIGN(const Json* value, field_of(object, field, "a text"));
  if (!value->is_string()) return fail("{} is {}, expected a text", object.name_of(field), shown(*value));
  return value->get<std::string>();
}

Result<double> number_of(const Object& object, const std::string& field, double least, double most) {
  DRAFTSCOPE_TRY_ASSIGN(const Json* value, field_of(object, field, "a number"));
  const double number = value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(number >= least && number <= most))
    return fail("{} is {}, expected {} to {}", object.name_of(field), shown(*value), least, most);
  return number;
}

Result<std::int32_t> integer_of(const Object& object, const std::string& field, std::int32_t least,
                                std::int32_t most) {
  DRAFTSCOPE_TRY_ASSIGN(const double number, number_of(object, field, least, most));
  if (std::trunc(number) != number)
    return fail("{} is {}, expected an integer", object.name_of(field), number);
  return static_cast<std::int32_t>(number);
}

constexpr double longest_ns = 1e15;
constexpr double max_samples = 1e9;

Result<speculation::Spread> spread_in(const Object& object, const std::string& field) {
  DRAFTSCOPE_TRY_ASSIGN(const Object spread, object_of(object, field));
  constexpr double least = 1e-9;
  speculation::Spread found;
  DRAFTSCOPE_TRY_ASSIGN(found.median, number_of(spread, "median", least, longest_ns));
  DRAFTSCOPE_TRY_ASSIGN(found.low, number_of(spread, "low", least, longest_ns));
  DRAFTSCOPE_TRY_ASSIGN(found.high, number_of(spread, "high", least, longest_ns));
  DRAFTSCOPE_TRY_ASSIGN(const double samples, number_of(spread, "samples", 1.0, max_samples));
  found.samples = std::llround(samples);
  if (found.low > found.median || found.median > found.high)
    return fail("{} has low {}, median {} and high {}, expected them in this order", spread.path, found.low,
                found.median, found.high);
  return found;
}

Result<std::optional<speculation::Spread>> spread_or_null(const Object& object, const std::string& field) {
  DRAFTSCOPE_TRY_ASSIGN(const Json* value, field_of(object, field, "an object or null"));
  if (value->is_null()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const speculation::Spread spread, spread_in(object, field));
  return spread;
}

Result<speculation::KernelKind> kind_of(const Object& object) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, text_of(object, "kind"));
  for (const speculation::KernelKind kind :
       {speculation::KernelKind::operation, speculation::KernelKind::draft_step,
        speculation::KernelKind::target_pass, speculation::KernelKind::drafting_round,
        speculation::KernelKind::step_round})
    if (speculation::kernel_kind_name(kind) == text) return kind;
  return fail("{} is \"{}\", expected operation, draft_step, target_pass, drafting_round or step_round",
              object.name_of("kind"), text.substr(0, 40));
}

Result<speculation::Operation> operation_of(const Object& object) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, text_of(object, "operation"));
  for (std::size_t i = 0; i < speculation::operation_count; ++i)
    if (speculation::operation_name(static_cast<speculation::Operation>(i)) == text)
      return static_cast<speculation::Operation>(i);
  return fail("{} is \"{}\", expected an operation, as \"gate up\"", object.name_of("operation"),
              text.substr(0, 40));
}

/// Relative difference, of numbers that may both be 0.
bool contradicts(double found, double expected) {
  return std::abs(found - expected) > contradiction * std::max(std::abs(found), std::abs(expected));
}

Result<speculation::MeasuredKernel> kernel_of(const Object& object, const CalibratedShape& of) {
  speculation::MeasuredKernel kernel;
  speculation::KernelForm& form = kernel.form;
  constexpr std::int32_t max_rows = 4096;
  constexpr double max_context = 1e8;
  DRAFTSCOPE_TRY_ASSIGN(form.kind, kind_of(object));
  if (form.kind == speculation::KernelKind::operation) {
    DRAFTSCOPE_TRY_ASSIGN(form.operation, operation_of(object));
  }
  const std::int32_t n_layers = of.shape.n_layers;
  DRAFTSCOPE_TRY_ASSIGN(form.sublayers.attention, integer_of(object, "attention_sublayers", 0, n_layers));
  DRAFTSCOPE_TRY_ASSIGN(form.sublayers.mlp, integer_of(object, "mlp_sublayers", 0, n_layers));
  const std::int32_t widest = form.kind == speculation::KernelKind::draft_step ? 1 : max_rows;
  DRAFTSCOPE_TRY_ASSIGN(form.rows, integer_of(object, "rows", 1, widest));
  DRAFTSCOPE_TRY_ASSIGN(form.context, number_of(object, "context", 0.0, max_context));
  DRAFTSCOPE_TRY_ASSIGN(const double bytes, number_of(object, "bytes", 0.0, 1e18));
  DRAFTSCOPE_TRY_ASSIGN(kernel.ns, spread_in(object, "ns"));
  const double expected = kernel_bytes(form, of.shape, of.weights);
  if (contradicts(bytes, expected))
    return fail("{} is {}, expected {} by the shape", object.name_of("bytes"), bytes, expected);
  return kernel;
}

/// Stored laws are for readers; here they only may not contradict the kernels.
Result<void> check_laws(const Object& laws, const Json& expected) {
  for (const char* law : {"products", "passes", "attention"}) {
    DRAFTSCOPE_TRY_ASSIGN(const Json* found, field_of(laws, law, "a law or null"));
    const Json& computed = expected[law];
    if (found->is_null() != computed.is_null())
      return fail("{} is {}, expected {} by the kernels", laws.name_of(law), shown(*found),
                  computed.is_null() ? "null" : "a law");
    if (computed.is_null()) continue;
    DRAFTSCOPE_TRY_ASSIGN(const Object object, object_of(laws, law));
    for (const char* field : {"launch_ns", "ns_per_byte"}) {
      DRAFTSCOPE_TRY_ASSIGN(const double value, number_of(object, field, 0.0, longest_ns));
      if (contradicts(value, computed[field].get<double>()))
        return fail("{} is {}, expected {} by the kernels", object.name_of(field), value,
                    computed[field].get<double>());
    }
  }
  return {};
}

Result<CalibratedShape> shape_of(const Object& object) {
  CalibratedShape of;
  ModelShape& shape = of.shape;
  constexpr std::int32_t most = 1 << 24;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, text_of(object, "name"));
  for (const auto& [field, member] :
       {std::pair{"n_layers", &ModelShape::n_layers}, std::pair{"d_model", &ModelShape::d_model},
        std::pair{"n_heads", &ModelShape::n_heads}, std::pair{"n_kv_heads", &ModelShape::n_kv_heads},
        std::pair{"head_dim", &ModelShape::head_dim}, std::pair{"d_ff", &ModelShape::d_ff},
        std::pair{"vocab", &ModelShape::vocab}}) {
    DRAFTSCOPE_TRY_ASSIGN(shape.*member, integer_of(object, field, 1, most));
  }
  DRAFTSCOPE_TRY(check_shape(shape, object.path));
  DRAFTSCOPE_TRY_ASSIGN(const std::string weights, text_of(object, "weights"));
  const auto type = parse_weight_type(weights);
  if (!type)
    return fail("{} is \"{}\", expected bf16, fp16, fp32 or fp8", object.name_of("weights"),
                weights.substr(0, 40));
  of.weights = *type;
  DRAFTSCOPE_TRY_ASSIGN(const auto kernels, list_of(object, "kernels"));
  for (const Object& kernel : kernels) {
    DRAFTSCOPE_TRY_ASSIGN(speculation::MeasuredKernel measured, kernel_of(kernel, of));
    of.kernels.push_back(measured);
  }
  DRAFTSCOPE_TRY_ASSIGN(const Object laws, object_of(object, "laws"));
  DRAFTSCOPE_TRY(check_laws(laws, laws_json(calibration_laws(of))));
  return of;
}

Result<void> read_machine(const Object& machine, MachineCalibration& calibration) {
  constexpr std::int32_t max_threads = 1 << 16;
  DRAFTSCOPE_TRY_ASSIGN(calibration.device, text_of(machine, "device"));
  if (calibration.device != "cpu" && calibration.device != "cuda")
    return fail("{} is \"{}\", expected cpu or cuda", machine.name_of("device"),
                calibration.device.substr(0, 40));
  DRAFTSCOPE_TRY_ASSIGN(calibration.processor, text_of(machine, "processor"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.kernel_set, text_of(machine, "kernel_set"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.threads, integer_of(machine, "threads", 0, max_threads));
  DRAFTSCOPE_TRY_ASSIGN(calibration.engine_version, text_of(machine, "engine_version"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.date, text_of(machine, "date"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.cache_bytes, number_of(machine, "cache_bytes", 0.0, 1e15));
  DRAFTSCOPE_TRY_ASSIGN(const Json* gpu, field_of(machine, "gpu", "a GPU's name or null"));
  if (gpu->is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(calibration.gpu, text_of(machine, "gpu"));
  const auto known = find_gpu(calibration.gpu);
  if (!known) return fail("{}: {}", machine.name_of("gpu"), known.error().message);
  return {};
}

}  // namespace

Result<MachineCalibration> parse_calibration(std::string_view text, std::string_view name) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    return fail("{}: {}, expected a calibration", name,
                json.is_discarded() ? "is not valid JSON" : "is no JSON object");
  rename_earlier_calibration_keys(json);
  const Object file{&json, fmt::format("{}: ", name)};
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, text_of(file, "format"));
  if (format != calibration_format)
    return fail("{}format is \"{}\", expected \"{}\"", file.path, format.substr(0, 40), calibration_format);
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t version, integer_of(file, "version", 0, 1 << 24));
  if (version != calibration_version)
    return fail("{}version is {}, expected {}", file.path, version, calibration_version);
  MachineCalibration calibration;
  DRAFTSCOPE_TRY_ASSIGN(const Object machine, object_of(file, "machine"));
  DRAFTSCOPE_TRY(read_machine(machine, calibration));
  DRAFTSCOPE_TRY_ASSIGN(const Object probes, object_of(file, "probes"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.memory_gb_s, spread_or_null(probes, "memory_gb_s"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.empty_pass_ns, spread_or_null(probes, "empty_pass_ns"));
  DRAFTSCOPE_TRY_ASSIGN(calibration.eager_pass_ns, spread_or_null(probes, "eager_pass_ns"));
  DRAFTSCOPE_TRY_ASSIGN(const auto shapes, list_of(file, "shapes"));
  for (const Object& object : shapes) {
    DRAFTSCOPE_TRY_ASSIGN(CalibratedShape shape, shape_of(object));
    calibration.shapes.push_back(std::move(shape));
  }
  for (const CalibratedShape& shape : calibration.shapes) {
    const auto fit = fit_calibration(calibration, shape.shape, shape.weights);
    if (!fit) return fail("{}{}: {}", file.path, shape.shape.name, fit.error().message);
  }
  if (calibration.shapes.empty()) return fail("{}shapes is empty, expected at least one", file.path);
  return calibration;
}

}  // namespace draftscope::simulator
