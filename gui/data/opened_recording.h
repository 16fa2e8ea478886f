// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording as the app holds it: rows, measured figures, warnings, and the orders in which views walk it. A
// worker makes it once; it is then immutable, and all views share it through a pointer.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/overview.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/id_index.h"
#include "data/time_range.h"

namespace draftscope::gui {

/// One run's rounds in the order of their start, as indices into Recording::rounds.
struct RunRounds {
  const traces::Run* run = nullptr;
  std::vector<std::uint32_t> rounds;
  /// Mean rows of the target forward; absent without rounds, and where their source does not record it.
  std::optional<double> rows_per_round;
};

/// Tokens that the rounds of a run emitted, in the order of the rounds' starts.
struct RoundsOfRun {
  /// [round] Tokens emitted before the round, then the total. Within an overview column, each round counts
  /// with the column's mean.
  std::vector<std::int64_t> emitted_before{0};
  std::int32_t max_emitted = 1;  ///< Maximum per round, at least 1.
};

class OpenedRecording {
 public:
  using TokenTexts = std::unordered_map<std::int32_t, std::string>;

  /// Errors: not a readable trace; one line.
  [[nodiscard]] static Result<std::shared_ptr<const OpenedRecording>> open(const std::filesystem::path& path);
  /// Makes a recording from rows that have been read already.
  [[nodiscard]] static std::shared_ptr<const OpenedRecording> of(simulator::MeasuredRecording measured,
                                                                 TokenTexts token_texts);
  /// Makes a recording from its stored overview, before its rounds are read. `outline` lacks the rounds.
  [[nodiscard]] static std::shared_ptr<const OpenedRecording> of_overview(int schema_version,
                                                                          traces::Recording outline,
                                                                          const traces::Overview& overview);
  /// Leaves only the rounds that `keeps` selects, by index into Recording::rounds. Shares the rows, and
  /// indices into them stay the same; places count only the remaining rounds.
  [[nodiscard]] std::shared_ptr<const OpenedRecording> filtered(const std::vector<bool>& keeps) const;

  /// False while only the overview has been read: rounds and draft tokens exist, but are not there yet.
  [[nodiscard]] bool has_rows() const { return !strips_of_overview_; }

  [[nodiscard]] const traces::Recording& recording() const { return *measured_->recording; }
  [[nodiscard]] const simulator::MeasuredRecording& measured() const { return *measured_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] std::string name() const { return recording().path.filename().string(); }

  [[nodiscard]] const std::vector<RunRounds>& runs() const { return runs_; }
  [[nodiscard]] TimeRange whole() const { return whole_; }
  /// Number of rounds, read or not.
  [[nodiscard]] std::size_t round_count() const;
  [[nodiscard]] std::size_t round_count(std::size_t run_index) const;
  [[nodiscard]] RoundsOfRun rounds_of_run(std::size_t run_index) const;

  [[nodiscard]] const traces::Round& round(std::uint32_t round_index) const {
    return recording().rounds[round_index];
  }
  [[nodiscard]] const traces::Request& request_of(std::uint32_t round_index) const;
  /// Null if there is none, or only the overview has been read.
  [[nodiscard]] const traces::Request* request_with(traces::RequestId id) const;
  [[nodiscard]] const traces::Prompt* prompt_of(const traces::Request& request) const;
  [[nodiscard]] std::span<const traces::DraftToken> draft_tokens(std::uint32_t round_index) const;
  /// The question's text id where the prompt file gave one, else its number.
  [[nodiscard]] std::string question_text(const traces::Prompt& prompt) const;
  /// Null where the round drafted nothing.
  [[nodiscard]] const traces::LayerSet* layer_set(std::uint32_t round_index) const;
  /// Index into runs(); no_index if the request's run is not there.
  [[nodiscard]] std::uint32_t run_of(std::uint32_t round_index) const { return run_of_round_[round_index]; }
  /// Place of a round among the rounds of its run; no_index if it is filtered out.
  [[nodiscard]] std::uint32_t place_in_run(std::uint32_t round_index) const {
    return place_in_run_[round_index];
  }
  /// Number of a round for people: its place without a filter.
  [[nodiscard]] std::uint32_t number_in_run(std::uint32_t round_index) const {
    return unfiltered_place_ ? (*unfiltered_place_)[round_index] : place_in_run_[round_index];
  }
  /// Readable form of the token: its text, or "⟨id⟩" where the file has none.
  [[nodiscard]] std::string token_text(std::int32_t token) const;
  [[nodiscard]] bool has_token_texts() const { return !token_texts_->empty(); }

 private:
  OpenedRecording() = default;
  void index();
  void index_rounds();
  void index_places();
  void sum_up(const traces::Overview& overview);

  std::shared_ptr<const simulator::MeasuredRecording> measured_;
  std::vector<std::string> warnings_;
  std::shared_ptr<const TokenTexts> token_texts_ = std::make_shared<const TokenTexts>();
  std::optional<std::vector<RoundsOfRun>> strips_of_overview_;  ///< [run]
  std::vector<RunRounds> runs_;
  std::vector<std::uint32_t> run_of_round_;
  std::vector<std::uint32_t> place_in_run_;
  std::shared_ptr<const std::vector<std::uint32_t>> unfiltered_place_;  ///< null = no filter
  IdIndex<traces::RequestId> requests_;
  std::vector<std::uint32_t> request_of_round_;
  std::vector<std::uint32_t> first_draft_token_;
  std::vector<std::uint32_t> draft_token_counts_;
  std::unordered_map<traces::LayerSetId, std::size_t> layer_sets_;
  std::unordered_map<traces::PromptId, std::size_t> prompts_;
  std::unordered_map<std::int64_t, std::string> question_names_;  ///< [question id]
  TimeRange whole_;
};

using RecordingPointer = std::shared_ptr<const OpenedRecording>;

/// The recording, or null while only its overview has been read.
[[nodiscard]] inline RecordingPointer with_rows(const RecordingPointer& recording) {
  return recording && recording->has_rows() ? recording : nullptr;
}

}  // namespace draftscope::gui
