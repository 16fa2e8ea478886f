// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine's kernels move, counted on the code that nvcc made of them, beside what they must move; and
// the launches that passes of published models would make. No GPU takes part. predict makes times of it.

#include <draftscope/base/number.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_traffic.h"
#include "launch_plan.h"
#include "layer_weights.h"
#include "ptx_file.h"

namespace draftscope::bench {
namespace {

using nlohmann::json;

/// Small models are made in it.
constexpr const char* as_made = "bf16";

struct Options {
  std::vector<std::string> models = {"llama-3.2-1b", "llama-3-8b", "llama-3-70b"};
  std::vector<std::int32_t> rows = {1, 8, 16};
  std::vector<std::int32_t> contexts = {512, 8192};
  std::vector<std::string> machines = {"132:232448"};
  std::int32_t scale = 1;
  std::string weights = as_made;
  std::string activations = "bf16";
  bool json = false;
};

engine::DType activations_of(const Options& options) {
  return options.activations == "fp16" ? engine::DType::f16 : engine::DType::bf16;
}

json memory_json(const ptx::MemoryCount& count) {
  return {{"requests", count.requests},
          {"bytes", count.bytes},
          {"sectors", count.sectors},
          {"unique_bytes", count.unique_bytes},
          {"unique_sectors", count.unique_sectors}};
}

json shared_json(const ptx::MemoryCount& count) {
  return {{"requests", count.requests},
          {"bytes", count.bytes},
          {"passes", count.passes},
          {"conflicts", count.conflicts}};
}

json needed_json(const NeededBytes& needed) {
  return {{"weights", needed.weights},
          {"cache_read", needed.cache_read},
          {"cache_written", needed.cache_written},
          {"others_read", needed.others_read},
          {"others_written", needed.others_written}};
}

std::map<std::string, std::uint64_t> classes_of(const ptx::LaunchCounts& counts) {
  std::map<std::string, std::uint64_t> classes;
  for (const ptx::InstructionCount& count : counts.instructions)
    classes[std::string(instruction_class(count.spelling))] += count.warps;
  return classes;
}

json kernel_json(const KernelTraffic& traffic) {
  json read = json::object();
  json written = json::object();
  json moved = json::object();
  for (std::size_t i = 0; i < held_names.size() && i < traffic.counts.kinds.size(); ++i) {
    const std::string name(held_names[i]);
    read[name] = memory_json(traffic.counts.kinds[i].loads);
    written[name] = memory_json(traffic.counts.kinds[i].stores);
    moved[name] = traffic.moved(static_cast<Held>(i));
  }
  return {{"kernel", kernel_word(traffic)},
          {"launches", traffic.launches},
          {"blocks", traffic.counts.blocks},
          {"needed", needed_json(traffic.needed)},
          {"moved", moved},
          {"asked_again", traffic.asked_again},
          {"passed_on", traffic.passed_on},
          {"ratio", traffic.ratio()},
          {"read", read},
          {"written", written},
          {"shared_loads", shared_json(traffic.counts.shared_loads)},
          {"shared_stores", shared_json(traffic.counts.shared_stores)},
          {"local_requests", traffic.counts.local_loads.requests + traffic.counts.local_stores.requests},
          {"barriers", traffic.counts.barriers},
          {"warp_instructions", traffic.counts.warp_instructions},
          {"instructions", classes_of(traffic.counts)}};
}

void print_table(const speculation::ModelShape& shape, const CountedPass& pass,
                 const std::vector<KernelTraffic>& kernels) {
  fmt::print("{} (d_model {}, d_ff {}, heads {}/{} of {}), {} rows, context {}: kB a pass, interpreted\n",
             shape.name, shape.d_model, shape.d_ff, shape.n_heads, shape.n_kv_heads, shape.head_dim,
             pass.rows, pass.context);
  fmt::print("  {:<12}{:>10}{:>10}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}{:>11}{:>10}\n", "kernel",
             "needed", "moved", "ratio", "weights", "K/V", "others", "written", "asked, L2", "shared",
             "conflicts", "warp-inst");
  const auto kilobytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1024.0; };
  std::uint64_t needed = 0;
  std::uint64_t moved = 0;
  for (const KernelTraffic& kernel : kernels) {
    const ptx::LaunchCounts& counts = kernel.counts;
    needed += kernel.needed.total();
    moved += kernel.moved();
    const auto read = [&](Held held) {
      const auto i = static_cast<std::size_t>(held);
      if (i >= counts.kinds.size()) return 0.0;
      return kilobytes(32 * (held == Held::weights ? counts.kinds[i].loads.sectors
                                                   : counts.kinds[i].loads.unique_sectors));
    };
    const std::uint64_t asked =
        kernel.requested(Held::weights) + kernel.requested(Held::cache) + kernel.requested(Held::others);
    fmt::print(
        "  "
        "{:<12}{:>10.1f}{:>10.1f}{:>8.3f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>12.1f}{:>12.1f}{:>11}{:>10}"
        "\n",
        kernel_word(kernel), kilobytes(kernel.needed.total()), kilobytes(kernel.moved()), kernel.ratio(),
        read(Held::weights), read(Held::cache), read(Held::others),
        kilobytes(32 * counts.global_stores.unique_sectors), kilobytes(asked),
        kilobytes(counts.shared_loads.bytes + counts.shared_stores.bytes),
        counts.shared_loads.conflicts + counts.shared_stores.conflicts, counts.warp_instructions);
  }
  fmt::print("  {:<12}{:>10.1f}{:>10.1f}{:>8.3f}\n", "pass", kilobytes(needed), kilobytes(moved),
             needed == 0 ? 0.0 : static_cast<double>(moved) / static_cast<double>(needed));
}

/// Instructions of warps, by class.
void print_instructions(const std::vector<KernelTraffic>& kernels) {
  constexpr std::array classes{"matrix",  "global",     "shared",  "float",
                               "integer", "conversion", "control", "parameters"};
  fmt::print("  {:<12}", "instructions");
  for (const char* name : classes) fmt::print("{:>12}", name);
  fmt::print("\n");
  for (const KernelTraffic& kernel : kernels) {
    fmt::print("  {:<12}", kernel_word(kernel));
    const auto counts = classes_of(kernel.counts);
    for (const char* name : classes) {
      const auto found = counts.find(name);
      fmt::print("{:>12}", found == counts.end() ? 0 : found->second);
    }
    fmt::print("\n");
  }
}

Result<PlannedMachine> parse_machine(const std::string& text) {
  PlannedMachine machine;
  const std::size_t colon = text.find(':');
  const auto multiprocessors = parse_number<int>(std::string_view(text).substr(0, colon));
  const auto shared = colon == std::string::npos
                          ? std::nullopt
                          : parse_number<std::size_t>(std::string_view(text).substr(colon + 1));
  if (!multiprocessors || *multiprocessors <= 0 || !shared)
    return fail("--machine: found \"{}\", expected MULTIPROCESSORS:SHARED_BYTES", text);
  machine.multiprocessors = *multiprocessors;
  machine.shared_bytes = *shared;
  return machine;
}

json planned_json(const PlannedKernel& kernel, const speculation::ModelShape& model, std::int32_t rows,
                  engine::CudaWeights weights) {
  return {{"kernel", kernel_word(kernel)},
          {"launches", kernel.launches},
          {"columns", kernel.columns},
          {"blocks", kernel.blocks},
          {"tiles", kernel.tiles},
          {"normed", is_of_normed_rows(kernel)},
          {"asked_again", scales_asked_again(kernel.kernel, model, weights)},
          {"passed_on", passed_on_bytes(kernel, model, rows)},
          {"needed", needed_json(needed_bytes(kernel, model, rows, 0, weights))}};
}

struct Plans {
  json as_json = json::array();
  std::vector<std::int32_t> normed_rows;  ///< widths at which a device normalises rows ahead of products
};

Result<Plans> plans(const speculation::ModelShape& model, const Options& options,
                    engine::CudaWeights weights) {
  Plans result;
  for (const std::int32_t rows : options.rows) {
    bool has_normed = false;
    for (const std::string& text : options.machines) {
      DRAFTSCOPE_TRY_ASSIGN(const PlannedMachine machine, parse_machine(text));
      DRAFTSCOPE_TRY_ASSIGN(const std::vector<PlannedKernel> plan,
                            launch_plan(model, machine, rows, weights));
      json kernels = json::array();
      for (const PlannedKernel& kernel : plan) {
        has_normed = has_normed || is_of_normed_rows(kernel);
        kernels.push_back(planned_json(kernel, model, rows, weights));
      }
      result.as_json.push_back({{"machine", text}, {"rows", rows}, {"kernels", kernels}});
    }
    if (has_normed) result.normed_rows.push_back(rows);
  }
  return result;
}

Result<json> counted(const speculation::ModelShape& shape, const CountedPass& pass, bool prints) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<KernelTraffic> kernels, count_pass(shape, pass));
  if (prints) print_table(shape, pass, kernels), print_instructions(kernels);
  json result = json::array();
  for (const KernelTraffic& kernel : kernels) result.push_back(kernel_json(kernel));
  return json{{"rows", pass.rows},
              {"context", pass.context},
              {"normed", pass.shared_bytes != 0},
              {"kernels", result}};
}

