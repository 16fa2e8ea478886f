// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pages of a recording: tabs with the controls beside them, the strip of rounds, the shown page, and the
// timeline below, which can be closed on each page. One view can take all the room except the tabs.

#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVariant>
#include <QWidget>
#include <optional>
#include <vector>

#include "window/view_page.h"

namespace draftscope::gui {

class TimelinePanel;

class ViewPages : public QWidget {
  Q_OBJECT

 public:
  /// Takes ownership of all widgets. `beside_tabs` stands at the right end of the tabs.
  ViewPages(QWidget* beside_tabs, QWidget* strip, TimelinePanel* timeline, QWidget* parent = nullptr);

  /// Adds a page of a recording. `has_timeline` says whether the timeline is open there at first.
  void add_page(const QString& name, const QString& title, const std::vector<PageRow>& rows,
                bool has_timeline);
  /// Adds a page that is available without a recording too, and has neither strip nor timeline.
  void add_page_of_its_own(const QString& name, const QString& title, QWidget* view);
  [[nodiscard]] bool is_of_recording(int page) const;
  /// Enables or disables the pages of a recording; they can only be chosen while there is one.
  void offer_recording(bool is_there);
  [[nodiscard]] int count() const { return static_cast<int>(pages_.size()); }
  [[nodiscard]] QString title(int page) const { return tabs_->tabText(page); }
  [[nodiscard]] int current() const { return std::max(tabs_->currentIndex(), 0); }
  void show_page(int page) { tabs_->setCurrentIndex(page); }
  /// Brings up the page that has this view. Opens the timeline and its details if the view is one of them.
  void show_view(QWidget& view);
  /// Name of the page that has this view; empty for the strip and the timeline, which stand beside all pages.
  [[nodiscard]] QString page_of(const QWidget& view) const;
  /// Gives the focus to the first view of the page.
  void focus_view();

  [[nodiscard]] bool is_timeline_open() const;
  /// Opens or closes the timeline on the shown page; other pages keep theirs.
  void open_timeline(bool is_open);
  /// Opens the details beside the timeline, and the timeline with them.
  void open_details(bool are_open);

  /// Maximises the focused view, or else the page's first one; restores the layout if a view is maximised.
  void toggle_maximised();
  [[nodiscard]] bool is_maximised() const { return maximised_ != nullptr; }
  /// Restores the initial dividers and timeline.
  void reset_layout();

  /// State that is remembered from one start to the next.
  [[nodiscard]] QVariantMap layout_state() const;
  void restore_layout(const QVariantMap& state);

 signals:
  void page_changed(int page);
  void timeline_opened(bool is_open);
  /// Emitted to open the manual at its section about a view.
  void help_requested(QWidget* view);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Page {
    QString name;
    ViewPage* views = nullptr;
    bool has_timeline = false;  ///< Initial state.
    bool is_of_recording = true;
    std::optional<bool> timeline_chosen;  ///< Choice of the user.
  };

  [[nodiscard]] Page& page() { return pages_[static_cast<std::size_t>(current())]; }
  [[nodiscard]] const Page& page() const { return pages_[static_cast<std::size_t>(current())]; }
  void maximise(ViewPanel* panel);
  /// Shows and hides parts by what is chosen and maximised.
  void show_parts();
  /// Limits the timeline's height to that of its lanes.
  void limit_timeline();
  void lay_out_timeline();

  QTabBar* tabs_ = new QTabBar;
  QWidget* strip_;
  TimelinePanel* timeline_;
  ViewPanel* drawer_;  ///< Panel of the timeline.
  QStackedWidget* stack_ = new QStackedWidget;
  QSplitter* split_ = new QSplitter(Qt::Vertical);
  std::vector<Page> pages_;
  std::optional<int> left_;             ///< Recording page that was shown last.
  std::optional<int> timeline_height_;  ///< Height set by dragging, including the bar.
  ViewPanel* maximised_ = nullptr;
};

}  // namespace draftscope::gui
