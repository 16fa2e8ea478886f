// SPDX-License-Identifier: GPL-3.0-or-later
// Exports Spec-Bench's answer files. Its speed.py reads only choices[0] and takes the mean of three files, so
// each repeat becomes a file of its own.

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/atomic_folder.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

namespace draftscope::traces {
namespace {

struct Turn {
  const Request* request = nullptr;
  const Prompt* prompt = nullptr;
  std::vector<std::int32_t> accept_lengths;  ///< Tokens per verification, including the bonus token.
};

/// (run, repeat) → question → turns in order.
using Files = std::map<std::pair<RunId, std::int32_t>, std::map<std::int64_t, std::vector<Turn>>>;

Files group(const Recording& recording) {
  std::unordered_map<PromptId, const Prompt*> prompts;
  for (const Prompt& prompt : recording.prompts) prompts.emplace(prompt.id, &prompt);
  std::unordered_map<RequestId, std::vector<std::int32_t>> accept_lengths;
  for (const Round& round : recording.rounds) accept_lengths[round.request_id].push_back(round.emitted);
  Files files;
  for (const Request& request : recording.requests) {
    const Prompt* const prompt = prompts.at(request.prompt_id);
    files[{request.run_id, request.repeat}][prompt->question_id].push_back(
        {&request, prompt, std::move(accept_lengths[request.id])});
  }
  // A cut-off answer would count as a short one, so its question is left out.
  const auto cut_off = [](const Turn& turn) {
    const Request& request = *turn.request;
    return request.end_ns == 0 || request.stop == RequestStop::cancelled ||
           request.stop == RequestStop::error;
  };
  for (auto& [key, questions] : files)
    std::erase_if(questions, [&](const auto& question) {
      return std::any_of(question.second.begin(), question.second.end(), cut_off);
    });
  for (auto& [key, questions] : files)
    for (auto& [question, turns] : questions)
      std::stable_sort(turns.begin(), turns.end(),
                       [](const Turn& a, const Turn& b) { return a.prompt->turn < b.prompt->turn; });
  return files;
}

std::int64_t meta_integer(const Meta& meta, const std::string& key) {
  const auto found = meta.find(key);
  std::int64_t number = 0;
  if (found != meta.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return number;
}

std::string answer_line(const Recording& recording, const Run& run, std::int32_t repeat,
                        std::int64_t question, const std::vector<Turn>& turns) {
  constexpr double seconds_per_ns = 1e-9;
  auto texts = nlohmann::ordered_json::array();
  std::vector<std::size_t> decoding_steps;
  std::vector<std::size_t> new_tokens;
  std::vector<double> wall_time;
  std::vector<std::int32_t> accept_lengths;
  for (const Turn& turn : turns) {
    texts.push_back(turn.request->text);
    decoding_steps.push_back(turn.accept_lengths.size());
    new_tokens.push_back(turn.request->tokens.size());
    wall_time.push_back(static_cast<double>(turn.request->end_ns - turn.request->start_ns) * seconds_per_ns);
    accept_lengths.insert(accept_lengths.end(), turn.accept_lengths.begin(), turn.accept_lengths.end());
  }
  // Calendar time of the last turn's end, derived from the recording's pair of clocks.
  const double since_start_ns = static_cast<double>(turns.back().request->end_ns) -
                                static_cast<double>(meta_integer(recording.meta, "clock_start_monotonic_ns"));
  const double tstamp =
      (static_cast<double>(meta_integer(recording.meta, "clock_start_realtime_ns")) + since_start_ns) *
      seconds_per_ns;
  const auto model = recording.meta.find("model");
  nlohmann::ordered_json choice = nlohmann::ordered_json::object();
  choice["index"] = 0;
  choice["turns"] = std::move(texts);
  choice["decoding_steps"] = decoding_steps;
  choice["new_tokens"] = new_tokens;
  choice["wall_time"] = wall_time;
  choice["accept_lengths"] = accept_lengths;
  nlohmann::ordered_json answer = nlohmann::ordered_json::object();
  answer["question_id"] = question;
  answer["category"] = turns.front().prompt->category;
  answer["answer_id"] = fmt::format("{}-{}-{}", run.id, repeat, question);
  answer["model_id"] =
      fmt::format("{}-{}", model != recording.meta.end() ? model->second : "model", run.specification);
  answer["choices"] = nlohmann::ordered_json::array({std::move(choice)});
  answer["tstamp"] = tstamp;
  return answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The specification as a file name: "layerskip:exit=4,gamma=6" stays, but a slash does not.
std::string file_name(const Run& run, std::int32_t repeat, std::set<std::string>& taken) {
  constexpr std::size_t max_characters = 150;  // file systems allow 255 bytes
  std::string name = run.specification.substr(0, max_characters);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("=,.+-_:").find(c) != std::string_view::npos;
    if (!plain) c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(0, "run");
  if (repeat != 0) name += fmt::format(".repeat-{}", repeat);
  if (!taken.insert(name).second) {
    name += fmt::format(".run-{}", run.id);
    taken.insert(name);
  }
  return name + ".jsonl";
}

}  // namespace

Result<void> export_spec_bench(Reader& reader, const std::filesystem::path& target,
                               const Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicFolder whole, AtomicFolder::create(target));
  DRAFTSCOPE_TRY_ASSIGN(const Recording recording, reader.recording());
  if (is_missing(recording.meta, MissingData::wall_times))
    return fail("{}: found requests without wall times, expected them, of which Spec-Bench makes speeds",
                recording.path.string());
  std::unordered_map<RunId, const Run*> runs;
  for (const Run& run : recording.runs) runs.emplace(run.id, &run);
  const auto all = static_cast<std::int64_t>(recording.requests.size());
  std::int64_t done = 0;
  std::set<std::string> taken;
  for (const auto& [key, questions] : group(recording)) {
    const Run& run = *runs.at(key.first);
    DRAFTSCOPE_TRY_ASSIGN(AtomicFile file,
                          AtomicFile::create(whole.path() / file_name(run, key.second, taken)));
    for (const auto& [question, turns] : questions) {
      file.write(answer_line(recording, run, key.second, question, turns));
      done += static_cast<std::int64_t>(turns.size());
    }
    if (progress && !progress(done, all)) return fail("export cancelled");
    DRAFTSCOPE_TRY(file.commit());
  }
  return whole.commit();
}

}  // namespace draftscope::traces
