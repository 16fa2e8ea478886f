// SPDX-License-Identifier: GPL-3.0-or-later
// Imports llama.cpp's logs. Its server, and llama-cli, which runs one, log rounds with LLAMA_TRACE=1 or
// --verbose, and otherwise sums; times come from the lines' own clock. Slots interleave, each with one task
// at a time. A task's totals at its end (drafted, accepted, generated) must match its lines.
// llama-speculative-simple and llama-speculative write one text, and their lines name no task.
#include <draftscope/base/quote.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "foreign/foreign_writer.h"
#include "foreign/json_fields.h"
#include "import/formats.h"
#include "import/llama_cpp/llama_task.h"
#include "import/llama_cpp/log_lines.h"
#include "import/log_fields.h"

namespace draftscope::traces {
namespace {

class LlamaLog {
 public:
  LlamaLog(const std::filesystem::path& file, ImportContext& context)
      : file_(file), context_(context), rows_(context.foreign), run_(run_name(file, context)) {
    rows_.run(run_.specification, context.is_baseline);
    context.target.writer().set_meta("engine", "llama.cpp");
  }

  Result<void> take(std::string_view text, std::int64_t number) {
    LlamaLine line = llama_line(text);
    if (!line.is_of_a_program) timed_slot_ = line.event == LlamaEvent::timings ? line.slot : -1;
    if (line.event == LlamaEvent::none || line.event == LlamaEvent::timings) return {};
    const std::string where = fmt::format("{}: line {}", file_.string(), number);
    if (is_timing(line)) {
      const auto timed = tasks_.find(timed_slot_);
      return timed == tasks_.end() ? Result<void>{} : take_line(line, timed->second, where);
    }
    // A token's text may contain line breaks, and the part after one may look like anything.
    if (line.time_us >= 0) has_times_ = true;
    if (has_times_ && line.time_us < 0) return {};
    if (line.time_us >= 0) {
      line.time_us += restarted_us_;
      const bool may_begin_anew =
          line.event == LlamaEvent::began && (tasks_.empty() || context_.options.partial);
      if (line.time_us < now_us_ && may_begin_anew) {
        // The server began anew, and its clock with it; what was under way was cut.
        for (auto& [slot, task] : tasks_) DRAFTSCOPE_TRY(write(task, true, where));
        tasks_.clear();
        restarted_us_ += now_us_ - line.time_us;
        line.time_us = now_us_;
      }
      if (line.time_us < now_us_)
        return fail("{}: its time is {} us, expected at least that of the line before ({} us){}", where,
                    line.time_us, now_us_, line.event == LlamaEvent::began ? cut_hint : "");
      if (line.time_us > max_llama_us)
        return fail("{}: its time is {} us, expected at most {} us", where, line.time_us, max_llama_us);
      now_us_ = line.time_us;
    }
    if (line.event == LlamaEvent::unknown) {
      if (++unknown_lines_ <= max_examples) unknown_.push_back(excerpt(text));
      return {};
    }
    if (line.event == LlamaEvent::began) return begin(line, number, where);
    const auto found = tasks_.find(line.slot);
    if (line.is_of_a_program && (found == tasks_.end() || line.event != LlamaEvent::candidate))
      return take_of_program(line, number, where);
    if (found == tasks_.end() || found->second.id != line.task) {
      if (line.event == LlamaEvent::candidate && found != tasks_.end())
        return take_line(line, found->second, where);
      // Lines about a slot after it is free belong to no round.
      const bool is_round = line.event == LlamaEvent::accepted || line.event == LlamaEvent::verified ||
                            line.event == LlamaEvent::restored || line.event == LlamaEvent::drafted;
      if (!is_round || context_.options.partial) return {};
      return fail("{}: task {} of slot {} never began, expected its line \"processing task\" before{}", where,
                  line.task, line.slot, cut_hint);
    }
    if (line.event != LlamaEvent::ended) return take_line(line, found->second, where);
    DRAFTSCOPE_TRY(take_end(line, found->second, where));
    DRAFTSCOPE_TRY(write(found->second, false, where));
    tasks_.erase(found);
    return {};
  }

