// SPDX-License-Identifier: GPL-3.0-or-later
#include "table_columns.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QTableView>
#include <QToolTip>
#include <algorithm>
#include <map>

#include "widgets/frozen_column.h"

namespace draftscope::gui {

namespace {

/// Rows that decide a column's kind and width, so that a million rows show at once.
constexpr int judged_rows = 64;
constexpr int min_letters = 12;
constexpr int max_letters = 72;
constexpr int usual_digits = 7;
constexpr int picture_letters = 18;  ///< Digits in a picture, and room in which its marks are apart.
constexpr int max_width_pixels = 2000;

struct Width {
  int column = 0;
  int wanted = 0;
  int least = 0;
  bool is_number = false;
};

class TableColumns : public QObject {
 public:
  TableColumns(QTableView& table, std::vector<int> wide)
      : QObject(&table), table_(table), wide_(std::move(wide)), frozen_(new FrozenColumn(table)) {
    QHeaderView& header = *table_.horizontalHeader();
    header.setResizeContentsPrecision(judged_rows);
    header.setStretchLastSection(false);
    table_.setTextElideMode(Qt::ElideMiddle);
    table_.setWordWrap(false);
    table_.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_.viewport()->installEventFilter(this);
    connect(table_.model(), &QAbstractItemModel::modelReset, this, &TableColumns::fit_anew);
    connect(table_.model(), &QAbstractItemModel::rowsInserted, this, &TableColumns::fit);
    connect(&header, &QHeaderView::sectionResized, this, [this](int column, int before, int now) {
      if (is_fitting_) return;
      // A column that is hidden or shown leaves its room to the others, or takes it: later, since the header
      // marks a column as hidden only after it has no width.
      if (before > 0 && now > 0)
        chosen_[column] = now;
      else
        QMetaObject::invokeMethod(this, &TableColumns::fit, Qt::QueuedConnection);
      frozen_->follow();
    });
    fit_anew();
  }

  bool eventFilter(QObject* /*watched*/, QEvent* event) override {
    if (event->type() == QEvent::Resize) fit();
    return event->type() == QEvent::ToolTip && show_whole(*static_cast<QHelpEvent*>(event));
  }

 private:
  [[nodiscard]] bool is_wide(int column) const { return std::ranges::find(wide_, column) != wide_.end(); }

  /// Shows the whole text of a cell that has no tool tip of its own and cuts its text.
  [[nodiscard]] bool show_whole(const QHelpEvent& event) const {
    const QModelIndex index = table_.indexAt(event.pos());
    if (!index.isValid() || is_wide(index.column()) || index.data(Qt::ToolTipRole).isValid()) return false;
    const QString text = index.data(Qt::DisplayRole).toString();
    if (table_.fontMetrics().horizontalAdvance(text) < table_.columnWidth(index.column())) return false;
    QToolTip::showText(event.globalPos(), text, &table_);
    return true;
  }

  void fit_anew() {
    if (columns_ != table_.model()->columnCount()) chosen_.clear();
    columns_ = table_.model()->columnCount();
    fit();
  }

  [[nodiscard]] bool has_numbers(int column) const {
    const int rows = std::min(table_.model()->rowCount(), judged_rows);
    for (int row = 0; row < rows; ++row) {
      const QVariant alignment = table_.model()->index(row, column).data(Qt::TextAlignmentRole);
      if (static_cast<Qt::Alignment>(alignment.toInt()).testFlag(Qt::AlignRight)) return true;
    }
    return false;
  }

  [[nodiscard]] Width width_of(int column) const {
    const int digit = table_.fontMetrics().horizontalAdvance(u'0');
    const int head = table_.horizontalHeader()->sectionSizeHint(column);
    int wanted = std::max(head, std::min(hint_of(column), max_letters * digit));
    if (const auto chosen = chosen_.find(column); chosen != chosen_.end())
      return {column, chosen->second, chosen->second};
    const bool is_number = !is_wide(column) && has_numbers(column);
    // Numbers of rows further down may be longer.
    if (is_number && table_.model()->rowCount() > judged_rows)
      wanted = std::max(wanted, usual_digits * digit);
    const int letters = is_wide(column) ? picture_letters : min_letters;
    return {column, wanted, is_number ? wanted : std::min(wanted, std::max(head, letters * digit)),
            is_number};
  }

