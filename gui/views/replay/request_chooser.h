// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Chooses the request to replay: a prompt, found by any part of it, its category or its number, and one of
// its repeats in the shown run. Also shows the whole prompt.

#include <QWidget>
#include <vector>

#include "data/details/listed_prompts.h"
#include "state/view_state.h"

class QComboBox;
class QPlainTextEdit;

namespace draftscope::gui {

class RequestChooser : public QWidget {
  Q_OBJECT

 public:
  /// Moves the cursor of `state`, which must outlive this, to the chosen request.
  explicit RequestChooser(ViewState& state, QWidget* parent = nullptr);

  /// Lists the prompts of the state's recording; shows none of them yet.
  void list_prompts();
  void clear();
  /// Shows a listed request, by its index into Recording::requests.
  void show_request(std::size_t request_index);

 private:
  void choose_prompt(int index);
  void choose_repeat(int index);
  void show_again();

  ViewState& state_;
  std::vector<ListedPrompt> listed_;
  std::vector<std::size_t> repeats_of_prompt_;  ///< Requests of the shown prompt in its run.
  const traces::Request* request_ = nullptr;    ///< Request that is shown.
  QComboBox* prompts_;
  QComboBox* repeats_;
  QPlainTextEdit* prompt_;
};

}  // namespace draftscope::gui
