// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if_view.h"

#include <draftscope/simulator/answers/advice.h>

#include <QCoreApplication>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "charts/chart_plot.h"
#include "what_if/pictures/picture_charts.h"
#include "what_if/pictures/picture_pane.h"
#include "widgets/files.h"
#include "widgets/habits.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

Result<void> write_policy_of(const WhatIfAnswer& answer, const traces::Recording& recording,
                             const std::string& path) {
  auto policy =
      simulator::asked_policy(answer.prediction, answer.machine, recording,
                              {.trace = recording.path,
                               .command_line = command_line_of(answer.question, recording.path.string()),
                               .tool_version = QCoreApplication::applicationVersion().toStdString()});
  if (!policy) return fail("{}: {}", path, policy.error().message);
  return speculation::write_policy(path, *policy);
}

/// All cells of a map share its pictures.
bool is_same_map(const Question& a, const Question& b) {
  return heat_map_question(a) == heat_map_question(b);
}

}  // namespace

WhatIfView::WhatIfView(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("What if"));
  make_layout();
  connect_worker();
  connect_controls();
  connect(&state_, &ViewState::recording_changed, this, &WhatIfView::forget);
  when_seen(*this, [this] { start(); });
  forget();
}

void WhatIfView::connect_controls() {
  connect(question_, &QuestionPanel::changed, this, &WhatIfView::ask);
  connect(question_, &QuestionPanel::failed, words_, &QLabel::setText);
  connect(reset_, &QPushButton::clicked, this, [this] { question_->change_question(first_question_); });
  connect(cancel_, &QPushButton::clicked, this, [this] {
    const bool is_training = worker_.is_training();
    worker_.cancel();
    again_->setVisible(is_training);
  });
  connect(draw_again_, &QPushButton::clicked, this, &WhatIfView::make_pictures_again);
  connect(again_, &QPushButton::clicked, this, [this] {
    is_stale_ = true;
    start();
  });
  connect(write_, &QPushButton::clicked, this, &WhatIfView::choose_policy_file);
}

void WhatIfView::ask_about_place(int exit, int gamma) {
  Question asked = question_->question();
  if (asked.kind == StrategyKind::recorded) asked.kind = StrategyKind::fixed_length;
  asked.exit = exit;
  asked.gamma = gamma;
  question_->change_question(asked);
}

void WhatIfView::make_pictures_again() {
  draw_again_->hide();
  for (const AnswerPane& shown : panes_)
    if (!shown.is_current && !shown.pane->message().isEmpty()) shown.pane->set_message(tr("Computing …"));
  since_question_.restart();
  worker_.make_pictures_again();
}

