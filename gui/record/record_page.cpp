// SPDX-License-Identifier: GPL-3.0-or-later
#include "record_page.h"

#include <draftscope/traces/prompt_file.h>
#include <sys/stat.h>

#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QStandardPaths>
#include <QVBoxLayout>
#include <utility>

#include "record/live_reader.h"
#include "widgets/files.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int typing_ms = 400;
constexpr int tick_ms = 250;
constexpr qint64 min_reading_pause_ms = 1000;
/// Readings take at most one part in this many of the time, since they share the machine with the
/// measurement.
constexpr qint64 reading_share = 10;

QString count_text(std::int64_t count) {
  for (const auto& [size, unit] : {std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")})
    if (static_cast<double>(count) >= size)
      return QStringLiteral("%1 %2").arg(number_text(static_cast<double>(count) / size), QLatin1String(unit));
  return QString::number(count);
}

QString facts_text(const ModelFacts& facts) {
  QStringList parts{counted(facts.n_layers, RecordPage::tr("1 layer"), RecordPage::tr("%1 layers")),
                    RecordPage::tr("%1 parameters").arg(count_text(facts.parameters)),
                    QString::fromStdString(facts.dtype),
                    RecordPage::tr("%1B of weights").arg(count_text(facts.weight_bytes)),
                    RecordPage::tr("context of %1").arg(facts.context_tokens)};
  if (facts.synthetic) parts << RecordPage::tr("synthetic weights");
  if (facts.has_chat_template)
    parts << (facts.chat_template_problem.empty()
                  ? RecordPage::tr("has a chat template")
                  : RecordPage::tr("has a chat template that cannot be rendered"));
  return parts.join(QStringLiteral(" · "));
}

}  // namespace

RecordPage::RecordPage(QWidget* parent) : QWidget(parent), command_(find_command()) {
  setAccessibleName(tr("Record"));
  for (QTimer* timer : {&model_pause_, &prompts_pause_}) {
    timer->setSingleShot(true);
    timer->setInterval(typing_ms);
  }
  live_timer_.setInterval(tick_ms);
  make_layout();
  connect_all();
}

RecordPage::~RecordPage() {
  if (reader_) reader_->stop();
}

void RecordPage::make_layout() {
  auto* fields = new QScrollArea;
  fields->setWidget(form_);
  fields->setWidgetResizable(true);
  fields->setFrameShape(QFrame::NoFrame);
  settings_ = make_settings();
  stack_->addWidget(settings_);
  stack_->addWidget(live_);
  auto* splitter = new QSplitter;
  splitter->addWidget(fields);
  splitter->addWidget(stack_);
  splitter->setStretchFactor(0, 0);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({430, 800});
  splitter->setChildrenCollapsible(false);
  auto* column = new QVBoxLayout(this);
  column->addWidget(splitter, 1);
  column->addWidget(make_bottom());
}

QWidget* RecordPage::make_settings() {
  auto* strategies = new QWidget;
  auto* above = new QVBoxLayout(strategies);
  above->setContentsMargins(0, 0, 0, 0);
  auto* title = new QLabel(tr("<b>Strategies</b>, recorded in turn, prompt by prompt"));
  above->addWidget(title);
  above->addWidget(chooser_, 1);
  above->addWidget(strategies_problem_);
  auto* prompts = new QWidget;
  auto* below = new QVBoxLayout(prompts);
  below->setContentsMargins(0, 0, 0, 0);
  below->addWidget(new QLabel(tr("<b>Prompts</b>")));
  below->addWidget(preview_, 1);
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(strategies);
  splitter->addWidget(prompts);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

QWidget* RecordPage::make_bottom() {
  auto* bottom = new QWidget;
  auto* column = new QVBoxLayout(bottom);
  column->setContentsMargins(0, 0, 0, 0);
  auto* row = new QHBoxLayout;
  auto* label = new QLabel(tr("&Command"));
  label->setBuddy(line_);
  line_->setAccessibleName(tr("Command line"));
  line_->setToolTip(tr(
      "The same on the command line. A command that is pasted here and followed by Return fills the form."));
  QFont fixed(QStringLiteral("monospace"));
  fixed.setStyleHint(QFont::Monospace);
  line_->setFont(fixed);
  start_->setMinimumWidth(110);
  row->addWidget(label);
  row->addWidget(line_, 1);
  row->addWidget(copy_);
  row->addWidget(start_);
  column->addLayout(row);
  column->addWidget(line_problem_);
  return bottom;
}

void RecordPage::connect_all() {
  connect(form_, &RecordForm::edited, this, &RecordPage::take_edit);
  connect(chooser_, &StrategyChooser::edited, this, &RecordPage::take_edit);
  connect(line_, &QLineEdit::editingFinished, this, &RecordPage::take_command_line);
  connect(copy_, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(QString::fromStdString(command_line_of(shown_))); });
  connect(start_, &QPushButton::clicked, this, [this] { recorder_.is_running() ? stop() : start(); });
  connect(&model_pause_, &QTimer::timeout, this, &RecordPage::inspect_model);
  connect(&prompts_pause_, &QTimer::timeout, this, &RecordPage::read_prompts);
  connect(&inspector_, &ModelInspector::found, this, &RecordPage::take_facts);
  connect(&inspector_, &ModelInspector::failed, this, [this](const QString& reason) {
    context_.model.reset();
    context_.model_problem = reason.toStdString();
    chooser_->set_model(context_.model);
    check();
    say_when_settled();
  });
  connect(&recorder_, &RecorderProcess::said, live_, &LivePanel::show_line);
  connect(&recorder_, &RecorderProcess::ended, this, &RecordPage::take_end);
  connect(&live_timer_, &QTimer::timeout, this, &RecordPage::tick);
  connect(live_, &LivePanel::open_requested, this,
          [this] { emit recorded(QFileInfo(QString::fromStdString(output_)).absoluteFilePath()); });
  connect(live_, &LivePanel::left, this, [this] {
    stack_->setCurrentWidget(settings_);
    // The next recording gets a new name, unless the user chose one.
    RecordPlan next = plan();
    if (next.output == free_output_.toStdString() && !next.overwrite) {
      free_output_ = free_output();
      next.output = free_output_.toStdString();
      set_plan(next);
    } else {
      check();
    }
  });
}

void RecordPage::set_command(const QString& program) {
  command_ = program;
  inspected_.clear();
  inspect_model();
}

RecordPlan RecordPage::first_plan() const {
  RecordPlan plan;
  const QStringList models = shipped_models();
  const QStringList prompts = shipped_prompts();
  const auto first_with = [](const QStringList& paths, const QString& words) {
    for (const QString& path : paths)
      if (path.contains(words)) return path;
    return paths.isEmpty() ? QString() : paths.front();
  };
  plan.model = first_with(models, QStringLiteral("layerskip")).toStdString();
  plan.prompts = first_with(prompts, QStringLiteral("demo.jsonl")).toStdString();
  // Choose the baseline, and a strategy that drafts on any model.
  plan.strategies = {"vanilla", "layerskip"};
  return plan;
}

QString RecordPage::free_output() const {
  // Use the folder where the command would write; an app started from a desktop may have any current folder.
  QDir folder = QDir::current();
  const bool is_here = !folder.isRoot() && QFileInfo(folder.path()).isWritable();
  if (!is_here) folder.setPath(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation));
  if (!folder.exists()) folder = QDir::home();
  const QString model = QString::fromStdString(plan().model).remove(QStringLiteral("synthetic:"));
  QString name = QFileInfo(model.section(u',', 0, 0)).completeBaseName();
  if (name.isEmpty()) name = tr("recording");
  for (int number = 1;; ++number) {
    const QString file = QStringLiteral("%1-%2.dstrace").arg(name).arg(number);
    if (!folder.exists(file)) return is_here ? file : folder.filePath(file);
  }
}

