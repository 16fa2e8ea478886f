// SPDX-License-Identifier: GPL-3.0-or-later
// llama.cpp's server log: rounds of LLAMA_TRACE=1 or --verbose, times from the lines' own clock. Slots
// interleave, each with one task at a time. What a task says of itself at its end (drafted, accepted,
// generated) must be what its lines give.
#include <draftscope/base/quote.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "foreign/foreign_writer.h"
#include "import/answers/text_lines.h"
#include "import/formats.h"
#include "import/json_fields.h"
#include "import/llama_cpp/log_lines.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_rounds = std::int64_t{1} << 17U;

/// A draft token that the log shows before anyone knows how long the draft is.
struct Candidate {
  std::int64_t position = 0;
  std::int32_t token = -1;
  double probability = 0.0;
};

/// One task of one slot, from its beginning to its end.
struct Task {
  std::int64_t id = -1;
  std::int64_t line = 0;  ///< where it began
  std::int64_t start_us = -1;
  std::int64_t first_token_us = -1;
  std::int64_t drafted_us = -1;  ///< end of the drafting that is under way
  std::int64_t prompt_tokens = -1;
  std::int64_t generated = -1;
  double prompt_ms = -1.0;
  std::int64_t stated_accepted = -1;
  std::int64_t stated_drafted = -1;
  std::int64_t end_us = -1;
  std::vector<std::int32_t> tokens;
  std::vector<ForeignRound> rounds;
  std::vector<Candidate> draft;     ///< of the round under way
  std::int64_t draft_tokens = -1;   ///< of that round; -1 = not said
  std::int64_t own_token = -1;      ///< the target's, of that round
  std::int64_t replayed = -1;       ///< accepted tokens whose replay is to come; -1 = none
  bool may_repeat = false;          ///< the last round's line may come again, in --verbose's words
  std::optional<LlamaLine> unsaid;  ///< a round whose line has not come yet
  bool is_plain = false;            ///< a step without a draft is under way
};

class LlamaLog {
 public:
  LlamaLog(const std::filesystem::path& file, ImportContext& context)
      : file_(file), context_(context), rows_(context.foreign), run_(run_name(file, context)) {
    rows_.run(run_.specification, context.is_baseline);
    context.target.writer().set_meta("engine", "llama.cpp");
  }

  Result<void> take(std::string_view text, std::int64_t number) {
    const LlamaLine line = llama_line(text);
    if (line.event == LlamaEvent::none) return {};
    const std::string where = fmt::format("{}: line {}", file_.string(), number);
    // A token's text may hold line breaks, and what follows one looks like anything.
    if (line.time_us >= 0) has_times_ = true;
    if (has_times_ && line.time_us < 0) return {};
    if (line.time_us >= 0) {
      if (line.time_us < now_us_)
        return fail("{}: its time is {} us, expected at least that of the line before ({} us)", where,
                    line.time_us, now_us_);
      now_us_ = line.time_us;
    }
    switch (line.event) {
      case LlamaEvent::unknown:
        if (++unknown_lines_ <= max_examples) unknown_.push_back(excerpt(text));
        return {};
      case LlamaEvent::candidate:
        return take_candidate(line);
      case LlamaEvent::began:
        return begin(line, number, where);
      default:
        break;
    }
    const auto found = tasks_.find(line.slot);
    if (found == tasks_.end() || found->second.id != line.task) {
      // What a slot says once it is free belongs to no round.
      const bool is_round = line.event == LlamaEvent::accepted || line.event == LlamaEvent::verified ||
                            line.event == LlamaEvent::restored || line.event == LlamaEvent::drafted;
      if (!is_round || context_.options.partial) return {};
      return fail("{}: task {} of slot {} never began, expected its line \"processing task\" before{}", where,
                  line.task, line.slot, cut_hint);
    }
    return take(line, found->second, where);
  }

  Result<void> finish() {
    for (auto& [slot, task] : tasks_) {
      const std::string where = fmt::format("{}: line {}", file_.string(), task.line);
      if (!context_.options.partial)
        return fail("{}: task {} of slot {} never ended, expected its line \"stop processing\"{}", where,
                    task.id, slot, cut_hint);
      DRAFTSCOPE_TRY(write(task, true, where));
    }
    if (requests_ == 0)
      return fail("{}: holds no task, expected a log of llama-server with LLAMA_TRACE=1 or --verbose",
                  file_.string());
    nlohmann::json stated{{"tasks", requests_}};
    if (undrafted_ > 0) stated["steps_without_draft_and_place"] = undrafted_;
    if (unknown_lines_ > 0) {
      stated["unknown_lines"] = unknown_lines_;
      stated["unknown_examples"] = unknown_;
    }
    context_.stated_figures[run_.specification] =
        stated.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (undrafted_ > 0) context_.target.note(MissingData::plain_steps);
    context_.next_ns = end_ns_;
    return {};
  }

