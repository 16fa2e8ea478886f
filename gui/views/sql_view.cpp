// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_view.h"

#include <QElapsedTimer>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QSettings>
#include <QSplitter>
#include <QVBoxLayout>

#include "charts/table_file.h"
#include "widgets/habits.h"
#include "widgets/table_columns.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::size_t max_rows = 100'000;

/// Writes a name at the cursor, with spaces where it would touch another word.
void insert_word(QPlainTextEdit& edit, const QString& word) {
  QTextCursor cursor = edit.textCursor();
  const QString text = edit.toPlainText();
  const auto touches = [&](int place) {
    return place >= 0 && place < text.size() && (text[place].isLetterOrNumber() || text[place] == u'_');
  };
  cursor.insertText((touches(cursor.selectionStart() - 1) ? QStringLiteral(" ") : QString()) + word +
                    (touches(cursor.selectionEnd()) ? QStringLiteral(" ") : QString()));
  edit.setTextCursor(cursor);
}

}  // namespace

SqlView::SqlView(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("SQL"));
  set_up_widgets();
  lay_out();
  connect(queries_, &QComboBox::activated, this, [this](int index) {
    sql_->setPlainText(queries_->itemData(index).toString());
    stop();
    run();
  });
  connect(run_, &QPushButton::clicked, this, &SqlView::run);
  connect(stop_, &QPushButton::clicked, this, &SqlView::stop);
  when_seen(*this, [this] {
    if (!state_.recording() || !state_.recording()->has_rows()) return;
    if (!tables_ && !schema_job_.is_running()) read_schema();
    if (!has_run_) run();  // an example query
  });
  connect(&state_, &ViewState::recording_changed, this, &SqlView::forget);
  list_queries();
  sql_->setPlainText(queries_->itemData(0).toString());
  forget();
}

void SqlView::set_up_widgets() {
  queries_->setAccessibleName(tr("Queries to start from"));
  sql_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  sql_->setAccessibleName(tr("SQL, one statement that reads"));
  sql_->setMaximumHeight(150);
  sql_->setTabChangesFocus(true);
  // Let the window open files that are dropped here.
  sql_->setAcceptDrops(false);
  run_->setShortcut(QKeySequence(tr("Ctrl+Return")));
  stop_->setEnabled(false);
  lane_->setEnabled(false);
  lane_->setToolTip(
      tr("A lane of the timeline with the rows as intervals: they need begin_ns (or start_ns), and end_ns "
         "or duration_ns"));
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Result"));
  table_->setAlternatingRowColors(true);
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
  offer_copying(*table_);
  keep_numbers_in_sight(*table_);
  tree_->setAccessibleName(tr("Tables and columns"));
  tree_->setToolTip(tr("Double click, or Return: put the name into the statement"));
  tree_->setHeaderHidden(true);
  tree_->setMinimumWidth(120);
  connect(tree_, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
    insert_word(*sql_, item->data(0, Qt::UserRole).toString());
  });
  connect(table_, &QTableView::activated, this, &SqlView::follow);
  // SQLite's messages quote the statement, which is not markup and may be long.
  words_->setTextFormat(Qt::PlainText);
  words_->setWordWrap(true);
  words_->setAccessibleName(tr("What became of the statement"));
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
}

void SqlView::lay_out() {
  auto* save = new QPushButton(tr("&Save query…"));
  auto* row = new QHBoxLayout;
  row->addWidget(queries_, 1);
  row->addWidget(save);
  row->addWidget(run_);
  row->addWidget(stop_);
  row->addWidget(lane_);
  auto* asking = new QWidget;
  auto* column = new QVBoxLayout(asking);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(sql_);
  column->addWidget(words_);
  column->addWidget(table_, 1);
  auto* split = new QSplitter;
  split->addWidget(tree_);
  split->addWidget(asking);
  split->setStretchFactor(1, 1);
  split->setSizes({220, 900});
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addLayout(row);
  layout->addWidget(split, 1);
  set_first_focus(*this, *sql_);
  connect(save, &QPushButton::clicked, this, &SqlView::save_query);
  connect(lane_, &QPushButton::clicked, this, &SqlView::ask_for_lane);
}

void SqlView::ask_for_lane() {
  const auto columns = interval_columns(model_.result().columns);
  if (!columns) return;
  const QueryIntervals intervals = intervals_of(model_.result(), *columns);
  const QString asked = QString::fromStdString(asked_);
  const int named = queries_->findData(asked);
  constexpr qsizetype max_title = 60;
  const QString title = named >= 0 ? queries_->itemText(named) : asked.simplified().left(max_title);
  const auto shown = static_cast<std::int64_t>(intervals.intervals.size());
  QString words = tr("%1 on the timeline").arg(counted(shown, tr("1 interval"), tr("%1 intervals")));
  if (intervals.left_out > 0) words += tr("; %1 rows without a time").arg(intervals.left_out);
  if (model_.result().is_cut) words += tr("; there are more");
  words_->setText(words);
  emit lane_asked(title, intervals);
}

