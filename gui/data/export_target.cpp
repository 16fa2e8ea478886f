// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_target.h"

#include <system_error>

namespace draftscope::gui {

Result<void> check_target(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  // What can't be looked at fails when it is written, with the reason.
  if (unknown || !std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return {};
  return fail("{}: found {}, expected a new or a regular file", path.string(),
              std::filesystem::is_directory(status) ? "a folder" : "a device or a pipe");
}

}  // namespace draftscope::gui
