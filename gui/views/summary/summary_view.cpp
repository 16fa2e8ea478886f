// SPDX-License-Identifier: GPL-3.0-or-later
#include "summary_view.h"

#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QTabWidget>
#include <QTableView>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "models/column_menu.h"
#include "models/copy_rows.h"
#include "views/summary/phase_bars.h"
#include "views/summary/why_card.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int widest_name = 240;

QString value_of(const traces::Meta& meta, const std::string& key) {
  return QString::fromStdString(simulator::meta_value(meta, key)).toHtmlEscaped();
}

QString identity_text(const OpenedRecording& opened) {
  const traces::Meta& meta = opened.recording().meta;
  QStringList model{value_of(meta, "model")};
  if (const std::int32_t layers = simulator::model_layers(opened.recording()); layers > 0)
    model << counted(layers, SummaryView::tr("1 layer"), SummaryView::tr("%1 layers"));
  model << value_of(meta, "dtype");
  if (const QString stored = value_of(meta, "stored_as"); stored.startsWith(u"gguf"))
    model << SummaryView::tr("from %1").arg(stored);
  if (value_of(meta, "synthetic") == u"1") model << SummaryView::tr("<b>synthetic weights</b>");
  QStringList machine{value_of(meta, "hostname"), value_of(meta, "processor"), value_of(meta, "device")};
  if (const QString threads = value_of(meta, "threads"); !threads.isEmpty())
    machine << (threads == u"1" ? SummaryView::tr("1 thread") : SummaryView::tr("%1 threads").arg(threads));
  QStringList decoding{simulator::is_greedy(meta)
                           ? SummaryView::tr("greedy")
                           : SummaryView::tr("temperature %1").arg(value_of(meta, "temperature"))};
  const auto count = [](std::size_t of) { return static_cast<std::int64_t>(of); };
  decoding << counted(count(opened.recording().prompts.size()), SummaryView::tr("1 prompt"),
                      SummaryView::tr("%1 prompts"));
  decoding << counted(count(opened.recording().requests.size()), SummaryView::tr("1 request"),
                      SummaryView::tr("%1 requests"));
  decoding << counted(count(opened.round_count()), SummaryView::tr("1 round"), SummaryView::tr("%1 rounds"));
  for (QStringList* parts : {&model, &machine, &decoding}) parts->removeAll(QString());
  const auto line = [](const QString& label, const QStringList& parts) {
    return QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td>%2</td></tr>")
        .arg(label, parts.join(QStringLiteral(" · ")));
  };
  return QStringLiteral("<h2>%1</h2><table>%2%3%4</table>")
      .arg(QString::fromStdString(opened.name()).toHtmlEscaped(), line(SummaryView::tr("model"), model),
           line(SummaryView::tr("machine"), machine), line(SummaryView::tr("decoding"), decoding));
}

}  // namespace

SummaryView::SummaryView(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      identity_(new QLabel),
      warnings_(new QLabel),
      table_(new QTableView),
      bars_(new PhaseBars),
      why_(new WhyCard(state)),
      details_(new QTreeWidget) {
  setAccessibleName(tr("Summary"));
  identity_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  identity_->setAccessibleName(tr("Recording"));
  warnings_->setAccessibleName(tr("Warnings"));
  warnings_->setWordWrap(true);
  warnings_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  table_->setModel(&runs_);
  offer_columns(*table_, RunsModel::shown_columns());
  table_->setAccessibleName(tr("Runs"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 8);
  table_->setAlternatingRowColors(true);
  offer_copying(*table_);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setWordWrap(false);
  details_->setHeaderLabels({tr("parameter or fact"), tr("value")});
  details_->setAccessibleName(tr("Parameters of the run, and facts of the recording"));
  details_->setRootIsDecorated(true);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(identity_);
  layout->addWidget(warnings_);
  layout->addWidget(table_, 3);
  layout->addWidget(bars_);
  auto* more = new QTabWidget;
  more->setDocumentMode(true);
  more->addTab(why_, tr("&Why"));
  more->addTab(details_, tr("Parameters and &facts"));
  layout->addWidget(more, 2);
  connect(why_, &WhyCard::rounds_asked, this, &SummaryView::rounds_asked);
  connect(&state_, &ViewState::recording_changed, this, &SummaryView::show_recording);
  connect(&state_, &ViewState::run_changed, this, &SummaryView::show_run);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (current.isValid()) state_.set_run(static_cast<std::size_t>(current.row()));
          });
  show_recording();
}

void SummaryView::show_recording() {
  const RecordingPointer recording = state_.recording();
  runs_.set_recording(recording);
  bars_->set_recording(recording);
  identity_->setText(recording ? identity_text(*recording) : QString());
  QStringList lines;
  if (recording)
    for (const std::string& warning : recording->warnings())
      lines << QStringLiteral("⚠ %1").arg(QString::fromStdString(warning).toHtmlEscaped());
  warnings_->setText(lines.join(QStringLiteral("<br>")));
  warnings_->setVisible(!lines.isEmpty());
  table_->resizeColumnsToContents();
  // Long specifications must not push the figures out of sight; the bars below and the tool tip have them
  // whole.
  table_->setColumnWidth(RunsModel::run, std::min(table_->columnWidth(RunsModel::run), widest_name));
  show_run();
}

void SummaryView::show_run() {
  details_->clear();
  const RunRounds* run = state_.run_rounds();
  if (run == nullptr) return;
  table_->setCurrentIndex(runs_.index(static_cast<int>(state_.run()), 0));
  auto* parameters =
      new QTreeWidgetItem(details_, {tr("parameters of %1").arg(QString::fromStdString(run->run->strategy))});
  const QJsonObject values =
      QJsonDocument::fromJson(QByteArray::fromStdString(run->run->parameters)).object();
  for (auto value = values.begin(); value != values.end(); ++value)
    new QTreeWidgetItem(parameters, {value.key(), value.value().toVariant().toString()});
  auto* facts = new QTreeWidgetItem(details_, {tr("facts of the recording")});
  for (const auto& [key, text] : state_.recording()->recording().meta)
    new QTreeWidgetItem(facts, {QString::fromStdString(key), QString::fromStdString(text)});
  parameters->setExpanded(true);
  details_->resizeColumnToContents(0);
}

}  // namespace draftscope::gui
