// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/shards/sweep_shard.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/sha256.h>
#include <draftscope/base/text_file.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "report/report_json_parts.h"

namespace draftscope::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_document_bytes = std::size_t{1} << 30U;
constexpr std::int64_t max_questions = std::int64_t{1} << 40U;

/// Options that change nothing but where the answers go.
constexpr std::array<std::string_view, 7> of_output{"--shard", "--scratch", "--output",   "--json",
                                                    "--csv",   "--quiet",   "--overwrite"};

struct SweepDocument {
  traces::ShardFile file;
  Json document;  ///< without what makes it a shard's
  Json asked;
  std::string tool_version;
  AskedQuestions questions;
};

Result<std::vector<std::int64_t>> places(const JsonField& field, std::int64_t all, std::size_t count) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> list, field.list());
  if (list.size() != count)
    return fail("{} has {} places, expected {}, one each of what the document lists", field.name(),
                list.size(), count);
  std::vector<std::int64_t> found;
  for (const JsonField& one : list) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t place,
                          one.integer<std::int64_t>({found.empty() ? 0 : found.back() + 1, all - 1}));
    found.push_back(place);
  }
  return found;
}

Result<SweepDocument> read_sweep(const fs::path& path) {
  const std::string file = path.string();
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_document_bytes));
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json parsed, parse_json_object(text, file));
  const JsonField root(parsed, file);
  const JsonField shard = root["shard"];
  if (shard.is_missing())
    return fail("{}: is no shard's answers, expected those of draftscope simulate --shard", file);
  SweepDocument read;
  DRAFTSCOPE_TRY_ASSIGN(const std::string named, shard["shard"].text());
  auto which = traces::parse_shard(named);
  if (!which) return fail("{}: {}", file, which.error().message);
  read.file = {path, *which};
  DRAFTSCOPE_TRY_ASSIGN(read.tool_version, shard["tool_version"].text());
  DRAFTSCOPE_TRY_ASSIGN(read.questions.all, shard["questions"].integer<std::int64_t>({1, max_questions}));
  DRAFTSCOPE_TRY_ASSIGN(const auto answers, root["answers"].list());
  DRAFTSCOPE_TRY_ASSIGN(const auto refusals, root["refusals"].list());
  for (const JsonField& refusal : refusals) DRAFTSCOPE_TRY(refusal["reason"].text());
  DRAFTSCOPE_TRY_ASSIGN(read.questions.answered,
                        places(shard["answered"], read.questions.all, answers.size()));
  DRAFTSCOPE_TRY_ASSIGN(read.questions.refused,
                        places(shard["refused"], read.questions.all, refusals.size()));
  // In the file's order, which the library's other kind of document loses.
  read.document = Json::parse(text);
  read.asked = std::move(read.document["shard"]["asked"]);
  read.document.erase("shard");
  return read;
}

/// The document without its answers and refusals.
Json frame_of(Json document) {
  document["answers"] = document["refusals"] = nullptr;
  return document;
}

Result<void> expect_same_sweep(const SweepDocument& first, const SweepDocument& other) {
  const std::string file = other.file.path.string();
  const std::string as_in = first.file.path.filename().string();
  if (other.tool_version != first.tool_version)
    return fail("{}: tool_version is {}, expected {} as in {}", file, quote(other.tool_version),
                quote(first.tool_version), as_in);
  for (const auto& [key, value] : first.asked.items())
    if (!other.asked.contains(key) || other.asked[key] != value)
      return fail("{}: {} is not as in {}, expected shards of one sweep", file, key, as_in);
  if (other.asked.size() != first.asked.size() || other.questions.all != first.questions.all ||
      frame_of(other.document) != frame_of(first.document))
    return fail("{}: is of another sweep, recording or build than {}, expected the same", file, as_in);
  return {};
}

/// Every shard's entries of `key`, in the order of the questions; each question's once.
Json in_order(std::span<const SweepDocument> shards, const char* key,
              std::vector<std::int64_t> AskedQuestions::*places_of) {
  std::map<std::int64_t, const Json*> by_place;
  for (const SweepDocument& shard : shards) {
    const Json& entries = shard.document[key];
    for (std::size_t i = 0; i < entries.size(); ++i)
      by_place.emplace((shard.questions.*places_of)[i], &entries[i]);
  }
  Json list = Json::array();
  for (const auto& [place, entry] : by_place) list.push_back(*entry);
  return list;
}

}  // namespace

Result<Json> sweep_asked(const CLI::App& command, std::span<const fs::path> files) {
  Json asked = Json::object();
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_positional() ||
        std::find(of_output.begin(), of_output.end(), name) != of_output.end())
      continue;
    asked[name] = option->results();
  }
  Json& digests = asked["files"] = Json::array();
  for (const fs::path& file : files) {
    if (file.extension() == ".safetensors") continue;  // of a model's folder, whose shape alone is asked for
    DRAFTSCOPE_TRY_ASSIGN(std::string digest, sha256_of_file(file));
    digests.push_back(std::move(digest));
  }
  return asked;
}

void add_sweep_shard(Json& document, const traces::Shard& shard, const AskedQuestions& questions,
                     Json asked) {
  document["shard"] = {{"shard", traces::shard_text(shard)}, {"tool_version", DRAFTSCOPE_VERSION},
                       {"questions", questions.all},         {"answered", questions.answered},
                       {"refused", questions.refused},       {"asked", std::move(asked)}};
}

Result<std::optional<std::string>> shard_of_sweep(const fs::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(file, max_document_bytes));
  const std::string name = file.string();
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json parsed, parse_json_object(text, name));
  const JsonField shard = JsonField(parsed, name)["shard"];
  if (shard.is_missing()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(std::string named, shard["shard"].text());
  return named;
}

bool is_json_file(const fs::path& file) {
  if (!check_regular_file(file)) return false;
  std::ifstream stream(file, std::ios::binary);
  char first = 0;
  while (stream.get(first))
    if (first != ' ' && first != '\t' && first != '\n' && first != '\r') return first == '{';
  return false;
}

Result<SweepSummary> merge_sweep(std::span<const fs::path> files, bool is_partial, const fs::path& target) {
  std::vector<SweepDocument> shards;
  std::vector<traces::ShardFile> of_shards;
  for (const fs::path& file : files) {
    DRAFTSCOPE_TRY_ASSIGN(SweepDocument shard, read_sweep(file));
    of_shards.push_back(shard.file);
    shards.push_back(std::move(shard));
    DRAFTSCOPE_TRY(expect_same_sweep(shards.front(), shards.back()));
  }
  SweepSummary summary;
  DRAFTSCOPE_TRY_ASSIGN(summary.missing, traces::missing_shards(std::move(of_shards), is_partial));
  Json whole = shards.front().document;
  whole["answers"] = in_order(shards, "answers", &AskedQuestions::answered);
  whole["refusals"] = in_order(shards, "refusals", &AskedQuestions::refused);
  summary.answers = whole["answers"].size();
  summary.refusals = whole["refusals"].size();
  if (summary.answers == 0 && summary.refusals == 0)
    return fail("{}: holds no answer, expected one", files.front().string());
  if (summary.answers == 0) return fail("{}", whole["refusals"][0]["reason"].get<std::string>());
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile out, AtomicFile::create(target));
  out.write(json_text(whole));
  DRAFTSCOPE_TRY(out.commit());
  return summary;
}

}  // namespace draftscope::cli
