// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/import.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "formats.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t head_bytes = std::size_t{1} << 16U;
constexpr std::array<std::string_view, import_format_count> format_names{"spec-bench", "swift",  "layerskip",
                                                                         "acceptance", "chrome", "nsys"};

Result<void> import_file(const fs::path& file, ImportFormat format, ImportContext& context) {
  switch (format) {
    case ImportFormat::spec_bench:
      return import_spec_bench(file, context);
    case ImportFormat::swift:
      return import_swift(file, context);
    case ImportFormat::layerskip:
      return import_layerskip(file, context);
    case ImportFormat::acceptance:
      return import_acceptance(file, context);
    case ImportFormat::chrome:
      return import_chrome(file, context);
    case ImportFormat::nsys:
      return import_nsys(file, context);
  }
  return fail("{}: unknown format, expected one of the known ones", file.string());
}

bool is_timeline(ImportFormat format) {
  return format == ImportFormat::chrome || format == ImportFormat::nsys;
}

Result<void> check_options(const std::vector<fs::path>& files, const std::vector<ImportFormat>& formats,
                           const ImportOptions& options) {
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (!is_timeline(formats[i])) continue;
    if (formats.size() > 1)
      return fail("{}: is a {} timeline with a clock of its own, expected no file beside it",
                  files[i].string(), import_format_name(formats[i]));
    if (options.draft_length > 0 || !options.specification.empty())
      return fail("{}: a {} timeline says itself what was run, expected no specification or draft length",
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

std::string_view import_format_name(ImportFormat format) {
  return format_names.at(static_cast<std::size_t>(format));
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
    if (has("\"traceEvents\"") || has("\"displayTimeUnit\"")) return ImportFormat::chrome;
    if (has("\"speculative_decoding\"") || has("\"per_step_accepted\"")) return ImportFormat::acceptance;
    if (has("\"choices\"") && has("\"turns\""))
      return has("\"question_id\"") ? ImportFormat::spec_bench : ImportFormat::swift;
    if (has("\"accept_lengths\"") || has("\"accepted\"") || has("\"acceptance\""))
      return ImportFormat::acceptance;
    if (has("\"acceptance_rate\"") || has("\"generation_strategy\"") || has("\"tokens_per_second\""))
      return ImportFormat::layerskip;
  } else if (head.substr(0, head.find('\n')).find("num_speculations") != std::string::npos) {
    return ImportFormat::layerskip;
  }
  return fail(
      "{}: is none of the formats that are known, expected spec-bench, swift, layerskip, acceptance, chrome "
      "or "
      "nsys",
      name);
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

  DRAFTSCOPE_TRY_ASSIGN(ImportTarget whole, ImportTarget::create(target, options.overwrite));
  AnswerWriter answers(whole, options.draft_length);
  ImportContext context{options, whole, answers, {progress, 0, all_bytes}, false, {}, {}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code error;
    context.is_baseline = i == 0 && !options.baseline.empty();
    DRAFTSCOPE_TRY(import_file(all[i], formats[i], context));
    const auto bytes = fs::file_size(all[i], error);
    if (!error) context.progress.done_bytes += static_cast<std::int64_t>(bytes);
  }
  set_identity(all, formats, options, context);
  DRAFTSCOPE_TRY(context.progress.update(0));
  DRAFTSCOPE_TRY_ASSIGN(ImportSummary summary, whole.commit());
  summary.formats = std::move(formats);
  return summary;
}

}  // namespace draftscope::traces
