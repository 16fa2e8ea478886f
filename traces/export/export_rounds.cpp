// SPDX-License-Identifier: GPL-3.0-or-later
// Exports the neutral format (docs/rounds-format.md), request by request. Data that the recording lacks is
// omitted.

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/quote.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <unordered_map>

#include "foreign/rounds_fields.h"

namespace draftscope::traces {
namespace {

using nlohmann::ordered_json;

std::string line_of(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// Converts a value of `meta`: a whole number of JSON stays one, and anything else is text.
ordered_json setting(const std::string& text) {
  ordered_json value = ordered_json::parse(text, nullptr, false);
  if (!value.is_number() || value.dump() != text) value = text;
  return value;
}

ordered_json header(const Recording& recording) {
  const auto text = [&](const std::string& key, const std::string& otherwise) {
    const auto found = recording.meta.find(key);
    return found == recording.meta.end() ? otherwise : found->second;
  };
  ordered_json object{{"record", "header"}, {"format", rounds_format}, {"version", rounds_version}};
  if (const std::string engine = text("engine", is_imported(recording.meta) ? "" : "draftscope");
      !engine.empty())
    object["engine"] = engine;
  const std::string version = text("engine_version", text("tool_version", ""));
  if (!version.empty()) object["engine_version"] = version;
  for (const auto& [field, key] : {std::pair{"model", "model"},
                                   {"host", "hostname"},
                                   {"rank", "rank"},
                                   {"command_line", "command_line"}})
    if (const std::string value = text(key, ""); !value.empty()) object[field] = value;
  auto clock = ordered_json::object();
  for (const auto& [field, key] :
       {std::pair{"monotonic_ns", "clock_start_monotonic_ns"}, {"realtime_ns", "clock_start_realtime_ns"}})
    if (const ordered_json ns = setting(text(key, "")); ns.is_number_unsigned()) clock[field] = ns;
  if (!clock.empty()) object["clock"] = std::move(clock);
  auto settings = ordered_json::object();
  for (const std::string_view key : settings_in_meta)
    if (const auto found = recording.meta.find(std::string(key)); found != recording.meta.end())
      settings[std::string(key)] = setting(found->second);
  const ordered_json others = ordered_json::parse(text("engine_settings", "{}"), nullptr, false);
  if (others.is_object())
    for (const auto& [key, value] : others.items())
      settings[key] = value.is_string() ? setting(value.get<std::string>()) : value;
  if (!settings.empty()) object["settings"] = std::move(settings);
  auto lacks = ordered_json::array();
  for (const MissingData missing : missing_data_of(recording.meta))
    lacks.push_back(missing_data_name(missing));
  if (!lacks.empty()) object["lacks"] = std::move(lacks);
  return object;
}

bool are_unknown(const std::vector<std::int32_t>& tokens) {
  return std::all_of(tokens.begin(), tokens.end(), [](std::int32_t token) { return token < 0; });
}

class RequestLines {
 public:
  explicit RequestLines(const Recording& recording) {
    const std::vector<MissingData> missing = missing_data_of(recording.meta);
    lacks_.insert(missing.begin(), missing.end());
    for (const Run& run : recording.runs) runs_.emplace(run.id, &run);
    for (const Prompt& prompt : recording.prompts) prompts_.emplace(prompt.id, &prompt);
  }

  [[nodiscard]] std::string begin(const Request& request) const {
    const Prompt& prompt = *prompts_.at(request.prompt_id);
    ordered_json line{{"record", "request"},
                      {"request", std::to_string(request.id.value())},
                      {"run", runs_.at(request.run_id)->specification}};
    if (has_times(request)) line["start_ns"] = request.start_ns;
    if (has(MissingData::prompts)) line["prompt"] = prompt.text;
    if (!are_unknown(prompt.tokens))
      line["prompt_tokens"] = prompt.tokens;
    else if (!prompt.tokens.empty())
      line["n_prompt_tokens"] = prompt.tokens.size();
    line["question_id"] = prompt.question_id;
    if (!prompt.category.empty()) line["category"] = prompt.category;
    if (prompt.turn != 0) line["turn"] = prompt.turn;
    if (request.repeat != 0) line["repeat"] = request.repeat;
    if (request.seed != 0) line["seed"] = request.seed;
    return line_of(line);
  }

  [[nodiscard]] std::string round(const Round& round, std::span<const DraftToken> tokens) const {
    ordered_json line{{"record", "round"}, {"request", std::to_string(round.request_id.value())}};
    if (has(MissingData::round_times) || round.end_ns > round.start_ns) {
      line["start_ns"] = round.start_ns;
      line["end_ns"] = round.end_ns;
    }
    const bool knows_length = has(MissingData::draft_lengths) || round.accepted == 0;
    if (knows_length) line["planned"] = round.planned;
    if (knows_length) line["drafted"] = round.drafted;
    line["accepted"] = round.accepted;
    line["emitted"] = round.emitted;
    line["position"] = round.root_position;
    line["verify_rows"] = round.verify_rows;
    if (round.exit_layer != 0) line["exit_layer"] = round.exit_layer;
    if (round.bonus_token >= 0) line["bonus_token"] = round.bonus_token;
    line["draft_stop"] = draft_stop_name(round.draft_stop);
    if (round.threshold >= 0.0) line["threshold"] = round.threshold;
    for (const auto& [name, ns] : {std::pair{"draft_ns", round.draft_ns},
                                   {"verify_ns", round.verify_ns},
                                   {"accept_ns", round.accept_ns},
                                   {"optimise_ns", round.optimise_ns},
                                   {"control_ns", round.control_ns}})
      if (ns > 0 || (has(MissingData::round_times) && has(MissingData::phase_times))) line[name] = ns;
    add_draft(line, round, tokens);
    return line_of(line);
  }

  /// The line of a request's end. `emitted`: tokens from the request's rounds.
  [[nodiscard]] std::string end(const Request& request, std::size_t emitted) const {
    ordered_json line{{"record", "end"}, {"request", std::to_string(request.id.value())}};
    if (has_times(request)) line["end_ns"] = request.end_ns;
    if (request.first_token_ns > 0 || has(MissingData::first_token_times))
      line["first_token_ns"] = request.first_token_ns;
    line["stop"] = request_stop_name(request.stop);
    if (!request.text.empty() || has(MissingData::output_text)) line["text"] = request.text;
    if (!are_unknown(request.tokens) || request.tokens.empty())
      line["tokens"] = request.tokens;
    else if (has(MissingData::output_lengths) || request.tokens.size() != emitted)
      line["n_tokens"] = request.tokens.size();
    return line_of(line);
  }

 private:
  /// Whether the data is known in every row; otherwise single rows may still have it.
  [[nodiscard]] bool has(MissingData data) const { return !lacks_.contains(data); }
  [[nodiscard]] bool has_times(const Request& request) const {
    return has(MissingData::wall_times) || request.end_ns - request.start_ns != 1;
  }

  void add_draft(ordered_json& line, const Round& round, std::span<const DraftToken> tokens) const {
    auto ids = ordered_json::array();
    auto confidences = ordered_json::array();
    auto probabilities = ordered_json::array();
    auto parents = ordered_json::array();
    auto taken = ordered_json::array();
    auto tested = ordered_json::array();
    bool are_ids_known = has(MissingData::token_ids);
    bool are_confidences_known = has(MissingData::confidences);
    bool are_probabilities_known = false;
    bool is_chain = true;
    bool is_usual = true;
    for (const DraftToken& token : tokens) {
      ids.push_back(token.token);
      confidences.push_back(token.confidence);
      probabilities.push_back(token.probability);
      parents.push_back(token.parent);
      taken.push_back(token.accepted);
      tested.push_back(token.tested);
      are_ids_known = are_ids_known || token.token >= 0;
      are_confidences_known = are_confidences_known || std::isfinite(token.confidence);
      are_probabilities_known = are_probabilities_known || std::isfinite(token.probability);
      is_chain = is_chain && token.parent == token.index - 1;
      const bool is_taken = token.index < round.accepted;
      is_usual = is_usual && token.accepted == is_taken && token.tested == (token.index <= round.accepted);
    }
    if (tokens.empty()) return;
    if (are_ids_known) line["tokens"] = std::move(ids);
    if (are_confidences_known) line["confidences"] = std::move(confidences);
    if (are_probabilities_known) line["probabilities"] = std::move(probabilities);
    if (!is_chain) line["parents"] = std::move(parents);
    if (!is_usual) line["taken"] = std::move(taken);
    if (!is_usual) line["tested"] = std::move(tested);
  }

  std::set<MissingData> lacks_;
  std::unordered_map<RunId, const Run*> runs_;
  std::unordered_map<PromptId, const Prompt*> prompts_;
};

}  // namespace

Result<void> export_rounds(Reader& reader, const std::filesystem::path& target, const Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(target));
  DRAFTSCOPE_TRY_ASSIGN(const Recording recording, reader.recording());
  file.write(line_of(header(recording)));
  for (const Run& run : recording.runs) {
    ordered_json line{{"record", "run"}, {"run", run.specification}};
    if (run.is_baseline) line["baseline"] = true;
    if (run.parameters != "{}") {
      line["parameters"] = ordered_json::parse(run.parameters, nullptr, false);
      if (!line["parameters"].is_object())
        return fail("{}: runs row {}: parameters is {}, expected a JSON object", recording.path.string(),
                    run.id, quote(run.parameters));
    }
    file.write(line_of(line));
  }
  const RequestLines lines(recording);
  // Rounds and draft tokens are stored by request and round, in the order of ids.
  std::unordered_map<RequestId, std::size_t> first_round;
  for (std::size_t i = recording.rounds.size(); i-- > 0;) first_round[recording.rounds[i].request_id] = i;
  const auto all = static_cast<std::int64_t>(recording.requests.size());
  std::int64_t done = 0;
  for (const Request& request : recording.requests) {
    file.write(lines.begin(request));
    const auto first = first_round.find(request.id);
    std::size_t emitted = 0;
    for (std::size_t i = first == first_round.end() ? recording.rounds.size() : first->second;
         i < recording.rounds.size() && recording.rounds[i].request_id == request.id; ++i) {
      const Round& round = recording.rounds[i];
      emitted += static_cast<std::size_t>(round.emitted);
      const std::span<const DraftToken> tokens(
          std::ranges::lower_bound(recording.draft_tokens, round.id, {}, &DraftToken::round_id),
          std::ranges::upper_bound(recording.draft_tokens, round.id, {}, &DraftToken::round_id));
      if (tokens.size() != static_cast<std::size_t>(round.drafted))
        return fail("{}: rounds row {}: drafted is {}, expected the number of its draft_tokens ({})",
                    recording.path.string(), round.id, round.drafted, tokens.size());
      file.write(lines.round(round, tokens));
    }
    if (request.end_ns > 0) file.write(lines.end(request, emitted));  // otherwise it was cut off
    if (progress && !progress(++done, all)) return fail("export cancelled");
  }
  return file.commit();
}

}  // namespace draftscope::traces
