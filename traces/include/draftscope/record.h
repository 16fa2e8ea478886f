/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DRAFTSCOPE_RECORD_H
#define DRAFTSCOPE_RECORD_H

/* Records an engine's drafts and verifications into a trace, from C, C++, Rust or any language that calls C.
 *
 *   cc example.c $(pkg-config --cflags --libs draftscope-record)
 *
 * A recording has requests, of which several may be in progress at a time; a request has rounds. The file is
 * a trace from the first call on: a killed process leaves every committed round, and rounds are committed
 * within 250 ms. Calls copy their arguments and never wait for the disk, except create and close.
 *
 * ABI: functions are never changed or removed under one soname. A struct begins with its size, as the
 * caller's compiler knew it. Fields are only added at the end, and a field that an older caller lacks counts
 * as unknown. Initialise each struct with its macro, so that fields that are not set are unknown.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC (draftscope_record_now_ns), lengths are in tokens. Lists belong to
 * the caller and are read during the call. Texts are UTF-8, ended by 0. Numbers and token ids below -1 and
 * other texts are refused.
 *
 * Thread-safety: any thread may call any function on any recording. Close a recording only once, after all
 * other calls.
 *
 * Errors: each function returns a status. A refused call writes nothing, and the recording continues.
 * draftscope_record_error() is one line that names what was found and what was expected. After a failure of
 * the disk every call returns DRAFTSCOPE_RECORD_DISK, and committed rounds stay readable. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAFTSCOPE_RECORD_VERSION 1

/** Version of the loaded library: DRAFTSCOPE_RECORD_VERSION or later. */
int32_t draftscope_record_version(void);

typedef int32_t draftscope_record_status;
enum {
  DRAFTSCOPE_RECORD_OK = 0,
  DRAFTSCOPE_RECORD_ARGUMENT = 1, /**< An argument is null, not initialised, or breaks a rule. */
  DRAFTSCOPE_RECORD_ORDER = 2,    /**< The request never began, or has ended. */
  DRAFTSCOPE_RECORD_DISK = 3,     /**< The file can't be created or written. */
  DRAFTSCOPE_RECORD_MEMORY = 4    /**< There was not enough memory. */
};

typedef struct draftscope_recording draftscope_recording;

/** Description of a recording. NULL = unknown. */
typedef struct draftscope_record_settings {
  size_t size;
  const char* engine;
  const char* engine_version;
  const char* model;
  const char* parameters; /**< JSON object of the engine's settings. */
  int32_t overwrite;      /**< Nonzero = replace an existing trace. */
} draftscope_record_settings;
#define DRAFTSCOPE_RECORD_SETTINGS_INIT \
  { sizeof(draftscope_record_settings), NULL, NULL, NULL, NULL, 0 }

/** Description of a request's beginning. */
typedef struct draftscope_record_request {
  size_t size;
  /** Strategy with its parameters, "draft-model:gamma=4"; "vanilla" is the baseline. */
  const char* run;
  int64_t start_ns;             /**< Time before the prefill; -1 = unknown. */
  const char* prompt;           /**< Text of the prompt; NULL = unknown. */
  const int32_t* prompt_tokens; /**< Token ids; NULL = unknown. */
  int64_t n_prompt_tokens;      /**< Length of the list, or without a list; -1 = unknown. */
  int64_t question_id;          /**< Question id; -1 = numbered in order of arrival. */
  const char* category;         /**< NULL = none. */
  int64_t repeat;
  uint64_t seed;
} draftscope_record_request;
#define DRAFTSCOPE_RECORD_REQUEST_INIT \
  { sizeof(draftscope_record_request), NULL, -1, NULL, NULL, -1, -1, NULL, 0, 0 }

/** One draft and its verification. A list has `drafted` entries or is NULL. */
typedef struct draftscope_record_round {
  size_t size;
  int64_t start_ns; /**< Set both start_ns and end_ns or neither; -1 = unknown. */
  int64_t end_ns;
  int64_t planned;     /**< Planned draft tokens; -1 = as many as were drafted. */
  int64_t drafted;     /**< Drafted tokens; -1 = unknown. */
  int64_t accepted;    /**< Accepted tokens without the target's own. */
  int64_t emitted;     /**< Tokens that reached the output; -1 = accepted + 1. */
  int64_t verify_rows; /**< Rows of the target's pass; -1 = drafted + 1. */
  int64_t exit_layer;  /**< Layer of an early exit; 0 = none. */
  int64_t bonus_token; /**< The target's own token; -1 = unknown. */
  int64_t draft_ns;    /**< This and the next three are parts of the round's time; -1 = unknown. */
  int64_t verify_ns;
  int64_t accept_ns;
  int64_t control_ns;
  const int32_t* tokens;       /**< Draft tokens. */
  const double* confidences;   /**< The draft's probability of its best token; NaN = unknown. */
  const double* probabilities; /**< The draft's probability of this token; NaN = unknown. */
  const int32_t* parents;      /**< In a tree, the index that each extends, -1 = the root; NULL = a chain. */
  const uint8_t* taken; /**< Whether each was accepted, on a path from the root; NULL = the first ones. */
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

/** Description of a request's end. */
typedef struct draftscope_record_end {
  size_t size;
  int64_t end_ns;         /**< -1 = unknown. */
  int64_t first_token_ns; /**< -1 = unknown, 0 = no token came. */
  int32_t stop;           /**< DRAFTSCOPE_RECORD_STOP_…; -1 = unknown. */
  const char* text;       /**< Decoded text; NULL = unknown. */
  const int32_t* tokens;  /**< Token ids; NULL = unknown. */
  int64_t n_tokens;       /**< Length of the list, or without a list; -1 = unknown. */
} draftscope_record_end;
#define DRAFTSCOPE_RECORD_END_INIT \
  { sizeof(draftscope_record_end), -1, -1, -1, NULL, NULL, -1 }

/** Present time of CLOCK_MONOTONIC in nanoseconds. */
int64_t draftscope_record_now_ns(void);

/** Creates the trace `path`. On failure `*recording` is NULL, and `message` (may be NULL) receives the
 * reason, cut to `message_bytes` and ended by 0. */
draftscope_record_status draftscope_record_create(const char* path,
                                                  const draftscope_record_settings* settings,
                                                  draftscope_recording** recording, char* message,
                                                  size_t message_bytes);

/** Sets a key of the table `meta`, such as "device" or "threads". Keys that the trace sets itself, such as
 * "hostname", are refused, and so is "engine_settings", which `parameters` sets. */
draftscope_record_status draftscope_record_meta(draftscope_recording* recording, const char* key,
                                                const char* value);

/** Begins a request; `*id` identifies it from now on. */
draftscope_record_status draftscope_record_begin(draftscope_recording* recording,
                                                 const draftscope_record_request* request, uint64_t* id);
draftscope_record_status draftscope_record_add(draftscope_recording* recording, uint64_t id,
                                               const draftscope_record_round* round);
draftscope_record_status draftscope_record_finish(draftscope_recording* recording, uint64_t id,
                                                  const draftscope_record_end* end);

/** Error of this thread's last call that returned a status, on any recording; "" if it succeeded or memory
 * ran out. Valid until the thread's next call. */
const char* draftscope_record_error(const draftscope_recording* recording);

/** Ends requests in progress as cancelled, writes the remaining rows and frees the recording, whatever it
 * returns. `message` receives the first failure of the disk. NULL is refused. */
draftscope_record_status draftscope_record_close(draftscope_recording* recording, char* message,
                                                 size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
