// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/csv_table.h>
#include <draftscope/simulator/analysis/gpu.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include <draftscope/base/closest_names.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>

namespace draftscope::simulator {

extern const std::string_view known_gpus_csv;  // Generated from data/gpus.csv by the build.

namespace {

/// One row (column → text), from either format.
using Fields = std::map<std::string, std::string, std::less<>>;

constexpr std::array gpu_columns{"name",
                                 "vendor",
                                 "arch",
                                 "mem_gb",
                                 "mem_type",
                                 "mem_bw_gbs",
                                 "l2_mb",
                                 "bf16_dense_tflops",
                                 "fp8_dense_tflops",
                                 "number_types",
                                 "int8_dense_tflops",
                                 "nvfp4_dense_tflops",
                                 "fp8_t0_us",
                                 "fp8_product_eff",
                                 "fp8_calibration",
                                 "int8_t0_us",
                                 "int8_product_eff",
                                 "int8_calibration",
                                 "int4_t0_us",
                                 "int4_product_eff",
                                 "int4_calibration",
                                 "nvfp4_t0_us",
                                 "nvfp4_product_eff",
                                 "nvfp4_calibration",
                                 "last_level_cache_mb",
                                 "sm_count",
                                 "boost_mhz",
                                 "link_gbs_unidir",
                                 "t0_us",
                                 "read_eff",
                                 "read_calibration",
                                 "product_eff",
                                 "calibration",
                                 "source",
                                 "confidence",
                                 "note",
                                 "ridge_flop_per_byte_bf16",
                                 "free_verify_width_est"};

/// Share of the specified bandwidth that reading alone reaches. HBM's was measured on an H200; the others are
/// above every fitted product, and were not measured.
double read_prior(MemoryFamily family) {
  constexpr std::array<double, 3> shares{0.948, 0.95, 0.9};
  return shares[static_cast<std::size_t>(family)];
}

/// Prior of a memory family. The efficiency is a share of the specified bandwidth, where reading reaches
/// read_prior() of it.
struct FamilyPrior {
  double t0_us;
  double efficiency;
};

/// Parameters of a GPU that only has a data sheet: the middle of the fitted ones of its family.
FamilyPrior family_prior(MemoryFamily family) {
  constexpr std::array<FamilyPrior, 3> priors{{{4.5, 0.84}, {2.0, 0.87}, {6.0, 0.80}}};
  return priors[static_cast<std::size_t>(family)];
}

/// Whether products of a narrow type are priced as nvfp4's; those of more bits as fp8's.
bool has_few_bits(WeightType type) {
  constexpr double max_bytes = 0.6;
  return layer_weight_bytes(type) < max_bytes;
}

/// Parameters of fp8 and nvfp4 products for a GPU that only has a data sheet. No LPDDR GPU was fitted; it
/// uses those of HBM, whose launches are the slower ones.
FamilyPrior narrow_prior(MemoryFamily family, WeightType type) {
  const bool is_gddr = family == MemoryFamily::gddr;
  if (!has_few_bits(type)) return is_gddr ? FamilyPrior{2.745, 0.805} : FamilyPrior{7.52, 0.805};
  return is_gddr ? FamilyPrior{4.56, 0.64} : FamilyPrior{5.59, 0.69};
}

/// A law with its uncertainty. The fits left 3 to 10 % open; two engines differ by a factor of two in t0.
ProductLaw narrow_law(double t0_us, double efficiency, Calibration calibration) {
  constexpr std::array<std::pair<double, double>, 3> sigmas{{{0.15, 0.06}, {0.35, 0.08}, {0.5, 0.1}}};
  const auto [t0_sigma, efficiency_sigma] = sigmas[static_cast<std::size_t>(calibration)];
  return {t0_us, efficiency, calibration, t0_sigma, efficiency_sigma};
}

Result<std::optional<double>> number(const Fields& fields, std::string_view column, std::string_view name) {
  const auto found = fields.find(column);
  if (found == fields.end() || found->second.empty()) return std::nullopt;
  const auto value = parse_number<double>(found->second);
  if (!value) return fail("{}: {} is {}, expected a number", name, column, quote(found->second));
  return value;
}

Result<std::optional<double>> positive(const Fields& fields, std::string_view column, std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto value, number(fields, column, name));
  if (value && *value <= 0.0) return fail("{}: {} is {}, expected more than 0", name, column, *value);
  return value;
}

Result<double> needed(const Fields& fields, std::string_view column, std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto value, positive(fields, column, name));
  if (!value) return fail("{}: {} is missing, expected a number", name, column);
  return *value;
}

