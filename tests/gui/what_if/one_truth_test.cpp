// SPDX-License-Identifier: GPL-3.0-or-later
// Walks through all pages of four recordings and compares each number of a run that stands twice under a
// name: in tables, in the explanation, in predictions, and in `report --json`.
#include <draftscope/simulator/analysis/figure.h>
#include <fmt/format.h>

#include <QAbstractItemView>
#include <QRegularExpression>
#include <QTableView>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "advise/advise_view.h"
#include "models/column_text.h"
#include "settle.h"
#include "views/why_card.h"
#include "what_if/what_if_view.h"
#include "what_if_window.h"
#include "window/main_window.h"
#include "window/view_pages.h"

namespace draftscope::gui {
namespace {

/// A number as it is printed: the value, and half a unit of its last digit.
struct Printed {
  double value = 0.0;
  double rounding = 0.0;
  std::string where;
};

/// Absent for a dash, a bound such as "< 0.001", and words.
std::optional<Printed> parse_printed(QString text, const std::string& where) {
  static const QRegularExpression number(QStringLiteral("^([0-9]+)(?:\\.([0-9]+))?(×| ?%)?$"));
  text = text.trimmed();
  const QRegularExpressionMatch found = number.match(text);
  if (!found.hasMatch()) return std::nullopt;
  const bool is_percent = found.captured(3).endsWith(u'%');
  const double unit = std::pow(10.0, -found.captured(2).size()) * (is_percent ? 0.01 : 1.0);
  const QString digits =
      found.captured(2).isEmpty() ? found.captured(1) : found.captured(1) + u'.' + found.captured(2);
  return Printed{digits.toDouble() * (is_percent ? 0.01 : 1.0), 0.5 * unit, where};
}

/// Numbers by run and name. The first one of a name is compared with all later ones.
class Ledger {
 public:
  void add(const std::string& run, const std::string& name, const std::optional<Printed>& printed) {
    if (!printed) return;
    const auto [first, is_new] = numbers_.try_emplace({run, name}, *printed);
    if (is_new) return;
    ++twice_;
    constexpr double tie = 1.0 + 1e-6;  // A value in the middle of two digits may be printed either way.
    EXPECT_NEAR(first->second.value, printed->value,
                tie * (first->second.rounding + printed->rounding) + 1e-12)
        << run << ", " << name << ": " << first->second.where << " and " << printed->where;
  }
  [[nodiscard]] int twice() const { return twice_; }

