// SPDX-License-Identifier: GPL-3.0-or-later
// Imports scrapes of a server's /metrics: two as the difference of their counters, one as the sums since the
// server began. Names are those of vLLM, SGLang, llama.cpp's server and TensorRT-LLM.
#include <draftscope/base/quote.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "foreign/json_fields.h"
#include "import/prometheus/scrape.h"
#include "import/stated_sums.h"

namespace draftscope::traces {
namespace {

enum class Scraped : std::uint8_t {
  drafts,
  drafted,
  accepted,
  by_position,
  emitted,
  output,
  requests,
  first_token_seconds,
  first_tokens,
  decode_seconds,
  last_length,  ///< Mean length of the last interval.
  last_rate,    ///< Acceptance of the last interval.
};

struct ScrapedMetric {
  std::string_view name;  ///< As in Sample::name.
  Scraped value;
  bool is_gauge = false;  ///< Whether it is the state of a moment, without a difference.
};
constexpr std::array scraped_metrics{
    ScrapedMetric{"vllm_spec_decode_num_drafts", Scraped::drafts},
    ScrapedMetric{"vllm_spec_decode_num_draft_tokens", Scraped::drafted},
    ScrapedMetric{"vllm_spec_decode_num_accepted_tokens", Scraped::accepted},
    ScrapedMetric{"vllm_spec_decode_num_accepted_tokens_per_pos", Scraped::by_position},
    ScrapedMetric{"vllm_spec_decode_num_emitted_tokens", Scraped::emitted},
    ScrapedMetric{"vllm_generation_tokens", Scraped::output},
    ScrapedMetric{"vllm_request_success", Scraped::requests},
    ScrapedMetric{"vllm_time_to_first_token_seconds_sum", Scraped::first_token_seconds},
    ScrapedMetric{"vllm_time_to_first_token_seconds_count", Scraped::first_tokens},
    ScrapedMetric{"vllm_request_decode_time_seconds_sum", Scraped::decode_seconds},
    ScrapedMetric{"llamacpp_spec_decode_num_drafts", Scraped::drafts},
    ScrapedMetric{"llamacpp_spec_decode_num_draft_tokens", Scraped::drafted},
    ScrapedMetric{"llamacpp_spec_decode_num_accepted_tokens", Scraped::accepted},
    ScrapedMetric{"llamacpp_spec_decode_num_accepted_tokens_per_pos", Scraped::by_position},
    ScrapedMetric{"llamacpp_tokens_predicted", Scraped::output},
    ScrapedMetric{"llamacpp_tokens_predicted_seconds", Scraped::decode_seconds},
    ScrapedMetric{"sglang_spec_verify_calls", Scraped::drafts},
    ScrapedMetric{"sglang_generation_tokens", Scraped::output},
    ScrapedMetric{"sglang_num_requests", Scraped::requests},
    ScrapedMetric{"sglang_time_to_first_token_seconds_sum", Scraped::first_token_seconds},
    ScrapedMetric{"sglang_time_to_first_token_seconds_count", Scraped::first_tokens},
    ScrapedMetric{"sglang_spec_accept_length", Scraped::last_length, true},
    ScrapedMetric{"sglang_spec_accept_rate", Scraped::last_rate, true},
    ScrapedMetric{"trtllm_spec_decode_num_draft_tokens", Scraped::drafted},
    ScrapedMetric{"trtllm_spec_decode_num_accepted_tokens", Scraped::accepted},
    ScrapedMetric{"trtllm_spec_decode_acceptance_length", Scraped::last_length, true},
};
constexpr std::string_view server_start = "process_start_time_seconds";

struct ScrapedSeries {
  const ScrapedMetric* metric = nullptr;
  std::string model;
  std::int64_t position = -1;
  double value = 0.0;
};

struct Scrape {
  std::map<std::string, ScrapedSeries> series;  ///< By name and labels.
  double started_s = -1.0;                      ///< When the server's process began; -1 = unknown.
};

Result<void> take_sample(const Sample& sample, const std::string& where, Scrape& scrape) {
  if (sample.name == server_start) scrape.started_s = sample.value;
  const auto* const metric = std::ranges::find(scraped_metrics, sample.name, &ScrapedMetric::name);
  if (metric == scraped_metrics.end() || std::isnan(sample.value)) return {};
  // The ranks of one engine count the same tokens.
  for (const char* const rank : {"tp_rank", "pp_rank"})
    if (const std::string of = sample.label(rank); !of.empty() && of != "0") return {};
  constexpr double max_value = 0x1p60;
  if (!(sample.value >= 0.0 && sample.value <= max_value))
    return fail("{}: {} is {}, expected 0 to 2^60", where, metric->name, sample.value);
  ScrapedSeries series{metric, sample.label("model_name"), -1, sample.value};
  if (metric->value == Scraped::by_position) {
    const std::string position = sample.label("position");
    if (position.empty() || position.size() > 3 ||
        position.find_first_not_of("0123456789") != std::string::npos ||
        std::stoll(position) >= max_draft_tokens)
      return fail("{}: position is {}, expected 0 to {}", where, position.substr(0, 40),
                  max_draft_tokens - 1);
    series.position = std::stoll(position);
  }
  constexpr std::size_t max_series = 100'000;
  if (scrape.series.size() >= max_series)
    return fail("{}: is one of more than {} series, expected fewer", where, max_series);
  if (!scrape.series.emplace(sample.key(), std::move(series)).second)
    return fail("{}: {} is there twice, expected each series once", where, metric->name);
  return {};
}

Result<Scrape> read_scrape(const std::filesystem::path& file, ImportContext& context) {
  Scrape scrape;
  std::int64_t samples = 0;
  DRAFTSCOPE_TRY(
      read_text_lines(file, context.progress,
                      [&](std::string_view line, std::int64_t number, bool /*is_ended*/) -> Result<void> {
                        while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
                        if (line.empty() || line.starts_with('#')) return {};
                        const std::string where = fmt::format("{}: line {}", file.string(), number);
                        DRAFTSCOPE_TRY_ASSIGN(const Sample sample, sample_of(line, where));
                        ++samples;
                        return take_sample(sample, where, scrape);
                      }));
  if (samples == 0)
    return fail("{}: holds no metric, expected a scrape of a server's /metrics", file.string());
  return scrape;
}

/// Subtracts what the counters had before. Errors: a counter that was greater, or that is gone.
Result<void> subtract(const Scrape& before, Scrape& after, const std::string& name) {
  if (before.started_s >= 0.0 && after.started_s >= 0.0 && before.started_s != after.started_s)
    return fail("{}: {} is {:.3f}, expected {:.3f} as in the scrape before: the server began anew", name,
                server_start, after.started_s, before.started_s);
  for (const auto& [key, series] : before.series) {
    if (series.metric->is_gauge) continue;
    const auto found = after.series.find(key);
    const double value = found == after.series.end() ? 0.0 : found->second.value;
    if (value < series.value)
      return fail("{}: {} is {}, expected at least {} as in the scrape before: the server began anew", name,
                  excerpt(key), value, series.value);
    if (found != after.series.end()) found->second.value -= series.value;
  }
  return {};
}

Result<StatedSums> sums_of(const Scrape& scrape, const std::string& model, const std::string& name) {
  std::map<Scraped, double> sums;
  std::vector<double> positions;
  for (const auto& [key, series] : scrape.series) {
    if (series.model != model) continue;
    if (series.position >= 0) {
      positions.resize(std::max(positions.size(), static_cast<std::size_t>(series.position) + 1));
      positions[static_cast<std::size_t>(series.position)] += series.value;
    } else if (series.metric->is_gauge) {
      sums[series.metric->value] = series.value;
    } else {
      sums[series.metric->value] += series.value;
    }
  }
  const auto sum = [&](Scraped value) {
    const auto found = sums.find(value);
    return found == sums.end() ? std::nullopt : std::optional(found->second);
  };
  StatedSums stated{sum(Scraped::requests),
                    sum(Scraped::drafts),
                    sum(Scraped::drafted),
                    sum(Scraped::accepted),
                    sum(Scraped::output),
                    {},
                    {}};
  stated.others = nlohmann::json::object();
  const double steps = stated.verify_steps.value_or(0.0);
  if (!positions.empty() && stated.verify_steps && positions.front() > steps)
    return fail(
        "{}: {:.0f} tokens were accepted at position 0 in {:.0f} verifications, expected at most as many",
        name, positions.front(), steps);
  stated.acceptance_by_position.reserve(positions.size());
  for (const double tokens : positions)
    if (steps > 0.0) stated.acceptance_by_position.push_back(tokens / steps);
  // SGLang counts neither drafted nor accepted tokens; each request's first token is the prefill's.
  if (!stated.accepted_tokens && steps > 0.0 && stated.output_tokens && stated.requests &&
      *stated.output_tokens - *stated.requests >= steps)
    stated.others["mean_accepted_length"] = (*stated.output_tokens - *stated.requests) / steps;
  else if (const auto length = sum(Scraped::last_length); !stated.accepted_tokens && length && *length > 0.0)
    stated.others["mean_accepted_length"] = *length;
  if (const auto rate = sum(Scraped::last_rate); !stated.accepted_tokens && rate)
    stated.others["acceptance_rate"] = *rate;
  if (const auto tokens = sum(Scraped::emitted); tokens && *tokens > 0.0)
    stated.others["emitted_tokens"] = *tokens;
  constexpr double second_ns = 1e9;
  if (const auto count = sum(Scraped::first_tokens);
      count && *count > 0.0 && sum(Scraped::first_token_seconds))
    stated.others["time_to_first_token_ns"] = *sum(Scraped::first_token_seconds) / *count * second_ns;
  if (const auto seconds = sum(Scraped::decode_seconds); seconds && *seconds > 0.0 && stated.output_tokens)
    stated.others["decode_tokens_per_second"] =
        std::max(*stated.output_tokens - stated.requests.value_or(0.0), 0.0) / *seconds;
  return stated;
}

Result<void> import_prometheus(const std::filesystem::path& file, ImportContext& context) {
  const auto& files = context.companions;
  if (files.size() > 2)
    return fail("{}: is one of {} scrapes, expected two, before and after, or one", file.string(),
                files.size());
  std::error_code error;
  if (files.size() == 2 && std::filesystem::equivalent(files.front(), files.back(), error))
    return fail("{}: is both scrapes, expected one before and another one after", file.string());
  if (files.size() == 2 && file == files.front()) return {};  // It is read with the second one.
  DRAFTSCOPE_TRY_ASSIGN(Scrape after, read_scrape(file, context));
  if (files.size() == 2) {
    DRAFTSCOPE_TRY_ASSIGN(const Scrape before, read_scrape(files.front(), context));
    DRAFTSCOPE_TRY(subtract(before, after, file.string()));
  }
  std::set<std::string> models;
  for (const auto& [key, series] : after.series) models.insert(series.model);
  if (models.empty())
    return fail(
        "{}: has none of the metrics that are known, expected those of vLLM, SGLang, llama.cpp or "
        "TensorRT-LLM",
        file.string());
  for (const std::string& model : models) {
    RunName name = run_name(file, context);
    if (models.size() > 1) name.specification += " " + model;
    if (context.model.empty()) context.model = model;
    DRAFTSCOPE_TRY_ASSIGN(const StatedSums sums, sums_of(after, model, file.string()));
    DRAFTSCOPE_TRY(state_run(file, name, sums, context));
  }
  return {};
}

int prometheus_sureness(const FileHead& head) {
  const bool has_comments = head.has_any_word({"# TYPE ", "# HELP "});
  const bool has_engine = head.has_any_word({"vllm:", "sglang:", "llamacpp:", "trtllm_"});
  if (has_comments && has_engine) return 30;
  return head.has_any_word({"spec_decode_num_", "sglang:spec_"}) ? 11 : 0;
}

}  // namespace

FormatRow format_of_prometheus() {
  return {"prometheus",
          "scrapes of a server's /metrics, two (before, after) or one: sums without rounds",
          import_prometheus,
          prometheus_sureness,
          false,
          true};
}

}  // namespace draftscope::traces
