// SPDX-License-Identifier: GPL-3.0-or-later
#include "foreign/foreign_round.h"

#include <draftscope/traces/records.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "foreign/json_fields.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_position = std::numeric_limits<std::int32_t>::max();

Result<void> check(std::int64_t value, std::int64_t min, std::int64_t max, std::string_view name,
                   const std::string& where) {
  if (value >= min && value <= max) return {};
  return fail("{}: {} is {}, expected {} to {}", where, name, value, min, max);
}

template <typename List>
Result<void> check_size(const List& list, std::int64_t drafted, std::string_view name,
                        const std::string& where) {
  if (list.empty() || static_cast<std::int64_t>(list.size()) == drafted) return {};
  return fail("{}: {} has {} entries, expected one a draft token ({})", where, name, list.size(), drafted);
}

Result<void> check_shares(const std::vector<double>& list, std::string_view name, const std::string& where) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] < 0.0 || list[i] > 1.0)  // an unknown one is neither
      return fail("{}: {}[{}] is {}, expected 0 to 1", where, name, i, list[i]);
  return {};
}

}  // namespace

Result<ForeignRequest> ForeignRequest::begin(Request request, std::int64_t prompt_tokens,
                                             std::int64_t place_ns, const std::string& where) {
  ForeignRequest whole;
  whole.has_times_ = request.start_ns >= 0;
  if (!whole.has_times_) request.start_ns = place_ns;
  DRAFTSCOPE_TRY(check(request.start_ns, 0, max_ns - 1, "start_ns", where));
  whole.last_ns_ = request.start_ns;
  whole.position_ = prompt_tokens;
  whole.request_ = std::move(request);
  for (const MissingData missing : {MissingData::layer_sets, MissingData::device})
    whole.missing_.insert(missing);
  return whole;
}

Result<void> ForeignRequest::place(const ForeignRound& said, Round& round, const std::string& where) {
  if ((said.start_ns < 0) != (said.end_ns < 0))
    return fail("{}: {} is missing, expected both start_ns and end_ns or neither", where,
                said.start_ns < 0 ? "start_ns" : "end_ns");
  if (said.start_ns >= 0 && !has_times_)
    return fail("{}: start_ns is {}, but the request has none, expected one there too", where, said.start_ns);
  round.start_ns = round.end_ns = last_ns_;
  if (said.start_ns < 0) {
    missing_.insert({MissingData::round_times, MissingData::phase_times});
    return {};
  }
  DRAFTSCOPE_TRY(check(said.start_ns, last_ns_, max_ns, "start_ns", where));
  DRAFTSCOPE_TRY(check(said.end_ns, said.start_ns, max_ns, "end_ns", where));
  round.start_ns = said.start_ns;
  round.end_ns = said.end_ns;
  std::int64_t left = said.end_ns - said.start_ns;
  struct Part {
    std::string_view name;
    std::int64_t said;
    std::int64_t& kept;
  };
  for (const Part& part :
       {Part{"draft_ns", said.draft_ns, round.draft_ns}, Part{"verify_ns", said.verify_ns, round.verify_ns},
        Part{"accept_ns", said.accept_ns, round.accept_ns},
        Part{"optimise_ns", said.optimise_ns, round.optimise_ns},
        Part{"control_ns", said.control_ns, round.control_ns}}) {
    if (part.said < 0) continue;
    if (part.said > left)
      return fail("{}: {} is {}, expected at most {}, which the round's other phases leave", where, part.name,
                  part.said, left);
    part.kept = part.said;
    left -= part.said;
  }
  if (said.draft_ns < 0 || said.verify_ns < 0) missing_.insert(MissingData::phase_times);
  return {};
}

