// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Loads CUPTI on demand, so that a build with CUPTI also starts where it is missing.

#include <cupti.h>
#include <draftscope/base/result.h>
#include <string>

namespace draftscope::profiler::cupti {

/// All functions that are called. They are process-wide; subscriber-scoped variants of some must not be mixed
/// with them.
// clang-format off
#define DRAFTSCOPE_CUPTI_FUNCTIONS(apply)       \
  apply(cuptiGetVersion)                        \
  apply(cuptiGetResultString)                   \
  apply(cuptiGetTimestamp)                      \
  apply(cuptiSubscribe_v2)                      \
  apply(cuptiUnsubscribe)                       \
  apply(cuptiActivitySetAttribute)              \
  apply(cuptiActivityRegisterTimestampCallback) \
  apply(cuptiActivityRegisterCallbacks)         \
  apply(cuptiActivityEnable)                    \
  apply(cuptiActivityDisable)                   \
  apply(cuptiActivityEnableRuntimeApi)          \
  apply(cuptiActivityEnableDriverApi)           \
  apply(cuptiActivityEnableAllSyncRecords)      \
  apply(cuptiActivityFlushAll)                  \
  apply(cuptiActivityGetNextRecord)             \
  apply(cuptiActivityGetNumDroppedRecords)      \
  apply(cuptiActivityPushExternalCorrelationId) \
  apply(cuptiActivityPopExternalCorrelationId)
// clang-format on

struct Library {
  std::string path;           ///< Path given to the loader.
  std::uint32_t version = 0;  ///< CUPTI_API_VERSION of the library
#define DRAFTSCOPE_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  DRAFTSCOPE_CUPTI_FUNCTIONS(DRAFTSCOPE_CUPTI_MEMBER)
#undef DRAFTSCOPE_CUPTI_MEMBER

  /// Name of a result code: "CUPTI_ERROR_UNKNOWN".
  [[nodiscard]] std::string words(CUptiResult result) const;
};

/// Loads only DRAFTSCOPE_CUPTI_LIBRARY of the environment if it is set, else searches the loader's path and
/// then the toolkit of the build. Never unloads, since CUPTI's threads may run until the process ends.
[[nodiscard]] Result<Library> load_library();

}  // namespace draftscope::profiler::cupti
