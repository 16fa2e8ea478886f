// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of someone who has a recording, each a row: what the user does in the real window, at most
// three clicks, chords, choices or typed texts, and what then stands on the screen. The numbers are those
// that the command prints as JSON of the same file.
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QFile>
#include <QMenu>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QTextCursor>
#include <QTimer>
#include <nlohmann/json.hpp>
#include <set>

#include "../../value_of.h"
#include "../cli/trace_files.h"
#include "advise/advise_view.h"
#include "charts/chart_pane.h"
#include "charts/chart_plot.h"
#include "drawn_texts.h"
#include "models/runs_model.h"
#include "settle.h"
#include "views/decisions/skip_map.h"
#include "views/device/device_view.h"
#include "views/replay/replay_document.h"
#include "views/why_card.h"
#include "widgets/time_text.h"
#include "window/main_window.h"

namespace draftscope::gui {
namespace {

using nlohmann::json;

constexpr int eight_tasks_patience_ms = 120'000;
constexpr std::size_t compared_token = 8;

/// A user at the window with a recording; counts what they do.
class User {
 public:
  explicit User(const std::filesystem::path& recording) : recording_(recording) {
    window_.resize(1280, 800);
    window_.show();
    QSignalSpy finished(&window_.loader(), &RecordingLoader::finished);
    window_.open(QString::fromStdString(recording.string()));
    EXPECT_TRUE(finished.count() > 0 || finished.wait(eight_tasks_patience_ms));
    window_.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window_));
    look();
  }

  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::ControlModifier) {
    ++actions_;
    QTest::keyClick(focus(), key, modifiers);
    look();
  }
  void type(const char* words) {
    ++actions_;
    QTest::keyClicks(focus(), QString::fromUtf8(words));
    look();
  }
  void click(QWidget& widget, const QPoint& at) {
    ++actions_;
    ASSERT_TRUE(widget.isVisible() && widget.rect().contains(at));
    QTest::mouseClick(&widget, Qt::LeftButton, Qt::NoModifier, at);
    look();
  }
  void click_tab(const char* words) {
    for (QTabBar* bar : window_.findChildren<QTabBar*>())
      for (int tab = 0; bar->isVisible() && tab < bar->count(); ++tab)
        if (bar->tabText(tab).remove(u'&') == QString::fromUtf8(words))
          return click(*bar, bar->tabRect(tab).center());
    FAIL() << words;
  }
  void click_row(QTableView& table, int row) {
    click(*table.viewport(), table.visualRect(table.model()->index(row, 1)).center());
  }
  /// Clicks the row of the first run with such a specification in the table of the first page.
  void click_run(const char* beginning) {
    auto& table = runs_table();
    for (int row = 0; row < table.model()->rowCount(); ++row)
      if (table.model()
              ->index(row, RunsModel::run)
              .data()
              .toString()
              .startsWith(QString::fromUtf8(beginning)))
        return click_row(table, row);
    FAIL() << beginning;
  }
  void choose_run(const char* specification) {
    ++actions_;
    QTest::keyClicks(widget<QComboBox>("run-choice"), QString::fromUtf8(specification));
    look();
  }
  /// Opens a widget's menu with the right button, and clicks an entry of it.
  void choose_in_menu(QWidget& of, const QPoint& at, const char* words) {
    actions_ += 2;
    QTimer::singleShot(0, &window_, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      ASSERT_NE(menu, nullptr);
      for (QAction* action : menu->actions())
        if (action->text() == QString::fromUtf8(words))
          return QTest::mouseClick(menu, Qt::LeftButton, Qt::NoModifier,
                                   menu->actionGeometry(action).center());
      menu->close();
      FAIL() << words;
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, of.mapToGlobal(at));
    QApplication::sendEvent(&of, &event);
    look();
  }

  [[nodiscard]] QTableView& runs_table() { return *widget<QWidget>("summary")->findChild<QTableView*>(); }
  template <typename Widget>
  [[nodiscard]] Widget* widget(const char* name) {
    auto* found = window_.findChild<Widget*>(QString::fromUtf8(name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  /// Waits for an answer that a worker computes, where the page is shown.
  template <typename View>
  void wait_for(const char* name) {
    auto* page = widget<View>(name);
    EXPECT_TRUE(QTest::qWaitFor([&] { return page->is_settled(); }, eight_tasks_patience_ms));
    look();
  }
  /// Paints the window with the workers' results.
  void look() {
    for (int turn = 0; turn < 2; ++turn) {
      (void)window_.grab();
      settle();
    }
  }
  [[nodiscard]] std::string screen() { return words_on_screen(window_); }
  [[nodiscard]] int actions() const { return actions_; }
  [[nodiscard]] const std::filesystem::path& recording() const { return recording_; }

 private:
  [[nodiscard]] QWidget* focus() {
    QWidget* focused = QApplication::focusWidget();
    return focused == nullptr ? &window_ : focused;
  }

  std::filesystem::path recording_;
  MainWindow window_{Memory::none};
  int actions_ = 0;
};

/// JSON that the command prints of the recording.
json printed(const User& user, const std::vector<std::string>& command,
             const std::vector<std::string>& options) {
  std::vector<std::string> arguments = command;
  arguments.push_back(user.recording().string());
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--json");
  const cli::CommandResult result = cli::run_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

std::string speedup_of(const json& number) {
  return speedup_text(number.get<double>()).toStdString();
}
std::string duration_of(const json& ns) {
  return duration_text(ns.get<std::int64_t>()).toStdString();
}

using Words = std::vector<std::string>;

struct EightTasksRow {
  const char* name;
  const char* recording;  ///< Name of a sample; empty = one with SWIFT, which the test records.
  void (*act)(User& user);
  /// Texts that must be on the screen, made from the command's JSON.
  Words (*expected)(User& user);
};

Words fastest_by_category(User& user) {
  Words words;
  std::map<std::int64_t, std::string> names;
  const json report = printed(user, {"report"}, {"--by", "category"});
  for (const json& run : report["runs"]) {
    names[run["run_id"].get<std::int64_t>()] = run["specification"];
    for (const json& category : run["categories"])
      if (category["speedup"].is_object())
        words.push_back(fmt::format("{:.2f}", category["speedup"]["value"].get<double>()));
  }
  EXPECT_GT(words.size(), 4U);
  // The framed cells are the winners.
  const Chart& chart = user.widget<ChartPane>("compare-categories")->plot().chart();
  std::set<std::pair<std::string, std::string>> framed;
  std::set<std::pair<std::string, std::string>> winners;
  for (const ChartCell& cell : chart.panels.front().cells)
    if (cell.is_marked)
      framed.emplace(chart.x.names[cell.column].toStdString(),
                     chart.panels.front().y.names[cell.row].toStdString());
  const json compared = printed(user, {"compare"}, {});
  for (const json& winner : compared["recordings"][0]["winners"])
    winners.emplace(
        winner["category"].is_null() ? chart.x.names[0].toStdString() : winner["category"].get<std::string>(),
        names[winner["run_id"].get<std::int64_t>()]);
  EXPECT_EQ(framed, winners);
  return words;
}

Words why_swift(User& user) {
  EXPECT_TRUE(QTest::qWaitFor([&] { return user.widget<WhyCard>("why")->diagnosis() != nullptr; },
                              eight_tasks_patience_ms));
  user.look();
  const json runs = printed(user, {"explain"}, {})["recordings"][0]["runs"];
  const json& swift = *std::ranges::find_if(runs, [](const json& run) { return run["strategy"] == "swift"; });
  const json& round = swift["round"];
  return {speedup_of(round["speedup"]), fmt::format("{:.2f} vanilla steps", round["takes"].get<double>()),
          fmt::format("yields {:.2f} tokens", round["yields"].get<double>()),
          swift["findings"][0]["sentence"].get<std::string>()};
}

/// "2, 4–6" of rising numbers.
std::string listed(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool continues = i > 0 && numbers[i] == numbers[i - 1] + 1;
    const bool goes_on = i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1;
    if (continues && goes_on) continue;
    text += (i == 0 ? "" : continues ? "–" : ", ") + std::to_string(numbers[i]);
  }
  return text;
}

Words first_wrong_of_third_prompt(User& user) {
  traces::Reader reader = value_of(traces::Reader::open(user.recording()));
  const traces::Recording rows = value_of(reader.recording());
  const auto run = std::ranges::find(rows.runs, "swift", &traces::Run::strategy);
  for (const traces::Round& round : rows.rounds) {
    const auto request = std::ranges::find(rows.requests, round.request_id, &traces::Request::id);
    const auto prompt = std::ranges::find(rows.prompts, request->prompt_id, &traces::Prompt::id);
    if (request->run_id != run->id || prompt->question_id != 3) continue;
    const auto wrong = std::ranges::find_if(rows.draft_tokens, [&](const traces::DraftToken& token) {
      return token.round_id == round.id && token.tested && !token.accepted;
    });
    if (wrong == rows.draft_tokens.end()) continue;
    const auto set = std::ranges::find(rows.layer_sets, round.layer_set_id, &traces::LayerSet::id);
    std::vector<int> attention;
    std::vector<int> mlp;
    for (int bit = 0; bit < 2 * set->n_layers; ++bit)
      if ((set->skipped[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & 1) != 0)
        (bit % 2 == 0 ? attention : mlp).push_back(bit / 2);
    EXPECT_FALSE(attention.empty() && mlp.empty());
    return {fmt::format("round {} of the request", round.index),
            fmt::format("{} of {} draft tokens accepted", round.accepted, round.drafted),
            fmt::format("draft position {}", wrong->index),
            "first wrong:",
            attention.empty() ? "skipped:" : "attention " + listed(attention),
            mlp.empty() ? "skipped:" : "MLP " + listed(mlp)};
  }
  ADD_FAILURE() << "no draft of the third prompt was wrong";
  return {};
}

Words advised(User& user, const std::vector<std::string>& options) {
  user.wait_for<AdviseView>("advise");
  const json advice = printed(user, {"advise"}, options)["advice"][0];
  Words words{advice["fastest"]["strategy"],
              fmt::format("{:.2f}", advice["fastest"]["speedup"].get<double>())};
  if (!advice["runner_up"].is_null()) words.push_back(advice["runner_up"]["strategy"]);
  return words;
}

Words kernels_and_gaps(User& user) {
  user.wait_for<DeviceView>("device");
  const json report = printed(user, {"report"}, {"--device", "--run", "vanilla"});
  Words words{fmt::format("busy for {}", duration_of(report["busy_ns"]))};
  for (std::size_t row = 0; row < 3; ++row) {
    const json& operation = report["operations"][row];
    words.push_back(duration_of(operation["own_ns"]));
    words.push_back(percent_text(operation["share"].get<double>()).toStdString());
    words.push_back(operation["name"]);
  }
  for (const json& kind : report["gaps"]["kinds"])
    if (kind["count"] != 0)
      words.push_back(fmt::format("{} {} in {} gaps", kind["kind"].get<std::string>(),
                                  duration_of(kind["ns"]), kind["count"].get<int>()));
  words.push_back(duration_of(report["gaps"]["longest"][0]["ns"]));
  return words;
}

Words same_token_of_both(User& user) {
  traces::Reader reader = value_of(traces::Reader::open(user.recording()));
  const traces::Recording rows = value_of(reader.recording());
  Words words;
  for (const char* strategy : {"vanilla", "auto"}) {
    const auto run = std::ranges::find(rows.runs, strategy, &traces::Run::strategy);
    const auto request = std::ranges::find(rows.requests, run->id, &traces::Request::run_id);
    std::size_t emitted = 1;  // The prefill predicts the first token.
    for (const traces::Round& round : rows.rounds) {
      if (round.request_id != request->id) continue;
      emitted += static_cast<std::size_t>(round.emitted);
      if (emitted <= compared_token) continue;
      words.push_back(fmt::format("round {} of the request", round.index));
      break;
    }
  }
  EXPECT_EQ(words.size(), 2U);
  EXPECT_NE(words.front(), words.back()) << "auto has fewer rounds";
  words.push_back(fmt::format("token {}:", compared_token));
  return words;
}

Words pdf_by_category(User& user) {
  std::filesystem::path written = user.recording();
  written.replace_filename(user.recording().stem().string() + "-which-wins-where.pdf");
  QFile file(QString::fromStdString(written.string()));
  EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << written;
  EXPECT_TRUE(file.readAll().startsWith("%PDF-"));
  return {"Written:"};
}

/// The lengths of the bars beside the map are the shares of the drafting rounds that skipped each sublayer.
Words skipped_layers(User& user) {
  traces::Reader reader = value_of(traces::Reader::open(user.recording()));
  const traces::Recording rows = value_of(reader.recording());
  const auto run = std::ranges::find_if(
      rows.runs, [](const traces::Run& one) { return one.specification.starts_with("clasp"); });
  std::vector<double> skipped;
  double drafting = 0.0;
  for (const traces::Round& round : rows.rounds) {
    const auto set = std::ranges::find(rows.layer_sets, round.layer_set_id, &traces::LayerSet::id);
    const auto request = std::ranges::find(rows.requests, round.request_id, &traces::Request::id);
    if (request->run_id != run->id || set == rows.layer_sets.end()) continue;
    ++drafting;
    skipped.resize(2 * static_cast<std::size_t>(set->n_layers));
    for (std::size_t sublayer = 0; sublayer < skipped.size(); ++sublayer)
      skipped[sublayer] += set->skipped[sublayer / 8] >> (sublayer % 8) & 1;
  }
  auto& map = *user.widget<SkipMap>("skip-map");
  const QImage picture = map.grab().toImage();
  const QColor base = map.palette().color(QPalette::Base);
  const int left = map.width() - 190 + 10;
  constexpr int margin = 26;  // above and below the map
  const double row_height = (picture.height() - 1.0 - 2 * margin) / static_cast<double>(skipped.size());
  std::set<int> lengths;
  for (std::size_t sublayer = 0; sublayer < skipped.size(); ++sublayer) {
    const int y =
        picture.height() - 1 - margin - static_cast<int>((static_cast<double>(sublayer) + 0.5) * row_height);
    int length = 0;
    while (length < 160 && picture.pixelColor(left + length, y) != base) ++length;
    EXPECT_NEAR(length, skipped[sublayer] / drafting * 150.0, 2.0) << sublayer;
    lengths.insert(length);
  }
  EXPECT_GT(lengths.size(), 1U) << "layers differ";
  return {"attention runs", "skipped", "share that skipped it", "layer 0"};
}

Words paper_figure(User& user) {
  std::filesystem::path written = user.recording();
  written.replace_filename(user.recording().stem().string() + "-speedup-of-all-runs.pdf");
  EXPECT_TRUE(std::filesystem::exists(written)) << "beside the recording";
  Words words{"Written: " + written.string()};
  const json report = printed(user, {"report"}, {});
  for (const json& run : report["runs"]) {
    words.push_back(run["specification"]);
    if (run["speedup"].is_object()) words.push_back(speedup_of(run["speedup"]["value"]));
  }
  return words;
}

Words times_of_fifth_round(User& user) {
  traces::Reader reader = value_of(traces::Reader::open(user.recording()));
  const traces::Recording rows = value_of(reader.recording());
  const auto run = std::ranges::find_if(
      rows.runs, [](const traces::Run& one) { return one.specification.starts_with("clasp"); });
  const auto request = std::ranges::find(rows.requests, run->id, &traces::Request::run_id);
  const auto round = std::ranges::find_if(
      rows.rounds, [&](const traces::Round& one) { return one.request_id == request->id && one.index == 4; });
  return {"at round 4", "#4 mean share p50 p95 p99", "draft " + duration_text(round->draft_ns).toStdString(),
          "verify " + duration_text(round->verify_ns).toStdString(),
          "round " + duration_text(round->end_ns - round->start_ns).toStdString()};
}

Words latex_of_runs(User& user) {
  const std::string latex = QGuiApplication::clipboard()->text().toStdString();
  EXPECT_THAT(latex, testing::HasSubstr("\\begin{tabular}"));
  Words words;
  const json report = printed(user, {"report"}, {});
  for (const json& run : report["runs"]) {
    const std::string speed = number_text(run["tokens_per_second"].get<double>()).toStdString();
    EXPECT_THAT(latex, testing::HasSubstr(run["strategy"].get<std::string>()));
    words.push_back(speed);
  }
  return words;
}

constexpr EightTasksRow eight_tasks[]{
    {"FastestByKindOfPrompt", "early-exit",
     [](User& user) {
       user.press(Qt::Key_5);
       user.click_tab("By category");
     },
     fastest_by_category},
    {"WhySwiftIsSlower", "h200-smollm2-graph", [](User& user) { user.click_run("swift"); }, why_swift},
    {"FirstWrongDraftOfTheThirdPrompt", "",
     [](User& user) {
       user.click_run("swift");
       user.press(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
       user.type("question=3 rejected>0");
     },
     first_wrong_of_third_prompt},
    {"WhatToSetInstead", "early-exit", [](User& user) { user.press(Qt::Key_7); },
     [](User& user) { return advised(user, {}); }},
    {"AnotherGpuModelAndFormat", "h200-smollm2-graph",
     [](User& user) {
       user.press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
       user.type("rtx 4090 llama-3-8b fp8");
       user.press(Qt::Key_Return, Qt::NoModifier);
     },
     [](User& user) {
       Words words = advised(user, {"--gpu", "RTX 4090", "--model", "Llama-3-8B", "--weights", "fp8"});
       words.insert(words.end(), {"RTX 4090", "Llama-3-8B", "fp8"});
       return words;
     }},
    {"WhichKernelsDominateAndWhichGaps", "h200-smollm2-node",
     [](User& user) {
       user.press(Qt::Key_9);
       user.choose_run("vanilla");
     },
     kernels_and_gaps},
    {"VanillaAndAutoAtTheSameToken", "h200-smollm2-graph",
     [](User& user) {
       user.click_run("auto");
       user.press(Qt::Key_B);
       auto& text = *user.widget<QWidget>("replay")->findChild<ReplayDocument*>();
       QTextCursor cursor = text.textCursor();
       cursor.setPosition(text.piece_of(compared_token).begin);
       const QPoint at = text.cursorRect(cursor).center() + QPoint(3, 0);
       user.click(*text.viewport(), at);
     },
     same_token_of_both},
    {"PdfByCategory", "early-exit",
     [](User& user) {
       user.press(Qt::Key_5);
       user.click_tab("By category");
       user.press(Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
     },
     pdf_by_category},
    {"WhichLayersAreSkipped", "early-exit",
     [](User& user) {
       user.click_run("clasp");
       user.press(Qt::Key_3);
     },
     skipped_layers},
    {"AFigureForAPaper", "early-exit",
     [](User& user) {
       user.press(Qt::Key_5);
       user.press(Qt::Key_E);
       user.press(Qt::Key_Return, Qt::NoModifier);
     },
     paper_figure},
    {"WhereTheTimeOfARoundGoes", "early-exit",
     [](User& user) {
       user.click_run("clasp");
       user.press(Qt::Key_2);
       user.click_row(*user.widget<QWidget>("rounds")->findChild<QTableView*>(), 4);
     },
     times_of_fifth_round},
    {"LatexOfTheRuns", "early-exit",
     [](User& user) {
       QWidget& cells = *user.runs_table().viewport();
       user.choose_in_menu(cells, QPoint(20, 8), "Copy table as LaTeX");
     },
     latex_of_runs},
};

class EightTasks : public testing::TestWithParam<EightTasksRow> {};

TEST_P(EightTasks, AreAnsweredOnScreenInThreeClicks) {
  const EightTasksRow& task = GetParam();
  const cli::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "recording.dstrace";
  if (*task.recording == '\0')
    ASSERT_EQ(cli::run_command(cli::record_arguments(file, "-s vanilla swift --limit 3 -n 32 -q")).exit_code,
              0);
  else
    std::filesystem::copy_file(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples" /
                                   (std::string(task.recording) + ".dstrace"),
                               file);
  User user(file);
  task.act(user);
  EXPECT_LE(user.actions(), 3) << "clicks, chords, choices and typed texts";
  const Words expected = task.expected(user);
  const std::string screen = user.screen();
  for (const std::string& words : expected) EXPECT_THAT(screen, testing::HasSubstr(words));
}

INSTANTIATE_TEST_SUITE_P(Rows, EightTasks, testing::ValuesIn(eight_tasks),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace draftscope::gui
