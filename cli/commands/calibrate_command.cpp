// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/clock.h>
#include <draftscope/base/output_file.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/measure_calibration.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/calibration.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "options/model_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "options/unread_options.h"
#include "report/answers/calibrate_text.h"
#include "terminal/messages.h"
#include "terminal/process.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

constexpr std::string_view cached_name = "cached";
constexpr double smallest_cache = 8e6;

/// Bytes of the processor's last cache; 0 = unknown.
double last_cache_bytes() {
  // Ask the system, since under a hypervisor the processor's own registers may describe the host.
  for (const char* index : {"index3", "index2"}) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/{}/size", index));
    double kib = 0.0;
    char unit = 0;
    if (file >> kib >> unit && unit == 'K') return kib * 1024.0;
  }
  return 0.0;
}

/// Shape that takes half of the cache, so that activations, K/V and other programs' lines fit beside the
/// weights.
speculation::ModelShape cached_shape() {
  speculation::ModelShape shape;
  shape.architecture = "LlamaForCausalLM";
  shape.d_model = 384;
  shape.n_heads = 6;
  shape.n_kv_heads = 2;
  shape.head_dim = 64;
  shape.d_ff = 1024;
  shape.vocab = 4096;
  shape.max_positions = 8192;
  constexpr double bytes_per_layer = 2.0 * 384 * (2 * 384 + 2 * 128 + 3 * 1024);
  constexpr double head_bytes = 2.0 * 384 * 4096;
  constexpr double least = 4.0;
  constexpr double most = 32.0;
  const double layers = (0.5 * last_cache_bytes() - head_bytes) / bytes_per_layer;
  shape.n_layers = static_cast<std::int32_t>(std::clamp(layers, least, most));
  shape.name = fmt::format("cached,layers={}", shape.n_layers);
  return shape;
}

/// Bytes that programs may still take without swapping.
double free_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string field;
  double kib = 0.0;
  std::string unit;
  while (file >> field >> kib && std::getline(file, unit))
    if (field == "MemAvailable:") return kib * 1024.0;
  return 0.0;
}

/// Models to open, as open_calibration_model() takes them: the given names. Without names, a model that is
/// streamed from memory and, if the processor's cache size is known, one that stays in the cache.
std::vector<std::string> calibration_models(const std::vector<std::string>& named,
                                            const std::string& device) {
  if (!named.empty()) return named;
  if (device != "cpu") return {"synthetic:llama-3.2-1b", "synthetic:llama-3-8b,layers=8"};
  constexpr double roomy = 4e9;  // Enough for 1.5 GB of weights and the probe.
  std::vector<std::string> models{free_memory_bytes() > roomy
                                      ? "synthetic:llama-3.2-1b,layers=8"
                                      : "synthetic:llama-3.2-1b,layers=4,vocab=32000"};
  if (last_cache_bytes() >= smallest_cache) models.emplace_back(cached_name);
  return models;
}

/// Opens a folder, "synthetic:NAME[,…]", the name of a published model, or "cached": weights that take half
/// of the last cache. Errors: those of open_model().
Result<LoadedModel> open_calibration_model(const std::string& name, const ModelOptions& options) {
  using enum engine::SyntheticMatrices;
  const auto matrices = options.device == "cpu" ? in_memory : by_backend;
  if (name == cached_name) {
    DRAFTSCOPE_TRY_ASSIGN(engine::Checkpoint checkpoint,
                          engine::make_synthetic(cached_shape(), 0.0, 1, matrices));
    auto held = std::make_unique<engine::Checkpoint>(std::move(checkpoint));
    engine::Tokenizer bytes = engine::Tokenizer::bytes(held->shape.vocab);
    return LoadedModel{std::move(held), std::move(bytes)};
  }
  ModelOptions opened = options;
  std::error_code ignored;
  const bool published = name.find(':') == std::string::npos && !std::filesystem::exists(name, ignored);
  opened.model = published ? "synthetic:" + name : name;
  return load_model(opened);
}

