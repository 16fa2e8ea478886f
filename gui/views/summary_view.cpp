// SPDX-License-Identifier: GPL-3.0-or-later
#include "summary_view.h"

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/device_timeline.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/analysis/what_is_traced.h>
#include <draftscope/traces/missing_data.h>

#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QScrollBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "charts/table_file.h"
#include "views/run_cells.h"
#include "views/why_card.h"
#include "widgets/habits.h"
#include "widgets/table_cells.h"
#include "widgets/table_columns.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

void show_column_menu(QTableView& table, const QPoint& place) {
  QMenu menu(&table);
  menu.setToolTipsVisible(true);
  for (int column = 1; column < table.model()->columnCount(); ++column) {
    QAction* action = menu.addAction(table.model()->headerData(column, Qt::Horizontal).toString());
    action->setToolTip(table.model()->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString());
    action->setCheckable(true);
    action->setChecked(!table.isColumnHidden(column));
    QObject::connect(action, &QAction::toggled, &table,
                     [&table, column](bool is_shown) { table.setColumnHidden(column, !is_shown); });
  }
  menu.exec(table.horizontalHeader()->mapToGlobal(place));
}

/// Hides all columns of the table from `shown` on. A menu on the header shows and hides each column except
/// the first. Call it after the table has its model.
void offer_columns(QTableView& table, int shown) {
  for (int column = shown; column < table.model()->columnCount(); ++column) table.hideColumn(column);
  table.horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  QObject::connect(table.horizontalHeader(), &QHeaderView::customContextMenuRequested, &table,
                   [&table](const QPoint& place) { show_column_menu(table, place); });
}

/// Max lines of warnings: more would push the table out of sight.
constexpr qsizetype max_warnings = 6;

QString value_of(const traces::Meta& meta, const std::string& key) {
  return QString::fromStdString(simulator::meta_value(meta, key)).toHtmlEscaped();
}

QString identity_text(const OpenedRecording& opened) {
  const traces::Meta& meta = opened.recording().meta;
  QStringList model{value_of(meta, "model")};
  if (const std::int32_t layers = simulator::model_layers(opened.recording()); layers > 0)
    model << counted(layers, SummaryView::tr("1 layer"), SummaryView::tr("%1 layers"));
  model << value_of(meta, "dtype");
  if (const QString stored = value_of(meta, "stored_as");
      !stored.isEmpty() && stored != QStringLiteral("safetensors ") + value_of(meta, "dtype"))
    model << SummaryView::tr("from %1").arg(stored);
  if (value_of(meta, "synthetic") == u"1") model << SummaryView::tr("<b>synthetic weights</b>");
  QStringList machine{value_of(meta, "hostname"), value_of(meta, "processor"), value_of(meta, "device")};
  if (const QString threads = value_of(meta, "threads"); !threads.isEmpty() && threads != u"0")
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
  QString bound = QString::fromStdString(simulator::step_bound_text(opened.measured(), Characters::unicode))
                      .toHtmlEscaped();
  const bool has_device = std::ranges::any_of(
      opened.recording().tracks, [](const traces::Track& track) { return track.kind == "stream"; });
  if (!bound.isEmpty() && has_device)
    bound += QStringLiteral(" <a href='Device'>%1</a>").arg(SummaryView::tr("Device"));
  const QString traced = QString::fromStdString(simulator::what_is_traced(meta)).toHtmlEscaped();
  const QString differing = QString::fromStdString(simulator::differing_settings(meta)).toHtmlEscaped();
  for (QStringList* parts : {&model, &machine, &decoding}) parts->removeAll(QString());
  const auto line = [](const QString& label, const QStringList& parts) {
    return QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td>%2</td></tr>")
        .arg(label, parts.join(QStringLiteral(" · ")));
  };
  return QStringLiteral("<h2>%1</h2><table>%2%3%4%5%6%7</table>")
      .arg(QString::fromStdString(opened.name()).toHtmlEscaped(), line(SummaryView::tr("model"), model),
           line(SummaryView::tr("machine"), machine), line(SummaryView::tr("decoding"), decoding),
           differing.isEmpty() ? QString() : line(SummaryView::tr("requests"), {differing}),
           bound.isEmpty() ? QString() : line(SummaryView::tr("step"), {bound}),
           traced.isEmpty() ? QString() : line(SummaryView::tr("traced"), {traced}));
}

/// Text of a fact, with its number of bytes or nanoseconds also as people read it.
QString fact_text(const std::string& key, const QString& text) {
  bool is_number = false;
  const qint64 number = text.toLongLong(&is_number);
  if (!is_number || number == 0) return text;
  if (key.find("bytes") != std::string::npos)
    return QStringLiteral("%1 (%2)").arg(QString::fromStdString(bytes_text(static_cast<double>(number))),
                                         text);
  return key.ends_with("_ns") ? QStringLiteral("%1 (%2)").arg(duration_text(number), text) : text;
}