Result<std::vector<DraftToken>> ForeignRequest::draft(const ForeignRound& said, const Round& round,
                                                      const std::string& where) {
  DRAFTSCOPE_TRY(check_size(said.tokens, round.drafted, "tokens", where));
  DRAFTSCOPE_TRY(check_size(said.confidences, round.drafted, "confidences", where));
  DRAFTSCOPE_TRY(check_size(said.probabilities, round.drafted, "probabilities", where));
  DRAFTSCOPE_TRY(check_size(said.parents, round.drafted, "parents", where));
  DRAFTSCOPE_TRY(check_size(said.taken, round.drafted, "taken", where));
  DRAFTSCOPE_TRY(check_size(said.tested, round.drafted, "tested", where));
  DRAFTSCOPE_TRY(check_shares(said.confidences, "confidences", where));
  DRAFTSCOPE_TRY(check_shares(said.probabilities, "probabilities", where));
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<DraftToken> tokens;
  std::int64_t taken = 0;
  std::int32_t last_taken = -1;
  for (std::int32_t i = 0; i < round.drafted; ++i) {
    const auto at = static_cast<std::size_t>(i);
    DraftToken token;
    token.index = i;
    token.parent = said.parents.empty() ? i - 1 : said.parents[at];
    if (token.parent < -1 || token.parent >= i)
      return fail("{}: parents[{}] is {}, expected -1 to {}", where, i, token.parent, i - 1);
    token.token = said.tokens.empty() ? unknown_token : said.tokens[at];
    token.confidence = said.confidences.empty() ? unknown : said.confidences[at];
    token.probability = said.probabilities.empty() ? unknown : said.probabilities[at];
    token.accepted = said.taken.empty() ? i < round.accepted : said.taken[at] != 0;
    token.tested = said.tested.empty() ? token.accepted || i <= round.accepted : said.tested[at] != 0;
    if (token.accepted && !token.tested)
      return fail("{}: tested[{}] is false of an accepted token, expected true", where, i);
    if (token.accepted && token.parent != last_taken)
      return fail("{}: token {} is accepted and its parent is {}, expected {}, the accepted token before it",
                  where, i, token.parent, last_taken);
    if (token.accepted) last_taken = i;
    taken += token.accepted ? 1 : 0;
    tokens.push_back(token);
  }
  if (taken != round.accepted)
    return fail("{}: taken has {} accepted tokens, expected as many as accepted ({})", where, taken,
                round.accepted);
  if (round.drafted > 0 && said.tokens.empty()) missing_.insert(MissingData::token_ids);
  if (round.drafted > 0 && said.confidences.empty()) missing_.insert(MissingData::confidences);
  return tokens;
}

Result<ForeignRows> ForeignRequest::round(const ForeignRound& said, const std::string& where) {
  ForeignRows rows;
  Round& round = rows.round;
  round.request_id = request_.id;
  round.index = rounds_;
  DRAFTSCOPE_TRY(check(said.accepted, 0, max_draft_tokens, "accepted", where));
  DRAFTSCOPE_TRY(check(said.drafted, -1, max_draft_tokens, "drafted", where));
  if (said.drafted >= 0 && said.accepted > said.drafted)
    return fail("{}: accepted is {}, expected at most drafted ({})", where, said.accepted, said.drafted);
  round.accepted = static_cast<std::int32_t>(said.accepted);
  round.drafted = static_cast<std::int32_t>(said.drafted >= 0 ? said.drafted : said.accepted);
  if (said.drafted < 0) missing_.insert(MissingData::draft_lengths);
  DRAFTSCOPE_TRY_ASSIGN(rows.draft_tokens, draft(said, round, where));
  round.tree_depth = traces::tree_depth(rows.draft_tokens);
  if (said.planned >= 0 || round.drafted > 0)
    DRAFTSCOPE_TRY(check(said.planned >= 0 ? said.planned : round.drafted, round.tree_depth, max_draft_tokens,
                         "planned", where));
  round.planned = static_cast<std::int32_t>(said.planned >= 0 ? said.planned : round.drafted);
  const std::int64_t emitted = said.emitted >= 0 ? said.emitted : said.accepted + 1;
  DRAFTSCOPE_TRY(check(emitted, 0, said.accepted + 1, "emitted", where));
  round.emitted = static_cast<std::int32_t>(emitted);
  if (said.position >= 0) position_ = said.position;
  DRAFTSCOPE_TRY(check(position_, 0, max_position, "position", where));
  round.root_position = static_cast<std::int32_t>(position_);
  position_ += emitted;
  emitted_ += emitted;
  DRAFTSCOPE_TRY(check(said.verify_rows, -1, max_position, "verify_rows", where));
  round.verify_rows = static_cast<std::int32_t>(said.verify_rows >= 0 ? said.verify_rows : round.drafted + 1);
  DRAFTSCOPE_TRY(check(said.exit_layer, 0, max_position, "exit_layer", where));
  round.exit_layer = static_cast<std::int32_t>(said.exit_layer);
  DRAFTSCOPE_TRY(check(said.bonus_token, -1, max_position, "bonus_token", where));
  round.bonus_token = static_cast<std::int32_t>(said.bonus_token);
  round.draft_stop = said.draft_stop.value_or(round.drafted > 0 ? DraftStop::length : DraftStop::no_draft);
  if (std::isfinite(said.threshold)) round.threshold = said.threshold;
  DRAFTSCOPE_TRY(place(said, round, where));
  last_ns_ = round.end_ns;
  ++rounds_;
  return rows;
}

