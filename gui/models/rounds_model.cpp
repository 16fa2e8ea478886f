// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "models/column_words.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::array<ColumnWords, RoundsModel::column_count> words{{
    {QT_TRANSLATE_NOOP("RoundsModel", "round"),
     QT_TRANSLATE_NOOP("RoundsModel", "In the order of the run, from 0")},
    {QT_TRANSLATE_NOOP("RoundsModel", "request"), QT_TRANSLATE_NOOP("RoundsModel", "Question and repeat")},
    {QT_TRANSLATE_NOOP("RoundsModel", "category"), QT_TRANSLATE_NOOP("RoundsModel", "Of the prompt")},
    {QT_TRANSLATE_NOOP("RoundsModel", "exit E"),
     QT_TRANSLATE_NOOP("RoundsModel", "The draft's first layer from which everything is skipped")},
    {QT_TRANSLATE_NOOP("RoundsModel", "skipped"),
     QT_TRANSLATE_NOOP("RoundsModel", "Sublayers that the draft skipped, attention and MLP counted apart")},
    {QT_TRANSLATE_NOOP("RoundsModel", "planned γ"), QT_TRANSLATE_NOOP("RoundsModel", "Speculation length")},
    {QT_TRANSLATE_NOOP("RoundsModel", "drafted"), QT_TRANSLATE_NOOP("RoundsModel", "Draft tokens")},
    {QT_TRANSLATE_NOOP("RoundsModel", "accepted"),
     QT_TRANSLATE_NOOP("RoundsModel", "Draft tokens that the target agreed with")},
    {QT_TRANSLATE_NOOP("RoundsModel", "emitted"),
     QT_TRANSLATE_NOOP("RoundsModel", "Tokens that reached the output, the bonus token included")},
    {QT_TRANSLATE_NOOP("RoundsModel", "draft stop"), QT_TRANSLATE_NOOP("RoundsModel", "Why drafting ended")},
    {QT_TRANSLATE_NOOP("RoundsModel", "threshold"),
     QT_TRANSLATE_NOOP("RoundsModel", "Draft-exit threshold in force")},
    {QT_TRANSLATE_NOOP("RoundsModel", "draft"), QT_TRANSLATE_NOOP("RoundsModel", "Time of the draft phase")},
    {QT_TRANSLATE_NOOP("RoundsModel", "verify"),
     QT_TRANSLATE_NOOP("RoundsModel", "Time of the verify phase")},
    {QT_TRANSLATE_NOOP("RoundsModel", "other"),
     QT_TRANSLATE_NOOP("RoundsModel", "Accepting, optimising, control, and what no phase covers")},
    {QT_TRANSLATE_NOOP("RoundsModel", "round time"), QT_TRANSLATE_NOOP("RoundsModel", "From start to end")},
}};

int skipped_sublayers(const traces::LayerSet* set) {
  if (set == nullptr) return 0;
  int count = 0;
  for (const std::uint8_t byte : set->skipped) count += std::popcount(byte);
  return count;
}

QString request_text(const OpenedRecording& opened, const traces::Request& request) {
  const traces::Prompt* prompt = opened.prompt_of(request);
  return QStringLiteral("%1 · %2").arg(prompt == nullptr ? 0 : prompt->question_id).arg(request.repeat);
}

QString category_text(const OpenedRecording& opened, const traces::Request& request) {
  const traces::Prompt* prompt = opened.prompt_of(request);
  return prompt == nullptr ? QString() : QString::fromStdString(prompt->category);
}

}  // namespace

void RoundsModel::set_run(RecordingPointer recording, std::size_t run) {
  beginResetModel();
  recording_ = std::move(recording);
  run_ = run;
  rebuild();
  endResetModel();
}

void RoundsModel::set_filter(const QString& text) {
  if (text == filter_) return;
  beginResetModel();
  filter_ = text;
  rebuild();
  endResetModel();
}

std::vector<bool> RoundsModel::matching_requests() const {
  std::vector<bool> matches;
  for (const traces::Request& of : recording_->recording().requests)
    matches.push_back(request_text(*recording_, of).contains(filter_, Qt::CaseInsensitive) ||
                      category_text(*recording_, of).contains(filter_, Qt::CaseInsensitive));
  return matches;
}

std::function<double(std::uint32_t)> RoundsModel::sort_key() const {
  switch (sort_column_) {
    case request:
      return [this](std::uint32_t round) {
        const traces::Request& of = recording_->request_of(round);
        const traces::Prompt* prompt = recording_->prompt_of(of);
        return static_cast<double>(prompt == nullptr ? 0 : prompt->question_id) * 0x1p20 + of.repeat;
      };
    case category: {
      // Prompts are few beside their rounds: their texts are compared once for each.
      std::map<std::string, double> places{{"", 0.0}};
      for (const traces::Prompt& prompt : recording_->recording().prompts) places[prompt.category];
      double next = 0.0;
      for (auto& [name, at] : places) at = next++;
      return [this, places = std::move(places)](std::uint32_t round) {
        const traces::Prompt* prompt = recording_->prompt_of(recording_->request_of(round));
        return prompt == nullptr ? 0.0 : places.at(prompt->category);
      };
    }
    case stop: {
      std::map<std::string_view, double> places;
      for (const std::uint32_t round : rows_)
        places[traces::draft_stop_name(recording_->round(round).draft_stop)];
      double next = 0.0;
      for (auto& [name, at] : places) at = next++;
      return [this, places = std::move(places)](std::uint32_t round) {
        return places.at(traces::draft_stop_name(recording_->round(round).draft_stop));
      };
    }
    default:
      return [this](std::uint32_t round) {
        const double key = raw(round, sort_column_);
        return std::isnan(key) ? -std::numeric_limits<double>::infinity() : key;
      };
  }
}

