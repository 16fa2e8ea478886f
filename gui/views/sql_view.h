// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SQL of one's own on the recording, read-only: tables and columns as a tree, queries that are worth starting
// from, those that were saved, and the result as a table that can be copied or written as CSV, whose ids lead
// to what they name. Runs on a worker and can be stopped.

#include <QWidget>

#include "data/sql_schema.h"
#include "models/query_model.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTableView;
class QTreeWidget;

namespace draftscope::gui {

class SqlView : public QWidget {
  Q_OBJECT

 public:
  explicit SqlView(ViewState& state, QWidget* parent = nullptr);

  void set_sql(const QString& sql);
  void run();
  [[nodiscard]] const QueryModel& model() const { return model_; }

 signals:
  /// The result, or what was wrong, is shown.
  void finished();
  /// A run, request or round of the result is to be shown, by its id.
  void link_followed(SqlLink link, qint64 id);

 protected:
  /// The first time that it is seen with a recording: an answer to start from.
  void paintEvent(QPaintEvent* event) override;

 private:
  void set_up_widgets();
  void lay_out();
  void write_result();
  void stop();
  /// Drops another recording's answer, which is none of this one's.
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
  bool has_run_ = false;        ///< on that
  QComboBox* queries_;
  BackgroundJob schema_job_;
  std::optional<std::vector<SqlTable>> tables_;  ///< absent until they are read
  std::string asked_;                            ///< the statement that the result is of
  QPlainTextEdit* sql_;
  QTreeWidget* tree_;
  QPushButton* run_;
  QPushButton* stop_;
  QLabel* words_;
  QTableView* table_;
};

}  // namespace draftscope::gui