void SqlView::forget() {
  const std::filesystem::path path =
      state_.recording() ? state_.recording()->recording().path : std::filesystem::path();
  if (path == path_ && !path.empty()) return;
  path_ = path;
  has_run_ = false;
  job_.cancel();
  schema_job_.cancel();
  tables_.reset();
  tree_->clear();
  model_.set_result({});
  lane_->setEnabled(false);
  run_->setEnabled(!path.empty());
  stop_->setEnabled(false);
  words_->setText(path.empty() ? tr("Open a recording first.") : QString());
  update();
}

void SqlView::read_schema() {
  schema_job_.start(read_and_take(
      [path = path_](const auto& should_continue) { return read_sql_schema(path, should_continue); },
      [this](Result<std::vector<SqlTable>> read) {
        // If the file can't be read any more, the next statement reports why.
        tables_ = read ? *std::move(read) : std::vector<SqlTable>();
        list_schema();
      }));
}

void SqlView::list_schema() {
  tree_->clear();
  for (const SqlTable& table : *tables_) {
    const QString name = QString::fromStdString(table.name);
    auto* item = new QTreeWidgetItem(tree_, {table.is_view ? tr("%1 (view)").arg(name) : name});
    item->setData(0, Qt::UserRole, QString::fromStdString(quoted_name(table.name)));
    for (const std::string& column : table.columns) {
      auto* below = new QTreeWidgetItem(item, {QString::fromStdString(column)});
      below->setData(0, Qt::UserRole, QString::fromStdString(quoted_name(column)));
    }
  }
}

void SqlView::follow(const QModelIndex& index) {
  if (const auto link = model_.link(index)) emit link_followed(link->first, link->second);
}

void SqlView::list_queries() {
  queries_->clear();
  for (const SqlPreset& query : sql_presets())
    queries_->addItem(tr(query.name), QString::fromUtf8(query.sql));
  QSettings settings;
  const int count = settings.beginReadArray(QStringLiteral("queries"));
  for (int i = 0; i < count; ++i) {
    settings.setArrayIndex(i);
    queries_->addItem(settings.value(QStringLiteral("name")).toString(),
                      settings.value(QStringLiteral("sql")).toString());
  }
  settings.endArray();
}

void SqlView::save_query() {
  const QString name = QInputDialog::getText(this, tr("Save query"), tr("Name:"));
  if (name.isEmpty()) return;
  queries_->addItem(name, sql_->toPlainText());
  QSettings settings;
  settings.beginWriteArray(QStringLiteral("queries"));
  const auto first = static_cast<int>(sql_presets().size());
  for (int i = first; i < queries_->count(); ++i) {
    settings.setArrayIndex(i - first);
    settings.setValue(QStringLiteral("name"), queries_->itemText(i));
    settings.setValue(QStringLiteral("sql"), queries_->itemData(i));
  }
  settings.endArray();
}

void SqlView::stop() {
  if (!job_.is_running()) return;
  job_.cancel();
  show_result(fail("stopped"), 0);
}

void SqlView::run() {
  if (job_.is_running()) return;
  if (!state_.recording()) {
    words_->setText(tr("Open a recording first."));
    emit finished();
    return;
  }
  has_run_ = true;
  run_->setEnabled(false);
  stop_->setEnabled(true);
  words_->setText(tr("Running …"));
  asked_ = sql_->toPlainText().toStdString();
  struct Answer {
    Result<traces::QueryResult> result;
    qint64 milliseconds = 0;
  };
  job_.start(read_and_take(
      [path = state_.recording()->recording().path, sql = asked_](const auto& should_continue) {
        QElapsedTimer timer;
        timer.start();
        Answer answer{traces::query(path, sql, max_rows, should_continue)};
        answer.milliseconds = timer.elapsed();
        return answer;
      },
      [this](Answer answer) { show_result(std::move(answer.result), answer.milliseconds); }));
}

void SqlView::show_result(Result<traces::QueryResult> result, qint64 milliseconds) {
  run_->setEnabled(true);
  stop_->setEnabled(false);
  if (!result) {
    words_->setText(QString::fromStdString(result.error().message));
    model_.set_result({});
  } else {
    words_->setText(
        tr("%1 in %2 ms%3")
            .arg(counted(static_cast<std::int64_t>(result->rows.size()), tr("1 row"), tr("%1 rows")))
            .arg(milliseconds)
            .arg(result->is_cut ? tr("; there are more") : QString()));
    std::vector<SqlLink> links = sql_links(asked_, result->columns);
    model_.set_result(*std::move(result), std::move(links));
  }
  lane_->setEnabled(interval_columns(model_.result().columns).has_value());
  emit finished();
}

}  // namespace draftscope::gui