/// Phases that took time in any run.
std::vector<traces::Phase> phases_of(const OpenedRecording& opened) {
  std::vector<traces::Phase> phases;
  for (int i = 0; i < traces::phase_count; ++i)
    if (std::ranges::any_of(opened.measured().figures.runs, [&](const simulator::RunFigures& run) {
          return run.all.breakdown.by_phase[static_cast<std::size_t>(i)] > 0;
        }))
      phases.push_back(static_cast<traces::Phase>(i));
  return phases;
}

}  // namespace

SummaryView::SummaryView(ViewState& state, QWidget* parent)
    : QWidget(parent), state_(state), phases_(new PhasesCell(runs_, this)), why_(new WhyCard(state)) {
  setAccessibleName(tr("Summary"));
  why_->setObjectName(QStringLiteral("why"));
  set_first_focus(*this, *table_);
  identity_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  // The sentence about a step must not make the page wider than a small screen.
  identity_->setWordWrap(true);
  connect(identity_, &QLabel::linkActivated, this, &SummaryView::view_asked);
  identity_->setAccessibleName(tr("Recording"));
  warnings_->setAccessibleName(tr("Warnings"));
  warnings_->setWordWrap(true);
  warnings_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  set_up_table();
  details_->setHeaderLabels({tr("parameter or fact"), tr("value")});
  details_->setAccessibleName(tr("Parameters of the run, and facts of the recording"));
  details_->setRootIsDecorated(true);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(identity_);
  layout->addWidget(warnings_);
  auto* above = new QHBoxLayout;
  above->addWidget(span_);
  above->addSpacing(16);
  above->addWidget(phase_legend_, 1);
  layout->addLayout(above);
  layout->addWidget(table_, 3);
  auto* letters =
      new QLabel(tr("M: tokens that a verification yields · c, v, o: a draft step, a verification, and the "
                    "rest of a round, each in vanilla steps"));
  letters->setAccessibleName(tr("What the columns are"));
  letters->setWordWrap(true);
  layout->addWidget(letters);
  auto* more = new QTabWidget;
  more->setDocumentMode(true);
  more->addTab(why_, tr("&Why"));
  more->addTab(details_, tr("Parame&ters and facts"));
  layout->addWidget(more, 2);
  connect(why_, &WhyCard::rounds_asked, this, &SummaryView::rounds_asked);
  connect(why_, &WhyCard::view_asked, this, &SummaryView::view_asked);
  when_recoloured(*this, [this] {
    if (!state_.recording()) return;
    identity_->clear();
    identity_->setText(identity_text(*state_.recording()));
  });
  connect(&state_, &ViewState::recording_changed, this, &SummaryView::show_recording);
  connect(&state_, &ViewState::run_changed, this, &SummaryView::show_run);
  connect(span_, &QComboBox::currentIndexChanged, this, &SummaryView::show_span);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (current.isValid())
              state_.set_run(static_cast<std::size_t>(sorted_.mapToSource(current).row()));
          });
  show_recording();
}

