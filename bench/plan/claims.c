/*
 * claims.c - reads the texts of claims/ into the book. Pure; whether cells and demands exist is seen in claims_plan.c.
 *
 * A text is INI: [study] once, then [claim ID] and below it its [case ID name]. A case holds keys of its own (role, pair,
 * mean, evidence ...); all its other keys are lines of a suite's group and are kept as they are.
 */
#include "plan/claims.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plan/parts.h"

const char *const claim_expect_words[] = {"faster", "slower", "equal", "not-slower", NULL};
const char *const claim_role_words[] = {"decides", "original", "beside", NULL};
const char *const claim_quantity_words[] = {"resident-before", "resident-after", "device-read",
                                            "device-write",    "deviation",      NULL};
static const char *const need_words[] = {"nothing", "network", NULL};
static const char *const place_words[] = {"here", "memory", "array", NULL};
static const char *const per_words[] = {"pass", "byte", NULL};

struct reader {
  const char *file, *rest;
  unsigned line;
  struct claims_book *out;
  char section[64];
  enum { IN_NOTHING, IN_STUDY, IN_CLAIM, IN_CASE } in;
  int code;
  struct plan_error *error;
};

static struct claim_study *study_of(struct reader *reader) { return &reader->out->studies[reader->out->study_count - 1]; }
static struct claim *claim_of(struct reader *reader) { return &reader->out->claims[reader->out->claim_count - 1]; }
static struct claim_case *case_of(struct reader *reader) {
  return &claim_of(reader)->cases[claim_of(reader)->case_count - 1];
}

static int claims_fail(struct reader *reader, const char *value, const char *hint, const char *text) {
  return reader->code = plan_fail(reader->error, "claims", value, hint, "%s: line %u: %s", reader->file, reader->line, text);
}

static int bad_value(struct reader *reader, const char *key, const char *value, const char *allowed) {
  char text[160];
  snprintf(text, sizeof text, "%.24s: '%.48s' is not %.72s", key, value, allowed);
  return claims_fail(reader, value, NULL, text);
}

/* ---- values ---- */

/* Puts `more` behind what is there, with `mark` between. */
static int add_text(struct reader *reader, char **text, const char *mark, const char *more) {
  const char *old = *text ? *text : "";
  size_t size = strlen(old) + strlen(mark) + strlen(more) + 1;
  char *joined = malloc(size);
  if (!joined) return reader->code = -ENOMEM;
  snprintf(joined, size, "%s%s%s", old, *old && *more ? mark : "", more);
  free(*text);
  *text = joined;
  return 0;
}

static int take_word(struct reader *reader, const char *key, const char *const *words, const char *value, int *out) {
  char list[96], allowed[112];
  *out = plan_word_index(words, value);
  if (*out >= 0) return 0;
  snprintf(allowed, sizeof allowed, "one of %s", plan_word_list(words, list, sizeof list));
  return bad_value(reader, key, value, allowed);
}

#define WORDS_MAX 4u
#define WORD_SIZE 192u

/* The words of a line, or more than WORDS_MAX. */
static unsigned split(const char *text, char words[WORDS_MAX][WORD_SIZE]) {
  static const char space[] = " \t";
  unsigned count = 0;
  for (const char *at = text + strspn(text, space); *at; count++) {
    size_t length = strcspn(at, space);
    if (count < WORDS_MAX) snprintf(words[count], WORD_SIZE, "%.*s", (int)length, at);
    at += length + strspn(at + length, space);
  }
  return count;
}

/* "2.9", or "9.2..13.6". */
static int take_published(struct reader *reader, const char *text, struct claim_test *test) {
  char low[32];
  const char *dots = strstr(text, "..");
  snprintf(low, sizeof low, "%.*s", dots ? (int)(dots - text) : 31, text);
  int code = units_parse_ratio(low, &test->published_low);
  test->published_high = test->published_low;
  if (code == 0 && dots) code = units_parse_ratio(dots + 2, &test->published_high);
  if (code == 0 && test->published_low > 0 && test->published_low <= test->published_high) return 0;
  return bad_value(reader, "published ratio", text, "a number like 2.9, or a range like 2.9..4.8");
}

static struct claim_test *new_test(struct reader *reader, enum claim_kind kind) {
  struct claim_case *setup = case_of(reader);
  struct claim_test *tests = realloc(setup->tests, (setup->test_count + 1u) * sizeof *tests);
  if (!tests) reader->code = -ENOMEM;
  if (!tests) return NULL;
  setup->tests = tests;
  tests[setup->test_count] = (struct claim_test){.kind = kind};
  return &tests[setup->test_count++];
}

