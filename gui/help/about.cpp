// SPDX-License-Identifier: GPL-3.0-or-later
#include "about.h"

#include <draftscope/traces/reader.h>
#include <QCoreApplication>

namespace draftscope::gui {

QString about_text() {
  const auto paragraph = [](const QString& words) { return QStringLiteral("<p>%1</p>").arg(words); };
  const auto tr = [](const char* words) { return QCoreApplication::translate("About", words); };
  return QStringLiteral("<h2>Draftscope %1</h2>").arg(QCoreApplication::applicationVersion()) +
         paragraph(tr("Records, explains and predicts self-speculative decoding of language models.")) +
         paragraph(tr("Free software under the GNU General Public License, version 3 or later, without any "
                      "warranty.")) +
         paragraph(tr("Reads recordings up to schema %1. Made with Qt %2, QCustomPlot and SQLite.")
                       .arg(traces::newest_schema_version())
                       .arg(QString::fromLatin1(qVersion())));
}

}  // namespace draftscope::gui