/// Describes a checkpoint on a backend in the simulator's terms.
Result<simulator::CalibratedShape> calibrated_shape(const engine::Checkpoint& checkpoint,
                                                    const ModelOptions& options) {
  const speculation::ModelShape& shape = checkpoint.shape;
  simulator::CalibratedShape calibrated{.shape = {.name = shape.name,
                                                  .n_layers = shape.n_layers,
                                                  .d_model = shape.d_model,
                                                  .n_heads = shape.n_heads,
                                                  .n_kv_heads = shape.n_kv_heads,
                                                  .head_dim = shape.head_dim,
                                                  .d_ff = shape.d_ff,
                                                  .vocab = shape.vocab,
                                                  .traits = {.gated_mlp = shape.traits.gated_mlp}},
                                        .kernels = {}};
  const std::string dtype(engine::dtype_name(checkpoint.weights.embedding.dtype));
  DRAFTSCOPE_TRY_ASSIGN(calibrated.weights,
                        simulator::parse_weight_type(options.weights == "fp8" ? "fp8" : dtype));
  return calibrated;
}

struct CalibrateOptions {
  ModelOptions model;
  std::vector<std::string> models;
  std::string gpu;
  std::string output;
  std::vector<std::filesystem::path> inputs;  ///< Paths that the command line names.
  double seconds = 60.0;
  std::vector<std::int32_t> rows{1, 2, 4, 8, 16};
  std::vector<std::int32_t> contexts{64, 1024};
  bool overwrite = false;
  bool json = false;
  bool quiet = false;
};

/// Name of this GPU in the table; empty if its own name is not specific enough.
std::string specification_of(const std::string& processor) {
  constexpr std::string_view vendor = "NVIDIA ";
  const auto known =
      simulator::find_gpu(processor.starts_with(vendor) ? processor.substr(vendor.size()) : processor);
  return known ? known->name : std::string();
}

Result<void> identify(const CalibrateOptions& options, const engine::BackendDescription& description,
                      simulator::MachineCalibration& calibration) {
  calibration.device = description.device;
  calibration.processor = description.processor;
  calibration.kernel_set = description.kernels;
  calibration.threads = description.threads;
  calibration.engine_version = DRAFTSCOPE_VERSION;
  calibration.date = utc_now();
  if (!calibration.on_gpu()) {
    calibration.cache_bytes = last_cache_bytes();
    return {};
  }
  calibration.gpu = options.gpu.empty() ? specification_of(description.processor) : options.gpu;
  if (calibration.gpu.empty()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const simulator::GpuSpecification gpu, simulator::find_gpu(calibration.gpu));
  calibration.gpu = gpu.name;
  calibration.cache_bytes = gpu.l2_mb.value_or(0.0) * 1e6;
  return {};
}

std::optional<speculation::Spread> spread_or_none(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return speculation::spread_of(values);
}

/// Measures the machine; none = cancelled.
Result<std::optional<simulator::MachineCalibration>> measure(const CalibrateOptions& options) {
  const std::int64_t start_ns = now_ns();
  const auto length_ns = static_cast<std::int64_t>(options.seconds * 1e9);
  ProgressBar bar("calibrating", options.quiet);
  const auto progress = [&] {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    bar.update(std::min(now_ns() - start_ns, length_ns) / ns_per_ms, length_ns / ns_per_ms);
  };
  const InterruptScope interrupt;
  const std::vector<std::string> models = calibration_models(options.models, options.model.device);
  simulator::MachineCalibration calibration;
  // An empty pass depends on no relevant part of the shape, and a memory rate on none at all.
  std::vector<double> memory;
  std::vector<double> empty;
  for (std::size_t i = 0; i < models.size(); ++i) {
    bar.note(models[i]);
    progress();
    DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, open_calibration_model(models[i], options.model));
    ModelOptions backend_options = options.model;
    backend_options.context =
        options.contexts.back() + *std::max_element(options.rows.begin(), options.rows.end());
    DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(backend_options, model));
    DRAFTSCOPE_TRY(identify(options, backend->describe(), calibration));
    engine::CalibrationPlan plan{.rows = options.rows,
                                 .contexts = options.contexts,
                                 .cancelled = &InterruptScope::flag(),
                                 .progress = progress};
    // The last model stays in the cache if no name was given. It is read fastest, so it gets a quarter of the
    // time.
    const bool is_last = i + 1 == models.size();
    const double share =
        is_last ? 1.0 : 0.75 * static_cast<double>(i + 1) / static_cast<double>(models.size() - 1);
    plan.end_ns = start_ns + static_cast<std::int64_t>(share * static_cast<double>(length_ns));
    DRAFTSCOPE_TRY_ASSIGN(engine::CalibrationTimes times, engine::measure_calibration(*backend, plan));
    if (times.cancelled) return std::nullopt;
    DRAFTSCOPE_TRY_ASSIGN(simulator::CalibratedShape shape,
                          calibrated_shape(*model.checkpoint, options.model));
    shape.kernels = std::move(times.kernels);
    calibration.shapes.push_back(std::move(shape));
    memory.insert(memory.end(), times.memory_gb_s.begin(), times.memory_gb_s.end());
    if (i == 0) empty = times.empty_pass_ns;
  }
  calibration.memory_gb_s = spread_or_none(memory);
  calibration.empty_pass_ns = spread_or_none(empty);
  return calibration;
}