/* FIRST SECOND faster|slower|equal|not-slower [PUBLISHED] */
static int take_pair(struct reader *reader, enum claim_kind kind, const char *value) {
  char words[WORDS_MAX][WORD_SIZE];
  unsigned count = split(value, words);
  int expect = 0;
  if (count == 0) return 0;
  if (count < 3 || count > 4)
    return bad_value(reader, "pair", value, "FIRST SECOND EXPECTED, and a ratio where there is one");
  struct claim_test *test = new_test(reader, kind);
  if (!test) return reader->code;
  int code = take_word(reader, "expected", claim_expect_words, words[2], &expect);
  test->expect = (enum claim_expect)expect;
  if (code == 0) code = add_text(reader, &test->first, "", words[0]);
  if (code == 0) code = add_text(reader, &test->second, "", words[1]);
  return code == 0 && count == 4 ? take_published(reader, words[3], test) : code;
}

static int set_pair(struct reader *reader, const char *value) { return take_pair(reader, CLAIM_PAIR, value); }
static int set_mean(struct reader *reader, const char *value) { return take_pair(reader, CLAIM_MEAN, value); }

/* CELL QUANTITY above|below LIMIT */
static int set_evidence(struct reader *reader, const char *value) {
  static const char *const sides[] = {"below", "above", NULL};
  char words[WORDS_MAX][WORD_SIZE];
  int quantity = 0, above = 0;
  unsigned count = split(value, words);
  if (count == 0) return 0;
  if (count != 4) return bad_value(reader, "evidence", value, "CELL QUANTITY above|below LIMIT");
  struct claim_test *test = new_test(reader, CLAIM_EVIDENCE);
  if (!test) return reader->code;
  int code = take_word(reader, "quantity", claim_quantity_words, words[1], &quantity);
  if (code == 0) code = take_word(reader, "side", sides, words[2], &above);
  if (code == 0 && units_parse_share(words[3], &test->limit) < 0)
    code = bad_value(reader, "limit", words[3], "a share like 50%");
  test->quantity = (enum claim_quantity)quantity;
  test->above = above == 1;
  return code == 0 ? add_text(reader, &test->first, "", words[0]) : code;
}

static int set_role(struct reader *reader, const char *value) {
  int word = 0, code = take_word(reader, "role", claim_role_words, value, &word);
  if (code == 0) case_of(reader)->role = (enum claim_role)word;
  return code;
}

static int set_rank(struct reader *reader, const char *value) {
  int word = 0, code = take_word(reader, "rank", plan_rank_words, value, &word);
  if (code == 0) case_of(reader)->rank = (enum plan_rank)word;
  return code;
}

static int set_need(struct reader *reader, const char *value) {
  int word = 0, code = take_word(reader, "needs", need_words, value, &word);
  if (code == 0) case_of(reader)->need = (enum claim_need)word;
  return code;
}

static int set_place(struct reader *reader, const char *value) {
  int word = 0, code = take_word(reader, "place", place_words, value, &word);
  if (code == 0) case_of(reader)->place = (enum claim_place)word;
  return code;
}

static int set_flush(struct reader *reader, const char *value) {
  return take_word(reader, "flush", plan_flush_words, value, &case_of(reader)->flush);
}

static int set_per(struct reader *reader, const char *value) {
  return take_word(reader, "per", per_words, value, &case_of(reader)->per);
}

/* A text may run over several lines. */
static int set_name(struct reader *reader, const char *value) {
  return add_text(reader, &study_of(reader)->name, " ", value);
}
static int set_title(struct reader *reader, const char *value) {
  return add_text(reader, &study_of(reader)->title, " ", value);
}
static int set_says(struct reader *reader, const char *value) {
  return add_text(reader, &claim_of(reader)->says, " ", value);
}
static int set_figures(struct reader *reader, const char *value) {
  return add_text(reader, &claim_of(reader)->published, " ", value);
}
static int set_trap(struct reader *reader, const char *value) {
  return add_text(reader, &claim_of(reader)->trap, " ", value);
}
static int set_cannot(struct reader *reader, const char *value) {
  return add_text(reader, &claim_of(reader)->cannot, " ", value);
}
static int set_note(struct reader *reader, const char *value) {
  return add_text(reader, &case_of(reader)->note, " ", value);
}
static int set_beside(struct reader *reader, const char *value) {
  return add_text(reader, &case_of(reader)->beside, " ", value);
}

struct key {
  const char *name;
  int (*set)(struct reader *reader, const char *value);
};
static const struct key study_keys[] = {{"name", set_name}, {"title", set_title}, {NULL, NULL}};
static const struct key claim_keys[] = {
    {"says", set_says}, {"published", set_figures}, {"trap", set_trap}, {"cannot", set_cannot}, {NULL, NULL}};
