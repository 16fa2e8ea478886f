// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes a trace in a format of other viewers, on a worker, with progress and cancel.

#include <QObject>
#include <QString>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace draftscope::gui {

enum class TraceFormat : std::uint8_t { perfetto, chrome };

class TraceExporter : public QObject {
  Q_OBJECT

 public:
  explicit TraceExporter(QObject* parent = nullptr) : QObject(parent) {}
  /// Cancels, and waits for the worker to notice.
  ~TraceExporter() override;

  /// Once for each exporter.
  void start(const std::filesystem::path& from, const std::filesystem::path& to, TraceFormat format);
  void cancel();

 signals:
  void progressed(int percent);
  /// Empty when all is written; else one line that says why not.
  void finished(const QString& reason);

 private:
  struct Job {
    std::atomic<bool> cancelled{false};
    std::atomic<bool> done{false};
  };
  std::shared_ptr<Job> job_;
};

}  // namespace draftscope::gui