  /// Width that the first rows' cells ask for, with the grid.
  [[nodiscard]] int hint_of(int column) const {
    int width = 0;
    const int rows = std::min(table_.model()->rowCount(), judged_rows);
    for (int row = 0; row < rows; ++row)
      width = std::max(width, table_.sizeHintForIndex(table_.model()->index(row, column)).width() + 1);
    return width;
  }

  void fit() {
    const QHeaderView& header = *table_.horizontalHeader();
    std::vector<Width> widths;
    int left = table_.viewport()->width();
    for (int column = 0; column < header.count(); ++column)
      if (!header.isSectionHidden(column)) left -= widths.emplace_back(width_of(column)).wanted;
    if (widths.empty()) return;
    // The longest texts give way first, pixel by pixel.
    for (int cap = max_width_pixels; left < 0 && cap > 0; --cap)
      for (Width& width : widths)
        if (left < 0 && width.wanted > std::max(width.least, cap)) {
          const int cut = std::min(-left, width.wanted - std::max(width.least, cap));
          width.wanted -= cut;
          left += cut;
        }
    // If the others scroll anyway, the first column, which stays, is as wide as its names.
    if (Width& first = widths.front(); left < 0 && !is_wide(first.column) && !chosen_.contains(first.column))
      first.wanted = std::max(first.wanted, std::min(hint_of(first.column), table_.viewport()->width() / 3));
    // Names that are cut take the room that is left.
    for (Width& width : widths)
      if (left > 0 && width.least < width.wanted && !chosen_.contains(width.column)) {
        const int more = std::clamp(hint_of(width.column) - width.wanted, 0, left);
        width.wanted += more;
        left -= more;
      }
    spread(widths, left);
    is_fitting_ = true;
    for (const Width& width : widths) table_.setColumnWidth(width.column, width.wanted);
    is_fitting_ = false;
    frozen_->follow();
  }

  /// Gives the room that is left to the picture that is shown, or else evenly to all columns, and to those of
  /// texts once the others are twice as wide: numbers far from their names are hard to read.
  void spread(std::vector<Width>& widths, int left) const {
    const auto picture =
        std::ranges::find_if(widths, [this](const Width& width) { return is_wide(width.column); });
    if (left > 0 && picture != widths.end()) {
      picture->wanted += left;
      return;
    }
    std::vector<Width*> sharers;
    sharers.reserve(widths.size());
    for (Width& width : widths)
      if (!chosen_.contains(width.column)) sharers.push_back(&width);
    const auto give = [&](const auto& max_more) {
      for (std::size_t i = 0; i < sharers.size(); ++i) {
        const int more =
            std::min(max_more(*sharers[i]), std::max(0, left) / static_cast<int>(sharers.size() - i));
        sharers[i]->wanted += more;
        left -= more;
      }
    };
    // The narrow ones are full first, and leave the rest to the others.
    std::ranges::sort(sharers, {}, &Width::wanted);
    give([](const Width& width) { return width.wanted; });
    std::erase_if(sharers, [](const Width* width) { return width->is_number; });
    give([](const Width&) { return max_width_pixels; });
  }

  QTableView& table_;
  std::vector<int> wide_;
  FrozenColumn* frozen_;
  std::map<int, int> chosen_;  ///< Widths in pixels that the user gave, by column.
  int columns_ = -1;
  bool is_fitting_ = false;
};

}  // namespace

void keep_numbers_in_sight(QTableView& table, std::vector<int> wide) {
  new TableColumns(table, std::move(wide));  // The table owns it.
}

void hide_columns_without_values(QTableView& table) {
  const QAbstractItemModel& model = *table.model();
  for (int column = 1; column < model.columnCount(); ++column) {
    bool has_value = model.rowCount() > judged_rows;
    for (int row = 0; row < model.rowCount() && !has_value; ++row) {
      const QString text = model.index(row, column).data(Qt::DisplayRole).toString();
      has_value = !text.isEmpty() && text != u"–";
    }
    table.setColumnHidden(column, !has_value);
  }
}

}  // namespace draftscope::gui
