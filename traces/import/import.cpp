// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/import.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "import/formats.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t head_bytes = std::size_t{1} << 16U;
/// One format, in the order of ImportFormat: with formats.h, which declares its reader, and import.h, which
/// has its number, the only place that names it.
struct FormatRow {
  std::string_view name;
  std::string_view about;
  Result<void> (*read)(const fs::path& file, ImportContext& context);
  bool stands_alone = false;  ///< it has its own clock and names its runs
};

constexpr std::array<FormatRow, import_format_count> format_rows{
    {{"spec-bench", "answer JSONL of Spec-Bench, or of export --to spec-bench; a run a file",
      import_spec_bench},
     {"swift", "SWIFT's answer JSONL; a run a file", import_swift},
     {"layerskip", "benchmark JSON or sweep CSV of LayerSkip and DEL: figures without rounds",
      import_layerskip},
     {"acceptance", "JSONL with accepted lengths a request, such as vLLM's per-request metrics",
      import_acceptance},
     {"chrome", "Chrome trace events: export --to chrome, PyTorch's profiler, others", import_chrome, true},
     {"nsys", "SQLite export of Nsight Systems", import_nsys, true},
     {"rounds", "neutral JSONL, a line a request and a round: docs/rounds-format.md", import_rounds, true},
     {"llama-cpp", "log of llama-server with LLAMA_TRACE=1, or --verbose", import_llama_cpp},
     {"llama-answers", "its answers a line, with timings", import_llama_answers},
     {"sglang", "SGLang's answers a line, with meta_info or sglext", import_sglang},
     {"trtllm", "TensorRT-LLM's iteration statistics, a line an iteration", import_trtllm},
     {"aiperf", "AIPerf's profile_export.jsonl", import_aiperf}}};

const FormatRow& row_of(ImportFormat format) {
  return format_rows.at(static_cast<std::size_t>(format));
}

/// Word that tells a file of JSON objects: the first row with a mark that is in its beginning counts, so that
/// the more specific come first.
struct Mark {
  ImportFormat format;
  std::string_view word;
};
constexpr std::array marks{Mark{ImportFormat::rounds, "\"draftscope-rounds\""},
                           Mark{ImportFormat::chrome, "\"traceEvents\""},
                           Mark{ImportFormat::chrome, "\"displayTimeUnit\""},
                           Mark{ImportFormat::aiperf, "\"spec_decode_acceptance\""},
                           Mark{ImportFormat::aiperf, "\"request_start_ns\""},
                           Mark{ImportFormat::trtllm, "\"inflightBatchingStats\""},
                           Mark{ImportFormat::sglang, "\"meta_info\""},
                           Mark{ImportFormat::sglang, "\"sglext\""},
                           Mark{ImportFormat::acceptance, "\"speculative_decoding\""},
                           Mark{ImportFormat::acceptance, "\"spec_decode_metrics\""},
                           Mark{ImportFormat::acceptance, "\"per_step_accepted\""},
                           Mark{ImportFormat::llama_answers, "\"predicted_ms\""}};

Result<void> check_options(const std::vector<fs::path>& files, const std::vector<ImportFormat>& formats,
                           const ImportOptions& options) {
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (!row_of(formats[i]).stands_alone) continue;
    if (formats.size() > 1)
      return fail("{}: is a {} recording with a clock of its own, expected no file beside it",
                  files[i].string(), import_format_name(formats[i]));
    if (options.draft_length > 0 || !options.specification.empty())
      return fail("{}: a {} recording says itself what was run, expected no specification or draft length",
                  files[i].string(), import_format_name(formats[i]));
  }
  if (!options.specification.empty() && files.size() - (options.baseline.empty() ? 0 : 1) > 1)
    return fail("{}: one specification can't name the runs of several files", files.back().string());
  if (options.draft_length < 0 || options.draft_length > 512)
    return fail("draft length is {}, expected 0 to 512", options.draft_length);
  if (options.n_layers < 0 || options.n_layers > 4096)
    return fail("layers are {}, expected 0 to 4096", options.n_layers);
  return {};
}

std::string joined_names(const std::vector<fs::path>& files) {
  std::string text;
  for (const fs::path& file : files) text += (text.empty() ? "" : ", ") + file.filename().string();
  return text;
}

