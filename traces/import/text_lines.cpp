// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/text_lines.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace draftscope::traces {

Result<void> ImportProgress::update(std::int64_t bytes_of_file) const {
  if (report && !report(done_bytes + bytes_of_file, all_bytes)) return fail("import cancelled");
  return {};
}

Result<void> read_text_lines(const std::filesystem::path& file, const ImportProgress& progress,
                             const std::function<Result<void>(std::string_view, std::int64_t, bool)>& take) {
  constexpr std::size_t max_line_bytes = std::size_t{64} << 20U;
  constexpr std::size_t buffer_bytes = std::size_t{1} << 16U;
  const std::string name = file.string();
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail("{}: can't be read: {}", name, std::strerror(errno));
  std::string line;
  std::string buffer(buffer_bytes, '\0');
  std::int64_t number = 0;
  std::int64_t bytes = 0;
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    std::string_view rest(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    bytes += static_cast<std::int64_t>(rest.size());
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      line.append(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      DRAFTSCOPE_TRY(take(line, ++number, true));
      line.clear();
    }
    line.append(rest);
    if (line.size() > max_line_bytes)
      return fail("{}: line {}: is longer than {} bytes, expected a shorter one", name, number + 1,
                  max_line_bytes);
    DRAFTSCOPE_TRY(progress.update(bytes));
  }
  if (stream.bad()) return fail("{}: can't be read: {}", name, std::strerror(errno));
  if (!line.empty()) DRAFTSCOPE_TRY(take(line, number + 1, false));
  return {};
}

}  // namespace draftscope::traces
