// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a worker reads of a source, such as a recording or one of its runs, when a view first asks for it.

#include <draftscope/base/result.h>
#include <QString>

#include "widgets/background_job.h"

namespace draftscope::gui {

template <typename Source, typename Content>
class ReadWhenAsked {
 public:
  using Read = Result<Content> (*)(const Source& source,
                                   const BackgroundJob::ShouldContinue& should_continue);

  /// `changed` is called when reading has ended.
  ReadWhenAsked(Read read, std::function<void()> changed) : read_(read), changed_(std::move(changed)) {}

  /// Reads this source from now on and forgets the one before. Source() reads nothing.
  void set_source(const Source& source) {
    if (source == source_) return;
    job_.cancel();
    source_ = source;
    content_.reset();
    problem_.clear();
  }
  /// Content once it has been read; null before that. The first call starts reading.
  const std::shared_ptr<const Content>& ask() {
    if (!content_ && problem_.isEmpty() && source_ != Source() && !job_.is_running())
      job_.start(read_and_take(
          [read = read_, source = source_](const auto& should_continue) {
            return read(source, should_continue);
          },
          [this](Result<Content> content) {
            problem_ = content ? QString() : QString::fromStdString(content.error().message);
            content_ = content ? std::make_shared<const Content>(*std::move(content)) : nullptr;
            changed_();
          }));
    return content_;
  }
  /// Content read so far, or null; starts no reading.
  [[nodiscard]] const std::shared_ptr<const Content>& so_far() const { return content_; }
  /// One line if reading failed, else empty.
  [[nodiscard]] const QString& problem() const { return problem_; }

 private:
  Read read_;
  std::function<void()> changed_;
  Source source_{};
  std::shared_ptr<const Content> content_;
  QString problem_;
  BackgroundJob job_;
};

}  // namespace draftscope::gui