RecordPlan RecordPage::plan() const {
  RecordPlan plan = form_->plan();
  plan.strategies = chooser_->strategies();
  return plan;
}

void RecordPage::set_plan(const RecordPlan& plan) {
  has_plan_ = true;
  form_->set_plan(plan);
  chooser_->set_strategies(plan.strategies);
  if (plan.output.empty()) {
    RecordPlan named = form_->plan();
    free_output_ = free_output();
    named.output = free_output_.toStdString();
    form_->set_plan(named);
  }
  take_edit();
  // Nobody is typing now.
  if (model_pause_.isActive()) inspect_model();
  if (prompts_pause_.isActive()) read_prompts();
}

void RecordPage::take_edit() {
  const RecordPlan now = plan();
  context_.template_arguments_problem = form_->template_arguments_problem();
  context_.further_problem = form_->further_problem();
  if (now.model != inspected_) {
    inspector_.cancel();
    context_.model.reset();
    context_.model_problem.clear();
    form_->set_model_note(now.model.empty() ? QString() : tr("…"));
    chooser_->set_model(context_.model);
    model_pause_.start();
    // A suggested name follows the model.
    if (!free_output_.isEmpty() && now.output == free_output_.toStdString()) {
      free_output_ = free_output();
      RecordPlan named = form_->plan();
      named.output = free_output_.toStdString();
      if (named.output != now.output) form_->set_output(free_output_);
    }
  }
  if (now.prompts != read_) prompts_pause_.start();
  preview_->set_limit(now.limit);
  show_plan();
  check();
}

