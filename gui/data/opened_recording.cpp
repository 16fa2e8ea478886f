// SPDX-License-Identifier: GPL-3.0-or-later
#include "opened_recording.h"

#include <draftscope/base/number.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "id_index.h"

namespace draftscope::gui {

namespace {

// A damaged overview may claim any number of rounds; at most this many are shown until the rows are read.
constexpr std::int64_t max_overview_rounds = 1 << 24;

/// Text ids of questions from the recording's meta; what is no text of a number is left out.
std::unordered_map<std::int64_t, std::string> names_of_questions(const traces::Meta& meta) {
  std::unordered_map<std::int64_t, std::string> names;
  const nlohmann::json json = nlohmann::json::parse(simulator::meta_value(meta, "question_names"), nullptr,
                                                    /*allow_exceptions=*/false);
  if (!json.is_object()) return names;
  for (const auto& [number, name] : json.items())
    if (const auto id = parse_number<std::int64_t>(number); id && name.is_string())
      names.emplace(*id, name.get<std::string>());
  return names;
}

}  // namespace

Result<RecordingPointer> OpenedRecording::open(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
  DRAFTSCOPE_TRY_ASSIGN(simulator::MeasuredRecording measured, simulator::read_measured(reader));
  DRAFTSCOPE_TRY_ASSIGN(TokenTexts token_texts, reader.token_texts());
  return of(std::move(measured), std::move(token_texts));
}

RecordingPointer OpenedRecording::of(simulator::MeasuredRecording measured, TokenTexts token_texts) {
  std::shared_ptr<OpenedRecording> opened(new OpenedRecording);
  opened->measured_ = std::make_shared<const simulator::MeasuredRecording>(std::move(measured));
  opened->token_texts_ = std::make_shared<const TokenTexts>(std::move(token_texts));
  opened->warnings_ = simulator::warnings(opened->measured());
  opened->index();
  opened->index_rounds();
  return opened;
}

RecordingPointer OpenedRecording::of_overview(int schema_version, traces::Recording outline,
                                              const traces::Overview& overview) {
  std::shared_ptr<OpenedRecording> opened(new OpenedRecording);
  simulator::MeasuredRecording measured;
  measured.schema_version = schema_version;
  measured.recording = std::make_unique<traces::Recording>(std::move(outline));
  measured.figures = simulator::measure_overview(*measured.recording, overview.requests);
  simulator::drop_unavailable(measured.figures, measured.recording->meta);
  opened->measured_ = std::make_shared<const simulator::MeasuredRecording>(std::move(measured));
  opened->warnings_ = simulator::warnings(opened->measured());
  opened->index();
  opened->sum_up(overview);
  return opened;
}

RecordingPointer OpenedRecording::filtered(const std::vector<bool>& keeps) const {
  std::shared_ptr<OpenedRecording> left(new OpenedRecording(*this));
  if (!left->unfiltered_place_)
    left->unfiltered_place_ = std::make_shared<const std::vector<std::uint32_t>>(place_in_run_);
  left->place_in_run_.assign(place_in_run_.size(), no_index);
  for (RunRounds& run : left->runs_)
    std::erase_if(run.rounds, [&](std::uint32_t round_index) { return !keeps[round_index]; });
  left->index_places();
  return left;
}

void OpenedRecording::index() {
  const traces::Recording& rows = recording();
  question_names_ = names_of_questions(rows.meta);
  for (const traces::Run& run : rows.runs) runs_.push_back({&run, {}});
  for (std::size_t i = 0; i < rows.prompts.size(); ++i) prompts_.emplace(rows.prompts[i].id, i);
  for (std::size_t i = 0; i < rows.layer_sets.size(); ++i) layer_sets_.emplace(rows.layer_sets[i].id, i);
  bool is_first = true;
  const auto widen = [&](std::int64_t start_ns, std::int64_t end_ns) {
    whole_.start_ns = is_first ? start_ns : std::min(whole_.start_ns, start_ns);
    whole_.end_ns = is_first ? end_ns : std::max(whole_.end_ns, end_ns);
    is_first = false;
  };
  for (const traces::Request& request : rows.requests)
    widen(request.start_ns, std::max(request.start_ns, request.end_ns));
  for (const traces::Round& round : rows.rounds) widen(round.start_ns, round.end_ns);
}

std::string OpenedRecording::question_text(const traces::Prompt& prompt) const {
  const auto named = question_names_.find(prompt.question_id);
  return named == question_names_.end() ? std::to_string(prompt.question_id) : named->second;
}

void OpenedRecording::index_rounds() {
  const traces::Recording& rows = recording();
  const auto id_of = [](const auto& row) { return row.id; };
  const IdIndex<traces::RunId> run_indices(rows.runs, id_of);
  requests_ = IdIndex<traces::RequestId>(rows.requests, id_of);
  const IdIndex<traces::RoundId> round_indices(rows.rounds, id_of);
  const std::size_t count = rows.rounds.size();
  run_of_round_.assign(count, no_index);
  place_in_run_.assign(count, no_index);
  request_of_round_.assign(count, no_index);
  for (std::size_t i = 0; i < count; ++i) {
    // The reader has checked that requests and runs exist.
    request_of_round_[i] = requests_[rows.rounds[i].request_id];
    run_of_round_[i] = run_indices[rows.requests[request_of_round_[i]].run_id];
    runs_[run_of_round_[i]].rounds.push_back(static_cast<std::uint32_t>(i));
  }
  for (RunRounds& run : runs_) {
    const auto starts_before = [&](std::uint32_t a, std::uint32_t b) {
      return rows.rounds[a].start_ns < rows.rounds[b].start_ns;
    };
    if (!std::is_sorted(run.rounds.begin(), run.rounds.end(), starts_before))
      std::stable_sort(run.rounds.begin(), run.rounds.end(), starts_before);
  }
  index_places();

  // Find where each round's draft tokens begin: they are in order of round id, rounds in order of request and
  // index.
  first_draft_token_.assign(count, 0);
  draft_token_counts_.assign(count, 0);
  for (std::size_t i = 0; i < rows.draft_tokens.size();) {
    const traces::RoundId round_id = rows.draft_tokens[i].round_id;
    std::size_t end = i;
    while (end < rows.draft_tokens.size() && rows.draft_tokens[end].round_id == round_id) ++end;
    if (const std::uint32_t round_index = round_indices[round_id]; round_index != no_index) {
      first_draft_token_[round_index] = static_cast<std::uint32_t>(i);
      draft_token_counts_[round_index] = static_cast<std::uint32_t>(end - i);
    }
    i = end;
  }
}

void OpenedRecording::index_places() {
  for (RunRounds& run : runs_) {
    double target_rows = 0.0;
    bool is_known = !run.rounds.empty();
    for (std::size_t place = 0; place < run.rounds.size(); ++place) {
      place_in_run_[run.rounds[place]] = static_cast<std::uint32_t>(place);
      const std::int32_t of_round = round(run.rounds[place]).verify_rows;
      is_known = is_known && of_round > 0;
      target_rows += of_round;
    }
    run.rows_per_round.reset();
    if (is_known) run.rows_per_round = target_rows / static_cast<double>(run.rounds.size());
  }
}

void OpenedRecording::sum_up(const traces::Overview& overview) {
  strips_of_overview_.emplace(runs_.size());
  const IdIndex<traces::RunId> run_indices(recording().runs, [](const traces::Run& run) { return run.id; });
  std::int64_t all = 0;
  for (const traces::RoundColumn& column : overview.rounds) {
    const std::uint32_t run_index = run_indices[column.run_id];
    if (run_index == no_index || column.rounds <= 0 || column.rounds > max_overview_rounds - all) continue;
    all += column.rounds;
    RoundsOfRun& strip = (*strips_of_overview_)[run_index];
    const auto rounds = static_cast<double>(column.rounds);
    const double emitted = std::clamp(static_cast<double>(column.emitted), 0.0, 0x1p40);
    const std::int64_t before = strip.emitted_before.back();
    for (std::int64_t i = 1; i <= column.rounds; ++i)
      strip.emitted_before.push_back(before + std::llround(emitted * static_cast<double>(i) / rounds));
    strip.max_emitted = std::max(strip.max_emitted, column.max_emitted);
  }
}

std::size_t OpenedRecording::round_count() const {
  std::size_t all = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) all += round_count(i);
  return all;
}