void SummaryView::set_up_table() {
  sorted_.setSourceModel(&runs_);
  sorted_.setSortRole(RunsModel::sort_role);
  table_->setModel(&sorted_);
  offer_columns(*table_, RunsModel::shown_columns());
  offer_copying(*table_);
  const int tokens_per_second = RunsModel::column_of("tokens_per_second");
  const int speedup = RunsModel::column_of("speedup.value");
  const int decode_tokens_per_second = RunsModel::column_of("decode_tokens_per_second");
  const int decode_speedup = RunsModel::column_of("speedup.decode_value");
  table_->setItemDelegate(new TextCell(table_));
  table_->setItemDelegateForColumn(speedup, new SpeedupCell(runs_, RunSpan::whole, this));
  table_->setItemDelegateForColumn(decode_speedup, new SpeedupCell(runs_, RunSpan::decoding, this));
  table_->setItemDelegateForColumn(RunsModel::phases_column(), phases_);
  for (const int column : {RunsModel::phases_column(), RunsModel::rows_column()}) table_->showColumn(column);
  // The whisker says how far speedups vary.
  table_->hideColumn(RunsModel::column_of("speedup.by_repeat"));
  // Speed, its mark and the split of time follow the name; the rows per round follow their cost.
  int place = 1;
  for (const int column :
       {tokens_per_second, decode_tokens_per_second, speedup, decode_speedup, RunsModel::phases_column(),
        RunsModel::column_of("mean_accepted_length"), RunsModel::column_of("step_acceptance"),
        RunsModel::column_of("acceptance_rate"), RunsModel::rows_column()})
    table_->horizontalHeader()->moveSection(table_->horizontalHeader()->visualIndex(column), place++);
  table_->setAccessibleName(tr("Runs"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 8);
  table_->setAlternatingRowColors(true);
  table_->setSortingEnabled(true);
  table_->sortByColumn(tokens_per_second, Qt::DescendingOrder);
  keep_numbers_in_sight(*table_, {speedup, decode_speedup});
  constexpr int min_rows = 4;
  table_->setMinimumHeight((min_rows + 1) * (table_->fontMetrics().height() + 8));
  span_->addItems({tr("with the prefill"), tr("decoding alone")});
  span_->setAccessibleName(tr("What speed and time are of"));
  show_span();
}

void SummaryView::show_span() {
  const bool is_decoding = span_->currentIndex() == static_cast<int>(RunSpan::decoding);
  for (const auto& [whole, decoding] : {std::pair("tokens_per_second", "decode_tokens_per_second"),
                                        std::pair("speedup.value", "speedup.decode_value")}) {
    const int of_whole = RunsModel::column_of(whole);
    const int of_decoding = RunsModel::column_of(decoding);
    table_->setColumnHidden(of_whole, is_decoding);
    table_->setColumnHidden(of_decoding, !is_decoding);
    // The table stays sorted by the same figure.
    const QHeaderView& header = *table_->horizontalHeader();
    if (header.sortIndicatorSection() == (is_decoding ? of_whole : of_decoding))
      table_->sortByColumn(is_decoding ? of_decoding : of_whole, header.sortIndicatorOrder());
  }
  phases_->set_span(is_decoding ? RunSpan::decoding : RunSpan::whole);
  table_->viewport()->update();
}

void SummaryView::show_recording() {
  const RecordingPointer recording = state_.recording();
  runs_.set_recording(recording);
  // Imported files have acceptance of draft tokens alone.
  const bool is_imported = recording && traces::is_imported(recording->recording().meta);
  table_->setColumnHidden(RunsModel::column_of("step_acceptance"), is_imported);
  table_->setColumnHidden(RunsModel::column_of("acceptance_rate"), !is_imported);
  identity_->setText(recording ? identity_text(*recording) : QString());
  QStringList lines;
  if (recording)
    for (const std::string& warning : recording->warnings())
      lines << QStringLiteral("⚠ %1").arg(sentence_text(warning).toHtmlEscaped());
  warnings_->setToolTip(lines.join(QStringLiteral("<br>")));
  if (lines.size() > max_warnings) {
    const qsizetype others = lines.size() - max_warnings + 1;
    lines = lines.first(max_warnings - 1) << tr("and %1 more (see tooltip)").arg(others);
  }
  warnings_->setText(lines.join(QStringLiteral("<br>")));
  warnings_->setVisible(!lines.isEmpty());
  phase_legend_->set_phases(recording ? phases_of(*recording) : std::vector<traces::Phase>());
  // Height that the rows do not need goes to the words below them.
  const QHeaderView& rows = *table_->verticalHeader();
  table_->setMaximumHeight(
      std::max(table_->minimumHeight(), (runs_.rowCount() + 1) * rows.defaultSectionSize() +
                                            table_->horizontalScrollBar()->sizeHint().height() +
                                            2 * table_->frameWidth()));
  show_span();
  show_run();
}

void SummaryView::show_run() {
  details_->clear();
  const RunRounds* run = state_.run_rounds();
  if (run == nullptr) return;
  table_->setCurrentIndex(sorted_.mapFromSource(runs_.index(static_cast<int>(state_.run()), 0)));
  const QJsonObject values =
      QJsonDocument::fromJson(QByteArray::fromStdString(run->run->parameters)).object();
  if (!values.isEmpty()) {
    auto* parameters = new QTreeWidgetItem(
        details_, {tr("parameters of %1").arg(QString::fromStdString(run->run->strategy))});
    for (auto value = values.begin(); value != values.end(); ++value)
      new QTreeWidgetItem(parameters, {value.key(), value.value().toVariant().toString()});
  }
  auto* facts = new QTreeWidgetItem(details_, {tr("facts of the recording")});
  for (const auto& [key, text] : state_.recording()->recording().meta)
    new QTreeWidgetItem(facts, {QString::fromStdString(key), fact_text(key, QString::fromStdString(text))});
  details_->expandAll();
  details_->resizeColumnToContents(0);
}

}  // namespace draftscope::gui
