// SPDX-License-Identifier: GPL-3.0-or-later
#include "runs_model.h"

#include <array>
#include <tuple>

#include "models/column_words.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::array<ColumnWords, RunsModel::column_count> words{{
    {QT_TRANSLATE_NOOP("RunsModel", "run"), QT_TRANSLATE_NOOP("RunsModel", "Strategy with its parameters")},
    {QT_TRANSLATE_NOOP("RunsModel", "requests"),
     QT_TRANSLATE_NOOP("RunsModel", "Finished ones; others count nowhere")},
    {QT_TRANSLATE_NOOP("RunsModel", "tokens"), QT_TRANSLATE_NOOP("RunsModel", "Output tokens")},
    {QT_TRANSLATE_NOOP("RunsModel", "tokens/s"),
     QT_TRANSLATE_NOOP("RunsModel", "All output tokens over all wall time, prefill included")},
    {QT_TRANSLATE_NOOP("RunsModel", "speedup"),
     QT_TRANSLATE_NOOP("RunsModel", "Over vanilla decoding in the same recording, on the same prompts")},
    {QT_TRANSLATE_NOOP("RunsModel", "95 % from"),
     QT_TRANSLATE_NOOP("RunsModel", "Of the speedup: bootstrap over prompts")},
    {QT_TRANSLATE_NOOP("RunsModel", "to"),
     QT_TRANSLATE_NOOP("RunsModel", "Of the speedup: bootstrap over prompts")},
    {QT_TRANSLATE_NOOP("RunsModel", "M"),
     QT_TRANSLATE_NOOP("RunsModel", "Tokens that a target forward yields, bonus token included; τ is M − 1")},
    {QT_TRANSLATE_NOOP("RunsModel", "acceptance α"),
     QT_TRANSLATE_NOOP("RunsModel", "Accepted / drafted tokens")},
    {QT_TRANSLATE_NOOP("RunsModel", "eTPL"),
     QT_TRANSLATE_NOOP("RunsModel", "Tokens per loaded layer, observed")},
    {QT_TRANSLATE_NOOP("RunsModel", "steps/round"), QT_TRANSLATE_NOOP("RunsModel", "Draft steps a round")},
    {QT_TRANSLATE_NOOP("RunsModel", "c"),
     QT_TRANSLATE_NOOP("RunsModel", "Draft-cost coefficient: a draft step / a target step")},
    {QT_TRANSLATE_NOOP("RunsModel", "v"), QT_TRANSLATE_NOOP("RunsModel", "A verification / a target step")},
    {QT_TRANSLATE_NOOP("RunsModel", "o"),
     QT_TRANSLATE_NOOP("RunsModel", "Accepting, optimising and control of a round / a target step")},
    {QT_TRANSLATE_NOOP("RunsModel", "TPT"),
     QT_TRANSLATE_NOOP("RunsModel", "Tokens per target-step time: M / (steps · c + v + o)")},
    {QT_TRANSLATE_NOOP("RunsModel", "same text"),
     QT_TRANSLATE_NOOP("RunsModel", "Whether the output is vanilla's, token for token")},
}};

}  // namespace

void RunsModel::set_recording(RecordingPointer recording) {
  beginResetModel();
  recording_ = std::move(recording);
  endResetModel();
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !recording_ ? 0 : static_cast<int>(recording_->measured().figures.runs.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

std::optional<double> RunsModel::value(const simulator::Figures& figures, int column) const {
  switch (column) {
    case requests:
      return static_cast<double>(figures.throughput.requests);
    case tokens:
      return static_cast<double>(figures.throughput.output_tokens);
    case tokens_per_second:
      return figures.throughput.tokens_per_second;
    case speedup:
      return figures.speedup ? std::optional(figures.speedup->value) : std::nullopt;
    case speedup_low:
      return figures.speedup && figures.speedup->interval ? std::optional(figures.speedup->interval->low)
                                                          : std::nullopt;
    case speedup_high:
      return figures.speedup && figures.speedup->interval ? std::optional(figures.speedup->interval->high)
                                                          : std::nullopt;
    case mean_accepted_length:
      return figures.acceptance.mean_accepted_length;
    case acceptance_rate:
      return figures.acceptance.acceptance_rate;
    case etpl:
      return figures.layers.etpl;
    case steps_per_round:
      return figures.acceptance.steps_per_round;
    case draft_cost:
      return figures.cost.c;
    case verify_cost:
      return figures.cost.v;
    case overhead_cost:
      return figures.cost.o;
    case tpt: {
      const auto& [c, v, o] = std::tie(figures.cost.c, figures.cost.v, figures.cost.o);
      const std::optional<double>& m = figures.acceptance.mean_accepted_length;
      const std::optional<double>& steps = figures.acceptance.steps_per_round;
      if (!c || !v || !o || !m || !steps) return std::nullopt;
      return *m / (*steps * *c + *v + *o);
    }
    default:
      return std::nullopt;
  }
}

QString RunsModel::text(const simulator::Figures& figures, int column) const {
  if (column == run) return QString::fromStdString(figures.run->specification);
  if (column == identical) {
    if (!figures.identity) return QStringLiteral("–");
    return figures.identity->differing_prompts == 0 ? tr("yes")
                                                    : tr("no (%1 of %2)")
                                                          .arg(figures.identity->differing_prompts)
                                                          .arg(figures.identity->compared_prompts);
  }
  if (column == speedup && figures.run == recording_->measured().figures.baseline) return tr("baseline");
  const std::optional<double> number = value(figures, column);
  if (!number) return QStringLiteral("–");
  if (column == requests || column == tokens) return QString::number(static_cast<qint64>(*number));
  if (column == acceptance_rate) return percent_text(*number);
  if (column == speedup) return QStringLiteral("%1×").arg(number_text(*number));
  return number_text(*number);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const simulator::Figures& figures =
      recording_->measured().figures.runs[static_cast<std::size_t>(index.row())].all;
  if (role == Qt::ToolTipRole && index.column() == run)
    return QStringLiteral("%1\n%2").arg(QString::fromStdString(figures.run->specification),
                                        QString::fromStdString(figures.run->parameters));
  return figure_cell(
      role, value_role, index.column() == run, [&] { return text(figures, index.column()); },
      [&] { return value(figures, index.column()); });
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  return header_words(words, "RunsModel", section, orientation, role);
}

}  // namespace draftscope::gui
