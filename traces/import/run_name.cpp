// SPDX-License-Identifier: GPL-3.0-or-later
#include <charconv>

#include "import/formats.h"

namespace draftscope::traces {

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

}  // namespace draftscope::traces