Result<json> count_model(const std::string& name, const std::string& ptx_file, const Options& options) {
  const engine::CudaWeights weights = parse_layer_weights(options.weights, as_made);
  DRAFTSCOPE_TRY_ASSIGN(const speculation::ModelShape model, speculation::find_model_shape(name));
  const speculation::ModelShape shape = deep_shape(model, options.scale, weights);
  DRAFTSCOPE_TRY_ASSIGN(Plans planned, plans(model, options, weights));
  json passes = json::array();
  for (const std::int32_t context : options.contexts)
    for (const std::int32_t rows : options.rows) {
      const CountedPass pass{.ptx_file = ptx_file,
                             .rows = rows,
                             .context = context,
                             .weights = weights,
                             .activations = activations_of(options)};
      DRAFTSCOPE_TRY_ASSIGN(json found, counted(shape, pass, !options.json));
      passes.push_back(std::move(found));
    }
  // Products are the same at every context.
  for (const std::int32_t rows : planned.normed_rows) {
    const CountedPass pass{.ptx_file = ptx_file,
                           .rows = rows,
                           .context = options.contexts.front(),
                           .weights = weights,
                           .activations = activations_of(options),
                           .shared_bytes = wide_rows_shared_bytes};
    DRAFTSCOPE_TRY_ASSIGN(json found,
                          counted(shape_of_wide_rows(model, options.scale, weights), pass, !options.json));
    passes.push_back(std::move(found));
  }
  json sizes = json::object();
  for (const auto& [key, member] : speculation::shape_sizes) {
    sizes["full"][key] = model.*member;
    sizes["small"][key] = shape.*member;
  }
  return json{
      {"model", model.name}, {"sizes", sizes}, {"passes", passes}, {"plans", std::move(planned.as_json)}};
}

