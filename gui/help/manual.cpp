// SPDX-License-Identifier: GPL-3.0-or-later
#include "manual.h"

#include <string_view>

namespace draftscope::gui {

/// The file gui/MANUAL.md, embedded by the build.
extern const std::string_view manual_markdown;

namespace {

std::vector<ManualSection> sections_of(const QString& text) {
  std::vector<ManualSection> sections;
  bool is_code = false;
  for (const QString& line : text.split(u'\n')) {
    if (line.startsWith(u"```")) is_code = !is_code;
    int level = 0;
    while (level < line.size() && line[level] == u'#') ++level;
    if (is_code || level == 0 || level >= line.size() || line[level] != u' ') continue;
    sections.push_back({line.mid(level + 1).trimmed(), level});
  }
  return sections;
}

}  // namespace

QString manual_text() {
  return QString::fromUtf8(manual_markdown.data(), static_cast<qsizetype>(manual_markdown.size()));
}

const std::vector<ManualSection>& manual_sections() {
  static const std::vector<ManualSection> sections = sections_of(manual_text());
  return sections;
}

QString section_link(const QString& title) {
  QString link;
  for (const QChar sign : title.toLower())
    if (sign.isLetterOrNumber() || sign == u'-')
      link += sign;
    else if (sign.isSpace())
      link += u'-';
  return link;
}

}  // namespace draftscope::gui
