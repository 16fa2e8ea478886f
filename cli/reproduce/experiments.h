// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Experiments of the publications, as data: one row for each figure or table that `draftscope reproduce`
// makes again. A row has the settings that the publication compares, the searches that come before them, its
// way of counting, and the rows of published.csv that belong to it.
//
// Texts of a row may have places, which steps.h fills in:
//     {sets}        the policy file of the search "sets", whose skip set `skip-set=` reads
//     {grid.exit}   a parameter of the best setting of the search "grid"
//     {draft}       the folder of --draft-model
//     {L/4}         a share of the model's layers, rounded down (bound_of())

#include <draftscope/simulator/analysis/conventions.h>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::cli {

/// The form in which a recording is printed.
enum class Printer : std::uint8_t {
  table,        ///< Settings by categories of prompts, one table for each figure.
  curve,        ///< Figures over the values of one parameter.
  phases,       ///< Time per token by phase.
  decisions,    ///< Decisions of the strategies, round by round.
  texts,        ///< Outputs of the settings for the first prompts.
  trials,       ///< Trials of a search alone by number of skipped sublayers.
  sets,         ///< Best sets of a search alone after ever more trials.
  heat_maps,    ///< Speedup by exit and length, of each prompt and stretch of its output.
  closed_form,  ///< Speedup by draft length and acceptance, without a model.
};

/// A search by `draftscope tune` before the recording.
struct SearchRow {
  std::string name;  ///< Name of its place and of its file.
  std::vector<std::string> arguments;
  bool by_category = false;  ///< One search on the prompts of each category.
};

struct SettingRow {
  std::string label;     ///< Name as the publication has it.
  std::string strategy;  ///< Specification with places.
  /// Name in the column `method` of published.csv, or with a final '*' its beginning; empty = not there.
  std::string published;
  /// Whether it is recorded first, so that the other settings are predicted before they are measured.
  bool is_learnt = false;
};

/// Values of one parameter, which a curve adds to the last setting.
struct AxisRow {
  std::string key;
  std::vector<std::string> values;
  /// Text before a value in the column `setting` of published.csv; empty = the column `gamma` has it.
  std::string published;
};

struct ExperimentRow {
  std::string name;      ///< As in `draftscope reproduce NAME`.
  std::string document;  ///< The publication, as in published.csv where that has it.
  std::string item;      ///< The figure or table and what it compares.
  Printer printer = Printer::table;
  simulator::Convention convention = simulator::Convention::spec_bench;
  std::string model;  ///< Model that ships, for want of --model.
  std::vector<SearchRow> searches;
  std::vector<SettingRow> settings;
  AxisRow axis;                       ///< Has no key unless the row is a curve.
  std::vector<std::string> figures;   ///< Keys of convention_figures(), of a table or curve.
  std::vector<std::string> decoding;  ///< More options of `record`.
  std::vector<std::string> sources;   ///< Beginnings of the column `source_table` of published.csv.
  std::string differs;                ///< Known deviation of this row from the publication; empty = none.
};

[[nodiscard]] std::span<const ExperimentRow> experiments();

}  // namespace draftscope::cli