QWidget* WhatIfView::make_controls() {
  auto* controls = new QWidget;
  auto* column = new QVBoxLayout(controls);
  column->setContentsMargins(0, 0, 0, 0);
  words_->setWordWrap(true);
  words_->setAccessibleName(tr("Progress"));
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  progress_->setAccessibleName(tr("Learning from the recording"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(reset_);
  buttons->addWidget(write_);
  buttons->addWidget(pin_);
  column->addWidget(question_);
  column->addLayout(buttons);
  column->addWidget(words_);
  column->addWidget(progress_);
  column->addWidget(cancel_);
  column->addWidget(again_);
  column->addWidget(draw_again_);
  column->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setWidget(controls);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return scroll;
}

void WhatIfView::make_layout() {
  const auto add = [this](const char* name, const QString& title, const QString& spoken) {
    auto* pane = new PicturePane(spoken);
    tabs_->addTab(pane, title);
    pane->setObjectName(QString::fromUtf8(name));
    panes_.push_back({pane});
  };
  add("what-if-heat-map", tr("Heat map"), tr("What if: speedup by exit and length"));
  add("what-if-ladder", tr("Correction ladder"), tr("What if: correction ladder"));
  add("what-if-waterfall", tr("Waterfall"), tr("What if: waterfall to the oracle"));
  add("what-if-roofline", tr("Roofline"), tr("What if: roofline"));
  connect(&map_pane().plot(), &ChartPlot::chosen, this, [this](const ChartPlace& place) {
    if (place.series != ChartPlace::of_cells || heat_map_ == nullptr) return;
    const ChartCell& cell = map_pane().plot().chart().panels[place.panel].cells[place.point];
    const HeatAxes axes = heat_map_->content->answered();
    ask_about_place(axes.exits[static_cast<std::size_t>(cell.column)],
                    axes.lengths[static_cast<std::size_t>(cell.row)]);
  });
  add_scenarios();
  auto* right = new QSplitter(Qt::Vertical);
  right->addWidget(answer_panel_);
  right->addWidget(tabs_);
  right->setSizes({300, 400});
  right->setStretchFactor(0, 1);
  right->setStretchFactor(1, 2);
  auto* whole = new QSplitter;
  whole->addWidget(make_controls());
  whole->addWidget(right);
  // In a wide window long names of GPUs and models become whole.
  whole->setStretchFactor(0, 1);
  whole->setStretchFactor(1, 5);
  whole->setSizes({360, 900});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(whole);
}

void WhatIfView::add_scenarios() {
  scenarios_->setObjectName(QStringLiteral("what-if-scenarios"));
  gpus_->setObjectName(QStringLiteral("what-if-gpus"));
  tabs_->addTab(scrollable(scenarios_), tr("Scenarios"));
  tabs_->addTab(gpus_, tr("All GPUs"));
  pin_->setToolTip(tr("Keep this setting on this machine beside others, in the tab Scenarios"));
  connect(pin_, &QPushButton::clicked, this, [this] {
    scenarios_->pin();
    words_->setText(
        tr("Pinned: %1 of them stand side by side in the tab Scenarios.").arg(scenarios_->pinned().size()));
  });
  connect(scenarios_, &ScenariosPane::chosen, this,
          [this](const Question& question) { question_->change_question(question); });
  connect(gpus_, &GpusPane::chosen, this, [this](const QString& gpu) {
    Question asked = question_->question();
    asked.gpu = gpu.toStdString();
    asked.machine_file.reset();
    question_->change_question(asked);
  });
}

void WhatIfView::connect_worker() {
  connect(&worker_, &WhatIfWorker::training_progressed, this, [this](int done, int all) {
    progress_->setRange(0, all);
    progress_->setValue(done);
  });
  connect(&worker_, &WhatIfWorker::trained_on, this, &WhatIfView::take_trained);
  connect(&worker_, &WhatIfWorker::refused, this, &WhatIfView::show_message);
  connect(&worker_, &WhatIfWorker::answered, this, &WhatIfView::show_answer);
  connect(&worker_, &WhatIfWorker::ladder_made, this, &WhatIfView::show_ladder);
  connect(&worker_, &WhatIfWorker::roofline_made, this, &WhatIfView::show_roofline);
  connect(&worker_, &WhatIfWorker::heat_map_made, this, &WhatIfView::show_heat_map);
  connect(&worker_, &WhatIfWorker::waterfall_made, this, &WhatIfView::show_waterfall);
  connect(&worker_, &WhatIfWorker::heat_map_progressed, this,
          [this](int done, int all) { show_progress(tr("Computing the heat map …"), done, all); });
  connect(&worker_, &WhatIfWorker::waterfall_progressed, this,
          [this](int done, int all) { show_progress(tr("Computing the waterfall …"), done, all); });
  connect(&worker_, &WhatIfWorker::pictures_stopped, this, &WhatIfView::show_stopped);
  connect(&worker_, &WhatIfWorker::settled, this, [this] {
    if (worker_.trained() != nullptr) hide_progress();
    emit settled();
  });
}

void WhatIfView::forget() {
  worker_.clear();
  answer_panel_->forget();
  scale_limit_ = 1.0;
  scenarios_->unpin_all();
  gpus_->forget();
  then_.reset();
  is_for_another_ = false;
  question_->forget_recording();
  is_stale_ = true;
  show_message(state_.recording() == nullptr ? tr("Open a recording first.")
                                             : tr("Nothing was learnt from this recording yet."));
  update();
}

void WhatIfView::start() {
  if (!is_stale_) return;
  is_stale_ = false;
  is_for_another_ = false;
  if (state_.recording() == nullptr) {
    emit settled();
    return;
  }
  if (worker_.trained() != nullptr) return take_trained();
  if (!worker_.is_training()) train(then_, then_ ? then_->recorded_gpu : std::string());
}

void WhatIfView::learn(const std::string& recorded_gpu) {
  if (state_.recording() == nullptr || worker_.is_training()) return;
  const TrainedPointer& trained = worker_.trained();
  if (trained != nullptr && trained->recorded_gpu() == recorded_gpu) return;
  if (trained != nullptr && !is_stale_) then_ = question_->question();
  const bool is_first = trained == nullptr && recorded_gpu.empty();
  const std::string gpu = is_first && then_ ? then_->recorded_gpu : recorded_gpu;
  if (then_) then_->recorded_gpu = gpu;
  is_for_another_ = true;
  is_stale_ = true;
  train(then_, gpu);
}

void WhatIfView::ask_about(const Question& question) {
  if (worker_.trained() != nullptr && !is_stale_) return question_->change_question(question);
  then_ = question;
  start();
}

void WhatIfView::train(const std::optional<Question>& then, const std::string& recorded_gpu) {
  then_ = then;
  show_message(
      tr("Learning costs and acceptance from %1 …").arg(QString::fromUtf8(state_.recording()->name())));
  progress_->setRange(0, 0);
  progress_->show();
  cancel_->show();
  worker_.train(state_.recording(), recorded_gpu);
}

void WhatIfView::show_progress(const QString& text, int done, int all) {
  constexpr qint64 patience_ms = 400;
  if (!since_question_.isValid() || since_question_.elapsed() < patience_ms) return;
  words_->setText(text);
  progress_->setRange(0, all);
  progress_->setValue(done);
  progress_->show();
  cancel_->show();
}

void WhatIfView::hide_progress() {
  if (progress_->isHidden()) return;
  progress_->hide();
  cancel_->hide();
  words_->clear();
}

void WhatIfView::show_stopped() {
  hide_progress();
  for (const AnswerPane& shown : panes_)
    if (!shown.is_current && (shown.pane->is_stale() || !shown.pane->message().isEmpty()))
      shown.pane->set_message(tr("Stopped before it was computed."));
  draw_again_->show();
}

void WhatIfView::show_message(const QString& message) {
  answer_.reset();
  heat_map_.reset();
  question_->setEnabled(false);
  for (QPushButton* button : {write_, reset_, pin_}) button->setEnabled(false);
  progress_->hide();
  cancel_->hide();
  again_->hide();
  draw_again_->hide();
  words_->clear();
  answer_panel_->set_message(message);
  for (const AnswerPane& shown : panes_) shown.pane->set_message(message);
}

void WhatIfView::take_trained() {
  hide_progress();
  if (is_for_another_) return;
  question_->setEnabled(true);
  reset_->setEnabled(true);
  question_->set_recording(worker_.trained());
  for (const AnswerPane& shown : panes_) shown.pane->set_message(tr("Computing …"));
  const std::string shown =
      state_.run_rounds() == nullptr ? std::string() : state_.run_rounds()->run->specification;
  first_question_ = worker_.trained()->first_question(shown);
  question_->set_question(then_.value_or(first_question_));
  then_.reset();
  ask();
}

void WhatIfView::ask() {
  const Question& asked = question_->question();
  // A scenario or GPU may be chosen while it learns, or after that was cancelled.
  if (worker_.trained() == nullptr) {
    then_ = asked;
    return;
  }
  // The costs depend on the GPU that it was recorded on.
  if (asked.recorded_gpu != worker_.trained()->recorded_gpu()) return train(asked, asked.recorded_gpu);
  since_question_.restart();
  hide_progress();
  words_->clear();
  draw_again_->hide();
  answer_panel_->set_stale(true);
  for (AnswerPane& shown : panes_) {
    shown.is_current = false;
    shown.pane->set_stale(shown.pane->message().isEmpty());
  }
  mark_map();
  worker_.ask(asked);
}

void WhatIfView::mark_map() {
  const Question& asked = question_->question();
  if (heat_map_ == nullptr) return;
  map_pane().set_stale(!is_same_map(heat_map_->question, asked));
  const std::vector<RecordedPoint>& points = worker_.trained()->points();
  const bool is_place = asked.kind != StrategyKind::recorded ||
                        std::any_of(points.begin(), points.end(), [&](const RecordedPoint& point) {
                          return point.strategy == asked.recorded;
                        });
  const auto place = heat_map_->content->answered().place_of(asked.exit, asked.gamma);
  map_pane().plot().frame_cell(is_place && place ? std::optional(QPoint(place->first, place->second))
                                                 : std::nullopt);
}

void WhatIfView::show_answer(const AnswerPointer& answer) {
  answer_ = answer;
  answer_panel_->set_answer(answer, command_line_of(answer->question, state_.recording()->name()));
  answer_panel_->set_stale(answer->question != question_->question());
  write_->setEnabled(answer->refusal.empty());
  pin_->setEnabled(answer->refusal.empty());
  scenarios_->set_current(answer);
  gpus_->set_question(worker_.trained(), answer->question);
}

PicturePane& WhatIfView::current_pane(std::size_t place) {
  panes_[place].is_current = true;
  return *panes_[place].pane;
}

void WhatIfView::show_ladder(const LadderPicture& picture) {
  PicturePane& pane = current_pane(1);
  if (!picture->content) return pane.set_message(QString::fromUtf8(picture->content.error().message));
  const bool is_of_run = picture->content->back().rung == simulator::Rung::recorded_run;
  pane.set_picture(
      (is_of_run ? tr("From layers to time: %1; machine: %2 (times modelled up to overhead)")
                 : tr("From layers to time: %1; machine: %2 (times modelled)"))
          .arg(QString::fromUtf8(answer_->prediction.strategy), QString::fromUtf8(answer_->machine.name)),
      ladder_chart(*picture->content), {});
}

void WhatIfView::show_waterfall(const WaterfallPicture& picture) {
  PicturePane& pane = current_pane(2);
  if (!picture->content) return pane.set_message(QString::fromUtf8(picture->content.error().message));
  const WaterfallLevels& levels = *picture->content;
  pane.set_picture(tr("What was possible on %1 with early exits; machine: %2 (95 % intervals; times "
                      "modelled)")
                       .arg(QString::fromUtf8(state_.recording()->name()), QString::fromUtf8(levels.machine)),
                   waterfall_chart(levels), waterfall_footnotes(levels).join(u'\n'));
}

void WhatIfView::show_heat_map(const HeatMapPicture& picture) {
  PicturePane& pane = current_pane(0);
  heat_map_.reset();
  if (!picture->content) return pane.set_message(QString::fromUtf8(picture->content.error().message));
  const HeatMap& map = *picture->content;
  const HeatCell* best = map.best();
  const QString no_replay = sentence_text(worker_.trained()->no_replay_reason());
  if (best == nullptr)
    return pane.set_message(!no_replay.isEmpty() ? tr("No early exit has an answer: %1.").arg(no_replay)
                            : map.cells.empty()  ? QString()
                                                 : sentence_text(map.cells.front().refusal));
  heat_map_ = picture;
  const Question& asked = picture->question;
  const bool is_threshold = asked.kind == StrategyKind::threshold;
  QString title =
      is_threshold
          ? tr("Predicted speedup, drafts stopped below confidence %1 (slower bound)").arg(asked.threshold)
          : tr("Predicted speedup of early exits with fixed lengths");
  title += asked.verifies_above_exit ? tr(", verified above the exit only") : tr(", verified by all layers");
  if (!no_replay.isEmpty()) title += QStringLiteral(" – ") + no_replay;
  std::vector<RecordedPoint> recorded;
  if (!is_threshold)
    for (const RecordedPoint& point : worker_.trained()->points())
      if (point.verifies_above_exit == asked.verifies_above_exit) recorded.push_back(point);
  Chart chart = heat_map_chart(map, title, recorded, scale_limit_);
  scale_limit_ = chart.scale_limit;
  const auto exits = static_cast<std::int32_t>(map.answered().exits.size());
  const QString left_out =
      exits == map.exits ? QString() : tr("\nExits with an answer: %1 of %2.").arg(exits).arg(map.exits);
  pane.set_picture(title, std::move(chart),
                   tr("Fastest of these: exit %1, γ %2, %3. The frame is the current setting. Other "
                      "verifications and strategies are not on the map: Advise compares them all.")
                           .arg(best->exit)
                           .arg(best->gamma)
                           .arg(speedup_text(best->speedup)) +
                       left_out);
  mark_map();
}

void WhatIfView::show_roofline(const RooflinePicture& picture) {
  PicturePane& pane = current_pane(3);
  if (!picture->content) return pane.set_message(QString::fromUtf8(picture->content.error().message));
  Chart chart = roofline_chart(*picture->content);
  if (chart.empty()) return pane.set_message(tr("No operation's time is known."));
  pane.set_picture(tr("Operations of %1, one execution each; machine: %2 (times modelled)")
                       .arg(QString::fromUtf8(answer_->machine.scenario.shape.name),
                            QString::fromUtf8(answer_->machine.name)),
                   std::move(chart), {});
}

Result<void> WhatIfView::write_policy(const QString& path) const {
  if (answer_ == nullptr || !answer_->refusal.empty())
    return fail("{}: found no answer, expected one to write a policy of", path.toStdString());
  return write_policy_of(*answer_, state_.recording()->recording(), path.toStdString());
}

void WhatIfView::choose_policy_file() {
  if (answer_ == nullptr) return;
  save_policy(*words_, [answer = answer_, recording = state_.recording()](const std::string& path) {
    return write_policy_of(*answer, recording->recording(), path);
  });
}

}  // namespace draftscope::gui
