// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/traces/import.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "import/formats.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

std::string known_names() {
  std::string names;
  for (const FormatRow& row : format_rows()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

/// A file of another program that a step turns into one that is read.
struct OtherFile {
  std::string_view ending;
  std::string_view magic;  ///< First bytes of its kind; "" = the name's ending alone tells it.
  std::string_view step;   ///< Words after the file's name.
};

constexpr OtherFile other_files[] = {
    {".nsys-rep", "", "is a report of Nsight Systems, expected its export (nsys export --type sqlite)"},
    {".qdrep", "", "is a report of Nsight Systems, expected its export (nsys export --type sqlite)"},
    {".ncu-rep", "",
     "is a report of Nsight Compute, which has no times of requests, expected one of Nsight Systems"},
    {".pftrace", "", "is a trace of Perfetto, expected Chrome's events (traceconv json)"},
    {".perfetto-trace", "", "is a trace of Perfetto, expected Chrome's events (traceconv json)"},
    {".parquet", "PAR1",
     "is a table of Parquet, expected a JSON object a line (pandas: to_json with lines=True)"},
};

/// Step that helps with a file of another program; "" = it is none that is known.
std::string_view step_for(const fs::path& file, std::string_view text) {
  for (const OtherFile& other : other_files)
    if (file.extension() == other.ending || (!other.magic.empty() && text.starts_with(other.magic)))
      return other.step;
  return {};
}

Result<const FormatRow*> detect(const fs::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const FileHead head, FileHead::read(file));
  if (head.is_blank()) return fail("{}: is empty, expected a recording", file.string());
  if (head.is_packed_database())
    return fail("{}: is a compressed database, expected it unpacked (gzip -d, zstd -d)", file.string());
  const FormatRow* surest = nullptr;
  int greatest = 0;
  for (const FormatRow& row : format_rows()) {
    const int sureness = row.sureness(head);
    if (sureness > greatest) surest = &row;
    greatest = std::max(greatest, sureness);
  }
  if (const std::string_view step = step_for(file, head.text()); surest == nullptr && !step.empty())
    return fail("{}: {}", file.string(), step);
  if (surest == nullptr)
    return fail("{}: is none of the formats that are known ({}), expected one of {}", file.string(),
                head.description(), known_names());
  return surest;
}

/// The error of a reader whose format was detected and that took nothing: it says which others were ruled
/// out.
Error detected_wrongly(Error error, const fs::path& file, const FormatRow& taken_for) {
  const auto head = FileHead::read(file);
  if (!head || !error.message.starts_with(file.string())) return error;
  std::string others;
  for (const FormatRow& row : format_rows())
    if (&row != &taken_for && row.sureness(*head) > 0)
      others += (others.empty() ? "" : ", ") + std::string(row.name);
  error.message += fmt::format(" (taken for {}, not for {}; --from says another)", taken_for.name,
                               others.empty() ? "any other format, by its beginning" : others);
  return error;
}

Result<const FormatRow*> format_named(std::string_view name) {
  for (const FormatRow& row : format_rows())
    if (row.name == name) return &row;
  return fail("format: found {}, expected one of {}", quote(name), known_names());
}

Result<void> check_options(const std::vector<fs::path>& files, const std::vector<const FormatRow*>& formats,
                           const ImportOptions& options) {
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (!formats[i]->stands_alone) continue;
    if (formats.size() > 1)
      return fail("{}: is a {} recording with a clock of its own, expected no file beside it",
                  files[i].string(), formats[i]->name);
    if (options.draft_length > 0 || !options.specification.empty())
      return fail("{}: a {} recording says itself what was run, expected no specification or draft length",
                  files[i].string(), formats[i]->name);
  }
  if (!options.specification.empty() && !formats.back()->takes_pairs &&
      files.size() - (options.baseline.empty() ? 0 : 1) > 1)
    return fail("{}: is one of several files under one specification, expected one file",
                files.back().string());
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

void set_identity(const std::vector<fs::path>& files, const std::vector<const FormatRow*>& formats,
                  const ImportOptions& options, ImportContext& context) {
  Writer& writer = context.target.writer();
  writer.set_meta("imported_from", joined_names(files));
  std::string named;
  for (const FormatRow* const format : formats)
    if (named.find(format->name) == std::string::npos)
      named += (named.empty() ? "" : ", ") + std::string(format->name);
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
  for (const std::string_view packed : {".gz", ".zst"})
    if (name.specification.ends_with(packed))
      name.specification.resize(name.specification.size() - packed.size());
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
    constexpr std::int32_t max_repeat = 1 << 30;  // Numbers of further repeats in the file follow it.
    if (error == std::errc{} && end == last && repeat >= 0 && repeat <= max_repeat) {
      name.repeat = repeat;
      name.specification.resize(at);
    }
  }
  if (!context.options.specification.empty() && !context.is_baseline)
    name.specification = context.options.specification;
  return name;
}

