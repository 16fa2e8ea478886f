/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DRAFTSCOPE_RECORD_H
#define DRAFTSCOPE_RECORD_H

/* Records what an engine drafts and verifies into a trace, from C, C++, Rust or whatever calls C.
 *
 *   cc example.c $(pkg-config --cflags --libs draftscope-record)
 *
 * A recording has requests, several of them under way at a time if need be; a request has rounds. The file is
 * a trace from the first call on: a process that is killed leaves every round that was committed, at most 250
 * ms before. Calls copy what they are given and never wait for the disk, except create and close.
 *
 * ABI: functions are never changed or taken away under one soname. A struct begins with its size, as the
 * caller's compiler knew it; fields are added at the end alone, and what an older caller lacks counts as
 * unknown. Initialise each with its macro, so that what is not set is unknown.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC (draftscope_record_now_ns), lengths are in tokens. Lists belong to
 * the caller and are read during the call.
 *
 * Thread-safety: any function, from any thread, on any recording; close only once, and as the last.
 *
 * Errors: each function returns a status. A refused call writes nothing, and the recording goes on.
 * draftscope_record_error() is one line that names what was found and what was expected. After a failure of
 * the disk every call returns DRAFTSCOPE_RECORD_DISK, and what was committed stays readable. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAFTSCOPE_RECORD_VERSION 1

/** Of the library that is loaded: DRAFTSCOPE_RECORD_VERSION or later. */
int32_t draftscope_record_version(void);

typedef int32_t draftscope_record_status;
enum {
  DRAFTSCOPE_RECORD_OK = 0,
  DRAFTSCOPE_RECORD_ARGUMENT = 1, /**< null, not initialised, or a value that breaks a rule */
  DRAFTSCOPE_RECORD_ORDER = 2,    /**< a request that never began, or has ended */
  DRAFTSCOPE_RECORD_DISK = 3,     /**< the file can't be made or written */
  DRAFTSCOPE_RECORD_MEMORY = 4    /**< no memory was left */
};

typedef struct draftscope_recording draftscope_recording;

/** What is recorded. Texts are UTF-8, ended by 0; NULL = unknown. */
typedef struct draftscope_record_settings {
  size_t size;
  const char* engine;
  const char* engine_version;
  const char* model;
  const char* parameters; /**< JSON object of the engine's settings */
  int32_t overwrite;      /**< not 0: replace an existing trace */
} draftscope_record_settings;
#define DRAFTSCOPE_RECORD_SETTINGS_INIT \
  { sizeof(draftscope_record_settings), NULL, NULL, NULL, NULL, 0 }

/** How a request begins. */
typedef struct draftscope_record_request {
  size_t size;
  const char* run;  /**< the strategy with its parameters, "draft-model:gamma=4"; "vanilla" is the baseline */
  int64_t start_ns; /**< before the prefill; -1 = unknown */
  const char* prompt;           /**< text; NULL = unknown */
  const int32_t* prompt_tokens; /**< NULL = unknown */
  int64_t n_prompt_tokens;      /**< of the list, or alone; -1 = unknown */
  int64_t question_id;          /**< -1 = numbered as they come */
  const char* category;         /**< NULL = none */
  int64_t repeat;
  uint64_t seed;
} draftscope_record_request;
#define DRAFTSCOPE_RECORD_REQUEST_INIT \
  { sizeof(draftscope_record_request), NULL, -1, NULL, NULL, -1, -1, NULL, 0, 0 }

