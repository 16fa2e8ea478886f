// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/clock.h>
#include <draftscope/record.h>
#include <draftscope/traces/writer.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "foreign/foreign_writer.h"

struct draftscope_recording {
  draftscope_recording(std::unique_ptr<draftscope::traces::Writer> opened)
      : writer(std::move(opened)), rows(*writer) {}

  std::mutex mutex;
  std::unique_ptr<draftscope::traces::Writer> writer;
  draftscope::traces::ForeignWriter rows;
  std::uint64_t last_id = 0;
};

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_list = std::int64_t{1} << 22U;

/// The message of the last failed call of this thread.
std::string& last_error() {
  thread_local std::string message;
  return message;
}

draftscope_record_status refuse(draftscope_record_status status, std::string message) {
  last_error() = std::move(message);
  return status;
}

void copy_message(char* message, std::size_t bytes, const std::string& text) {
  if (message == nullptr || bytes == 0) return;
  const std::size_t length = std::min(bytes - 1, text.size());
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

/// Copies the caller's struct into `whole`; fields that the caller's version lacks stay unchanged.
template <typename Struct>
bool take(const Struct* given, Struct& whole) {
  // An older caller's struct is shorter, and a newer one's is longer.
  if (given == nullptr || given->size < sizeof(std::size_t) + sizeof(void*)) return false;
  std::memcpy(&whole, given, std::min(given->size, sizeof(Struct)));
  return true;
}

template <typename Element>
std::vector<Element> list(const Element* first, std::int64_t length) {
  if (first == nullptr || length <= 0) return {};
  return {first, first + std::min(length, max_list)};
}

/// Adds the current times of both clocks, under keys with this beginning.
void add_clocks(const std::string& beginning, Meta& meta) {
  const ClockPair now = read_clock_pair();
  meta[beginning + "_monotonic_ns"] = std::to_string(now.monotonic_ns);
  meta[beginning + "_realtime_ns"] = std::to_string(now.realtime_ns);
}

Meta identity(const draftscope_record_settings& settings) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  Meta meta{{"imported_from", settings.engine != nullptr ? settings.engine : "an engine"},
            {"imported_format", "draftscope/record.h"},
            {"lacks", missing_data_text({MissingData::layer_sets, MissingData::device})},
            {"hostname", host},
            {"tool_version", DRAFTSCOPE_VERSION}};
  add_clocks("clock_start", meta);
  for (const auto& [key, text] : {std::pair{"engine", settings.engine},
                                  {"engine_version", settings.engine_version},
                                  {"model", settings.model},
                                  {"engine_settings", settings.parameters}})
    if (text != nullptr) meta[key] = text;
  return meta;
}

/// Runs `work` under the recording's lock; no exception escapes.
template <typename Work>
draftscope_record_status call(draftscope_recording* recording, Work work) {
  try {
    last_error().clear();
    if (recording == nullptr)
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                    "recording is null, expected one from draftscope_record_create");
    const std::lock_guard lock(recording->mutex);
    if (recording->writer->failed())
      return refuse(DRAFTSCOPE_RECORD_DISK, "the trace can't be written; draftscope_record_close says why");
    return work();
  } catch (const std::bad_alloc&) {
    return DRAFTSCOPE_RECORD_MEMORY;
  } catch (...) {
    return DRAFTSCOPE_RECORD_ARGUMENT;  // The length exceeds what a container can store.
  }
}

draftscope_record_status not_initialised(const char* name) {
  return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                fmt::format("{} is null or not initialised, expected its _INIT macro", name));
}

draftscope_record_status status_of(const Result<void>& done) {
  return done ? DRAFTSCOPE_RECORD_OK : refuse(DRAFTSCOPE_RECORD_ARGUMENT, done.error().message);
}

/// Whether a caller may set the key: any but those that identify the trace.
bool is_callers(std::string_view key) {
  return !key.empty() && key != "closed_cleanly" && key != "lacks" && !key.starts_with("imported_") &&
         !key.starts_with("dropped_") && !key.starts_with("predicted_") && key != "overview_column_ns";
}

}  // namespace
}  // namespace draftscope::traces

