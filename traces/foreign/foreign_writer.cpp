// SPDX-License-Identifier: GPL-3.0-or-later
#include "foreign/foreign_writer.h"

#include <draftscope/base/quote.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "foreign/json_fields.h"

namespace draftscope::traces {
namespace {

constexpr std::size_t max_open_requests = 65536;
constexpr std::int64_t max_number = std::numeric_limits<std::int32_t>::max();

}  // namespace

RunId ForeignWriter::run(const std::string& specification, bool is_baseline, const std::string& parameters) {
  const auto [entry, is_new] = runs_.try_emplace(specification);
  if (is_new) {
    entry->second = writer_.add(foreign_run(specification, is_baseline, parameters));
    ++counts_.runs;
    ++counts_.rows;
  }
  return entry->second;
}

PromptId ForeignWriter::prompt_of(const ForeignStart& said, const std::string& key) {
  // Runs are paired by their prompts. A request without text or number gets a prompt of its own.
  std::string identity = fmt::format("{}\n{}\n{}\n", said.question_id, said.turn, said.category);
  if (said.prompt)
    identity += *said.prompt;
  else if (said.question_id < 0)
    identity += "\n" + key;
  const auto [entry, is_new] = prompts_.try_emplace(identity);
  if (is_new) {
    Prompt row;
    row.question_id = said.question_id >= 0 ? said.question_id : static_cast<std::int64_t>(prompts_.size());
    row.category = said.category;
    row.turn = static_cast<std::int32_t>(said.turn);
    const std::string turn = said.turn == 0 ? "" : fmt::format(", turn {}", said.turn);
    row.text = said.prompt.value_or(fmt::format("[question {}{}]", row.question_id, turn));
    row.tokens = said.prompt_tokens.value_or(std::vector<std::int32_t>(
        static_cast<std::size_t>(std::max<std::int64_t>(said.n_prompt_tokens, 0)), -1));
    entry->second = writer_.add(std::move(row));
    ++counts_.rows;
  }
  if (!said.prompt) note({MissingData::prompts});
  return entry->second;
}

void ForeignWriter::note(const std::set<MissingData>& missing) {
  const std::size_t before = missing_.size();
  missing_.insert(missing.begin(), missing.end());
  if (missing_.size() > before)
    writer_.set_meta("lacks", missing_data_text({missing_.begin(), missing_.end()}));
}

Result<void> ForeignWriter::begin(const std::string& key, const ForeignStart& said,
                                  const std::string& where) {
  if (begun_.contains(key))
    return fail("{}: request {} began before, expected a name of its own", where, quote(key));
  if (open_.size() >= max_open_requests)
    return fail("{}: {} requests are under way, expected at most {}", where, open_.size() + 1,
                max_open_requests);
  for (const auto& [name, number] : {std::pair{"turn", said.turn}, {"repeat", said.repeat}})
    if (number < 0 || number > max_number)
      return fail("{}: {} is {}, expected 0 to {}", where, name, number, max_number);
  if (said.n_prompt_tokens > max_answer_tokens)
    return fail("{}: n_prompt_tokens is {}, expected at most {}", where, said.n_prompt_tokens,
                max_answer_tokens);
  const std::int64_t prompt_tokens = said.prompt_tokens
                                         ? static_cast<std::int64_t>(said.prompt_tokens->size())
                                         : std::max<std::int64_t>(said.n_prompt_tokens, 0);
  Request request;
  request.start_ns = said.start_ns;
  request.repeat = static_cast<std::int32_t>(said.repeat);
  request.seed = said.seed;
  DRAFTSCOPE_TRY_ASSIGN(ForeignRequest checked,
                        ForeignRequest::begin(request, prompt_tokens, place_ns_, where));
  request = checked.request();
  request.id = writer_.next_request_id();
  request.run_id = run(said.run, false);
  request.prompt_id = prompt_of(said, key);
  checked.identify(request);
  writer_.begin(request);
  ++counts_.rows;
  begun_.insert(key);
  open_.emplace(key, std::move(checked));
  return {};
}

Result<ForeignRequest*> ForeignWriter::under_way(const std::string& key, const std::string& where) {
  const auto found = open_.find(key);
  if (found != open_.end()) return &found->second;
  return fail("{}: request {} {}, expected one that is under way", where, quote(key),
              begun_.contains(key) ? "has ended" : "never began");
}

Result<void> ForeignWriter::round(const std::string& key, const ForeignRound& said,
                                  const std::string& where) {
  DRAFTSCOPE_TRY_ASSIGN(ForeignRequest * request, under_way(key, where));
  ForeignRequest after = *request;  // A refused round changes nothing.
  DRAFTSCOPE_TRY_ASSIGN(ForeignRows rows, after.round(said, where));
  *request = std::move(after);
  rows.round.id = writer_.next_round_id();
  writer_.add(rows.round, rows.draft_tokens);
  ++counts_.rounds;
  counts_.rows += 1 + static_cast<std::int64_t>(rows.draft_tokens.size());
  note(request->missing());
  return {};
}

Result<void> ForeignWriter::end(const std::string& key, const ForeignEnd& said, const std::string& where) {
  DRAFTSCOPE_TRY_ASSIGN(ForeignRequest * request, under_way(key, where));
  ForeignRequest after = *request;  // A refused end changes nothing.
  DRAFTSCOPE_TRY_ASSIGN(const Request row, after.finish(said, where));
  place_ns_ = std::max(place_ns_, row.end_ns);
  // No figure counts a request that did not finish, so what its end lacks is missing in none.
  if (row.stop != RequestStop::cancelled && row.stop != RequestStop::error) note(after.missing());
  open_.erase(key);
  writer_.finish(row);
  ++counts_.requests;
  ++counts_.rows;
  return {};
}

Result<void> ForeignWriter::cancel_all(const std::string& where) {
  while (!open_.empty()) {
    const std::string key = open_.begin()->first;
    DRAFTSCOPE_TRY(end(key, {.stop = RequestStop::cancelled, .text = {}, .tokens = {}}, where));
  }
  return {};
}

std::optional<std::string> ForeignWriter::open_key() const {
  if (open_.empty()) return std::nullopt;
  return open_.begin()->first;
}

}  // namespace draftscope::traces
