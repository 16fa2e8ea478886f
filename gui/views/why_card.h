// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Explains the speed of the shown run: the sentences of `draftscope explain`, and the steps from vanilla
// decoding to this run in time per token. A worker computes it when the card is first shown; the simulator
// predicts the effect of remedies only on request.

#include <QPushButton>
#include <QTextBrowser>
#include <QWidget>

#include "data/details/recording_diagnosis.h"
#include "state/view_state.h"
#include "views/waterfall_bars.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class WhyCard : public QWidget {
  Q_OBJECT

 public:
  /// `state` must outlive the card.
  explicit WhyCard(ViewState& state, QWidget* parent = nullptr);

  /// Null until the worker is done.
  [[nodiscard]] const DiagnosisPointer& diagnosis() const { return diagnosis_; }
  /// The card's text without its markup.
  [[nodiscard]] QString words() const { return words_->toPlainText(); }

 signals:
  /// Emitted when the recording is explained, and shown.
  void explained();
  void rounds_asked(TokenTime what);
  /// Emitted with the title of a view that a finding names: "Text replay".
  void view_asked(const QString& title);

 private:
  void forget();
  void start(Remedies remedies);
  void show_run();

  ViewState& state_;
  DiagnosisPointer diagnosis_;
  BackgroundJob job_;
  bool is_stale_ = true;
  bool has_unjudged_ = false;  ///< Whether checks without a verdict are unfolded.
  QTextBrowser* words_ = new QTextBrowser;
  QPushButton* ask_ = new QPushButton(tr("Ask the simulator what that would &bring"));
  WaterfallBars* bars_ = new WaterfallBars;
};

/// The card's text about a run, as rich text. `has_unjudged` unfolds the checks without a verdict.
[[nodiscard]] QString why_text(const simulator::Diagnosis& diagnosis, const simulator::Figures& figures,
                               Remedies remedies, bool has_unjudged = false);

}  // namespace draftscope::gui