std::size_t OpenedRecording::round_count(std::size_t run_index) const {
  return strips_of_overview_ ? (*strips_of_overview_)[run_index].emitted_before.size() - 1
                             : runs_[run_index].rounds.size();
}

RoundsOfRun OpenedRecording::rounds_of_run(std::size_t run_index) const {
  if (strips_of_overview_) return (*strips_of_overview_)[run_index];
  RoundsOfRun strip;
  strip.emitted_before.reserve(runs_[run_index].rounds.size() + 1);
  for (const std::uint32_t round_index : runs_[run_index].rounds) {
    const std::int32_t emitted = recording().rounds[round_index].emitted;
    strip.max_emitted = std::max(strip.max_emitted, emitted);
    strip.emitted_before.push_back(strip.emitted_before.back() + emitted);
  }
  return strip;
}

const traces::Request& OpenedRecording::request_of(std::uint32_t round_index) const {
  return recording().requests[request_of_round_[round_index]];
}

const traces::Request* OpenedRecording::request_with(traces::RequestId id) const {
  const std::uint32_t index = requests_[id];
  return index == no_index ? nullptr : &recording().requests[index];
}

const traces::Prompt* OpenedRecording::prompt_of(const traces::Request& request) const {
  const auto found = prompts_.find(request.prompt_id);
  return found == prompts_.end() ? nullptr : &recording().prompts[found->second];
}

std::span<const traces::DraftToken> OpenedRecording::draft_tokens(std::uint32_t round_index) const {
  return std::span(recording().draft_tokens)
      .subspan(first_draft_token_[round_index], draft_token_counts_[round_index]);
}

const traces::LayerSet* OpenedRecording::layer_set(std::uint32_t round_index) const {
  const auto found = layer_sets_.find(recording().rounds[round_index].layer_set_id);
  return found == layer_sets_.end() ? nullptr : &recording().layer_sets[found->second];
}

std::string OpenedRecording::token_text(std::int32_t token) const {
  const auto found = token_texts_->find(token);
  return found == token_texts_->end() ? fmt::format("⟨{}⟩", token) : found->second;
}

}  // namespace draftscope::gui
