// SPDX-License-Identifier: GPL-3.0-or-later
#include "why_card.h"

#include <QHBoxLayout>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "widgets/habits.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

QString html(const std::string& sentence) {
  return sentence_text(sentence).toHtmlEscaped();
}

/// Makes names of views links: "view Breakdown".
QString linked(const std::string& look) {
  static const QRegularExpression view(QStringLiteral("\\bview ([A-Z][a-z]+(?: (?:replay|if|map))?)"));
  return html(look).replace(view, QStringLiteral("view <a href='view:\\1'>\\1</a>"));
}

QString headline(const simulator::Figures& figures) {
  if (!figures.speedup) return {};
  const simulator::Speedup& speedup = *figures.speedup;
  const bool has_decode = speedup.decode_value.has_value();
  const auto& interval = has_decode ? speedup.decode_interval : speedup.interval;
  QString words = QStringLiteral("<b style='font-size:large'>%1</b> ")
                      .arg(speedup_text(has_decode ? *speedup.decode_value : speedup.value));
  words += has_decode ? WhyCard::tr("after the first token, as all speedups here")
                      : WhyCard::tr("with the prefill, as all speedups here");
  if (interval)
    words += WhyCard::tr(" (95 % interval over prompts: %1)").arg(range_text(interval->low, interval->high));
  return words + QStringLiteral(". ");
}

QString finding_text(const simulator::Finding& finding, Remedies remedies) {
  QString said = QStringLiteral("<b>%1</b>").arg(html(finding.sentence));
  if (!finding.cost_sentence.empty()) said += u' ' + html(finding.cost_sentence);
  QStringList lines{said};
  if (!finding.row->look.empty())
    lines << WhyCard::tr("Look: %1").arg(linked(std::string(finding.row->look)));
  lines << WhyCard::tr("Try: %1").arg(html(finding.remedy));
  if (remedies == Remedies::simulated && !finding.simulation.empty()) lines << html(finding.simulation);
  return QStringLiteral("<li>%1</li>").arg(lines.join(QStringLiteral("<br>")));
}

/// One line, which a click unfolds.
QString unjudged_text(const simulator::Diagnosis& diagnosis, bool is_unfolded) {
  if (diagnosis.unjudged.empty()) return {};
  if (!is_unfolded)
    return WhyCard::tr("<p><a href='unjudged'>Not judged: %1</a></p>")
        .arg(counted(static_cast<std::int64_t>(diagnosis.unjudged.size()), WhyCard::tr("1 check"),
                     WhyCard::tr("%1 checks")));
  QStringList checks;
  for (const simulator::Unjudged& unjudged : diagnosis.unjudged)
    checks << QStringLiteral("%1 (%2)").arg(html(std::string(unjudged.row->title)), html(unjudged.reason));
  return WhyCard::tr("<p><a href='unjudged'>Not judged</a>: %1.</p>").arg(checks.join(QStringLiteral("; ")));
}

}  // namespace

QString why_text(const simulator::Diagnosis& diagnosis, const simulator::Figures& figures, Remedies remedies,
                 bool has_unjudged) {
  QString text = QStringLiteral("<p>%1%2</p>").arg(headline(figures), html(diagnosis.summary));
  // Without a finding one sentence says all.
  const bool has_findings =
      !diagnosis.findings.empty() && diagnosis.findings.front().row != &simulator::finding_table().back();
  if (!has_findings) {
    for (const simulator::Finding& nothing : diagnosis.findings)
      text += QStringLiteral("<p><b>%1</b></p>").arg(html(nothing.sentence));
    return text + unjudged_text(diagnosis, has_unjudged);
  }
  text += QStringLiteral("<ol>");
  for (const simulator::Finding& finding : diagnosis.findings) text += finding_text(finding, remedies);
  return text + QStringLiteral("</ol>") + unjudged_text(diagnosis, has_unjudged);
}

WhyCard::WhyCard(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("Why the run is as fast as it is"));
  words_->setAccessibleName(tr("Explanation of the run"));
  words_->setOpenLinks(false);
  words_->setFrameShape(QFrame::NoFrame);
  constexpr int min_width = 260;
  constexpr int min_height = 110;
  words_->setMinimumSize(min_width, min_height);
  auto* told = new QVBoxLayout;
  told->addWidget(words_, 1);
  told->addWidget(ask_, 0, Qt::AlignLeft);
  auto* drawn = new QVBoxLayout;
  drawn->addWidget(bars_);
  drawn->addStretch(1);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 4, 4, 4);
  row->addLayout(told, 3);
  row->addLayout(drawn, 2);
  connect(&state_, &ViewState::recording_changed, this, &WhyCard::forget);
  connect(&state_, &ViewState::run_changed, this, &WhyCard::show_run);
  connect(ask_, &QPushButton::clicked, this, [this] { start(Remedies::simulated); });
  connect(bars_, &WaterfallBars::chosen, this, &WhyCard::rounds_asked);
  connect(words_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    if (link.scheme() == u"view") return emit view_asked(link.path());
    has_unjudged_ = !has_unjudged_;
    show_run();
  });
  when_seen(*this, [this] {
    if (is_stale_ && state_.recording() && state_.recording()->has_rows()) start(Remedies::named);
  });
  when_recoloured(*this, [this] {
    if (diagnosis_) show_run();
  });
  forget();
}

void WhyCard::forget() {
  is_stale_ = true;
  job_.cancel();
  diagnosis_.reset();
  show_run();
  update();
}

void WhyCard::start(Remedies remedies) {
  if (!state_.recording()) return;
  is_stale_ = false;
  ask_->setEnabled(false);
  job_.start(read_and_take(
      [recording = state_.recording(), remedies](const auto&) { return diagnose(recording, remedies); },
      [this](DiagnosisPointer made) {
        diagnosis_ = std::move(made);
        show_run();
        emit explained();
      }));
}

void WhyCard::show_run() {
  ask_->setVisible(false);
  const RunRounds* run = state_.run_rounds();
  if (run == nullptr) {
    words_->clear();
    return bars_->set_message({});
  }
  if (diagnosis_ == nullptr) {
    words_->setPlainText(tr("Explaining …"));
    return bars_->set_message({});
  }
  const simulator::Diagnosis* diagnosis = diagnosis_->of(state_.run());
  if (diagnosis == nullptr) {
    words_->setPlainText(
        tr("This is vanilla decoding, by which the other runs are measured: choose one of them."));
    return bars_->set_message({});
  }
  words_->setHtml(why_text(*diagnosis, state_.recording()->measured().figures.runs[state_.run()].all,
                           diagnosis_->remedies, has_unjudged_));
  std::vector<TokenTimeStep> steps = token_waterfall(diagnosis->round);
  if (steps.empty())
    bars_->set_message(
        tr("The way from vanilla decoding to this run in time per token needs a vanilla run, and the "
           "times of phases."));
  else
    bars_->set_steps(std::move(steps), diagnosis->round.yields.value_or(0.0));
  const bool has_findings =
      !diagnosis->findings.empty() && diagnosis->findings.front().row != &simulator::finding_table().back();
  ask_->setVisible(has_findings && diagnosis_->remedies == Remedies::named);
  ask_->setEnabled(!job_.is_running());
}

}  // namespace draftscope::gui
