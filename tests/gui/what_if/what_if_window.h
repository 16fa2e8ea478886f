// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The real window with a recording that follows a rule, showing one of the window's pages.

#include <QApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "named_widget.h"
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
  /// Opens a recording, brings the page to the front, and waits for what it answers.
  void show(const std::filesystem::path& path) {
    open(path);
    raise();
    wait_until_settled();
  }
  [[nodiscard]] Page& page() { return *window_.template findChild<Page*>(); }

  template <typename Widget>
  [[nodiscard]] Widget* control(const char* name) {
    return &named_widget<Widget>(page(), name);
  }
  [[nodiscard]] QPushButton& button(const char* words) { return named_widget<QPushButton>(page(), words); }

  MainWindow window_{Memory::none};
};

}  // namespace draftscope::gui