  Result<void> finish() {
    for (auto& [slot, task] : tasks_) {
      const std::string where = fmt::format("{}: line {}", file_.string(), task.line);
      if (!context_.options.partial)
        return fail("{}: task {} of slot {} never ended, expected its line \"stop processing\"{}", where,
                    task.id, slot, cut_hint);
      DRAFTSCOPE_TRY(write(task, true, where));
    }
    // A server's drafts without a task are no text.
    if (program_ && (!program_->rounds.empty() || program_->generated >= 0)) {
      const std::string where = fmt::format("{}: line {}", file_.string(), program_->line);
      if (!context_.options.partial)
        return fail("{}: its text never ended, expected the line \"accept = \"{}", where, cut_hint);
      DRAFTSCOPE_TRY(write(*program_, true, where));
    }
    if (requests_ == 0)
      return fail(
          "{}: holds no task, expected a log of llama-server with LLAMA_TRACE=1 or --verbose, or of "
          "llama-speculative-simple",
          file_.string());
    keep_stated();
    if (undrafted_ > 0) context_.target.note(MissingData::plain_steps);
    context_.next_ns = end_ns_;
    return {};
  }

 private:
  /// Whether the line has a task's times or sums without its name.
  static bool is_timing(const LlamaLine& line) {
    return line.is_of_a_program &&
           (line.event == LlamaEvent::prompt_time || line.event == LlamaEvent::decode_time ||
            line.event == LlamaEvent::acceptance);
  }

  static constexpr std::string_view cut_hint = " (--partial takes what is there)";
  static constexpr std::int64_t max_examples = 5;

  Result<void> begin(const LlamaLine& line, std::int64_t number, const std::string& where) {
    if (const auto old = tasks_.find(line.slot); old != tasks_.end()) {
      if (!context_.options.partial)
        return fail(
            "{}: slot {} takes task {} while task {} has not ended, expected its line \"stop processing\"{}",
            where, line.slot, line.task, old->second.id, cut_hint);
      DRAFTSCOPE_TRY(write(old->second, true, where));
      tasks_.erase(old);
    }
    LlamaTask task;
    task.id = line.task;
    task.line = number;
    task.start_us = line.time_us;
    tasks_.emplace(line.slot, std::move(task));
    return {};
  }

  /// Handles a line that names no task, from a program that writes one text.
  Result<void> take_of_program(const LlamaLine& line, std::int64_t number, const std::string& where) {
    if (!program_) {
      program_.emplace();
      program_->id = 0;
      program_->line = number;
      program_->is_of_a_program = true;
    }
    if (line.event != LlamaEvent::ended) return take_line(line, *program_, where);
    if (program_->generated < 0)
      return fail("{}: a text ends without its length, expected the line \"decoded N tokens\" before{}",
                  where, cut_hint);
    DRAFTSCOPE_TRY(take_end(line, *program_, where));
    DRAFTSCOPE_TRY(write(*program_, false, where));
    program_.reset();
    return {};
  }

