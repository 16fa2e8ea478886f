// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The measured figures of a recording's runs as a table, the same that `draftscope report` prints. The role
// `value_role` has the raw number.

#include <QAbstractTableModel>
#include <optional>

#include "data/opened_recording.h"

namespace draftscope::gui {

class RunsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    run,
    requests,
    tokens,
    tokens_per_second,
    speedup,
    speedup_low,
    speedup_high,
    mean_accepted_length,
    acceptance_rate,
    etpl,
    steps_per_round,
    draft_cost,
    verify_cost,
    overhead_cost,
    tpt,
    identical,
    column_count
  };
  static constexpr int value_role = Qt::UserRole;

  explicit RunsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void set_recording(RecordingPointer recording);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  [[nodiscard]] std::optional<double> value(const simulator::Figures& figures, int column) const;
  [[nodiscard]] QString text(const simulator::Figures& figures, int column) const;

  RecordingPointer recording_;
};

}  // namespace draftscope::gui
