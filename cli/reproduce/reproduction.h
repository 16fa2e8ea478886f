// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An experiment that was made again: what it measured beside what was predicted before and what the
// publication prints (keys of the JSON document: cli/OUTPUT.md).

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/speculation/policy_file.h>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/answers/prediction_file.h"
#include "reproduce/experiments.h"
#include "reproduce/published_rows.h"
#include "reproduce/steps.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct Reproduction {
  const ExperimentRow* experiment = nullptr;
  std::vector<FilledSetting> settings;
  /// Absent for a search alone, of which `policy` is there, and for a closed form.
  std::optional<simulator::MeasuredRecording> measured;
  std::vector<simulator::RunDecisions> decisions;     ///< Empty unless the row prints them.
  std::vector<simulator::OperationTimes> operations;  ///< Empty unless the row prints and the file has them.
  std::optional<speculation::PolicyFile> policy;
  std::optional<PredictionFile> prediction;
  std::string no_prediction;  ///< Why there is no prediction; empty if there is one.
  std::vector<PublishedRow> published;
  std::filesystem::path figure;  ///< The picture beside the recording; empty if there is none.
};

/// Reads the files that the plan made. Errors: unreadable files; a recording with other runs than the plan's.
[[nodiscard]] Result<Reproduction> read_reproduction(const ExperimentRow& experiment, const Plan& plan);

[[nodiscard]] std::string reproduction_text(const Reproduction& reproduction, const Glyphs& glyphs);
[[nodiscard]] std::string reproduction_json(const Reproduction& reproduction);

// What the texts and the charts of a reproduction (figures.h) have in common.

/// A setting with its figures: those of all prompts, then those of each category.
struct MeasuredSetting {
  const FilledSetting* setting = nullptr;
  const simulator::RunFigures* run = nullptr;
  simulator::ConventionFigures all;
  std::vector<simulator::ConventionFigures> by_category;
};

/// Figure of a row's `figures`; the key must be one of convention_figures().
[[nodiscard]] const simulator::FigureOf<simulator::ConventionFigures>& convention_figure(
    std::string_view key);

/// In order of the settings. `reproduction` must have a recording and outlive the result.
[[nodiscard]] std::vector<MeasuredSetting> settings_measured(const Reproduction& reproduction);

/// The point's value on the axis, or the setting's name.
[[nodiscard]] std::string shown_name(const FilledSetting& setting);

/// Categories of all settings, in order of their first appearance.
[[nodiscard]] std::vector<std::string> categories_of(const std::vector<MeasuredSetting>& settings);
/// Figures of one category; null if the setting has none.
[[nodiscard]] const simulator::ConventionFigures* part_of(const MeasuredSetting& measured,
                                                          const std::string& category);

/// Published values of a figure for a setting.
[[nodiscard]] std::vector<double> published_values(const Reproduction& reproduction,
                                                   const FilledSetting& setting, std::string_view figure);
/// Answer that was written for a setting before it was measured; null if there is none.
[[nodiscard]] const WrittenAnswer* predicted(const Reproduction& reproduction, const FilledSetting& setting);
/// Speedup from the first token on, which predictions are of.
[[nodiscard]] std::optional<double> decode_speedup(const MeasuredSetting& measured);

/// Phases in which a setting spent time.
[[nodiscard]] std::vector<std::size_t> phases_of(const std::vector<MeasuredSetting>& settings);
/// Wall time of a phase per output token; absent where the run's times contradict each other.
[[nodiscard]] std::optional<double> phase_ns_per_token(const simulator::Figures& figures, std::size_t phase);
/// Time of a kind of operation (simulator::operation_kinds) in all phases but the prefill, per output token.
[[nodiscard]] double kind_ns_per_token(const Reproduction& reproduction, const MeasuredSetting& measured,
                                       std::size_t kind);

}  // namespace draftscope::cli
