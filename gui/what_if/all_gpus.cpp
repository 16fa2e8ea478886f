// SPDX-License-Identifier: GPL-3.0-or-later
#include "all_gpus.h"

#include <draftscope/simulator/analysis/gpu.h>

#include <algorithm>
#include <utility>

#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

namespace {

GpuAnswer on_gpu(const TrainedRecording& trained, Question question, const simulator::GpuSpecification& gpu) {
  question.machine_file.reset();
  question.gpu = gpu.name;
  GpuAnswer made{.gpu = gpu.name};
  made.usable_bytes = simulator::usable_memory(gpu);
  if (const auto what_if = trained.what_if(question))
    if (const auto machine = machine_of(question, (*what_if)->recorded_scenario()))
      made.needed_bytes = simulator::memory_need(machine->scenario).total();
  // Many GPUs are asked, so each gets fewer draws for means and intervals.
  simulator::PredictionOptions draws;
  draws.draws = 400;
  const WhatIfAnswer answer = answer_of(trained, question, draws);
  made.refusal = answer.refusal;
  if (!made.refusal.empty()) return made;
  made.speedup = answer.prediction.speedup.lower();
  made.interval_95 = answer.prediction.speedup.interval_95();
  made.tokens_per_second = answer.prediction.rate.lower();
  made.vanilla_tokens_per_second = answer.prediction.vanilla_tokens_per_second;
  question.gpu.clear();
  const auto& recorded = trained.recorded_on();
  if (recorded && recorded->name == gpu.name && is_as_recorded(question))
    if (const auto* run = simulator::measured_setting_of(answer.prediction, trained.measured()))
      made.beside = simulator::measured_beside(answer.prediction, *run, answer.what_if->costs().report,
                                               trained.recording().meta);
  return made;
}

}  // namespace

std::vector<GpuAnswer> on_all_gpus(const TrainedRecording& trained, const Question& question,
                                   const std::function<bool()>& should_continue) {
  std::vector<GpuAnswer> all;
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus()) {
    if (should_continue && !should_continue()) return {};
    all.push_back(on_gpu(trained, question, gpu));
  }
  std::stable_sort(all.begin(), all.end(), [](const GpuAnswer& a, const GpuAnswer& b) {
    return std::pair(a.refusal.empty(), a.speedup) > std::pair(b.refusal.empty(), b.speedup);
  });
  return all;
}

}  // namespace draftscope::gui
