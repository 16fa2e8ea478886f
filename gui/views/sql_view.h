// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The user's own SQL on the recording, read-only: tables and columns as a tree, example queries, saved ones,
// and the result as a table. The result can be copied or written as CSV, and its ids are links. Queries run
// on a worker and can be stopped.

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>
#include <QTreeWidget>
#include <QWidget>

#include "data/sql_schema.h"
#include "models/query_model.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class SqlView : public QWidget {
  Q_OBJECT

 public:
  explicit SqlView(ViewState& state, QWidget* parent = nullptr);

  void set_sql(const QString& sql) { sql_->setPlainText(sql); }
  void run();
  [[nodiscard]] const QueryModel& model() const { return model_; }

 signals:
  /// Emitted when the result, or the error, is shown.
  void finished();
  /// Emitted to show a run, request or round of the result, by its id.
  void link_followed(SqlLink link, qint64 id);
  /// Emitted to show the result's intervals as a lane of the timeline.
  void lane_asked(const QString& title, const draftscope::gui::QueryIntervals& intervals);

 private:
  void set_up_widgets();
  void lay_out();
  void ask_for_lane();
  void stop();
  /// Drops the answer of another recording.
  void forget();
  void show_result(Result<traces::QueryResult> result, qint64 milliseconds);
  void read_schema();
  void list_schema();
  void follow(const QModelIndex& index);
  void list_queries();
  void save_query();

  ViewState& state_;
  QueryModel model_;
  BackgroundJob job_;
  std::filesystem::path path_;  ///< Path of the recording that answers.
  bool has_run_ = false;        ///< A query has run on that recording.
  QComboBox* queries_ = new QComboBox;
  BackgroundJob schema_job_;
  std::optional<std::vector<SqlTable>> tables_;  ///< Absent until they are read.
  std::string asked_;                            ///< Statement that gave the result.
  QPlainTextEdit* sql_ = new QPlainTextEdit;
  QTreeWidget* tree_ = new QTreeWidget;
  QPushButton* run_ = new QPushButton(tr("Run"));
  QPushButton* stop_ = new QPushButton(tr("S&top"));
  QPushButton* lane_ = new QPushButton(tr("Show as &lane"));
  QLabel* words_ = new QLabel;
  QTableView* table_ = new QTableView;
};

}  // namespace draftscope::gui