/// Report to print. Errors: a kernel can't be predicted from the others.
Result<std::string> report_text(const CalibrateOptions& options,
                                const simulator::MachineCalibration& measured) {
  CalibrationReport report{.calibration = &measured, .file = options.output, .left_out = {}};
  for (const simulator::CalibratedShape& shape : measured.shapes) {
    DRAFTSCOPE_TRY_ASSIGN(simulator::LeaveOneOut left_out,
                          leave_one_out(measured, shape.shape, shape.weights));
    report.left_out.push_back(std::move(left_out));
  }
  return options.json ? calibration_report_json(report) : calibration_text(report, glyphs_for_stdout());
}

Result<int> calibrate(const CalibrateOptions& options) {
  DRAFTSCOPE_TRY(check_output_file(options.output, {options.inputs, options.overwrite}));
  if (!std::ranges::is_sorted(options.contexts))
    return fail("--contexts: found {}, expected them in ascending order", fmt::join(options.contexts, ","));
  DRAFTSCOPE_TRY_ASSIGN(const auto measured, measure(options));
  if (!measured) {
    print_note("interrupted: nothing written");
    return InterruptScope::exit_code();
  }
  const std::string text = calibration_json(*measured);
  // The report is made before the file is in its place, since it may lack memory. What was measured is kept
  // where a kernel can't be predicted.
  Result<std::string> printed;
  if (!options.quiet || options.json) printed = report_text(options, *measured);
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(options.output));
  file.write(text);
  DRAFTSCOPE_TRY(file.commit());
  if (!printed) return tl::unexpected<Error>(std::move(printed).error());
  return print_out(*printed);
}

void add_measuring_options(CLI::App& command, CalibrateOptions& options) {
  command.add_option("--device", options.model.device, "cpu, cuda, or cuda:N for the N-th GPU")
      ->capture_default_str();
  command.add_option("-m,--model", options.models,
                     "What to measure: a published name, synthetic:NAME[,layers=N,…], a folder, or cached "
                     "(weights that stay "
                     "in the last cache); default: one from memory and, on a processor, one from the cache");
  add_number(command, "--threads", options.model.threads, "Threads; 0 = one a core (cpu)", {0, 1024});
  command.add_option("--kernels", options.model.kernels,
                     "portable, avx2, avx512, avx512-bf16 or amx-bf16; default: the best here (cpu)");
  command.add_option("--weights", options.model.weights, "On a GPU: as-stored, or fp8")
      ->check(one_of({"as-stored", "fp8"}))
      ->capture_default_str();
  command.add_option("--gpu", options.gpu, "The GPU's name in simulator/data/gpus.csv, if not its own");
  unread_with(command, "--device cpu", {"--gpu", "--weights fp8"}, "it only with --device cuda");
  add_number(command, "--seconds", options.seconds, "How long to measure; three repeats are made in any case",
             {0.0, 3600.0});
  add_numbers(command, "--rows", options.rows, "Widths of passes", {1, 64})->capture_default_str();
  add_numbers(command, "--contexts", options.contexts, "K/V rows before a pass, ascending", {1, 65536})
      ->capture_default_str();
}

}  // namespace

void add_calibrate_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Time what decides decoding speed on this machine, for simulate --calibration");
  command->footer(
      "Runs the engine's own passes over synthetic weights: every width, two contexts, rounds of the decode "
      "loop, in\n"
      "interleaved repeats. The file holds every time with its quartiles, and the laws fitted to them.\n"
      "Keys of the file and of --json: cli/OUTPUT.md.\n"
      "Example: draftscope calibrate -o machine.json\n"
      "         draftscope simulate run.dstrace --calibration machine.json --model Llama-3-8B");
  add_measuring_options(*command, *options);
  command->add_option("-o,--output", options->output, "File to write (JSON)")->required();
  command->add_flag("--overwrite", options->overwrite, "Replace an existing file");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "No progress, no report");
  run_with_inputs(*command, options, outcome, calibrate);
}

}  // namespace draftscope::cli
