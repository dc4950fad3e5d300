/*
 * run.c - growing and taking apart the second noun: samples, facts, warnings. It measures nothing and knows no file format
 * except how text of any bytes is spelled in it.
 */
#include "measure/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const run_flag_words[] = {"pilot", "burn-in", "partial", "rewarmed", "not-cold", "not-warm", "unsettled", "retaken", "self-timed", NULL};

double sample_elapsed_ns(const struct sample *sample) {
  double sum_ns = 0;
  if (sample->passes == 0) return 0;
  for (int phase = 0; phase < RUN_PHASES; phase++) sum_ns += (double)sample->phase_ns[phase];
  return sum_ns / (double)sample->passes;
}

/* ---- facts --------------------------------------------------------------------------------------------------------- */

static struct run_fact *find_fact(const struct run *run, const char *name) {
  for (unsigned i = 0; i < run->fact_count; i++) {
    if (strcmp(run->facts[i].name, name) == 0) return &run->facts[i];
  }
  return NULL;
}

static int append_fact(struct run *run, const char *name, char *text, bool number) {
  struct run_fact *facts = realloc(run->facts, (run->fact_count + (size_t)1) * sizeof *facts);
  if (facts == NULL) return -ENOMEM;
  run->facts = facts;
  char *copy = strdup(name);
  if (copy == NULL) return -ENOMEM;
  facts[run->fact_count++] = (struct run_fact){.name = copy, .text = text, .number = number};
  return 0;
}

/* A name stands once: a fact that is found again takes the place of the older one. */
static int put_fact(struct run *run, const char *name, const char *text, bool number) {
  char *copy = strdup(text);
  if (copy == NULL) return -ENOMEM;
  struct run_fact *known = find_fact(run, name);
  if (known != NULL) {
    free(known->text);
    known->text = copy;
    known->number = number;
    return 0;
  }
  int code = append_fact(run, name, copy, number);
  if (code < 0) free(copy);
  return code;
}

int run_add_fact(struct run *run, const char *name, const char *text) { return put_fact(run, name, text, false); }

int run_add_number(struct run *run, const char *name, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  return put_fact(run, name, text, true);
}

const char *run_fact_text(const struct run *run, const char *name) {
  const struct run_fact *fact = find_fact(run, name);
  return fact ? fact->text : NULL;
}

/* ---- warnings and samples ------------------------------------------------------------------------------------------ */

void run_warn(struct run *run, const char *id, const char *remedy, const char *format, ...) {
  struct run_warning warning;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(warning.text, sizeof warning.text, format, arguments);
  va_end(arguments);
  snprintf(warning.id, sizeof warning.id, "%s", id);
  snprintf(warning.remedy, sizeof warning.remedy, "%s", remedy ? remedy : "");
  for (unsigned i = 0; i < run->warning_count; i++) {
    const struct run_warning *known = &run->warnings[i];
    if (strcmp(known->id, warning.id) == 0 && strcmp(known->text, warning.text) == 0) return;
  }
  if (run->warning_count < sizeof run->warnings / sizeof run->warnings[0]) run->warnings[run->warning_count++] = warning;
}

int run_add_sample(struct run *run, const struct sample *sample) {
  if (run->sample_count == run->sample_room) {
    size_t room = run->sample_room ? run->sample_room * 2 : 64;
    if (room > SIZE_MAX / sizeof *sample) return -ENOMEM;
    struct sample *samples = realloc(run->samples, room * sizeof *samples);
    if (samples == NULL) return -ENOMEM;
    run->samples = samples;
    run->sample_room = room;
  }
  run->samples[run->sample_count++] = *sample;
  return 0;
}

int run_keep_latency(struct run *run, struct sample *sample, const struct histogram_entry *entries, size_t count) {
  if (count == 0) return 0;
  if (run->latency_room - run->latency_count < count) {
    const size_t room = 2 * run->latency_room + count;
    if (room < count || room > SIZE_MAX / sizeof *entries) return -ENOMEM;
    struct histogram_entry *latency = realloc(run->latency, room * sizeof *latency);
    if (latency == NULL) return -ENOMEM;
    run->latency = latency;
    run->latency_room = room;
  }
  memcpy(run->latency + run->latency_count, entries, count * sizeof *entries);
  sample->latency_first = run->latency_count;
  sample->latency_count = count;
  run->latency_count += count;
  return 0;
}