std::string text_of(const Fields& fields, std::string_view column) {
  const auto found = fields.find(column);
  return found == fields.end() ? std::string() : found->second;
}

Result<MemoryFamily> memory_family(const Fields& fields, std::string_view name) {
  const std::string type = text_of(fields, "mem_type");
  if (type.starts_with("HBM")) return MemoryFamily::hbm;
  if (type.starts_with("GDDR")) return MemoryFamily::gddr;
  if (type.starts_with("LPDDR")) return MemoryFamily::lpddr;
  return fail("{}: mem_type is {}, expected HBM…, GDDR… or LPDDR…", name, quote(type));
}

Calibration calibration_of(const std::string& text) {
  if (text.starts_with("fit")) return Calibration::fitted;
  return text.starts_with("prior:") ? Calibration::related : Calibration::family;
}

Result<void> check_ridge(const GpuSpecification& gpu, const Fields& fields, std::string_view name) {
  constexpr double tolerance = 0.02;
  DRAFTSCOPE_TRY_ASSIGN(const auto ridge, positive(fields, "ridge_flop_per_byte_bf16", name));
  if (ridge && std::abs(*ridge / gpu.ridge() - 1.0) > tolerance)
    return fail("{}: ridge_flop_per_byte_bf16 is {}, expected {:.1f} from bf16_dense_tflops and mem_bw_gbs",
                name, *ridge, gpu.ridge());
  return {};
}

/// t0_us and product_eff of a type, with their calibration; column names begin with `prefix`.
struct LawFields {
  std::optional<double> t0_us;
  std::optional<double> product_share;  ///< Share of the bandwidth that reading reaches.
  Calibration calibration = Calibration::family;

  /// The law's efficiency on this GPU; from the family's `prior` where none is given.
  [[nodiscard]] double efficiency(const GpuSpecification& gpu, const FamilyPrior& prior) const {
    return gpu.read_efficiency * product_share.value_or(prior.efficiency / read_prior(gpu.memory));
  }
};

Result<std::optional<double>> share(const Fields& fields, std::string_view column, std::string_view of,
                                    std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto value, positive(fields, column, name));
  if (value && *value > 1.0)
    return fail("{}: {} is {}, expected a share of {}, at most 1", name, column, *value, of);
  return value;
}

Result<LawFields> law_fields(const Fields& fields, const std::string& prefix, std::string_view name) {
  LawFields law;
  const std::string t0 = prefix + "t0_us";
  DRAFTSCOPE_TRY_ASSIGN(law.t0_us, number(fields, t0, name));
  DRAFTSCOPE_TRY_ASSIGN(law.product_share,
                        share(fields, prefix + "product_eff", "mem_bw_gbs · read_eff", name));
  if (law.t0_us && *law.t0_us < 0.0) return fail("{}: {} is {}, expected at least 0", name, t0, *law.t0_us);
  if (law.t0_us && law.product_share)
    law.calibration = calibration_of(text_of(fields, prefix + "calibration"));
  return law;
}

constexpr std::array narrow_types{WeightType::fp8, WeightType::int8, WeightType::int4, WeightType::nvfp4};

