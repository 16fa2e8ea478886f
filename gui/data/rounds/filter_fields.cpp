// SPDX-License-Identifier: GPL-3.0-or-later
#include "filter_fields.h"

#include <algorithm>
#include <array>
#include <limits>

#include "data/rounds/rejections.h"

namespace draftscope::gui {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Value of one member of the round's row.
template <auto member>
double of_row(const OpenedRecording& opened, std::uint32_t round_index) {
  return static_cast<double>(opened.round(round_index).*member);
}

/// Value of a count; NaN where it was not recorded.
template <auto count>
double of_count(const OpenedRecording& opened, std::uint32_t round_index) {
  const auto value = count(opened, round_index);
  return value ? *value : none;
}

double round_number(const OpenedRecording& opened, std::uint32_t round_index) {
  const std::uint32_t number = opened.number_in_run(round_index);
  return number == no_index ? none : number;
}

double duration(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Round& round = opened.round(round_index);
  return static_cast<double>(round.end_ns - round.start_ns);
}

double threshold(const OpenedRecording& opened, std::uint32_t round_index) {
  const double value = opened.round(round_index).threshold;
  return value < 0.0 ? none : value;
}

/// Confidence of the least sure draft token.
double confidence(const OpenedRecording& opened, std::uint32_t round_index) {
  double least = none;
  for (const traces::DraftToken& token : opened.draft_tokens(round_index))
    if (!(least <= token.confidence)) least = token.confidence;
  return least;
}

double repeat(const OpenedRecording& opened, std::uint32_t round_index) {
  return opened.request_of(round_index).repeat;
}

double question(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
  return prompt == nullptr ? none : static_cast<double>(prompt->question_id);
}

std::string_view category(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
  return prompt == nullptr ? std::string_view() : prompt->category;
}

std::string_view prompt_text(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
  return prompt == nullptr ? std::string_view() : prompt->text;
}

std::string_view run_name(const OpenedRecording& opened, std::uint32_t round_index) {
  return opened.runs()[opened.run_of(round_index)].run->specification;
}

std::string_view stop(const OpenedRecording& opened, std::uint32_t round_index) {
  return traces::draft_stop_name(opened.round(round_index).draft_stop);
}

using Kind = FilterKind;
using Round = traces::Round;

constexpr std::array<FilterField, 25> fields{{
    {"round", Kind::number, "place in the run, from 0", round_number},
    {"planned", Kind::number, "γ", of_row<&Round::planned>},
    {"drafted", Kind::number, "draft tokens", of_row<&Round::drafted>},
    {"accepted", Kind::number, "accepted draft tokens", of_row<&Round::accepted>},
    {"tested", Kind::number, "draft tokens that verification reached", of_count<tested_tokens>},
    {"rejected", Kind::number, "tested draft tokens that were not accepted", of_count<rejected_tokens>},
    {"emitted", Kind::number, "tokens that reached the output", of_row<&Round::emitted>},
    {"depth", Kind::number, "draft steps", of_row<&Round::tree_depth>},
    {"rows", Kind::number, "rows of the target forward", of_row<&Round::verify_rows>},
    {"exit", Kind::number, "exit layer of the draft", of_row<&Round::exit_layer>},
    {"threshold", Kind::number, "draft-exit threshold", threshold},
    {"confidence", Kind::number, "of the least sure draft token", confidence},
    {"position", Kind::number, "of the root", of_row<&Round::root_position>},
    {"repeat", Kind::number, "of the prompt, from 0", repeat},
    {"question", Kind::number, "number of the prompt", question},
    {"time", Kind::time, "of the round", duration},
    {"draft", Kind::time, "spent on drafting", of_row<&Round::draft_ns>},
    {"verify", Kind::time, "spent on verification", of_row<&Round::verify_ns>},
    {"optimise", Kind::time, "spent on better parameters", of_row<&Round::optimise_ns>},
    {"control", Kind::time, "spent on planning and observing", of_row<&Round::control_ns>},
    {"category", Kind::text, "of the prompt", nullptr, category},
    {"prompt", Kind::text, "text of the prompt", nullptr, prompt_text},
    {"run", Kind::text, "specification of the run", nullptr, run_name},
    {"stop", Kind::text, "why the draft ended", nullptr, stop},
    {"token", Kind::tokens, "drafted or emitted in the round"},
}};

}  // namespace

std::span<const FilterField> filter_fields() {
  return fields;
}

const FilterField* filter_field(std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FilterField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace draftscope::gui
