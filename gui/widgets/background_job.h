// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Work that must not block the window: a worker does it, and the main thread applies its result. There is one
// job at a time: starting another, cancelling, or the end of this object drops the current one.
//
// Used on the main thread only, except for the work itself.

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace draftscope::gui {

class BackgroundJob : public QObject {
 public:
  /// False when nobody waits for the work any more.
  using ShouldContinue = std::function<bool()>;
  /// Applies the result on the main thread.
  using Apply = std::function<void()>;
  using Job = std::function<Apply(const ShouldContinue& should_continue)>;

  explicit BackgroundJob(QObject* parent = nullptr) : QObject(parent) {}
  /// Cancels, and waits for the worker to notice.
  ~BackgroundJob() override;

  /// `job` touches nothing that the main thread changes. The function that it returns is called on the main
  /// thread, unless the work was dropped.
  void start(Job job);
  void cancel();
  [[nodiscard]] bool is_running() const { return current_ != nullptr; }

 private:
  struct State {
    std::atomic<bool> cancelled{false};
    std::atomic<bool> done{false};
  };

  std::shared_ptr<State> current_;
  std::vector<std::shared_ptr<State>> all_;
};

/// Job that calls read(should_continue) on the worker and take(its result) on the main thread.
template <typename Read, typename Take>
[[nodiscard]] BackgroundJob::Job read_and_take(Read read, Take take) {
  return [read = std::move(read), take = std::move(take)](
             const BackgroundJob::ShouldContinue& should_continue) -> BackgroundJob::Apply {
    using Content = decltype(read(should_continue));
    // Shared, because functions are copied and contents may not be copyable.
    return [take, content = std::make_shared<Content>(read(should_continue))] { take(std::move(*content)); };
  };
}

}  // namespace draftscope::gui