Result<std::optional<std::int64_t>> question_of(const JsonFields& fields, ImportContext& context) {
  constexpr const char* key = "question_id";
  const nlohmann::json* const id = fields.find(key);
  const bool is_text = id != nullptr && id->is_string();
  if (is_text != context.has_text_ids.value_or(is_text))
    return unexpected_json(
        id == nullptr ? nlohmann::json() : *id, fields.where(), key,
        is_text ? "an integer, as in answers before it" : "a text, as in answers before it");
  context.has_text_ids = is_text;
  if (!is_text) return fields.integer(key, 0, std::numeric_limits<std::int64_t>::max());
  auto& numbers = context.question_numbers;
  return numbers.try_emplace(id->get<std::string>(), static_cast<std::int64_t>(numbers.size()) + 1)
      .first->second;
}

Result<void> take_run(const std::filesystem::path& file, const RunName& name, ImportContext& context) {
  if (context.taken.insert({name.specification, name.repeat}).second) return {};
  return fail("{}: repeat {} of {} is there already, expected a run or repeat of its own", file.string(),
              name.repeat, name.specification);
}

std::vector<ImportFormat> import_formats() {
  std::vector<ImportFormat> formats;
  for (const FormatRow& row : format_rows()) formats.push_back({row.name, row.about});
  return formats;
}

Result<ImportSummary> import_recordings(const std::vector<fs::path>& files, const ImportOptions& options,
                                        const fs::path& target, const Progress& progress,
                                        const std::function<void(const ImportSummary&)>& before_end) {
  if (files.empty()) return fail("found no file, expected one to import");
  std::vector<fs::path> all = files;
  if (!options.baseline.empty()) all.insert(all.begin(), options.baseline);
  std::vector<const FormatRow*> formats;
  std::int64_t all_bytes = 0;
  for (const fs::path& file : all) {
    std::error_code error;
    if (fs::equivalent(file, target, error))
      return fail("{}: is the same file as one that is imported, expected another", target.string());
    if (!options.format.empty()) {
      if (!fs::is_regular_file(file, error))
        return fail("{}: can't be read: {}", file.string(), error ? error.message() : "not a regular file");
      DRAFTSCOPE_TRY_ASSIGN(formats.emplace_back(), format_named(options.format));
    } else {
      DRAFTSCOPE_TRY_ASSIGN(formats.emplace_back(), detect(file));
    }
    const auto bytes = fs::file_size(file, error);
    if (!error) all_bytes += static_cast<std::int64_t>(bytes);
  }
  DRAFTSCOPE_TRY(check_options(all, formats, options));

  DRAFTSCOPE_TRY_ASSIGN(PacedTrace whole, PacedTrace::create(target, options.overwrite));
  ForeignWriter foreign(whole.writer());
  AnswerWriter answers(whole, foreign, options.draft_length);
  ImportContext context{options, whole, answers, foreign, {progress, 0, all_bytes, options.partial},
                        false,   {},    {},      {},      {},
                        {},      0,     {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code error;
    const std::size_t first = options.baseline.empty() ? 0 : 1;
    context.is_baseline = i < first;
    context.companions.clear();
    for (std::size_t k = i < first ? 0 : first; k < (i < first ? first : all.size()); ++k)
      if (formats[k] == formats[i]) context.companions.push_back(all[k]);
    const RowCounts before = whole.counts();
    const std::int64_t requests_before = foreign.counts().requests;
    if (auto read = formats[i]->read(all[i], context); !read) {
      const bool took_nothing =
          whole.counts().spans == before.spans && foreign.counts().requests == requests_before;
      return tl::unexpected<Error>(options.format.empty() && took_nothing
                                       ? detected_wrongly(std::move(read).error(), all[i], *formats[i])
                                       : std::move(read).error());
    }
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
  ImportSummary summary{.formats = {},
                        .missing = {whole.missing().begin(), whole.missing().end()},
                        .runs = counts.runs,
                        .requests = counts.requests,
                        .rounds = counts.rounds,
                        .spans = counts.spans,
                        .kernels = counts.kernels,
                        .remarks = whole.remarks()};
  for (const FormatRow* const format : formats) summary.formats.push_back(format->name);
  if (!summary.remarks.empty())
    whole.writer().set_meta("import_remarks", fmt::format("{}", fmt::join(summary.remarks, "; ")));
  if (!context.question_numbers.empty()) {
    nlohmann::ordered_json names = nlohmann::ordered_json::object();
    std::map<std::int64_t, std::string> by_number;
    for (const auto& [name, number] : context.question_numbers) by_number[number] = name;
    for (const auto& [number, name] : by_number) names[std::to_string(number)] = name;
    whole.writer().set_meta("question_names",
                            names.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  whole.writer().set_meta("lacks", missing_data_text(summary.missing));
  if (before_end) before_end(summary);
  // Nothing below may fail for lack of memory, because the trace is in its final place.
  DRAFTSCOPE_TRY(whole.commit());
  return summary;
}

}  // namespace draftscope::traces