using namespace draftscope::traces;

extern "C" {

int32_t draftscope_record_version(void) {
  return DRAFTSCOPE_RECORD_VERSION;
}

int64_t draftscope_record_now_ns(void) {
  return draftscope::now_ns();
}

draftscope_record_status draftscope_record_create(const char* path,
                                                  const draftscope_record_settings* settings,
                                                  draftscope_recording** recording, char* message,
                                                  size_t message_bytes) {
  copy_message(message, message_bytes, "");
  try {
    const auto refused = [&](draftscope_record_status status, const std::string& text) {
      copy_message(message, message_bytes, text);
      return refuse(status, text);
    };
    if (recording == nullptr)
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, "recording is null, expected where to put it");
    *recording = nullptr;
    if (path == nullptr || *path == '\0')
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, "path is null or empty, expected a file's name");
    draftscope_record_settings whole = DRAFTSCOPE_RECORD_SETTINGS_INIT;
    if (!take(settings, whole))
      return refused(DRAFTSCOPE_RECORD_ARGUMENT,
                     "settings is null or not initialised, expected DRAFTSCOPE_RECORD_SETTINGS_INIT");
    if (whole.parameters != nullptr && !nlohmann::json::parse(whole.parameters, nullptr, false).is_object())
      return refused(DRAFTSCOPE_RECORD_ARGUMENT, "parameters is no JSON object, expected one");
    auto writer = Writer::create(path, identity(whole), {.overwrite = whole.overwrite != 0});
    if (!writer) return refused(DRAFTSCOPE_RECORD_DISK, writer.error().message);
    auto opened = std::make_unique<draftscope_recording>(std::move(*writer));
    opened->rows.note({MissingData::layer_sets, MissingData::device});
    *recording = opened.release();
    return DRAFTSCOPE_RECORD_OK;
  } catch (const std::bad_alloc&) {
    return DRAFTSCOPE_RECORD_MEMORY;
  } catch (...) {
    return DRAFTSCOPE_RECORD_DISK;
  }
}

draftscope_record_status draftscope_record_meta(draftscope_recording* recording, const char* key,
                                                const char* value) {
  return call(recording, [&] {
    if (key == nullptr || value == nullptr)
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT, "key or value is null, expected text");
    if (!is_callers(key))
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                    fmt::format("key is '{:.60}', which the trace keeps itself, expected another", key));
    recording->writer->set_meta(key, value);
    return draftscope_record_status{DRAFTSCOPE_RECORD_OK};
  });
}

draftscope_record_status draftscope_record_begin(draftscope_recording* recording,
                                                 const draftscope_record_request* request, uint64_t* id) {
  return call(recording, [&] {
    draftscope_record_request said = DRAFTSCOPE_RECORD_REQUEST_INIT;
    if (!take(request, said)) return not_initialised("request");
    if (id == nullptr) return refuse(DRAFTSCOPE_RECORD_ARGUMENT, "id is null, expected where to put it");
    if (said.run == nullptr || *said.run == '\0')
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT, "run is null or empty, expected the strategy's name");
    if (said.prompt_tokens != nullptr && (said.n_prompt_tokens < 0 || said.n_prompt_tokens > max_list))
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                    fmt::format("n_prompt_tokens is {}, expected 0 to {}", said.n_prompt_tokens, max_list));
    ForeignStart start;
    start.run = said.run;
    start.start_ns = said.start_ns;
    if (said.prompt != nullptr) start.prompt = said.prompt;
    if (said.prompt_tokens != nullptr) start.prompt_tokens = list(said.prompt_tokens, said.n_prompt_tokens);
    start.n_prompt_tokens = said.prompt_tokens == nullptr ? said.n_prompt_tokens : -1;
    start.question_id = said.question_id;
    if (said.category != nullptr) start.category = said.category;
    start.repeat = said.repeat;
    start.seed = said.seed;
    const auto done = recording->rows.begin(std::to_string(recording->last_id + 1), start, "request");
    if (done) *id = ++recording->last_id;
    return status_of(done);
  });
}