void RoundsModel::rebuild() {
  rows_.clear();
  row_of_round_.clear();
  if (!recording_ || run_ >= recording_->runs().size()) return;
  const std::vector<std::uint32_t>& all = recording_->runs()[run_].rounds;
  if (filter_.isEmpty()) {
    rows_ = all;
  } else {
    const std::vector<bool> requests = matching_requests();
    for (const std::uint32_t round : all) {
      const auto of = &recording_->request_of(round) - recording_->recording().requests.data();
      if (requests[static_cast<std::size_t>(of)] || text(round, stop).contains(filter_, Qt::CaseInsensitive))
        rows_.push_back(round);
    }
  }
  if (sort_column_ != place || sort_order_ != Qt::AscendingOrder) {
    const std::function<double(std::uint32_t)> key_of = sort_key();
    std::vector<std::pair<double, std::uint32_t>> keyed;
    keyed.reserve(rows_.size());
    for (std::uint32_t row = 0; row < rows_.size(); ++row) keyed.emplace_back(key_of(rows_[row]), row);
    // Equal ones stay in the order of the run.
    if (sort_order_ == Qt::AscendingOrder)
      std::sort(keyed.begin(), keyed.end());
    else
      std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
        return b.first < a.first || (a.first == b.first && a.second < b.second);
      });
    std::vector<std::uint32_t> sorted;
    sorted.reserve(rows_.size());
    for (const auto& [key, row] : keyed) sorted.push_back(rows_[row]);
    rows_ = std::move(sorted);
  }
  row_of_round_.assign(all.size(), -1);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    row_of_round_[recording_->place_in_run(rows_[i])] = static_cast<std::int32_t>(i);
}

int RoundsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RoundsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

double RoundsModel::raw(std::uint32_t round, int column) const {
  const traces::Round& row = recording_->round(round);
  switch (column) {
    case place:
      return recording_->place_in_run(round);
    case exit_layer:
      return row.exit_layer;
    case skipped:
      return skipped_sublayers(recording_->layer_set(round));
    case planned:
      return row.planned;
    case drafted:
      return row.drafted;
    case accepted:
      return row.accepted;
    case emitted:
      return row.emitted;
    case threshold:
      return row.threshold < 0.0 ? std::numeric_limits<double>::quiet_NaN() : row.threshold;
    case draft_time:
      return static_cast<double>(row.draft_ns);
    case verify_time:
      return static_cast<double>(row.verify_ns);
    case other_time:
      return static_cast<double>(row.end_ns - row.start_ns - row.draft_ns - row.verify_ns);
    case duration:
      return static_cast<double>(row.end_ns - row.start_ns);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

QString RoundsModel::text(std::uint32_t round, int column) const {
  const traces::Round& row = recording_->round(round);
  switch (column) {
    case request:
      return request_text(*recording_, recording_->request_of(round));
    case category:
      return category_text(*recording_, recording_->request_of(round));
    case stop:
      return QString::fromStdString(std::string(traces::draft_stop_name(row.draft_stop)));
    case draft_time:
    case verify_time:
    case other_time:
    case duration:
      return duration_text(static_cast<std::int64_t>(raw(round, column)));
    case threshold:
      return number_text(raw(round, column));
    case exit_layer:
    case skipped:
      return row.drafted == 0 && row.layer_set == 0 ? QStringLiteral("–")
                                                    : QString::number(raw(round, column));
    default:
      return QString::number(static_cast<qint64>(raw(round, column)));
  }
}

QVariant RoundsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const std::uint32_t round = round_of_row(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return text(round, index.column());
    case Qt::TextAlignmentRole:
      return cell_alignment(index.column() == category || index.column() == stop);
    case sort_role: {
      const double value = raw(round, index.column());
      return std::isnan(value) ? QVariant(text(round, index.column())) : QVariant(value);
    }
    case round_role:
      return round;
    default:
      return {};
  }
}

QVariant RoundsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  return header_words(words, "RoundsModel", section, orientation, role);
}

void RoundsModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= column_count) return;
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<std::uint32_t> rounds;
  for (const QModelIndex& index : before) rounds.push_back(round_of_row(index.row()));
  sort_column_ = column;
  sort_order_ = order;
  rebuild();
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i)
    after.push_back(index(row_of_round(rounds[static_cast<std::size_t>(i)]), before[i].column()));
  changePersistentIndexList(before, after);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

int RoundsModel::row_of_round(std::uint32_t round) const {
  if (!recording_ || round >= recording_->recording().rounds.size() || recording_->run_of(round) != run_)
    return -1;
  const std::uint32_t in_run = recording_->place_in_run(round);
  return in_run < row_of_round_.size() ? row_of_round_[in_run] : -1;
}

}  // namespace draftscope::gui
