// SPDX-License-Identifier: GPL-3.0-or-later
// Input: one byte that chooses one of two sound traces and whether to learn from it, then edits of its rows
// (edits.h). Everything that reads traces must read the result or refuse it in one line: figures, diagnoses,
// comparisons, predictions, advice, exports, and the app's views.

#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/predicted_trace.h>
#include <draftscope/simulator/answers/simulated_remedies.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/reader.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>

#include "data/details/replayed_text.h"
#include "data/details/run_comparison.h"
#include "data/details/shadow_ranks.h"
#include "data/lanes/load_recording.h"
#include "edits.h"
#include "promises.h"

namespace {

using namespace draftscope;
using namespace draftscope::fuzz;

const std::string stem = "/dev/shm/draftscope-fuzz-" + std::to_string(getpid());

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  require(!bytes.empty(), path.string());
  return bytes;
}

/// A sound trace, either with layers' predictions and decisions, or with kernels.
const std::string& sound_trace(bool with_kernels) {
  static const std::string kernels = bytes_of(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/trace/ops.dstrace");
  static const std::string layers = [] {
    const InputFile file(".cut", "");
    write_small_recording(file.path());
    return bytes_of(file.path());
  }();
  return with_kernels ? kernels : layers;
}

/// Requires that diagnoses are ranked and their numbers are finite, whatever the rows say.
void require_sentences(const std::vector<simulator::Diagnosis>& diagnoses) {
  for (const simulator::Diagnosis& diagnosis : diagnoses) {
    require(!diagnosis.summary.empty(), "a diagnosis says nothing");
    double previous = std::numeric_limits<double>::infinity();
    for (const simulator::Finding& finding : diagnosis.findings) {
      require(std::isfinite(finding.figure) && std::isfinite(finding.threshold), finding.sentence);
      require(finding.sentence.find('\n') == std::string::npos, finding.sentence);
      const double cost = finding.cost.value_or(-1.0);
      require(cost <= previous, finding.sentence);
      previous = cost;
    }
  }
}

void measure(const std::filesystem::path& path) {
  const auto measured = simulator::measure_recording(path);
  if (!measured) return require_one_line(measured.error());
  const traces::Recording& recording = *measured->recording;
  (void)simulator::warnings(*measured);
  (void)simulator::winners(recording);
  require_sentences(simulator::explain(*measured));
  static const simulator::MeasuredRecording sound = [] {
    const InputFile file(".sound", sound_trace(false));
    return *simulator::measure_recording(file.path());
  }();
  const auto runs = simulator::rows_by_run(recording);
  const auto sound_runs = simulator::rows_by_run(*sound.recording);
  (void)simulator::meta_differences(simulator::Baseline(sound.recording->meta),
                                    simulator::Comparison(recording.meta));
  (void)simulator::compare_runs(simulator::Baseline(sound_runs), simulator::Comparison(runs));
  (void)simulator::compare_runs(simulator::Baseline(runs), simulator::Comparison(runs));
}

void predict(const simulator::WhatIf& what_if, const traces::Recording& recording) {
  const simulator::CostModel& costs = what_if.costs().model;
  const simulator::Machine recorded{"as recorded", what_if.recorded_scenario(), nullptr, {}};
  simulator::Scenario on_gpu = recorded.scenario;
  on_gpu.gpu = simulator::find_gpu("H100-SXM5-80GB").value();
  const auto gpu = simulator::asked_machine(on_gpu, recorded.scenario);
  require_value_or_line(gpu);
  std::vector<std::string> strategies{"layerskip:exit=5,gamma=4", "dv:exit=6"};
  for (const traces::Run& run : recording.runs)
    if (strategies.size() < 6) strategies.push_back(run.specification);
  simulator::PredictedTrace prediction{.machine = recorded, .runs = {}, .meta = {}};
  for (const std::string& strategy : strategies) {
    const auto rounds = what_if.rounds(strategy);
    require_value_or_line(rounds);
    if (!rounds) continue;
    const auto answer = simulator::ask(costs, *rounds, recorded, {.draws = 20, .threads = 1});
    require_value_or_line(answer);
    if (answer) prediction.runs.push_back({*rounds, *answer});
    if (prediction.runs.size() > 1) continue;
    require_value_or_line(simulator::answer_ladder(costs, *rounds, recorded));
    if (gpu) require_value_or_line(simulator::ask(costs, *rounds, *gpu, {.draws = 20, .threads = 1}));
  }
  const std::filesystem::path written = stem + ".predicted";
  require_value_or_line(simulator::write_predicted_trace(what_if, recording, prediction, written));
  std::filesystem::remove(written);
}

/// Asks for advice with small grids, draws and resamples, which take the same paths as large ones.
void advise(const simulator::WhatIf& what_if, const traces::Recording& recording) {
  const simulator::Machine machine{"as recorded", what_if.recorded_scenario(), nullptr, {}};
  simulator::WaterfallOptions waterfall;
  waterfall.exits = {5, 7};
  waterfall.longest = 4;
  waterfall.folds = 2;
  waterfall.bins = 2;
  waterfall.thresholds = {0.5};
  waterfall.resamples = 20;
  require_value_or_line(simulator::recording_waterfall(what_if, recording, machine, {}, 0, waterfall));
  simulator::CandidateOptions grid;
  grid.longest = 3;
  grid.threshold_lengths = {4};
  grid.thresholds = {0.5};
  const auto candidates = simulator::candidates(what_if, recording, grid);
  require_value_or_line(candidates);
  if (!candidates) return;
  require_value_or_line(simulator::advise(what_if, recording, *candidates, machine,
                                          {.folds = 2,
                                           .max_batch = 4,
                                           .max_context = 4096,
                                           .draws = {.draws = 20, .threads = 1},
                                           .waterfall = waterfall}));
}

void learn(const std::filesystem::path& path, bool with_advice) {
  auto reader = traces::Reader::open(path);
  if (!reader) return require_one_line(reader.error());
  const auto recording = reader->recording();
  if (!recording) return require_one_line(recording.error());
  const auto what_if = simulator::WhatIf::train(*reader, *recording);
  if (!what_if) return require_one_line(what_if.error());
  predict(*what_if, *recording);
  if (with_advice) advise(*what_if, *recording);
  if (const auto measured = simulator::measure_recording(path))
    require_sentences(simulator::explain(*measured, {.simulate = simulator::simulated_remedies(*what_if)}));
}

void write_exports(const std::filesystem::path& path) {
  using Export = Result<void> (*)(traces::Reader&, const std::filesystem::path&, const traces::Progress&);
  for (const Export write :
       {Export{traces::export_perfetto}, Export{traces::export_rounds}, Export{traces::export_spec_bench}}) {
    auto reader = traces::Reader::open(path);
    if (!reader) return require_one_line(reader.error());
    const std::filesystem::path target = stem + ".export";
    require_value_or_line(write(*reader, target, {}));
    std::filesystem::remove_all(target);
  }
}

void show(const std::filesystem::path& path) {
  const std::atomic<bool> never{false};
  (void)gui::read_overview(path, never);
  const auto loaded = gui::load_recording(path, never, [](std::int64_t, std::int64_t) {});
  if (!loaded) return require_one_line(loaded.error());
  const gui::OpenedRecording& opened = *loaded->recording;
  for (std::uint32_t i = 0; i < opened.round_count(); ++i) {
    (void)opened.request_of(i);
    (void)opened.draft_tokens(i);
    (void)opened.layer_set(i);
  }
  auto reader = traces::Reader::open(path);
  if (!reader) return require_one_line(reader.error());
  for (std::size_t i = 0; i < opened.recording().requests.size(); ++i) {
    (void)opened.prompt_of(opened.recording().requests[i]);
    (void)gui::replayed_text(opened, i);
    require_value_or_line(gui::read_shadow_ranks(*reader, opened, i, [] { return true; }));
  }
  std::vector<gui::ComparedRun> runs;
  for (std::size_t i = 0; i < opened.runs().size() && i < 6; ++i) runs.push_back({loaded->recording, i});
  if (!runs.empty()) (void)gui::compare(runs, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  if (input.empty()) return 0;
  const int choice = std::to_integer<int>(input.front());
  const InputFile file(".dstrace", sound_trace(choice % 4 == 3));
  damage(file.path(), input.subspan(1));
  if (auto reader = traces::Reader::open(file.path())) require_value_or_line(reader->validate());
  measure(file.path());
  // Fitting costs takes a hundred times as long as the rest, so only some inputs do it.
  if (choice % 16 >= 8) learn(file.path(), choice % 16 >= 12);
  write_exports(file.path());
  show(file.path());
  return 0;
}