const struct histogram_entry *run_latency(const struct run *run, const struct sample *sample) {
  return sample->latency_count ? run->latency + sample->latency_first : NULL;
}

int run_add_round(struct run *run, const struct run_round *round) {
  if (run->round_count == run->round_room) {
    const size_t room = run->round_room ? run->round_room * 2 : 64;
    if (room > SIZE_MAX / sizeof *round) return -ENOMEM;
    struct run_round *rounds = realloc(run->rounds, room * sizeof *rounds);
    if (rounds == NULL) return -ENOMEM;
    run->rounds = rounds;
    run->round_room = room;
  }
  run->rounds[run->round_count++] = *round;
  return 0;
}

void run_release(struct run *run) {
  for (unsigned i = 0; i < run->argument_count; i++) free(run->arguments[i]);
  for (unsigned i = 0; i < run->fact_count; i++) {
    free(run->facts[i].name);
    free(run->facts[i].text);
  }
  free(run->arguments);
  free(run->facts);
  free(run->samples);
  free(run->latency);
  free(run->limits);
  free(run->rounds);
  plan_release(&run->plan);
  memset(run, 0, sizeof *run);
}

/* ---- text of any bytes as UTF-8 ------------------------------------------------------------------------------------ */

/*
 * The bytes 0x80 ... 0xff that are no UTF-8 become U+EF80 ... U+EFFF, a corner of the private use area. Text that holds
 * those characters itself has their bytes escaped in the same way, so that the way back is never in doubt.
 */
#define ESCAPE_FIRST 0xef80u

/* Bytes of the well-formed character that starts here (Unicode's table 3-7), or 0. Text ends at a NUL. */
static size_t character_length(const unsigned char *at) {
  if (at[0] < 0x80) return 1;
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  unsigned char low = 0x80, high = 0xbf;
  if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
  if (at[0] == 0xe0) low = 0xa0;  /* no longer than needed */
  if (at[0] == 0xed) high = 0x9f; /* no surrogates */
  if (at[0] == 0xf0) low = 0x90;
  if (at[0] == 0xf4) high = 0x8f; /* nothing past U+10FFFF */
  if (at[1] < low || at[1] > high) return 0;
  for (size_t i = 2; i < length; i++) {
    if (at[i] < 0x80 || at[i] > 0xbf) return 0;
  }
  return length;
}

/* U+EF80 ... U+EFFF is EE BE 80 ... EE BF BF. */
static bool is_escape(const unsigned char *at) {
  return at[0] == 0xee && (at[1] == 0xbe || at[1] == 0xbf) && at[2] >= 0x80 && at[2] <= 0xbf;
}

char *run_text_encode(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  size_t length = strlen(text);
  if (length > (SIZE_MAX - 1) / 3) return NULL;
  char *out = malloc(3 * length + 1);
  if (out == NULL) return NULL;
  char *end = out;
  while (*at != 0) {
    size_t size = is_escape(at) ? 0 : character_length(at);
    if (size == 0) {
      unsigned code = ESCAPE_FIRST + (*at++ - 0x80u);
      *end++ = (char)0xee;
      *end++ = (char)(0x80u | (code >> 6 & 0x3fu));
      *end++ = (char)(0x80u | (code & 0x3fu));
      continue;
    }
    memcpy(end, at, size);
    end += size;
    at += size;
  }
  *end = '\0';
  return out;
}

void run_text_decode(char *text) {
  unsigned char *at = (unsigned char *)text, *end = at;
  while (*at != 0) {
    if (is_escape(at)) {
      *end++ = (unsigned char)(0x80u | (at[1] & 1u) << 6 | (at[2] & 0x3fu));
      at += 3;
    } else {
      *end++ = *at++;
    }
  }
  *end = 0;
}