 private:
  static constexpr std::string_view cut_hint = " (--partial takes what is there)";
  static constexpr std::int64_t max_examples = 5;

  Result<void> take_candidate(const LlamaLine& line) {
    const auto found = tasks_.find(line.values[0]);
    // The draft takes the best candidate of each position.
    if (found == tasks_.end() || line.values[1] != 0) return {};
    std::vector<Candidate>& draft = found->second.draft;
    if (line.values[2] == 0) draft.clear();
    if (line.values[2] == static_cast<std::int64_t>(draft.size()) && line.values[2] < max_draft_tokens)
      draft.push_back({line.values[2], token_of(line.values[3]), line.number});
    return {};
  }

  static std::int32_t token_of(std::int64_t value) {
    const bool fits = value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
    return fits ? static_cast<std::int32_t>(value) : -1;
  }

  Result<void> begin(const LlamaLine& line, std::int64_t number, const std::string& where) {
    if (const auto old = tasks_.find(line.slot); old != tasks_.end()) {
      if (!context_.options.partial)
        return fail(
            "{}: slot {} takes task {} while task {} has not ended, expected its line \"stop processing\"{}",
            where, line.slot, line.task, old->second.id, cut_hint);
      DRAFTSCOPE_TRY(write(old->second, true, where));
      tasks_.erase(old);
    }
    Task task;
    task.id = line.task;
    task.line = number;
    task.start_us = line.time_us;
    tasks_.emplace(line.slot, std::move(task));
    return {};
  }

  Result<void> take(const LlamaLine& line, Task& task, const std::string& where) {
    switch (line.event) {
      case LlamaEvent::prompt:
        task.prompt_tokens = std::clamp<std::int64_t>(line.values[2], 0, max_answer_tokens);
        return {};
      case LlamaEvent::drafted:
        task.drafted_us = line.time_us;
        task.draft_tokens = line.values[2];
        task.is_plain = false;
        return {};
      case LlamaEvent::plain_step:
        task.is_plain = true;
        return {};
      case LlamaEvent::own_token:
        // Behind LLAMA_TRACE's line, before that of --verbose, which does not come where the task ends in the
        // round.
        if (task.may_repeat && !task.rounds.empty()) {
          task.rounds.back().bonus_token = token_of(line.values[0]);
          return {};
        }
        task.own_token = token_of(line.values[0]);
        task.unsaid = line;
        task.unsaid->event = LlamaEvent::verified;
        task.unsaid->values = {line.values[1] - 1, line.values[2]};
        return {};
      case LlamaEvent::accepted:
      case LlamaEvent::restored:
      case LlamaEvent::verified:
        return add_round(line, task, where);
      case LlamaEvent::token:
        return take_token(line, task, where);
      case LlamaEvent::prompt_time:
        task.prompt_ms = line.number;
        if (task.prompt_tokens < 0)
          task.prompt_tokens = std::clamp<std::int64_t>(line.values[0], 0, max_answer_tokens);
        return {};
      case LlamaEvent::decode_time:
        if (task.unsaid) DRAFTSCOPE_TRY(add_round(LlamaLine(*task.unsaid), task, where));
        task.generated = line.values[0];
        task.end_us = line.time_us;
        return {};
      case LlamaEvent::acceptance:
        task.stated_accepted = line.values[0];
        task.stated_drafted = line.values[1];
        return {};
      case LlamaEvent::ended: {
        if (task.unsaid) DRAFTSCOPE_TRY(add_round(LlamaLine(*task.unsaid), task, where));
        if (task.end_us < 0) task.end_us = line.time_us;
        DRAFTSCOPE_TRY(write(task, false, where));
        tasks_.erase(line.slot);
        return {};
      }
      default:
        return {};
    }
  }