static const struct key case_keys[] = {{"role", set_role},         {"rank", set_rank},   {"needs", set_need},
                                       {"place", set_place},       {"flush", set_flush}, {"note", set_note},
                                       {"pair", set_pair},         {"mean", set_mean},   {"beside", set_beside},
                                       {"evidence", set_evidence}, {"per", set_per},     {NULL, NULL}};

static int unknown_key(struct reader *reader, const struct key *keys, const char *name) {
  const char *names[16] = {NULL};
  char list[96], text[160];
  for (unsigned i = 0; keys[i].name; i++) names[i] = keys[i].name;
  snprintf(text, sizeof text, "unknown key '%.24s'; allowed: %s", name, plan_word_list(names, list, sizeof list));
  return claims_fail(reader, name, plan_nearest(name, names), text);
}

static int take_demand(struct reader *reader, const char *name, const char *value) {
  char line[256];
  if (snprintf(line, sizeof line, "%s = %s", name, value) >= (int)sizeof line)
    return bad_value(reader, name, value, "short enough");
  return add_text(reader, &case_of(reader)->demand, "\n", line);
}

static int take_key(struct reader *reader, const char *name, const char *value) {
  const struct key *keys = reader->in == IN_STUDY ? study_keys : reader->in == IN_CLAIM ? claim_keys : case_keys;
  for (const struct key *key = keys; key->name; key++)
    if (strcmp(key->name, name) == 0) return key->set(reader, value);
  return reader->in == IN_CASE ? take_demand(reader, name, value) : unknown_key(reader, keys, name);
}

/* ---- sections ---- */

static int start_study(struct reader *reader) {
  struct claims_book *book = reader->out;
  struct claim_study *studies = realloc(book->studies, (book->study_count + 1u) * sizeof *studies);
  if (!studies) return reader->code = -ENOMEM;
  book->studies = studies;
  studies[book->study_count++] = (struct claim_study){.file = group_text_copy(reader->file)};
  reader->in = IN_STUDY;
  return study_of(reader)->file ? 0 : (reader->code = -ENOMEM);
}

static int start_claim(struct reader *reader, const char *id) {
  struct claims_book *book = reader->out;
  if (!book->study_count || strcmp(study_of(reader)->file, reader->file) != 0)
    return claims_fail(reader, id, NULL, "a [study] has to come first");
  if (claims_find(book, id) >= 0) return claims_fail(reader, id, NULL, "this claim is there twice");
  struct claim *claims = realloc(book->claims, (book->claim_count + 1u) * sizeof *claims);
  if (!claims) return reader->code = -ENOMEM;
  book->claims = claims;
  struct claim *claim = &claims[book->claim_count++];
  *claim = (struct claim){.id = group_text_copy(id), .study = book->study_count - 1u};
  reader->in = IN_CLAIM;
  return claim->id ? 0 : (reader->code = -ENOMEM);
}

static int start_case(struct reader *reader, const char *words) {
  size_t length = strcspn(words, " ");
  const char *name = words + length + (words[length] == ' ');
  if (!reader->out->claim_count || strlen(claim_of(reader)->id) != length ||
      strncmp(claim_of(reader)->id, words, length) != 0)
    return claims_fail(reader, words, NULL, "a case belongs to the claim above it");
  struct claim *claim = claim_of(reader);
  for (unsigned i = 0; i < claim->case_count; i++)
    if (strcmp(claim->cases[i].name, name) == 0) return claims_fail(reader, words, NULL, "this case is there twice");
  struct claim_case *cases = realloc(claim->cases, (claim->case_count + 1u) * sizeof *cases);
  if (!cases) return reader->code = -ENOMEM;
  claim->cases = cases;
  cases[claim->case_count++] =
      (struct claim_case){.name = group_text_copy(name), .flush = PLAN_FLUSH_DONTNEED, .per = PLAN_UNSAID};
  reader->in = IN_CASE;
  return case_of(reader)->name ? 0 : (reader->code = -ENOMEM);
}

static int start_section(struct reader *reader, const char *section) {
  snprintf(reader->section, sizeof reader->section, "%.63s", section);
  if (strcmp(section, "study") == 0) return start_study(reader);
  if (strncmp(section, "claim ", 6) == 0 && section[6]) return start_claim(reader, section + 6);
  if (strncmp(section, "case ", 5) == 0 && section[5]) return start_case(reader, section + 5);
  return claims_fail(reader, section, NULL, "unknown section; allowed: [study], [claim ID], [case ID NAME]");
}

/* Called by the INI reader; non-zero is success. */
static int on_value(void *context, const char *section, const char *name, const char *value) {
  struct reader *reader = context;
  if (reader->code < 0) return 0;
  if (strcmp(section, reader->section) != 0 && start_section(reader, section) < 0) return 0;
  return take_key(reader, name, value) == 0;
}

