// SPDX-License-Identifier: GPL-3.0-or-later
#include "advise_view.h"

#include <QCoreApplication>
#include <QFormLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "advise/advice_text.h"
#include "charts/chart_plot.h"
#include "charts/table_file.h"
#include "what_if/what_if_view.h"
#include "widgets/files.h"
#include "widgets/habits.h"
#include "widgets/table_columns.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

Result<void> write_policy_of(const AdviceReport& report, const traces::Recording& recording,
                             const std::string& path) {
  auto policy =
      simulator::advised_policy(report.advice, recording,
                                {.trace = recording.path,
                                 .command_line = command_line_of(report.question, recording.path.string()),
                                 .tool_version = QCoreApplication::applicationVersion().toStdString()});
  if (!policy) return fail("{}: {}", path, policy.error().message);
  return speculation::write_policy(path, *policy);
}

/// The question about the named parts of a machine.
Question on_machine(Question question, const Question& named) {
  if (!named.gpu.empty()) {
    question.gpu = named.gpu;
    question.machine_file.reset();
  }
  if (!named.model.empty()) question.model = named.model;
  if (named.weights) question.weights = named.weights;
  return question;
}

/// Splits specifications separated by spaces or semicolons.
std::vector<std::string> listed_strategies(const QString& text) {
  QString spaced = text;
  std::vector<std::string> all;
  for (const QString& one : spaced.replace(u';', u' ').split(u' ', Qt::SkipEmptyParts))
    all.push_back(one.toStdString());
  return all;
}

}  // namespace

AdviseView::AdviseView(ViewState& state, WhatIfView& what_if, QWidget* parent)
    : QWidget(parent), state_(state), what_if_(what_if) {
  setAccessibleName(tr("Advice"));
  lay_out();
  connect_what_if();
  connect(cancel_, &QPushButton::clicked, this, &AdviseView::cancel);
  connect(again_, &QPushButton::clicked, this, [this] {
    is_stale_ = true;
    start();
  });
  connect(write_, &QPushButton::clicked, this, &AdviseView::choose_policy_file);
  connect(ask_, &QPushButton::clicked, this, &AdviseView::ask_what_if);
  connect(table_, &QTableView::activated, this, &AdviseView::ask_what_if);
  connect(machine_, &QuestionPanel::changed, this, &AdviseView::ask);
  connect(machine_, &QuestionPanel::failed, words_, &QLabel::setText);
  for (QComboBox* choice : {considered_, curves_of_})
    connect(choice, &QComboBox::activated, this, &AdviseView::ask);
  connect(strategies_, &QLineEdit::editingFinished, this, [this] {
    if (report_ == nullptr || listed_strategies(strategies_->text()) != report_->question.strategies) ask();
  });
  connect(&state_, &ViewState::recording_changed, this, &AdviseView::forget);
  when_seen(*this, [this] { start(); });
  when_recoloured(*this, [this] {
    if (report_ != nullptr) show_report();
  });
  forget();
}

QWidget* AdviseView::make_choices() {
  auto* choices = new QWidget;
  auto* column = new QVBoxLayout(choices);
  column->setContentsMargins(0, 0, 0, 0);
  auto* form = new QFormLayout;
  form->setContentsMargins(4, 4, 4, 0);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  considered_->addItem(tr("all strategies"), static_cast<int>(Considered::everything));
  considered_->addItem(tr("early exits alone"), static_cast<int>(Considered::early_exits));
  considered_->addItem(tr("recorded runs alone"), static_cast<int>(Considered::recorded_runs));
  considered_->setAccessibleName(tr("Strategies to consider"));
  strategies_->setAccessibleName(tr("Strategies to consider besides"));
  strategies_->setPlaceholderText(tr("name:key=value …"));
  strategies_->setToolTip(tr("As on the command line (--strategy), with spaces between"));
  curves_of_->setAccessibleName(tr("Run whose threshold and length the curves change"));
  for (QComboBox* choice : {considered_, curves_of_}) {
    choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    choice->setMinimumContentsLength(14);
  }
  form->addRow(tr("Co&nsider"), considered_);
  form->addRow(tr("and b&esides"), strategies_);
  form->addRow(tr("Curves of"), curves_of_);
  column->addLayout(form);
  column->addWidget(machine_);
  words_->setWordWrap(true);
  words_->setAccessibleName(tr("Progress"));
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  progress_->setAccessibleName(tr("Advising"));
  column->addWidget(words_);
  column->addWidget(progress_);
  column->addWidget(cancel_);
  column->addWidget(again_);
  column->addStretch(1);
  QScrollArea* scroll = scrollable(choices);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return scroll;
}