Result<Request> ForeignRequest::finish(const ForeignEnd& said, const std::string& where) {
  Request request = request_;
  if (said.end_ns >= 0 && !has_times_)
    return fail("{}: end_ns is {}, but the request has no start_ns, expected both or neither", where,
                said.end_ns);
  if (said.end_ns >= 0) {
    DRAFTSCOPE_TRY(check(said.end_ns, last_ns_, max_ns, "end_ns", where));
    request.end_ns = said.end_ns;
  } else {
    // The rounds tell the request's time as far as they have times.
    const bool is_told = has_times_ && last_ns_ > request.start_ns;
    request.end_ns = is_told ? last_ns_ : request.start_ns + 1;
    if (!is_told) missing_.insert(MissingData::wall_times);
    if (!is_told && said.first_token_ns > 0)
      return fail("{}: end_ns is missing, expected it beside first_token_ns", where);
  }
  // A row with an end of 0 would mean a request that was cut off.
  request.end_ns = std::max<std::int64_t>(request.end_ns, 1);
  if (said.first_token_ns > 0)
    DRAFTSCOPE_TRY(check(said.first_token_ns, request.start_ns, request.end_ns, "first_token_ns", where));
  if (said.first_token_ns >= 0)
    request.first_token_ns = said.first_token_ns;
  else
    missing_.insert(MissingData::first_token_times);
  if (said.tokens) {
    const auto tokens = static_cast<std::int64_t>(said.tokens->size());
    if (said.n_tokens >= 0 && said.n_tokens != tokens)
      return fail("{}: n_tokens is {}, expected the length of tokens ({})", where, said.n_tokens, tokens);
    DRAFTSCOPE_TRY(check(tokens, 0, max_answer_tokens, "length of tokens", where));
    request.tokens = *said.tokens;
  } else {
    const std::int64_t tokens = said.n_tokens >= 0 ? said.n_tokens : emitted_;
    DRAFTSCOPE_TRY(check(tokens, 0, max_answer_tokens, "n_tokens", where));
    request.tokens.assign(static_cast<std::size_t>(tokens), unknown_token);
    if (said.n_tokens < 0) missing_.insert(MissingData::output_lengths);
    if (tokens > 0) missing_.insert(MissingData::token_ids);
  }
  request.text = said.text.value_or("");
  if (!said.text) missing_.insert(MissingData::output_text);
  request.stop = said.stop.value_or(RequestStop::length);
  // The first token is the prefill's, and takes no round.
  const bool is_length_known = said.tokens || said.n_tokens >= 0;
  if (rounds_ == 0 && (!is_length_known || request.tokens.size() > 1)) missing_.insert(MissingData::rounds);
  return request;
}

}  // namespace draftscope::traces