Result<void> read_narrow_types(const Fields& fields, std::string_view name, GpuSpecification& gpu) {
  for (const WeightType type : narrow_types) {
    const auto place = static_cast<std::size_t>(type);
    const std::string type_name(weight_type_name(type));
    DRAFTSCOPE_TRY_ASSIGN(const LawFields law, law_fields(fields, type_name + "_", name));
    if (law.t0_us || law.product_share) {
      const FamilyPrior prior = narrow_prior(gpu.memory, type);
      gpu.narrow_products[place] =
          narrow_law(law.t0_us.value_or(prior.t0_us), law.efficiency(gpu, prior), law.calibration);
    }
    if (type == WeightType::fp8) continue;
    DRAFTSCOPE_TRY_ASSIGN(gpu.narrow_tflops[place], positive(fields, type_name + "_dense_tflops", name));
  }
  std::istringstream types(text_of(fields, "number_types"));
  for (std::string type_name; types >> type_name;) {
    const auto type = parse_weight_type(type_name);
    if (!type)
      return fail("{}: number_types holds {}, expected {}", name, quote(type_name), weight_type_names());
    gpu.number_types.push_back(*type);
  }
  return {};
}

Result<GpuSpecification> specification(const Fields& fields, std::string_view source) {
  GpuSpecification gpu;
  gpu.name = text_of(fields, "name");
  if (gpu.name.empty()) return fail("{}: name is missing, expected the GPU's", source);
  const std::string name = fmt::format("{}: {}", source, excerpt(gpu.name));
  gpu.architecture = text_of(fields, "arch");
  DRAFTSCOPE_TRY_ASSIGN(gpu.memory, memory_family(fields, name));
  DRAFTSCOPE_TRY_ASSIGN(gpu.bandwidth_gb_s, needed(fields, "mem_bw_gbs", name));
  DRAFTSCOPE_TRY_ASSIGN(gpu.bf16_tflops, needed(fields, "bf16_dense_tflops", name));
  DRAFTSCOPE_TRY_ASSIGN(gpu.fp8_tflops, positive(fields, "fp8_dense_tflops", name));
  if (gpu.fp8_tflops && *gpu.fp8_tflops < gpu.bf16_tflops)
    return fail("{}: fp8_dense_tflops is {}, expected at least bf16_dense_tflops ({})", name, *gpu.fp8_tflops,
                gpu.bf16_tflops);
  DRAFTSCOPE_TRY_ASSIGN(gpu.memory_gb, positive(fields, "mem_gb", name));
  DRAFTSCOPE_TRY_ASSIGN(gpu.l2_mb, positive(fields, "l2_mb", name));
  DRAFTSCOPE_TRY_ASSIGN(gpu.link_gb_s, positive(fields, "link_gbs_unidir", name));
  DRAFTSCOPE_TRY(check_ridge(gpu, fields, name));

  DRAFTSCOPE_TRY_ASSIGN(const auto read_share, share(fields, "read_eff", "mem_bw_gbs", name));
  gpu.read_efficiency = read_share.value_or(read_prior(gpu.memory));
  const FamilyPrior prior = family_prior(gpu.memory);
  DRAFTSCOPE_TRY_ASSIGN(const LawFields law, law_fields(fields, "", name));
  gpu.t0_us = law.t0_us.value_or(prior.t0_us);
  gpu.efficiency = law.efficiency(gpu, prior);
  gpu.calibration = law.calibration;
  DRAFTSCOPE_TRY(read_narrow_types(fields, name, gpu));
  return gpu;
}

/// Errors: no column of gpus.csv.
Result<void> check_column(std::string_view key, std::string_view name) {
  if (std::find(gpu_columns.begin(), gpu_columns.end(), key) != gpu_columns.end()) return {};
  return fail("{}: unknown key {}, expected a column of gpus.csv, as {}", name, quote(key),
              closest_names(key, std::vector<std::string>(gpu_columns.begin(), gpu_columns.end())));
}

Result<std::vector<GpuSpecification>> from_csv(std::string_view text, std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, CsvTable::parse(text, std::string(name)));
  for (const std::string& column : table.columns()) DRAFTSCOPE_TRY(check_column(column, name));
  std::vector<GpuSpecification> gpus;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Fields fields;
    for (const char* column : gpu_columns) {
      if (!table.has(column)) continue;
      DRAFTSCOPE_TRY_ASSIGN(fields[column], table.text(row, column));
    }
    DRAFTSCOPE_TRY_ASSIGN(auto gpu, specification(fields, name));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<GpuSpecification> from_json(const nlohmann::json& object, std::string_view name) {
  Fields fields;
  for (const auto& [key, value] : object.items()) {
    DRAFTSCOPE_TRY(check_column(key, name));
    if (value.is_string())
      fields[key] = value.get<std::string>();
    else if (value.is_number())
      fields[key] = value.dump();
    else if (!value.is_null())
      return fail("{}: {} is {}, expected a number or a text", name, key, value.type_name());
  }
  return specification(fields, name);
}

