// SPDX-License-Identifier: GPL-3.0-or-later
#include "marks.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/text_file.h>

#include <algorithm>
#include <system_error>

namespace draftscope::gui {

namespace {

constexpr std::size_t max_file_bytes = std::size_t{8} << 20U;
constexpr int marks_version = 1;

Result<Mark> mark_of(const JsonField& field) {
  Mark mark;
  DRAFTSCOPE_TRY_ASSIGN(mark.time.start_ns, field["start_ns"].integer<std::int64_t>());
  DRAFTSCOPE_TRY_ASSIGN(mark.time.end_ns, field["end_ns"].integer<std::int64_t>({.min = mark.time.start_ns}));
  DRAFTSCOPE_TRY_ASSIGN(mark.text, field["text"].text());
  if (mark.text.empty() || mark.text.size() > max_mark_text_bytes)
    return fail("{} has {} bytes, expected 1 to {}", field["text"].name(), mark.text.size(),
                max_mark_text_bytes);
  return mark;
}

bool begins_before(const Mark& a, const Mark& b) {
  return a.time.start_ns < b.time.start_ns;
}

}  // namespace

std::filesystem::path marks_file(const std::filesystem::path& recording) {
  std::filesystem::path file = recording;
  file += ".marks.json";
  return file;
}

Result<std::vector<Mark>> read_marks(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return std::vector<Mark>();
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(file, max_file_bytes));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string name = file.filename().string();
  if (!json.is_object()) return fail("{}: found no JSON object, expected the marks of a recording", name);
  const JsonField fields(json, name);
  DRAFTSCOPE_TRY(fields["version"].integer<int>({marks_version, marks_version}));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> rows, fields["marks"].list());
  if (rows.size() > max_marks)
    return fail("{}: found {} marks, expected at most {}", name, rows.size(), max_marks);
  std::vector<Mark> marks;
  marks.reserve(rows.size());
  for (const JsonField& row : rows) {
    DRAFTSCOPE_TRY_ASSIGN(Mark mark, mark_of(row));
    marks.push_back(std::move(mark));
  }
  std::stable_sort(marks.begin(), marks.end(), begins_before);
  return marks;
}

Result<void> write_marks(const std::filesystem::path& file, std::span<const Mark> marks) {
  if (marks.empty()) {
    std::error_code error;
    std::filesystem::remove(file, error);
    if (error) return fail("{}: can't be removed: {}", file.string(), error.message());
    return {};
  }
  nlohmann::ordered_json json{{"version", marks_version}, {"marks", nlohmann::ordered_json::array()}};
  for (const Mark& mark : marks)
    json["marks"].push_back(
        {{"start_ns", mark.time.start_ns}, {"end_ns", mark.time.end_ns}, {"text", mark.text}});
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile written, AtomicFile::create(file));
  written.write(json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  return written.commit();
}

std::vector<Mark> with_mark(std::vector<Mark> marks, Mark added) {
  const auto place = std::upper_bound(marks.begin(), marks.end(), added, begins_before);
  marks.insert(place, std::move(added));
  return marks;
}

std::optional<std::size_t> next_mark(std::span<const Mark> marks, std::int64_t at_ns, bool forward) {
  if (marks.empty()) return std::nullopt;
  const auto after = std::ranges::partition_point(marks, [&](const Mark& mark) {
    return forward ? mark.time.start_ns <= at_ns : mark.time.start_ns < at_ns;
  });
  const auto index = static_cast<std::size_t>(after - marks.begin());
  if (forward) return index == marks.size() ? 0 : index;
  return (index == 0 ? marks.size() : index) - 1;
}

}  // namespace draftscope::gui