void RecordPage::show_plan() {
  shown_ = plan();
  line_problem_->set_problem({});
  const QString text = QString::fromStdString(command_line_of(shown_));
  line_->setText(text);
  line_->setCursorPosition(0);
}

void RecordPage::take_command_line() {
  if (line_->text() == QString::fromStdString(command_line_of(shown_))) return;
  const auto wanted = plan_of_command_line(line_->text().toStdString());
  if (wanted)
    set_plan(*wanted);
  else
    line_problem_->set_problem(QString::fromStdString(wanted.error().message));
}

void RecordPage::check() {
  problems_ = problems_of(plan(), context_);
  form_->set_problems(problems_);
  const auto strategies = problems_.find(PlanField::strategies);
  if (strategies != problems_.end())
    strategies_problem_->set_problem(QString::fromStdString(strategies->second));
  else
    strategies_problem_->set_note(has_baseline(shown_) ? QString()
                                                       : tr("Without vanilla there are no speedups."));
  show_buttons();
}

void RecordPage::show_buttons() {
  const bool runs = recorder_.is_running();
  // After the end, the page shows the result and what to do with it.
  const bool is_editing = !runs && stack_->currentWidget() == settings_;
  start_->setText(runs ? (recorder_.is_stopping() ? tr("End &now") : tr("&Stop")) : tr("Recor&d"));
  start_->setToolTip(runs
                         ? tr("Ends the recording as Ctrl-C does: what there is by then is closed and opened")
                         : tr("Runs this command"));
  start_->setEnabled(runs || (is_editing && problems_.empty() && context_.model.has_value()));
  form_->setEnabled(is_editing);
  line_->setReadOnly(!is_editing);
}

bool RecordPage::is_settled() const {
  return !inspector_.is_running() && !prompts_job_.is_running() && !model_pause_.isActive() &&
         !prompts_pause_.isActive();
}

void RecordPage::inspect_model() {
  model_pause_.stop();
  inspected_ = plan().model;
  context_.model.reset();
  context_.model_problem = command_.isEmpty() ? no_command_text().toStdString() : std::string();
  if (!inspected_.empty() && !command_.isEmpty()) {
    form_->set_model_note(tr("Looking at the model …"));
    inspector_.inspect(command_, QString::fromStdString(inspected_));
  }
  check();
}

void RecordPage::take_facts(const ModelFacts& facts) {
  context_.model = facts;
  context_.model_problem.clear();
  form_->set_model_note(facts_text(facts));
  form_->set_gpus(facts.gpus, facts.gpus_problem);
  chooser_->set_model(context_.model);
  check();
  say_when_settled();
}

void RecordPage::read_prompts() {
  prompts_pause_.stop();
  read_ = plan().prompts;
  using Questions = Result<std::vector<traces::Question>>;
  const auto take = [this](const Questions& questions) {
    questions_ = questions ? *questions : std::vector<traces::Question>();
    context_.prompts_problem = questions || read_.empty() ? std::string() : questions.error().message;
    form_->set_prompts_note(questions ? counts_text(questions_) : QString());
    preview_->set_questions(questions_);
    preview_->set_limit(plan().limit);
    check();
    say_when_settled();
  };
  prompts_job_.start(read_and_take([path = read_](const BackgroundJob::ShouldContinue&)
                                       -> Questions { return traces::read_questions(path); },
                                   take));
}

void RecordPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  // The model is examined only once the page is shown. Files may change while it is hidden, so they are
  // examined again.
  if (!has_plan_)
    set_plan(first_plan());
  else if (stack_->currentWidget() == settings_)
    check();
}

RecordPage::FileIdentity RecordPage::output_identity() const {
  struct stat status {};
  if (::stat(output_.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

void RecordPage::start() {
  if (stack_->currentWidget() != settings_) return;
  check();
  if (!start_->isEnabled() || recorder_.is_running()) return;
  const RecordPlan wanted = plan();
  output_ = wanted.output;
  before_ = output_identity();
  reader_ = std::make_shared<LiveReader>(output_);
  end_.reset();
  has_figures_ = false;
  since_read_.invalidate();
  QStringList arguments;
  for (const std::string& word : record_arguments(wanted)) arguments << QString::fromStdString(word);
  live_->begin(turns_of(questions_, wanted.limit) * wanted.repeats *
               static_cast<std::int64_t>(wanted.strategies.size()));
  stack_->setCurrentWidget(live_);
  recorder_.start(command_, arguments);
  live_timer_.start();
  show_buttons();
}

void RecordPage::stop() {
  recorder_.stop();
  live_->show_state(tr("Stopping: the round at hand ends, the recording is closed"));
  show_buttons();
}

void RecordPage::tick() {
  if (end_ || live_job_.is_running()) return;
  const bool is_due = !since_read_.isValid() ||
                      since_read_.elapsed() >= std::max(min_reading_pause_ms, reading_share * read_ms_);
  if (is_due && output_identity() != FileIdentity() && output_identity() != before_) read_live();
}

void RecordPage::read_live() {
  since_read_.start();
  using Reading = Result<LiveFigures>;
  // A reading that began before the end may lack the last rounds.
  const bool is_last = end_.has_value();
  live_job_.start(read_and_take(
      [reader = reader_](const BackgroundJob::ShouldContinue&) -> Reading { return reader->read(); },
      [this, is_last](const Reading& reading) {
        read_ms_ = since_read_.elapsed();
        since_read_.start();
        has_figures_ = is_last ? reading.has_value() : has_figures_;
        take_live(reading);
        if (is_last)
          show_end();
        else if (end_)
          read_live();
      }));
}

void RecordPage::take_live(const Result<LiveFigures>& reading) {
  if (reading) {
    if (!has_figures_ && !recorder_.is_stopping()) live_->show_state(tr("Recording"));
    has_figures_ = true;
    live_->show_figures(*reading);
  }
  // A recording may be unreadable while it is being created.
  if (has_figures_)
    live_->show_reading_problem(reading ? QString() : QString::fromStdString(reading.error().message));
}

void RecordPage::take_end(RecorderEnd end, const QString& reason) {
  live_timer_.stop();
  end_ = end;
  end_reason_ = reason;
  if (live_job_.is_running()) return;
  if (output_identity() != FileIdentity() && output_identity() != before_) return read_live();
  has_figures_ = false;
  show_end();
}

void RecordPage::show_end() {
  const RecorderEnd end = *std::exchange(end_, std::nullopt);
  const QString name = QFileInfo(QString::fromStdString(output_)).absoluteFilePath();
  const bool can_open = has_figures_;
  QString words;
  switch (end) {
    case RecorderEnd::complete:
      words = can_open ? tr("Recorded: %1").arg(name) : tr("The recorder ended without a recording.");
      // The recorder gave no reason, so say that there is no recording.
      if (!can_open)
        end_reason_ = tr("%1: found no recording, expected the one that was to be made").arg(name);
      break;
    case RecorderEnd::stopped:
      words = can_open ? tr("Stopped: %1 holds what was recorded by then").arg(name)
                       : tr("Stopped before anything was recorded");
      break;
    case RecorderEnd::failed:
      words = can_open ? tr("The recorder failed. %1 holds what it had written.").arg(name)
                       : tr("The recorder failed.");
      break;
  }
  live_->end(words, end_reason_, can_open);
  reader_.reset();
  show_buttons();
  if (end != RecorderEnd::failed && can_open)
    emit recorded(QFileInfo(QString::fromStdString(output_)).absoluteFilePath());
  emit ended();
}

}  // namespace draftscope::gui
