// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The real window with a recording that follows a rule, showing one of the window's pages.

#include <QApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <stdexcept>

#include "what_if_recordings.h"
#include "window/main_window.h"

namespace draftscope::gui {

inline constexpr int patience_ms = 60'000;

template <typename Page>
class WhatIfWindow : public WhatIfRecordings {
 protected:
  void SetUp() override {
    window_.resize(1400, 900);
    window_.show();
  }
  void open(const std::filesystem::path& path) {
    QSignalSpy finished(&window_.loader(), &RecordingLoader::finished);
    window_.open(QString::fromStdString(path.string()));
    ASSERT_TRUE(finished.wait(patience_ms));
    QApplication::processEvents();
  }
  void raise() {
    window_.show_view(page());
    QApplication::processEvents();
  }
  void wait_until_settled() {
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().is_settled(); }, patience_ms));
  }
  [[nodiscard]] Page& page() { return *window_.template findChild<Page*>(); }

  /// Finds a control by the name that a screen reader speaks.
  template <typename Widget>
  [[nodiscard]] Widget* control(const char* name) {
    for (Widget* widget : page().template findChildren<Widget*>())
      if (widget->accessibleName() == QLatin1String(name)) return widget;
    ADD_FAILURE() << name;
    return nullptr;
  }
  [[nodiscard]] QPushButton& button(const char* words) {
    for (QPushButton* found : page().template findChildren<QPushButton*>())
      if (found->text().remove(u'&') == QString::fromUtf8(words)) return *found;
    throw std::runtime_error(words);
  }

  MainWindow window_{Memory::none};
};

}  // namespace draftscope::gui