Result<void> run(const Options& options) {
  const std::string ptx_file = kernels_ptx_file();
  if (ptx_file.empty())
    return fail(
        "this build has no PTX of the kernels, expected one made where the CUDA toolkit is installed");
  json all = json::array();
  for (const std::string& name : options.models) {
    DRAFTSCOPE_TRY_ASSIGN(json model, count_model(name, ptx_file, options));
    all.push_back(std::move(model));
  }
  if (options.json)
    fmt::print("{}\n", json{{"format", 1},
                            {"rests_on", "interpreted: PTX of compute capability 9.0"},
                            {"weights", options.weights},
                            {"activations", engine::dtype_name(activations_of(options))},
                            {"models", all}}
                           .dump(1));
  return {};
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  draftscope::bench::Options options;
  CLI::App app("Counts what the kernels of a decode pass move, on the PTX that nvcc made of them");
  app.add_option("--models", options.models, "published models whose heads the small models have")
      ->capture_default_str();
  app.add_option("--rows", options.rows, "above 64: a pass of a prompt, whose products are not counted")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--contexts", options.contexts, "committed tokens")
      ->check(CLI::Range(0, draftscope::bench::max_counted_context))
      ->capture_default_str();
  app.add_option("--machine", options.machines, "devices to plan launches for, MULTIPROCESSORS:SHARED_BYTES")
      ->capture_default_str();
  app.add_option("--scale", options.scale, "of the small models")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--weights", options.weights, "of the layers' matrices")
      ->check(CLI::IsMember(draftscope::bench::layer_weight_names(draftscope::bench::as_made)))
      ->capture_default_str();
  app.add_option("--activations", options.activations, "and matrices that are not rounded")
      ->check(CLI::IsMember({"bf16", "fp16"}))
      ->capture_default_str();
  app.add_flag("--json", options.json);
  CLI11_PARSE(app, argc, argv);
  const auto ran = draftscope::bench::run(options);
  if (ran) return 0;
  fmt::print(stderr, "bench_gpu_counted: {}\n", ran.error().message);
  return 1;
}