draftscope_record_status draftscope_record_add(draftscope_recording* recording, uint64_t id,
                                               const draftscope_record_round* round) {
  return call(recording, [&] {
    draftscope_record_round said = DRAFTSCOPE_RECORD_ROUND_INIT;
    if (!take(round, said)) return not_initialised("round");
    if (!recording->rows.is_open(std::to_string(id)))
      return refuse(DRAFTSCOPE_RECORD_ORDER,
                    fmt::format("request {} is not under way, expected one that began", id));
    ForeignRound row;
    row.start_ns = said.start_ns;
    row.end_ns = said.end_ns;
    row.planned = said.planned;
    row.drafted = said.drafted;
    row.accepted = said.accepted;
    row.emitted = said.emitted;
    row.verify_rows = said.verify_rows;
    row.exit_layer = said.exit_layer;
    row.bonus_token = said.bonus_token;
    row.draft_ns = said.draft_ns;
    row.verify_ns = said.verify_ns;
    row.accept_ns = said.accept_ns;
    row.control_ns = said.control_ns;
    row.tokens = list(said.tokens, said.drafted);
    row.confidences = list(said.confidences, said.drafted);
    row.probabilities = list(said.probabilities, said.drafted);
    row.parents = list(said.parents, said.drafted);
    row.taken = list(said.taken, said.drafted);
    return status_of(recording->rows.round(std::to_string(id), row, "round"));
  });
}

draftscope_record_status draftscope_record_finish(draftscope_recording* recording, uint64_t id,
                                                  const draftscope_record_end* end) {
  return call(recording, [&] {
    draftscope_record_end said = DRAFTSCOPE_RECORD_END_INIT;
    if (!take(end, said)) return not_initialised("end");
    if (!recording->rows.is_open(std::to_string(id)))
      return refuse(DRAFTSCOPE_RECORD_ORDER,
                    fmt::format("request {} is not under way, expected one that began", id));
    if (said.stop < -1 || said.stop > DRAFTSCOPE_RECORD_STOP_STRING)
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT, fmt::format("stop is {}, expected -1 to {}", said.stop,
                                                            int{DRAFTSCOPE_RECORD_STOP_STRING}));
    if (said.tokens != nullptr && (said.n_tokens < 0 || said.n_tokens > max_list))
      return refuse(DRAFTSCOPE_RECORD_ARGUMENT,
                    fmt::format("n_tokens is {}, expected 0 to {}", said.n_tokens, max_list));
    ForeignEnd row;
    row.end_ns = said.end_ns;
    row.first_token_ns = said.first_token_ns;
    if (said.stop >= 0) row.stop = static_cast<RequestStop>(said.stop);
    if (said.text != nullptr) row.text = said.text;
    if (said.tokens != nullptr) row.tokens = list(said.tokens, said.n_tokens);
    row.n_tokens = said.tokens == nullptr ? said.n_tokens : -1;
    return status_of(recording->rows.end(std::to_string(id), row, "end"));
  });
}

const char* draftscope_record_error(const draftscope_recording* /*recording*/) {
  return last_error().c_str();
}

draftscope_record_status draftscope_record_close(draftscope_recording* recording, char* message,
                                                 size_t message_bytes) {
  copy_message(message, message_bytes, "");
  if (recording == nullptr) {
    copy_message(message, message_bytes, "recording is null, expected one from draftscope_record_create");
    return DRAFTSCOPE_RECORD_ARGUMENT;
  }
  draftscope_record_status status = DRAFTSCOPE_RECORD_OK;
  try {
    const std::unique_ptr<draftscope_recording> owned(recording);
    (void)owned->rows.cancel_all("close");
    Meta end;
    add_clocks("clock_end", end);
    for (const auto& [key, text] : end) owned->writer->set_meta(key, text);
    const auto closed = owned->writer->close();
    if (!closed) {
      copy_message(message, message_bytes, closed.error().message);
      status = DRAFTSCOPE_RECORD_DISK;
    }
  } catch (...) {
    status = DRAFTSCOPE_RECORD_MEMORY;
  }
  return status;
}

}  // extern "C"
