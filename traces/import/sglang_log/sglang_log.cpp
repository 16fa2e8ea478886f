// SPDX-License-Identifier: GPL-3.0-or-later
// Imports SGLang's log by its lines "Decode batch", which have means over the last 40 batches
// (--decode-log-interval). Wordings, from its scheduler and scheduler_metrics_mixin.py: "Decode batch." of
// 2024 and early 2025, "Decode batch," since, "Decode batch [7]," with SGLANG_LOG_FORWARD_ITERS; "accept
// rate" since late 2025, at first with the bonus token in both counts, so that no acceptance rate follows
// from it.
#include <algorithm>
#include <cmath>
#include <vector>

#include "import/log_fields.h"
#include "import/stated_sums.h"

namespace draftscope::traces {
namespace {

constexpr std::string_view decode_words = "Decode batch";
constexpr std::string_view first_field = "#running-req: ";
constexpr double max_running_requests = 1e6;

/// Mean of a figure of the lines. Every line has as many batches, so that one with more requests counts more.
struct LineMean {
  double weighted = 0.0;
  double weights = 0.0;
  void add(double value, double weight) {
    weighted += value * weight;
    weights += weight;
  }
};

class SglangLog {
 public:
  Result<void> take(std::string_view line, const std::string& where) {
    const std::size_t begin = line.find(decode_words);
    const std::size_t fields_at = begin == std::string_view::npos ? begin : line.find(first_field, begin);
    if (fields_at == std::string_view::npos) return {};
    const LogFields fields = log_fields_of(line.substr(fields_at));
    const auto within = [&](std::string_view name, double least,
                            double most) -> Result<std::optional<double>> {
      const std::optional<double> value = log_field(fields, name);
      if (value && !(*value >= least && *value <= most))
        return fail("{}: {} is {}, expected {} to {}", where, name, *value, least, most);
      return value;
    };
    DRAFTSCOPE_TRY_ASSIGN(const auto running, within("#running-req", 0.0, max_running_requests));
    DRAFTSCOPE_TRY_ASSIGN(const auto length,
                          within("accept len", 0.0, static_cast<double>(max_draft_tokens) + 1.0));
    DRAFTSCOPE_TRY_ASSIGN(const auto rate, within("accept rate", 0.0, 1.0));
    DRAFTSCOPE_TRY_ASSIGN(const auto throughput, within("gen throughput (token/s)", 0.0, 1e12));
    ++lines_;
    if (throughput) throughputs_.push_back(*throughput);
    if (running) running_.add(*running, 1.0);
    // A verification gives a token at least; the line says 0 where there was none.
    if (!length || *length == 0.0) return {};
    if (*length < 1.0) return fail("{}: accept len is {}, expected 0 or from 1", where, *length);
    ++lines_with_length_;
    const double weight = std::max(running.value_or(1.0), 1.0);
    length_.add(*length, weight);
    if (rate) rate_.add(*rate, weight);
    return {};
  }

  [[nodiscard]] Result<StatedSums> sums(const std::string& file) {
    if (lines_ == 0)
      return fail("{}: has no line \"{}, {}…\", expected a log of SGLang", file, decode_words, first_field);
    StatedSums sums;
    sums.others["log_lines"] = lines_;
    if (lines_with_length_ > 0) sums.others["lines_with_speculation"] = lines_with_length_;
    for (const auto& [name, mean] : {std::pair{"mean_accepted_length", length_},
                                     {"accept_rate_as_logged", rate_},
                                     {"mean_running_requests", running_}})
      if (mean.weights > 0.0) sums.others[name] = mean.weighted / mean.weights;
    if (!throughputs_.empty()) {
      const auto middle = throughputs_.begin() + static_cast<std::ptrdiff_t>(throughputs_.size() / 2);
      std::nth_element(throughputs_.begin(), middle, throughputs_.end());
      sums.others["tokens_per_second_of_the_middle_line"] = *middle;
    }
    return sums;
  }

 private:
  std::int64_t lines_ = 0;
  std::int64_t lines_with_length_ = 0;
  LineMean length_;
  LineMean rate_;
  LineMean running_;
  std::vector<double> throughputs_;
};

Result<void> import_sglang_log(const std::filesystem::path& file, ImportContext& context) {
  SglangLog log;
  DRAFTSCOPE_TRY(read_log_lines(file, context.progress, [&](std::string_view line, std::int64_t number) {
    return log.take(line, fmt::format("{}: line {}", file.string(), number));
  }));
  DRAFTSCOPE_TRY_ASSIGN(const StatedSums sums, log.sums(file.string()));
  context.target.writer().set_meta("engine", "SGLang");
  return state_run(file, run_name(file, context), sums, context);
}

int sglang_log_sureness(const FileHead& head) {
  return head.has_all_words({decode_words, first_field}) ? 12 : 0;
}

}  // namespace

FormatRow format_of_sglang_log() {
  return {"sglang-log", "SGLang's log, by its lines \"Decode batch\": means without rounds",
          import_sglang_log, sglang_log_sureness};
}

}  // namespace draftscope::traces