/* Hands over the next line, in the manner of fgets. */
static char *next_line(char *out, int room, void *context) {
  struct reader *reader = context;
  if (!*reader->rest) return NULL;
  size_t span = strcspn(reader->rest, "\n");
  reader->line++;
  if (span + 2 > (size_t)room) {
    if (reader->code == 0) claims_fail(reader, "", NULL, "the line is too long");
    return NULL;
  }
  memcpy(out, reader->rest, span);
  out[span] = '\n';
  out[span + 1] = '\0';
  reader->rest += span + (reader->rest[span] == '\n');
  return out;
}

/* ---- the book ---- */

/* Texts that were not given are "". */
static int fill_texts(struct reader *reader) {
  struct claims_book *book = reader->out;
  int code = 0;
  for (unsigned i = 0; i < book->study_count && code == 0; i++) {
    code = add_text(reader, &book->studies[i].name, "", "");
    if (code == 0) code = add_text(reader, &book->studies[i].title, "", "");
  }
  for (unsigned i = 0; i < book->claim_count; i++) {
    struct claim *claim = &book->claims[i];
    char **const texts[] = {&claim->says, &claim->published, &claim->trap, &claim->cannot};
    for (unsigned t = 0; t < sizeof texts / sizeof *texts && code == 0; t++) code = add_text(reader, texts[t], "", "");
    for (unsigned c = 0; c < claim->case_count; c++) {
      char **const parts[] = {&claim->cases[c].demand, &claim->cases[c].note, &claim->cases[c].beside};
      for (unsigned t = 0; t < sizeof parts / sizeof *parts && code == 0; t++) code = add_text(reader, parts[t], "", "");
    }
  }
  return code;
}

/* What a verdict cannot do without. */
static int check_claim(const struct claim *claim, struct plan_error *error) {
  bool decides = false;
  if (!*claim->says) return plan_fail(error, "claims", claim->id, NULL, "%s says nothing", claim->id);
  for (unsigned i = 0; i < claim->case_count; i++) {
    const struct claim_case *setup = &claim->cases[i];
    if (!setup->test_count)
      return plan_fail(error, "claims", claim->id, NULL, "%s: case '%s' tests nothing", claim->id, setup->name);
    decides = decides || setup->role == CLAIM_DECIDES;
  }
  if (decides == (*claim->cannot != '\0'))
    return plan_fail(error, "claims", claim->id, NULL, "%s needs a case that decides, or the reason why there is none",
                     claim->id);
  return 0;
}

static int read_text(const struct claims_text *text, struct reader *reader) {
  *reader = (struct reader){.file = text->name, .rest = text->text, .out = reader->out, .error = reader->error};
  int bad_line = ini_parse_stream(next_line, reader, on_value, reader);
  if (reader->code == 0 && bad_line > 0) {
    reader->line = (unsigned)bad_line;
    claims_fail(reader, "", NULL, "expected [section] or key = value");
  }
  return reader->code;
}

int claims_read(const struct claims_text *texts, struct claims_book *out, struct plan_error *error) {
  *out = (struct claims_book){0};
  struct reader reader = {.out = out, .error = error};
  int code = 0;
  for (; texts->name && code == 0; texts++) code = read_text(texts, &reader);
  if (code == 0) code = fill_texts(&reader);
  for (unsigned i = 0; i < out->claim_count && code == 0; i++) code = check_claim(&out->claims[i], error);
  if (code < 0) claims_release(out);
  return code;
}

static bool same_letters(const char *a, const char *b) {
  for (; *a && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++, b++) continue;
  return *a == *b;
}

int claims_find(const struct claims_book *book, const char *id) {
  for (unsigned i = 0; i < book->claim_count; i++)
    if (same_letters(book->claims[i].id, id)) return (int)i;
  return -1;
}

static void release_case(struct claim_case *setup) {
  for (unsigned i = 0; i < setup->test_count; i++) {
    free(setup->tests[i].first);
    free(setup->tests[i].second);
  }
  free(setup->tests);
  free(setup->name);
  free(setup->demand);
  free(setup->note);
  free(setup->beside);
}

static void release_claim(struct claim *claim) {
  for (unsigned i = 0; i < claim->case_count; i++) release_case(&claim->cases[i]);
  free(claim->cases);
  free(claim->id);
  free(claim->says);
  free(claim->published);
  free(claim->trap);
  free(claim->cannot);
}

void claims_release(struct claims_book *book) {
  for (unsigned i = 0; i < book->claim_count; i++) release_claim(&book->claims[i]);
  for (unsigned i = 0; i < book->study_count; i++) {
    free(book->studies[i].file);
    free(book->studies[i].name);
    free(book->studies[i].title);
  }
  free(book->claims);
  free(book->studies);
  *book = (struct claims_book){0};
}
