/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An engine of a dozen lines that drafts and verifies, recorded. With draftscope-dev installed:
 *
 *   cc example.c $(pkg-config --cflags --libs draftscope-record) -o example
 *   ./example example.dstrace && draftscope report example.dstrace
 */
#include <draftscope/record.h>
#include <stdio.h>

enum { gamma = 4, rounds = 8, prompt_length = 3 };

/* What the target would say at a position, and the draft, which is wrong at every third. */
static int32_t target_token(int64_t position) {
  return (int32_t)(position * 7 % 31);
}
static int32_t draft_token(int64_t position) {
  return position % 3 == 0 ? 99 : target_token(position);
}

static int failed(const char* what, draftscope_recording* recording) {
  fprintf(stderr, "%s: %s\n", what, draftscope_record_error(recording));
  draftscope_record_close(recording, NULL, 0);
  return 1;
}

static int decode(draftscope_recording* recording, const char* run, int drafts) {
  const int32_t prompt[prompt_length] = {1, 2, 3};
  draftscope_record_request request = DRAFTSCOPE_RECORD_REQUEST_INIT;
  request.run = run;
  request.start_ns = draftscope_record_now_ns();
  request.prompt = "one two three";
  request.prompt_tokens = prompt;
  request.n_prompt_tokens = prompt_length;
  uint64_t id;
  if (draftscope_record_begin(recording, &request, &id) != DRAFTSCOPE_RECORD_OK) return 1;

  int32_t output[1 + rounds * (gamma + 1)];
  int64_t length = 0;
  output[length++] = target_token(0); /* the prefill's */
  draftscope_record_end end = DRAFTSCOPE_RECORD_END_INIT;
  end.first_token_ns = draftscope_record_now_ns();
  for (int i = 0; i < rounds; ++i) {
    draftscope_record_round round = DRAFTSCOPE_RECORD_ROUND_INIT;
    int32_t draft[gamma];
    round.start_ns = draftscope_record_now_ns();
    round.drafted = drafts;
    for (int k = 0; k < drafts; ++k) draft[k] = draft_token(length + k);
    const int64_t drafted_ns = draftscope_record_now_ns();
    while (round.accepted < drafts && draft[round.accepted] == target_token(length)) {
      output[length++] = draft[round.accepted];
      ++round.accepted;
    }
    round.bonus_token = output[length] = target_token(length);
    ++length;
    round.end_ns = draftscope_record_now_ns();
    round.draft_ns = drafted_ns - round.start_ns;
    round.verify_ns = round.end_ns - drafted_ns;
    round.tokens = draft;
    if (draftscope_record_add(recording, id, &round) != DRAFTSCOPE_RECORD_OK) return 1;
  }
  end.end_ns = draftscope_record_now_ns();
  end.stop = DRAFTSCOPE_RECORD_STOP_LENGTH;
  end.tokens = output;
  end.n_tokens = length;
  return draftscope_record_finish(recording, id, &end) != DRAFTSCOPE_RECORD_OK;
}

int main(int arguments, char** argument) {
  char message[300];
  draftscope_record_settings settings = DRAFTSCOPE_RECORD_SETTINGS_INIT;
  settings.engine = "example";
  settings.model = "sevens";
  draftscope_recording* recording;
  if (draftscope_record_create(arguments > 1 ? argument[1] : "example.dstrace", &settings, &recording,
                               message, sizeof message) != DRAFTSCOPE_RECORD_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (decode(recording, "vanilla", 0)) return failed("vanilla", recording);
  if (decode(recording, "draft-model:gamma=4", gamma)) return failed("draft-model", recording);
  if (draftscope_record_close(recording, message, sizeof message) != DRAFTSCOPE_RECORD_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  return 0;
}