/** One draft and its verification. A list has `drafted` entries or is NULL. */
typedef struct draftscope_record_round {
  size_t size;
  int64_t start_ns; /**< both or neither; -1 = unknown */
  int64_t end_ns;
  int64_t planned;     /**< draft tokens wanted; -1 = as many as were drafted */
  int64_t drafted;     /**< -1 = unknown */
  int64_t accepted;    /**< without the target's own token */
  int64_t emitted;     /**< tokens that reached the output; -1 = accepted + 1 */
  int64_t verify_rows; /**< rows of the target's pass; -1 = drafted + 1 */
  int64_t exit_layer;  /**< of an early exit; 0 = none */
  int64_t bonus_token; /**< the target's own; -1 = unknown */
  int64_t draft_ns;    /**< parts of the round's time; -1 = unknown */
  int64_t verify_ns;
  int64_t accept_ns;
  int64_t control_ns;
  const int32_t* tokens;       /**< draft tokens */
  const double* confidences;   /**< the draft's probability of its best token; NaN = unknown */
  const double* probabilities; /**< the draft's probability of this token; NaN = unknown */
  const int32_t* parents;      /**< of a tree: the index that each extends, -1 = the root; NULL = a chain */
  const uint8_t* taken;        /**< of a tree: whether each was accepted; NULL = the first `accepted` */
} draftscope_record_round;
#define DRAFTSCOPE_RECORD_ROUND_INIT                                                                     \
  {                                                                                                      \
    sizeof(draftscope_record_round), -1, -1, -1, -1, 0, -1, -1, 0, -1, -1, -1, -1, -1, NULL, NULL, NULL, \
        NULL, NULL                                                                                       \
  }

/** Why a request ended; the numbers are those of the table `request_stops`. */
enum {
  DRAFTSCOPE_RECORD_STOP_EOS = 0,
  DRAFTSCOPE_RECORD_STOP_LENGTH = 1,
  DRAFTSCOPE_RECORD_STOP_CONTEXT = 2,
  DRAFTSCOPE_RECORD_STOP_CANCELLED = 3,
  DRAFTSCOPE_RECORD_STOP_ERROR = 4,
  DRAFTSCOPE_RECORD_STOP_STRING = 5
};

/** How a request ended. */
typedef struct draftscope_record_end {
  size_t size;
  int64_t end_ns;         /**< -1 = unknown */
  int64_t first_token_ns; /**< -1 = unknown, 0 = no token came */
  int32_t stop;           /**< -1 = unknown */
  const char* text;       /**< NULL = unknown */
  const int32_t* tokens;  /**< NULL = unknown */
  int64_t n_tokens;       /**< of the list, or alone; -1 = unknown */
} draftscope_record_end;
#define DRAFTSCOPE_RECORD_END_INIT \
  { sizeof(draftscope_record_end), -1, -1, -1, NULL, NULL, -1 }

/** CLOCK_MONOTONIC. */
int64_t draftscope_record_now_ns(void);

/** Creates the trace `path`. On failure `*recording` is NULL, and `message` (may be NULL) holds the reason,
 * cut to `message_bytes` and ended by 0. */
draftscope_record_status draftscope_record_create(const char* path,
                                                  const draftscope_record_settings* settings,
                                                  draftscope_recording** recording, char* message,
                                                  size_t message_bytes);

/** Sets a key of the table `meta`, such as "device" or "threads"; keys that the trace itself keeps are
 * refused. */
draftscope_record_status draftscope_record_meta(draftscope_recording* recording, const char* key,
                                                const char* value);

/** Begins a request; `*id` is what names it from now on. */
draftscope_record_status draftscope_record_begin(draftscope_recording* recording,
                                                 const draftscope_record_request* request, uint64_t* id);
draftscope_record_status draftscope_record_add(draftscope_recording* recording, uint64_t id,
                                               const draftscope_record_round* round);
draftscope_record_status draftscope_record_finish(draftscope_recording* recording, uint64_t id,
                                                  const draftscope_record_end* end);

/** Of the last call of this thread on this recording that failed; "" if none did. Valid until the thread's
 * next call. */
const char* draftscope_record_error(const draftscope_recording* recording);

/** Ends requests under way as cancelled, writes what is left and frees the recording, whatever it returns.
 * The first failure of the disk is in `message`. NULL is refused. */
draftscope_record_status draftscope_record_close(draftscope_recording* recording, char* message,
                                                 size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