  Result<void> add_round(const LlamaLine& line, Task& task, const std::string& where) {
    const auto [accepted, drafted] = std::pair{line.values[0], line.values[1]};
    if (accepted < 0 || drafted > max_draft_tokens || accepted > drafted)
      return fail(
          "{}: accepts {} of {} draft tokens, expected at most as many as were drafted, and these at most {}",
          where, accepted, drafted, max_draft_tokens);
    // Both LLAMA_TRACE's line and that of --verbose speak of one round.
    if (line.event == LlamaEvent::verified && task.may_repeat && !task.rounds.empty() &&
        task.rounds.back().accepted == accepted && task.rounds.back().drafted == drafted) {
      task.may_repeat = false;
      return {};
    }
    if (line.event == LlamaEvent::verified && task.replayed >= 0 && accepted == drafted &&
        accepted == task.replayed) {
      end_replay(line, task);
      return {};
    }
    if (line.event == LlamaEvent::accepted && task.replayed >= 0) {
      // The context could not be cut: what was accepted was computed again, as a draft that is all right.
      if (accepted != task.replayed || drafted != task.replayed)
        return fail(
            "{}: accepts {} of {} draft tokens, expected {} of {}, the replay of what was accepted before",
            where, accepted, drafted, task.replayed, task.replayed);
      end_replay(line, task);
      task.may_repeat = true;
      return {};
    }
    if (static_cast<std::int64_t>(task.rounds.size()) >= max_rounds)
      return fail("{}: task {} has more than {} rounds, expected fewer", where, task.id, max_rounds);
    ForeignRound round;
    round.accepted = accepted;
    round.drafted = drafted;
    round.bonus_token = task.own_token;
    round.end_ns = line.time_us;  // microseconds until the task is written
    round.draft_ns = task.draft_tokens == drafted ? task.drafted_us : -1;
    if (task.draft_tokens == drafted && static_cast<std::int64_t>(task.draft.size()) >= drafted)
      for (std::int64_t i = 0; i < drafted; ++i) {
        const Candidate& one = task.draft[static_cast<std::size_t>(i)];
        round.tokens.push_back(one.token);
        round.confidences.push_back(one.probability >= 0.0 && one.probability <= 1.0
                                        ? one.probability
                                        : std::numeric_limits<double>::quiet_NaN());
      }
    task.rounds.push_back(std::move(round));
    task.draft.clear();
    task.unsaid.reset();
    task.draft_tokens = task.drafted_us = task.own_token = -1;
    task.may_repeat = line.event == LlamaEvent::accepted;
    if (line.event == LlamaEvent::restored) task.replayed = accepted;
    return {};
  }

  static void end_replay(const LlamaLine& line, Task& task) {
    task.rounds.back().end_ns = line.time_us;
    task.rounds.back().bonus_token = task.own_token;
    task.replayed = task.own_token = task.draft_tokens = task.drafted_us = -1;
    task.unsaid.reset();
  }

  Result<void> take_token(const LlamaLine& line, Task& task, const std::string& where) {
    if (task.unsaid) task.unsaid->time_us = line.time_us;
    if (static_cast<std::int64_t>(task.tokens.size()) >= max_answer_tokens)
      return fail("{}: task {} has more than {} tokens, expected fewer", where, task.id, max_answer_tokens);
    task.tokens.push_back(token_of(line.values[2]));
    if (task.tokens.size() == 1) {
      task.first_token_us = line.time_us;
    } else if (task.is_plain) {
      ForeignRound round;
      round.drafted = 0;
      round.bonus_token = task.tokens.back();
      round.end_ns = line.time_us;
      task.rounds.push_back(std::move(round));
      task.is_plain = false;
    }
    return {};
  }

  Result<void> check_sums(const Task& task, const std::string& where) {
    std::int64_t accepted = 0, drafted = 0;
    for (const ForeignRound& round : task.rounds) {
      accepted += round.accepted;
      drafted += round.drafted;
    }
    if (task.stated_drafted < 0 || (accepted == task.stated_accepted && drafted == task.stated_drafted))
      return {};
    return fail("{}: task {} says that {} of {} draft tokens were accepted, but its lines give {} of {}",
                where, task.id, task.stated_accepted, task.stated_drafted, accepted, drafted);
  }