void set_identity(const std::vector<fs::path>& files, const std::vector<ImportFormat>& formats,
                  const ImportOptions& options, ImportContext& context) {
  Writer& writer = context.target.writer();
  writer.set_meta("imported_from", joined_names(files));
  std::string named;
  for (const ImportFormat format : formats)
    if (named.find(import_format_name(format)) == std::string::npos)
      named += (named.empty() ? "" : ", ") + std::string(import_format_name(format));
  writer.set_meta("imported_format", named);
  const std::string& model = options.model.empty() ? context.model : options.model;
  if (!model.empty()) writer.set_meta("model", model);
  if (options.n_layers > 0)
    writer.set_meta("model_shape", fmt::format(R"({{"n_layers":{}}})", options.n_layers));
  if (context.stated_figures.empty()) return;
  nlohmann::json stated = nlohmann::json::object();
  for (const auto& [specification, figures] : context.stated_figures)
    stated[specification] = nlohmann::json::parse(figures, nullptr, false);
  writer.set_meta("stated_figures", stated.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

RunName run_name(const std::filesystem::path& file, const ImportContext& context) {
  RunName name{file.filename().string(), 0};
  for (const std::string_view ending : {".jsonl", ".json", ".csv", ".txt", ".log"})
    if (name.specification.size() > ending.size() && name.specification.ends_with(ending)) {
      name.specification.resize(name.specification.size() - ending.size());
      break;
    }
  constexpr std::string_view mark = ".repeat-";
  if (const std::size_t at = name.specification.rfind(mark); at != std::string::npos && at > 0) {
    const char* const first = name.specification.data() + at + mark.size();
    const char* const last = name.specification.data() + name.specification.size();
    std::int32_t repeat = 0;
    const auto [end, error] = std::from_chars(first, last, repeat);
    if (error == std::errc{} && end == last && repeat >= 0) {
      name.repeat = repeat;
      name.specification.resize(at);
    }
  }
  if (!context.options.specification.empty() && !context.is_baseline)
    name.specification = context.options.specification;
  return name;
}

Result<void> take_run(const std::filesystem::path& file, const RunName& name, ImportContext& context) {
  if (context.taken.insert({name.specification, name.repeat}).second) return {};
  return fail("{}: repeat {} of {} is there already, expected a run or repeat of its own", file.string(),
              name.repeat, name.specification);
}

std::string_view import_format_name(ImportFormat format) {
  return row_of(format).name;
}

std::string_view import_format_about(ImportFormat format) {
  return row_of(format).about;
}

Result<ImportFormat> detect_import_format(const fs::path& file) {
  const std::string name = file.string();
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    return fail("{}: can't be read: {}", name, error ? error.message() : "not a regular file");
  std::ifstream stream(file, std::ios::binary);
  std::string head(head_bytes, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (stream.bad() || !stream.is_open()) return fail("{}: can't be read: {}", name, std::strerror(errno));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  const auto has = [&head](std::string_view word) { return head.find(word) != std::string::npos; };

  if (head.starts_with(std::string_view("SQLite format 3\0", 16))) return ImportFormat::nsys;
  for (const std::string_view magic : {"\x1f\x8b", "PK\x03\x04", "\x28\xb5\x2f\xfd"})
    if (head.starts_with(magic))
      return fail("{}: is compressed, expected the file that is packed in it", name);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return fail("{}: is empty, expected a recording", name);
  if (head[first] == '[') return ImportFormat::chrome;
  if (head[first] == '{') {
    for (const Mark& mark : marks)
      if (has(mark.word)) return mark.format;
    if (has("\"choices\"") && has("\"turns\""))
      return has("\"question_id\"") ? ImportFormat::spec_bench : ImportFormat::swift;
    if (has("\"accept_lengths\"") || has("\"accepted\"") || has("\"acceptance\""))
      return ImportFormat::acceptance;
    if (has("\"acceptance_rate\"") || has("\"generation_strategy\"") || has("\"tokens_per_second\""))
      return ImportFormat::layerskip;
  } else if (has("| task ") || has("srv    load_model") || has("llama_model_loader") ||
             has("draft tokens, the last target token") || (has("n_drafted = ") && has("n_accept "))) {
    return ImportFormat::llama_cpp;
  } else if (head.substr(0, head.find('\n')).find("num_speculations") != std::string::npos) {
    return ImportFormat::layerskip;
  }
  std::string names;
  for (const FormatRow& row : format_rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return fail("{}: is none of the formats that are known, expected one of {}", name, names);
}

Result<ImportSummary> import_recordings(const std::vector<fs::path>& files, const ImportOptions& options,
                                        const fs::path& target, const Progress& progress) {
  if (files.empty()) return fail("found no file, expected one to import");
  std::vector<fs::path> all = files;
  if (!options.baseline.empty()) all.insert(all.begin(), options.baseline);
  std::vector<ImportFormat> formats;
  std::int64_t all_bytes = 0;
  for (const fs::path& file : all) {
    std::error_code error;
    if (fs::equivalent(file, target, error))
      return fail("{}: is the same file as one that is imported, expected another", target.string());
    if (options.format) {
      if (!fs::is_regular_file(file, error))
        return fail("{}: can't be read: {}", file.string(), error ? error.message() : "not a regular file");
      formats.push_back(*options.format);
    } else {
      DRAFTSCOPE_TRY_ASSIGN(const ImportFormat format, detect_import_format(file));
      formats.push_back(format);
    }
    const auto bytes = fs::file_size(file, error);
    if (!error) all_bytes += static_cast<std::int64_t>(bytes);
  }
  DRAFTSCOPE_TRY(check_options(all, formats, options));

  DRAFTSCOPE_TRY_ASSIGN(PacedTrace whole, PacedTrace::create(target, options.overwrite));
  AnswerWriter answers(whole, options.draft_length);
  ForeignWriter foreign(whole.writer());
  ImportContext context{options, whole, answers, foreign, {progress, 0, all_bytes}, false, {}, {}, {}, 0};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code error;
    context.is_baseline = i == 0 && !options.baseline.empty();
    DRAFTSCOPE_TRY(row_of(formats[i]).read(all[i], context));
    const auto bytes = fs::file_size(all[i], error);
    if (!error) context.progress.done_bytes += static_cast<std::int64_t>(bytes);
  }
  RowCounts& counts = whole.counts();
  counts.runs += foreign.counts().runs;
  counts.requests += foreign.counts().requests;
  counts.rounds += foreign.counts().rounds;
  whole.missing().insert(foreign.missing().begin(), foreign.missing().end());
  set_identity(all, formats, options, context);
  DRAFTSCOPE_TRY(context.progress.update(0));
  ImportSummary summary{.formats = std::move(formats),
                        .missing = {whole.missing().begin(), whole.missing().end()},
                        .runs = counts.runs,
                        .requests = counts.requests,
                        .rounds = counts.rounds,
                        .spans = counts.spans,
                        .kernels = counts.kernels};
  whole.writer().set_meta("lacks", missing_data_text(summary.missing));
  // From here on nothing may fail for want of memory: the trace is in its place.
  DRAFTSCOPE_TRY(whole.commit());
  return summary;
}

}  // namespace draftscope::traces