const Result<std::vector<GpuSpecification>>& table_of_gpus() {
  static const Result<std::vector<GpuSpecification>> gpus = from_csv(known_gpus_csv, "gpus.csv");
  return gpus;
}

}  // namespace

ProductLaw GpuSpecification::products(WeightType type) const {
  if (!is_narrow(type)) return {t0_us, efficiency, calibration, t0_sigma(), efficiency_sigma()};
  const auto known = [&](WeightType of) { return narrow_products[static_cast<std::size_t>(of)]; };
  if (const auto law = known(type)) return *law;
  const WeightType like = has_few_bits(type) ? WeightType::nvfp4 : WeightType::fp8;
  if (const auto law = known(like))
    return narrow_law(law->t0_us, law->efficiency,
                      like == WeightType::fp8 ? Calibration::related : Calibration::family);
  const FamilyPrior prior = narrow_prior(memory, type);
  return narrow_law(prior.t0_us, read_efficiency * prior.efficiency / read_prior(memory),
                    Calibration::family);
}

double GpuSpecification::tflops(WeightType type) const {
  const auto known = narrow_tflops[static_cast<std::size_t>(type)];
  switch (type) {
    case WeightType::fp8:
      return fp8_tflops.value_or(bf16_tflops);
    case WeightType::int8:
    case WeightType::nvfp4:
      return known.value_or(fp8_tflops.value_or(bf16_tflops));
    default:
      return bf16_tflops;
  }
}

Result<void> check_number_type(const GpuSpecification& gpu, WeightType type) {
  const std::vector<WeightType>& has = gpu.number_types;
  if (has.empty() || type == WeightType::fp32 || is_widened(type) ||
      std::find(has.begin(), has.end(), type) != has.end())
    return {};
  std::vector<std::string_view> names;
  names.reserve(has.size() + 1);
  for (const WeightType one : has) names.push_back(weight_type_name(one));
  names.push_back(weight_type_name(WeightType::int4));
  return fail("GPU {} has no {} arithmetic, expected weights in {}", gpu.name, weight_type_name(type),
              fmt::join(names, ", "));
}

std::span<const GpuSpecification> known_gpus() {
  const auto& gpus = table_of_gpus();
  return gpus ? std::span<const GpuSpecification>(*gpus) : std::span<const GpuSpecification>();
}

Result<GpuSpecification> find_gpu(std::string_view name) {
  const auto& gpus = table_of_gpus();
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  const std::string wanted = comparable_name(name);
  std::vector<std::string> names;
  std::vector<const GpuSpecification*> begin_so;
  for (const GpuSpecification& gpu : *gpus) {
    const std::string known = comparable_name(gpu.name);
    if (known == wanted) return gpu;
    if (!wanted.empty() && known.starts_with(wanted)) begin_so.push_back(&gpu);
    names.push_back(gpu.name);
  }
  if (begin_so.size() == 1) return *begin_so.front();
  return fail("GPU {} is unknown, expected one of the table, as {}, or a specification of your own",
              quote(name), closest_names(name, names));
}

Result<GpuSpecification> parse_gpu_specification(std::string_view text, std::string_view name) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object()) return from_json(json, name);
  if (!json.is_discarded()) return fail("{}: is JSON {}, expected an object", name, json.type_name());
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos &&
      text[text.find_first_not_of(" \t\r\n")] == '{')
    return fail("{}: is not valid JSON, expected one object", name);
  DRAFTSCOPE_TRY_ASSIGN(auto gpus, from_csv(text, name));
  if (gpus.size() != 1) return fail("{}: has {} rows, expected one GPU", name, gpus.size());
  return std::move(gpus.front());
}

}  // namespace draftscope::simulator
