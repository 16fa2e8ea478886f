// SPDX-License-Identifier: GPL-3.0-or-later
// Imports vLLM's log by its lines about speculation, which have sums of the seconds before. Their wordings,
// from vllm/v1/spec_decode/metrics.py and its ancestors, are lists of "name: value": 0.6 to 0.9 (V0 engine,
// sums since the start), 0.8.2 (V0's words, but of an interval), 0.8.3, 0.8.5, 0.10, and 2026's with "Current
// speculative depth".
#include <cmath>
#include <map>
#include <string_view>

#include "foreign/json_fields.h"
#include "import/log_fields.h"
#include "import/stated_sums.h"

namespace draftscope::traces {
namespace {

constexpr std::string_view interval_words = "SpecDecoding metrics: ";
constexpr std::string_view total_words = "Speculative metrics: ";
constexpr double max_logged_tokens = 0x1p53;

class VllmLog {
 public:
  Result<void> take(std::string_view line, const std::string& where) {
    const std::size_t interval = line.find(interval_words);
    const std::size_t total = line.find(total_words);
    if (interval != std::string_view::npos)
      return take_interval(log_fields_of(line.substr(interval + interval_words.size())), "Accepted",
                           "Drafted", where);
    if (total == std::string_view::npos) return {};
    const LogFields fields = log_fields_of(line.substr(total + total_words.size()));
    return fields.contains("Number of emitted tokens")
               ? take_total(fields, where)
               : take_interval(fields, "Number of accepted tokens", "Number of draft tokens", where);
  }

  [[nodiscard]] Result<StatedSums> sums(const std::string& file) const {
    if (lines_ == 0)
      return fail("{}: has no line \"{}…\", expected a log of vLLM with speculation", file, interval_words);
    StatedSums sums;
    const auto add = [](const std::map<std::string, double, std::less<>>& from, std::string_view name) {
      const auto found = from.find(name);
      return found == from.end() ? 0.0 : found->second;
    };
    sums.accepted_tokens = accepted_ + add(totals_, "accepted") + add(last_total_, "accepted");
    sums.drafted_tokens = drafted_ + add(totals_, "drafted") + add(last_total_, "drafted");
    const double total_steps = add(totals_, "steps") + add(last_total_, "steps");
    const double emitted = add(totals_, "emitted") + add(last_total_, "emitted");
    if (are_steps_exact_ && steps_ + total_steps > 0.0) sums.verify_steps = steps_ + total_steps;
    // V0 counts tokens after the first rejection as accepted, too; what it emitted is what came out.
    if (steps_ + total_steps > 0.0)
      sums.others["mean_accepted_length"] = (steps_ + accepted_of_steps_ + emitted) / (steps_ + total_steps);
    sums.acceptance_by_position.reserve(by_position_.size());
    for (const double tokens : by_position_)
      if (steps_ > 0.0) sums.acceptance_by_position.push_back(tokens / steps_);
    sums.others["log_lines"] = lines_;
    return sums;
  }

 private:
  /// Reads a count of the line.
  static Result<double> count(const LogFields& fields, std::string_view name, const std::string& where) {
    const auto found = fields.find(name);
    if (found == fields.end() || found->second.size() != 1)
      return fail("{}: {} is missing, expected a number of tokens", where, name);
    const double value = found->second.front();
    if (!(value >= 0.0 && value <= max_logged_tokens))
      return fail("{}: {} is {}, expected 0 to 2^53", where, name, value);
    return value;
  }

  Result<void> take_interval(const LogFields& fields, std::string_view accepted_name,
                             std::string_view drafted_name, const std::string& where) {
    DRAFTSCOPE_TRY_ASSIGN(const double accepted, count(fields, accepted_name, where));
    DRAFTSCOPE_TRY_ASSIGN(const double drafted, count(fields, drafted_name, where));
    if (accepted > drafted)
      return fail("{}: {} is {}, expected at most {} ({})", where, accepted_name, accepted, drafted_name,
                  drafted);
    accepted_ += accepted;
    drafted_ += drafted;
    ++lines_;
    const auto length = fields.find("Mean acceptance length");
    const auto rates = fields.find("Per-position acceptance rate");
    const bool has_rates = rates != fields.end() && !rates->second.empty();
    if (length == fields.end() || length->second.empty()) {
      are_steps_exact_ = are_steps_exact_ && drafted == 0.0;
      return {};
    }
    const double mean = length->second.front();
    if (!(mean >= 1.0 && mean <= static_cast<double>(max_draft_tokens) + 1.0))
      return fail("{}: Mean acceptance length is {}, expected 1 to {}", where, mean, max_draft_tokens + 1);
    if (has_rates && rates->second.size() > static_cast<std::size_t>(max_draft_tokens))
      return fail("{}: Per-position acceptance rate has {} entries, expected at most {}", where,
                  rates->second.size(), max_draft_tokens);
    const double steps =
        steps_of(accepted, drafted, mean, has_rates ? static_cast<double>(rates->second.size()) : 0.0);
    steps_ += steps;
    accepted_of_steps_ += accepted;
    if (!has_rates) return {};
    if (by_position_.size() < rates->second.size()) by_position_.resize(rates->second.size());
    for (std::size_t i = 0; i < rates->second.size(); ++i) by_position_[i] += rates->second[i] * steps;
    return {};
  }