  /// Rows of a task, its times moved behind the files before.
  Result<void> write(Task& task, bool is_cut, const std::string& where) {
    if (!is_cut) DRAFTSCOPE_TRY(check_sums(task, where));
    const std::int64_t offset_ns = context_.next_ns;
    const auto ns = [&](std::int64_t us) { return us < 0 ? -1 : offset_ns + us * 1000; };
    constexpr double us_per_ms = 1000.0;
    if (task.first_token_us < 0 && task.start_us >= 0 && task.prompt_ms >= 0.0 && task.prompt_ms < 1e12)
      task.first_token_us = task.start_us + static_cast<std::int64_t>(task.prompt_ms * us_per_ms);
    if (!task.rounds.empty() && task.first_token_us > task.rounds.front().end_ns)
      task.first_token_us = -1;  // rounding, or another clock
    if (task.first_token_us > task.end_us && task.rounds.empty()) task.first_token_us = -1;
    ForeignStart start;
    start.run = run_.specification;
    start.start_ns = ns(task.start_us);
    start.n_prompt_tokens = task.prompt_tokens;
    start.question_id = ++requests_;
    start.repeat = run_.repeat;
    const std::string key = fmt::format("{}/{}/{}", run_.specification, run_.repeat, requests_);
    DRAFTSCOPE_TRY(rows_.begin(key, start, where));
    std::int64_t emitted = 0;
    for (const ForeignRound& round : task.rounds) emitted += round.accepted + 1;
    // The prefill gives the first token. Steps without a draft are seen by --verbose alone; the last round
    // may give more tokens than were wanted.
    const std::int64_t wanted = task.generated >= 0 ? std::max<std::int64_t>(task.generated - 1, 0) : emitted;
    if (wanted > emitted) undrafted_ += wanted - emitted;
    std::int64_t surplus = std::max<std::int64_t>(emitted - wanted, 0);
    std::int64_t last_us = task.first_token_us >= 0 ? task.first_token_us : task.start_us;
    for (std::size_t i = 0; i < task.rounds.size(); ++i) {
      ForeignRound& round = task.rounds[i];
      round.emitted = round.accepted + 1;
      if (i + 1 == task.rounds.size()) {
        round.emitted = std::max<std::int64_t>(round.emitted - surplus, 0);
        surplus -= round.accepted + 1 - round.emitted;
      }
      const std::int64_t end_us = round.end_ns;
      const std::int64_t drafted_us = round.draft_ns;
      round.start_ns = end_us < 0 ? -1 : ns(last_us);
      round.end_ns = ns(end_us);
      round.draft_ns = drafted_us >= last_us && end_us >= 0 ? (drafted_us - last_us) * 1000 : -1;
      if (round.draft_ns >= 0) round.verify_ns = (end_us - drafted_us) * 1000;
      if (round.drafted == 0 && end_us >= 0) {
        round.draft_ns = 0;
        round.verify_ns = (end_us - last_us) * 1000;
      }
      if (end_us >= 0) last_us = end_us;
      DRAFTSCOPE_TRY(rows_.round(key, round, where));
    }
    if (surplus > 0)
      return fail("{}: task {} says that {} tokens were generated, but its rounds give {}", where, task.id,
                  task.generated, emitted + 1);
    ForeignEnd end;
    end.end_ns = task.start_us < 0 ? -1 : ns(std::max(task.end_us, last_us));
    end.first_token_ns = ns(task.first_token_us);
    if (is_cut) end.stop = RequestStop::cancelled;
    const auto tokens = static_cast<std::int64_t>(task.tokens.size());
    if (tokens > 0 && (task.generated < 0 || tokens == task.generated))
      end.tokens = task.tokens;
    else if (task.generated >= 0)
      end.n_tokens = task.generated;
    const std::int64_t rows_before = written_rows_;
    DRAFTSCOPE_TRY(rows_.end(key, end, where));
    written_rows_ = rows_.counts().rows;
    context_.target.took(written_rows_ - rows_before);
    end_ns_ = std::max(end_ns_, std::max<std::int64_t>(end.end_ns, 0));
    return {};
  }

  const std::filesystem::path& file_;
  ImportContext& context_;
  ForeignWriter& rows_;
  RunName run_;
  std::map<std::int64_t, Task> tasks_;  ///< by slot
  std::int64_t now_us_ = -1;
  std::int64_t requests_ = 0;
  std::int64_t undrafted_ = 0;
  std::int64_t unknown_lines_ = 0;
  std::int64_t written_rows_ = rows_.counts().rows;
  std::int64_t end_ns_ = 0;
  std::vector<std::string> unknown_;
  bool has_times_ = false;
};

}  // namespace

Result<void> import_llama_cpp(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, run_name(file, context), context));
  LlamaLog log(file, context);
  DRAFTSCOPE_TRY(read_text_lines(
      file, context.progress,
      [&](std::string_view line, std::int64_t number, bool /*is_ended*/) { return log.take(line, number); }));
  return log.finish();
}

}  // namespace draftscope::traces