  Result<void> write(LlamaTask& task, bool is_cut, const std::string& where) {
    const LlamaPlace place{rows_, run_.specification, run_.repeat, ++requests_, context_.next_ns, begin_us_};
    DRAFTSCOPE_TRY_ASSIGN(const LlamaWritten written, write_task(task, is_cut, place, where));
    undrafted_ += written.undrafted;
    end_ns_ = std::max(end_ns_, written.end_ns);
    const std::int64_t rows_before = written_rows_;
    written_rows_ = rows_.counts().rows;
    context_.target.took(written_rows_ - rows_before);
    if (!has_times_) begin_us_ = std::max(begin_us_, task.end_us);
    if (!task.rounds.empty() || task.stated_drafted <= 0) return {};
    drafted_ += task.stated_drafted;
    const std::int64_t accepted = std::clamp<std::int64_t>(task.stated_accepted, 0, task.stated_drafted);
    accepted_ += accepted;
    // The line has no number of verifications; the mean length without the bonus token gives it.
    const double steps =
        task.stated_length > 1.0 ? static_cast<double>(accepted) / (task.stated_length - 1.0) : 0.0;
    steps_ += steps;
    accepted_of_steps_ += steps > 0.0 ? static_cast<double>(accepted) : 0.0;
    positions_.resize(std::max(positions_.size(), task.stated_positions.size()));
    for (std::size_t i = 0; i < task.stated_positions.size(); ++i)
      positions_[i] += task.stated_positions[i] * steps;
    return {};
  }

  void keep_stated() {
    nlohmann::json stated{{"tasks", requests_}};
    if (undrafted_ > 0) stated["steps_without_draft_and_place"] = undrafted_;
    if (drafted_ > 0) {
      stated["drafted"] = drafted_;
      stated["accepted"] = accepted_;
      stated["acceptance_rate"] = static_cast<double>(accepted_) / static_cast<double>(drafted_);
    }
    if (steps_ > 0.0) {
      stated["mean_accepted_length"] = 1.0 + accepted_of_steps_ / steps_;
      if (!positions_.empty()) stated["acceptance_by_position"] = nlohmann::json::array();
      for (const double tokens : positions_) stated["acceptance_by_position"].push_back(tokens / steps_);
    }
    if (unknown_lines_ > 0) {
      stated["unknown_lines"] = unknown_lines_;
      stated["unknown_examples"] = unknown_;
    }
    context_.stated_figures[run_.specification] =
        stated.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  const std::filesystem::path& file_;
  ImportContext& context_;
  ForeignWriter& rows_;
  RunName run_;
  std::map<std::int64_t, LlamaTask> tasks_;  ///< Tasks by slot.
  std::optional<LlamaTask> program_;         ///< The text of a command-line program, while in progress.
  std::int64_t timed_slot_ = -1;             ///< Slot whose task's times follow without its name; -1 = none.
  std::int64_t now_us_ = -1;
  std::int64_t restarted_us_ = 0;  ///< Time of the servers before, on whose clocks the lines were.
  std::int64_t requests_ = 0;
  std::int64_t undrafted_ = 0;
  std::int64_t drafted_ = 0;  ///< Drafted tokens of texts without logged rounds.
  std::int64_t accepted_ = 0;
  double steps_ = 0.0;  ///< Verifications of tasks without logged rounds.
  double accepted_of_steps_ = 0.0;
  std::vector<double> positions_;  ///< Accepted tokens by draft position in `steps_`.
  std::int64_t begin_us_ = 0;      ///< End of the last task of a log without a clock.
  std::int64_t unknown_lines_ = 0;
  std::int64_t written_rows_ = rows_.counts().rows;
  std::int64_t end_ns_ = 0;
  std::vector<std::string> unknown_;
  bool has_times_ = false;
};

Result<void> import_llama_cpp(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, run_name(file, context), context));
  LlamaLog log(file, context);
  DRAFTSCOPE_TRY(read_log_lines(file, context.progress, [&](std::string_view line, std::int64_t number) {
    return log.take(line, number);
  }));
  return log.finish();
}

int llama_cpp_sureness(const FileHead& head) {
  const bool is_log = head.has_any_word({"| task ", "srv    load_model", "llama_model_loader",
                                         "draft tokens, the last target token"}) ||
                      head.has_all_words({"n_drafted = ", "n_accept "});
  return is_log ? 10 : 0;
}

}  // namespace

FormatRow format_of_llama_cpp() {
  return {"llama-cpp", "log of llama-server; rounds need LLAMA_TRACE=1 or --verbose", import_llama_cpp,
          llama_cpp_sureness};
}

}  // namespace draftscope::traces