QWidget* AdviseView::make_answers() {
  QFont large = sentence_->font();
  large.setPointSizeF(1.15 * large.pointSizeF());
  large.setBold(true);
  sentence_->setFont(large);
  sentence_->setWordWrap(true);
  sentence_->setAccessibleName(tr("What to do"));
  for (QLabel* label : {sentence_, facts_})
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  facts_->setAccessibleName(tr("What the advice hangs on"));
  facts_->setWordWrap(true);
  facts_->setTextFormat(Qt::RichText);
  facts_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  facts_->setMargin(4);
  sorted_->setSourceModel(&settings_);
  sorted_->setSortRole(Qt::UserRole);
  table_->setModel(sorted_);
  keep_numbers_in_sight(*table_);
  table_->setSortingEnabled(true);
  table_->setAccessibleName(tr("Settings; Return asks What if"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setAlternatingRowColors(true);
  table_->setWordWrap(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
  offer_copying(*table_);
  thresholds_->setObjectName(QStringLiteral("advise-threshold"));
  lengths_->setObjectName(QStringLiteral("advise-length"));
  curves_->addTab(thresholds_, tr("over &threshold"));
  curves_->addTab(lengths_, tr("over &length"));
  curves_->setAccessibleName(tr("Curves"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(write_);
  buttons->addWidget(ask_);
  buttons->addStretch(1);
  auto* above = new QWidget;
  auto* above_column = new QVBoxLayout(above);
  above_column->setContentsMargins(0, 0, 0, 0);
  above_column->addWidget(sentence_);
  above_column->addLayout(buttons);
  above_column->addWidget(table_, 1);
  auto* below = new QSplitter;
  below->addWidget(scrollable(facts_));
  curves_words_->setWordWrap(true);
  curves_words_->setMargin(4);
  curves_words_->setAccessibleName(tr("What the curves are of"));
  connect(curves_, &QTabWidget::currentChanged, this, &AdviseView::show_curves_words);
  auto* drawn = new QWidget;
  auto* drawn_column = new QVBoxLayout(drawn);
  drawn_column->setContentsMargins(0, 0, 0, 0);
  drawn_column->addWidget(curves_words_);
  drawn_column->addWidget(curves_, 1);
  below->addWidget(scrollable(drawn));
  below->setChildrenCollapsible(false);
  below->setSizes({420, 560});
  auto* right = new QSplitter(Qt::Vertical);
  right->addWidget(above);
  right->addWidget(below);
  right->setChildrenCollapsible(false);
  right->setStretchFactor(0, 1);
  right->setStretchFactor(1, 1);
  right->setSizes({320, 400});
  return right;
}

void AdviseView::lay_out() {
  auto* whole = new QSplitter;
  whole->addWidget(make_choices());
  whole->addWidget(make_answers());
  whole->setChildrenCollapsible(false);
  whole->setStretchFactor(0, 1);
  whole->setStretchFactor(1, 5);
  whole->setSizes({330, 950});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(whole);
}

void AdviseView::connect_what_if() {
  WhatIfWorker& worker = what_if_.worker();
  connect(&worker, &WhatIfWorker::training_progressed, this, [this](int done, int all) {
    if (!is_learning_) return;
    progress_->setRange(0, all);
    progress_->setValue(done);
  });
  connect(&worker, &WhatIfWorker::trained_on, this, [this] {
    // A newly trained recording, such as for another GPU, needs new advice; it is computed when this page is
    // next shown.
    is_stale_ = !is_learning_;
    if (is_learning_)
      take_trained();
    else
      update();
  });
  connect(&worker, &WhatIfWorker::refused, this, [this](const QString& reason) {
    if (!is_learning_) return;
    is_learning_ = false;
    show_message(reason);
    again_->show();
    emit settled();
  });
}

void AdviseView::forget() {
  job_.cancel();
  is_learning_ = false;
  is_stale_ = true;
  report_.reset();
  offered_.reset();
  wanted_.reset();
  machine_->forget_recording();
  show_message(state_.recording() == nullptr ? tr("Open a recording first.")
                                             : tr("Nothing was learnt from this recording yet."));
  update();
}

void AdviseView::start() {
  if (!is_stale_) return;
  is_stale_ = false;
  if (state_.recording() == nullptr) {
    emit settled();
    return;
  }
  if (what_if_.worker().trained() != nullptr) return take_trained();
  learn({});
}

void AdviseView::learn(const std::string& recorded_gpu) {
  job_.cancel();
  is_learning_ = true;
  show_message(
      tr("Learning costs and acceptance from %1 …").arg(QString::fromUtf8(state_.recording()->name())));
  progress_->setRange(0, 0);
  progress_->show();
  cancel_->show();
  what_if_.learn(recorded_gpu);
}

void AdviseView::take_trained() {
  is_learning_ = false;
  is_showing_ = true;
  const TrainedPointer& trained = what_if_.worker().trained();
  if (offered_ == trained) {
    is_showing_ = false;
    return ask();
  }
  Question kept = offered_ != nullptr ? machine_->question() : Question{};
  kept.recorded_gpu = trained->recorded_gpu();
  if (wanted_) kept = on_machine(kept, *std::exchange(wanted_, std::nullopt));
  offered_ = trained;
  machine_->set_recording(trained);
  machine_->set_question(kept);
  curves_of_->clear();
  curves_of_->addItem(tr("what is advised"), QString());
  for (const RecordedPoint& point : trained->points())
    curves_of_->addItem(QString::fromUtf8(point.strategy), QString::fromUtf8(point.strategy));
  is_showing_ = false;
  ask();
}

AdviceQuestion AdviseView::question() const {
  return {.machine = machine_->question(),
          .considered = static_cast<Considered>(considered_->currentData().toInt()),
          .strategies = listed_strategies(strategies_->text()),
          .curves_of = curves_of_->currentData().toString().toStdString()};
}

void AdviseView::set_question(const AdviceQuestion& question) {
  machine_->set_question(question.machine);
  considered_->setCurrentIndex(std::max(0, considered_->findData(static_cast<int>(question.considered))));
  QStringList listed;
  for (const std::string& strategy : question.strategies) listed << QString::fromStdString(strategy);
  strategies_->setText(listed.join(u' '));
  curves_of_->setCurrentIndex(std::max(0, curves_of_->findData(QString::fromStdString(question.curves_of))));
  ask();
}

void AdviseView::ask_about(const Question& machine) {
  if (offered_ == nullptr) {
    wanted_ = machine;
    return start();
  }
  machine_->change_question(on_machine(machine_->question(), machine));
}

void AdviseView::ask() {
  if (is_showing_ || what_if_.worker().trained() == nullptr) return;
  // The costs depend on the GPU that was recorded on.
  const std::string recorded_gpu = machine_->question().recorded_gpu;
  if (recorded_gpu != what_if_.worker().trained()->recorded_gpu()) return learn(recorded_gpu);
  show_message(tr("Advising …"));
  for (QWidget* choice : std::initializer_list<QWidget*>{machine_, considered_, strategies_, curves_of_})
    choice->setEnabled(true);
  progress_->setRange(0, 1000);
  progress_->setValue(0);
  progress_->show();
  cancel_->show();
  job_.start(read_and_take(
      [this, trained = what_if_.worker().trained(),
       question = question()](const BackgroundJob::ShouldContinue& should_continue) {
        int told = 0;
        return advice_of(*trained, question, [&](int thousandths) {
          if (thousandths >= told + 10) {
            told = thousandths;
            QMetaObject::invokeMethod(
                this, [this, thousandths] { show_progress(thousandths); }, Qt::QueuedConnection);
          }
          return should_continue();
        });
      },
      [this](Result<AdviceReport> report) { take(std::move(report)); }));
}

void AdviseView::cancel() {
  if (is_learning_) return what_if_.worker().cancel();
  job_.cancel();
  show_message(tr("Advice was stopped."));
  again_->show();
  emit settled();
}

void AdviseView::take(Result<AdviceReport> report) {
  if (report) {
    report_ = std::make_shared<const AdviceReport>(*std::move(report));
    show_report();
  } else {
    show_message(QString::fromUtf8(report.error().message));
  }
  emit settled();
}

void AdviseView::show_message(const QString& words) {
  report_.reset();
  sentence_->setText(words);
  facts_->clear();
  words_->clear();
  settings_.set_numbers({}, {});
  thresholds_->set_chart({});
  lengths_->set_chart({});
  show_curves_words();
  for (QWidget* hidden : std::initializer_list<QWidget*>{progress_, cancel_, again_}) hidden->hide();
  for (QWidget* off : std::initializer_list<QWidget*>{write_, ask_}) off->setEnabled(false);
  const bool is_known = what_if_.worker().trained() != nullptr;
  for (QWidget* choice : std::initializer_list<QWidget*>{machine_, considered_, strategies_, curves_of_})
    choice->setEnabled(is_known);
}

void AdviseView::show_curves_words() {
  const Chart& chart = (curves_->currentIndex() == 0 ? thresholds_ : lengths_)->plot().chart();
  curves_words_->setText(chart.empty() ? QString() : chart.name);
}

void AdviseView::show_report() {
  progress_->hide();
  cancel_->hide();
  again_->hide();
  sentence_->setText(advice_sentence(*report_));
  QStringList lines;
  // Long specifications may break after their commas.
  const auto breakable = [](const QString& words) {
    return words.toHtmlEscaped().replace(u',', QStringLiteral(",&#8203;"));
  };
  for (const AdviceFact& fact : advice_facts(*report_))
    lines << QStringLiteral("<p style='margin:3px 0'><b>%1</b>: %2</p>")
                 .arg(fact.about.toHtmlEscaped(), breakable(fact.words));
  lines << QStringLiteral("<p style='margin:3px 0'><b>%1</b>: <code>%2</code></p>")
               .arg(tr("From a terminal"),
                    QString::fromUtf8(command_line_of(report_->question, state_.recording()->name()))
                        .toHtmlEscaped());
  facts_->setText(lines.join(QString()));
  ChartTable table = settings_table(*report_);
  const auto outside = std::ranges::find_if(report_->settings, &ListedSetting::is_outside);
  settings_.set_numbers(std::move(table.columns), std::move(table.rows),
                        static_cast<std::size_t>(outside - report_->settings.begin()));
  hide_columns_without_values(*table_);
  sorted_->sort(-1);
  table_->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  table_->selectRow(0);
  const auto no_curve = [](const SettingCurve& curve) {
    return tr("No curve: %1.").arg(sentence_text(curve.refusal));
  };
  thresholds_->set_chart(threshold_chart(report_->thresholds), no_curve(report_->thresholds));
  lengths_->set_chart(length_chart(report_->lengths), no_curve(report_->lengths));
  show_curves_words();
  write_->setEnabled(report_->advice.verdict != simulator::Verdict::measure_first);
  ask_->setEnabled(true);
}

void AdviseView::ask_what_if() {
  const QModelIndex index = sorted_->mapToSource(table_->currentIndex());
  if (report_ == nullptr || !index.isValid()) return;
  emit question_asked(question_about(*report_, report_->settings[static_cast<std::size_t>(index.row())]));
}

Result<void> AdviseView::write_policy(const QString& path) const {
  if (report_ == nullptr)
    return fail("{}: found no advice, expected some to write a policy of", path.toStdString());
  return write_policy_of(*report_, state_.recording()->recording(), path.toStdString());
}

void AdviseView::choose_policy_file() {
  if (report_ == nullptr) return;
  save_policy(*words_, [report = report_, recording = state_.recording()](const std::string& path) {
    return write_policy_of(*report, recording->recording(), path);
  });
}

}  // namespace draftscope::gui
