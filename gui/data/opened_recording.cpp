// SPDX-License-Identifier: GPL-3.0-or-later
#include "opened_recording.h"

#include <fmt/format.h>

#include <algorithm>

namespace draftscope::gui {

Result<RecordingPointer> OpenedRecording::open(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
  std::shared_ptr<OpenedRecording> opened(new OpenedRecording);
  DRAFTSCOPE_TRY_ASSIGN(opened->measured_, simulator::read_measured(reader));
  DRAFTSCOPE_TRY_ASSIGN(opened->token_texts_, reader.token_texts());
  opened->warnings_ = simulator::warnings(opened->measured_);
  opened->index();
  return RecordingPointer(std::move(opened));
}

void OpenedRecording::index() {
  const traces::Recording& rows = recording();
  std::unordered_map<std::int64_t, std::uint32_t> run_places;
  for (const traces::Run& run : rows.runs) {
    run_places.emplace(run.id, static_cast<std::uint32_t>(runs_.size()));
    runs_.push_back({&run, {}});
  }
  std::unordered_map<std::int64_t, std::uint32_t> requests;
  for (std::size_t i = 0; i < rows.requests.size(); ++i)
    requests.emplace(rows.requests[i].id, static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < rows.prompts.size(); ++i) prompts_.emplace(rows.prompts[i].id, i);
  for (std::size_t i = 0; i < rows.layer_sets.size(); ++i) layer_sets_.emplace(rows.layer_sets[i].id, i);

  const std::size_t count = rows.rounds.size();
  run_of_round_.assign(count, no_index);
  place_in_run_.assign(count, no_index);
  request_of_round_.assign(count, no_index);
  std::unordered_map<std::int64_t, std::uint32_t> round_places;
  round_places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    round_places.emplace(rows.rounds[i].id, static_cast<std::uint32_t>(i));
    // The reader has checked that requests and runs are there.
    request_of_round_[i] = requests.at(rows.rounds[i].request);
    run_of_round_[i] = run_places.at(rows.requests[request_of_round_[i]].run);
    runs_[run_of_round_[i]].rounds.push_back(static_cast<std::uint32_t>(i));
  }
  for (RunRounds& run : runs_) {
    std::stable_sort(run.rounds.begin(), run.rounds.end(), [&](std::uint32_t a, std::uint32_t b) {
      return rows.rounds[a].start_ns < rows.rounds[b].start_ns;
    });
    for (std::size_t place = 0; place < run.rounds.size(); ++place)
      place_in_run_[run.rounds[place]] = static_cast<std::uint32_t>(place);
  }

  // Draft tokens are ordered by their round's id, rounds by request and index: where each round's begin.
  first_draft_token_.assign(count, 0);
  draft_token_counts_.assign(count, 0);
  for (std::size_t i = 0; i < rows.draft_tokens.size();) {
    const std::int64_t round = rows.draft_tokens[i].round;
    std::size_t end = i;
    while (end < rows.draft_tokens.size() && rows.draft_tokens[end].round == round) ++end;
    if (const auto place = round_places.find(round); place != round_places.end()) {
      first_draft_token_[place->second] = static_cast<std::uint32_t>(i);
      draft_token_counts_[place->second] = static_cast<std::uint32_t>(end - i);
    }
    i = end;
  }

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

const traces::Request& OpenedRecording::request_of(std::uint32_t round) const {
  return recording().requests[request_of_round_[round]];
}

const traces::Prompt* OpenedRecording::prompt_of(const traces::Request& request) const {
  const auto found = prompts_.find(request.prompt);
  return found == prompts_.end() ? nullptr : &recording().prompts[found->second];
}

std::span<const traces::DraftToken> OpenedRecording::draft_tokens(std::uint32_t round) const {
  return std::span(recording().draft_tokens).subspan(first_draft_token_[round], draft_token_counts_[round]);
}

const traces::LayerSet* OpenedRecording::layer_set(std::uint32_t round) const {
  const auto found = layer_sets_.find(recording().rounds[round].layer_set);
  return found == layer_sets_.end() ? nullptr : &recording().layer_sets[found->second];
}

std::string OpenedRecording::token_text(std::int32_t token) const {
  const auto found = token_texts_.find(token);
  return found == token_texts_.end() ? fmt::format("⟨{}⟩", token) : found->second;
}

}  // namespace draftscope::gui
