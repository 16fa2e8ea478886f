// SPDX-License-Identifier: GPL-3.0-or-later
#include "manual.h"

#include <map>
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

QString section_of_view(const QString& view, const QString& title) {
  static const std::map<QString, QString> sections{
      {QStringLiteral("strip"), QStringLiteral("Strip of rounds")},
      {QStringLiteral("summary"), QStringLiteral("Overview")},
      {QStringLiteral("why"), QStringLiteral("Overview")},
      {QStringLiteral("replay"), QStringLiteral("Text replay")},
      {QStringLiteral("start"), QStringLiteral("Opening")}};
  if (const auto found = sections.find(view); found != sections.end()) return found->second;
  QString words = view;
  // A part of a page is explained with it.
  for (const QString& page : {QStringLiteral("what-if"), QStringLiteral("compare"), QStringLiteral("advise")})
    if (view.startsWith(page + u'-')) words = page;
  words.replace(u'-', u' ');
  for (const QString& wanted : {words, title})
    for (const ManualSection& section : manual_sections())
      if (section.title.compare(wanted, Qt::CaseInsensitive) == 0) return section.title;
  return {};
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