  /// Verifications of an interval, which no line has: those that give the mean length with its two decimals.
  /// If several do, drafts of full length decide; else the number is close and not exact.
  double steps_of(double accepted, double drafted, double mean, double positions) {
    constexpr double half_unit = 0.005000001;
    const double full = positions > 0.0 ? drafted / positions : 0.0;
    const bool is_full_whole = full > 0.0 && full == std::floor(full);
    if (accepted == 0.0) {
      are_steps_exact_ = are_steps_exact_ && (is_full_whole || drafted == 0.0);
      return full;
    }
    const double least = std::ceil(accepted / (mean - 1.0 + half_unit));
    const double most =
        mean - 1.0 > half_unit ? std::floor(accepted / (mean - 1.0 - half_unit)) : max_logged_tokens;
    if (least == most) return least;
    if (is_full_whole && full >= least && full <= most) return full;
    are_steps_exact_ = false;
    return mean > 1.0 ? std::round(accepted / (mean - 1.0)) : full;
  }

  Result<void> take_total(const LogFields& fields, const std::string& where) {
    std::map<std::string, double, std::less<>> total;
    DRAFTSCOPE_TRY_ASSIGN(total["accepted"], count(fields, "Number of accepted tokens", where));
    DRAFTSCOPE_TRY_ASSIGN(total["drafted"], count(fields, "Number of draft tokens", where));
    DRAFTSCOPE_TRY_ASSIGN(total["emitted"], count(fields, "Number of emitted tokens", where));
    DRAFTSCOPE_TRY_ASSIGN(const double length, count(fields, "Number of speculative tokens", where));
    if (total["accepted"] > total["drafted"] || length < 1.0)
      return fail("{}: {} of {} draft tokens were accepted in drafts of {}, expected at most all of them",
                  where, total["accepted"], total["drafted"], length);
    total["steps"] = std::round(total["drafted"] / length);
    // A server that began anew counts from 0.
    if (!last_total_.empty() && total["drafted"] < last_total_["drafted"])
      for (const auto& [name, value] : last_total_) totals_[name] += value;
    last_total_ = std::move(total);
    ++lines_;
    return {};
  }

  std::int64_t lines_ = 0;
  double accepted_ = 0.0;
  double drafted_ = 0.0;
  double steps_ = 0.0;
  double accepted_of_steps_ = 0.0;  ///< Accepted tokens of lines with a mean length.
  bool are_steps_exact_ = true;
  std::vector<double> by_position_;  ///< Accepted tokens by position.
  std::map<std::string, double, std::less<>> last_total_;
  std::map<std::string, double, std::less<>> totals_;  ///< Sums of servers that ended before.
};

Result<void> import_vllm_log(const std::filesystem::path& file, ImportContext& context) {
  VllmLog log;
  DRAFTSCOPE_TRY(read_log_lines(file, context.progress, [&](std::string_view line, std::int64_t number) {
    return log.take(line, fmt::format("{}: line {}", file.string(), number));
  }));
  DRAFTSCOPE_TRY_ASSIGN(const StatedSums sums, log.sums(file.string()));
  context.target.writer().set_meta("engine", "vLLM");
  return state_run(file, run_name(file, context), sums, context);
}

int vllm_log_sureness(const FileHead& head) {
  if (head.has_any_word({interval_words, total_words})) return 12;
  return head.has_any_word({"Avg generation throughput: "}) ? 5 : 0;
}

}  // namespace

FormatRow format_of_vllm_log() {
  return {"vllm-log", "vLLM's log, by its lines \"SpecDecoding metrics\": sums without rounds",
          import_vllm_log, vllm_log_sureness};
}

}  // namespace draftscope::traces