 private:
  std::map<std::pair<std::string, std::string>, Printed> numbers_;
  int twice_ = 0;
};

class OneTruth : public WhatIfWindow<AdviseView> {
 protected:
  /// Adds the figures of each run in `report --json`, by the catalogue's keys.
  void add_report(const std::filesystem::path& file) {
    const cli::CommandResult printed = cli::run_command({"report", file.string(), "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    const nlohmann::json report = nlohmann::json::parse(printed.out);
    runs_.clear();
    for (const nlohmann::json& run : report["runs"]) {
      runs_.insert(run["specification"].get<std::string>());
      for (const simulator::MeasuredFigure& figure : simulator::measured_figures()) {
        std::string path = "/" + figure.key;
        std::ranges::replace(path, '.', '/');
        const nlohmann::json::json_pointer at(path);
        if (run.contains(at) && run[at].is_number())
          ledger_.add(run["specification"], figure.key, Printed{run[at].get<double>(), 0.0, "report --json"});
      }
    }
  }

  /// Cells of rows that begin with a run's name, under the title of a measured figure.
  void add_table(const QTableView& table, const std::string& where) {
    const QAbstractItemModel& model = *table.model();
    for (int column = 1; column < model.columnCount(); ++column) {
      const QString title = model.headerData(column, Qt::Horizontal).toString();
      for (const simulator::MeasuredFigure& figure : simulator::measured_figures()) {
        const bool is_ratio = title == u"ratio" && figure.key == "speedup.value";
        if (!is_ratio && title != column_text(figure.title, figure.explanation).title) continue;
        if (is_shared_title(figure.title)) continue;
        for (int row = 0; row < model.rowCount(); ++row) {
          const std::string run = model.index(row, 0).data().toString().toStdString();
          if (runs_.contains(run))
            ledger_.add(run, figure.key, parse_printed(model.index(row, column).data().toString(), where));
        }
      }
    }
  }

  /// Whether a title stands over two figures, so that it names neither.
  static bool is_shared_title(const std::string& title) {
    return std::ranges::count(simulator::measured_figures(), title, &simulator::MeasuredFigure::title) > 1;
  }

  /// Tables of measured figures on a page. Predictions have the same titles, and are compared by themselves.
  void add_page(const NamedView& named) {
    const bool is_predicted = named.name.startsWith(u"what-if") || named.name.startsWith(u"advise");
    if (is_predicted || named.name == u"record") return;
    window_.show_view(*named.view);
    (void)window_.grab();
    settle();
    ++pages_;
    for (const QTableView* table : named.view->findChildren<QTableView*>())
      if (table->model() != nullptr) add_table(*table, named.name.toStdString());
  }

  /// The headline of Why for each run, against the speedups of the table.
  void add_explanations() {
    auto& card = *window_.findChild<WhyCard*>();
    window_.show_view(card);
    ASSERT_TRUE(QTest::qWaitFor([&] { return card.diagnosis() != nullptr; }, patience_ms));
    static const QRegularExpression said(
        QStringLiteral("^([0-9.]+×) after the first token.*?; ([0-9.]+×) with"));
    const RecordingPointer recording = window_.state().recording();
    for (std::size_t run = 0; run < recording->runs().size(); ++run) {
      window_.state().set_run(run);
      const QRegularExpressionMatch found = said.match(card.words());
      if (!found.hasMatch()) continue;
      const std::string name = recording->runs()[run].run->specification;
      ledger_.add(name, "speedup.decode_value", parse_printed(found.captured(1), "why"));
      ledger_.add(name, "speedup.value", parse_printed(found.captured(2), "why"));
    }
  }

  /// Advise's table against What if, and what both say was measured against the report.
  void add_predictions() {
    raise();
    wait_until_settled();
    const auto report = page().report();
    if (report == nullptr) return;
    if (report->advice.measured)
      ledger_.add(report->advice.fastest, "speedup.decode_value",
                  Printed{report->advice.measured->run.speedup, 0.0, "advise, measured"});
    const QAbstractItemModel& table = *page().findChild<QTableView*>()->model();
    for (int row = 0; row < table.rowCount(); ++row)
      ledger_.add(table.index(row, 0).data().toString().toStdString(), "predicted speedup",
                  parse_printed(table.index(row, 2).data().toString(), "advise"));
    ledger_.add(report->advice.fastest, "predicted speedup",
                Printed{report->advice.speedup, 0.0, "the sentence of advise"});
    auto& what_if = *window_.findChild<WhatIfView*>();
    constexpr std::size_t max_asked = 3;  // Each draws all pictures.
    const std::vector<std::string>& strategies = what_if.worker().trained()->strategies();
    for (std::size_t i = 0; i < std::min(max_asked, strategies.size()); ++i) {
      const std::string& strategy = strategies[i];
      what_if.ask_about(what_if.worker().trained()->question_of(strategy));
      window_.show_view(what_if);
      ASSERT_TRUE(
          QTest::qWaitFor([&] { return what_if.is_settled() && what_if.answer() != nullptr; }, patience_ms));
      const auto& answer = *what_if.answer();
      if (!answer.refusal.empty() || answer.prediction.strategy != strategy) continue;
      double slower = answer.prediction.speedup.min_drafted.value;
      if (answer.prediction.speedup.max_drafted)
        slower = std::min(slower, answer.prediction.speedup.max_drafted->value);
      ledger_.add(strategy, "predicted speedup", Printed{slower, 0.0, "what if"});
      if (answer.beside)
        ledger_.add(strategy, "speedup.decode_value",
                    Printed{answer.beside->run.speedup, 0.0, "what if, measured"});
    }
  }

  /// Returns how many numbers stood twice.
  int walk(const std::filesystem::path& file) {
    ledger_ = {};
    pages_ = 0;
    add_report(file);
    open(file);
    for (const NamedView& named : window_.views()) add_page(named);
    EXPECT_GE(pages_, 8);
    add_explanations();
    add_predictions();
    return ledger_.twice();
  }

  Ledger ledger_;
  std::set<std::string> runs_;  ///< Specifications of the recording's runs.
  int pages_ = 0;
};

std::filesystem::path sample(const char* name) {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples" / name;
}

TEST_F(OneTruth, OnAllPagesOfARecordingOfAProcessor) {
  EXPECT_GT(walk(sample("early-exit.dstrace")), 20);
}

TEST_F(OneTruth, OnAllPagesOfARecordingOfAGpu) {
  EXPECT_GT(walk(sample("h200-smollm2-graph.dstrace")), 20);
}

TEST_F(OneTruth, OnAllPagesOfAnImport) {
  EXPECT_GT(walk(import_answers({})), 1);
}

TEST_F(OneTruth, OnAllPagesOfASyntheticRecording) {
  EXPECT_GT(walk(write({.skill = 1.1})), 10);
}

}  // namespace
}  // namespace draftscope::gui
