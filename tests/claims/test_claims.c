/*
 * test_claims.c - the book of claims that is built in: every claim is there, its cells are methods of this program and fit
 * what the claim asks for; and what the reader of such books refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "methods/methods.h"
#include "plan/claims.h"

#define LAST_CLAIM 62u

static const struct plan_strings disks = {2, {"a", "b"}};
static const struct claims_request here = {.members = &disks, .place = ".", .memory = "/dev/shm", .network = true, .margin = 0.03};

static struct claims_book built_in(void) {
  struct claims_book book;
  struct plan_error error;
  if (claims_read(claims_texts, &book, &error) < 0) fail_msg("%s", error.text);
  return book;
}

static void expect_claim(const struct claims_book *book, const char *id) {
  if (claims_find(book, id) < 0) fail_msg("%s is missing", id);
}

/* The numbers that claims have elsewhere; C21 is what readers of study A said, a to h. */
static void every_claim_is_there(void **state) {
  struct claims_book book = built_in();
  char id[8];
  (void)state;
  for (unsigned number = 1; number <= LAST_CLAIM; number++) {
    snprintf(id, sizeof id, "C%02u", number);
    if (number != 21) expect_claim(&book, id);
  }
  for (char letter = 'a'; letter <= 'h'; letter++) {
    snprintf(id, sizeof id, "C21%c", letter);
    expect_claim(&book, id);
  }
  assert_int_equal(book.claim_count, LAST_CLAIM + 7);
  claims_release(&book);
}

/* One by one, so that the message names the claim. */
static void every_cell_is_a_method_and_fits_its_demand(void **state) {
  struct claims_book book = built_in();
  bool wanted[128] = {false};
  unsigned failures = 0;
  (void)state;
  assert_true(book.claim_count <= 128);
  for (unsigned i = 0; i < book.claim_count; i++) {
    struct claims_request request = here;
    struct claims_plan plan;
    struct plan_error error;
    wanted[i] = true;
    request.wanted = wanted;
    if (claims_make(&book, &request, methods_list, &plan, &error) < 0) {
      print_error("%s\n", error.text);
      failures++;
    } else {
      assert_true(plan.check_count > 0 || *book.claims[i].cannot);
      claims_plan_release(&plan);
    }
    wanted[i] = false;
  }
  assert_int_equal(failures, 0);
  claims_release(&book);
}

/* What a report looks up must be there. */
static void checks_point_into_their_plans(void **state) {
  struct claims_book book = built_in();
  struct claims_plan plan;
  struct plan_error error;
  (void)state;
  if (claims_make(&book, &here, methods_list, &plan, &error) < 0) fail_msg("%s", error.text);
  for (unsigned i = 0; i < plan.check_count; i++) {
    const struct claim_check *check = &plan.checks[i];
    const struct claim_case *setup = &book.claims[check->claim].cases[check->setup];
    const struct claim_test *test = &setup->tests[check->test];
    const struct plan *part = &plan.parts[check->part].plan;
    assert_true(check->count >= (test->kind == CLAIM_MEAN ? 2u : 1u));
    for (unsigned p = 0; p < check->count; p++) {
      assert_true(check->first[p].group < part->group_count);
      assert_true(check->first[p].cell < part->groups[check->first[p].group].cell_count);
      if (test->kind == CLAIM_EVIDENCE) continue;
      assert_true(check->second[p].cell < part->groups[check->second[p].group].cell_count);
      if (check->first[p].group == check->second[p].group && check->first[p].cell == check->second[p].cell)
        fail_msg("%s compares %s with itself", book.claims[check->claim].id, test->first);
    }
  }
  claims_plan_release(&plan);
  claims_release(&book);
}

/* The same work is not measured twice, and the names that reports print are not ambiguous. */
static void groups_are_shared_and_their_names_unique(void **state) {
  struct claims_book book = built_in();
  struct claims_plan plan;
  struct plan_error error;
  (void)state;
  if (claims_make(&book, &here, methods_list, &plan, &error) < 0) fail_msg("%s", error.text);
  for (unsigned p = 0; p < plan.part_count; p++) {
    const struct plan *part = &plan.parts[p].plan;
    for (unsigned a = 0; a < part->group_count; a++)
      for (unsigned b = 0; b < a; b++) {
        assert_string_not_equal(part->groups[a].id, part->groups[b].id);
        if (part->groups[a].loops == part->groups[b].loops && strcmp(part->groups[a].title, part->groups[b].title) == 0 &&
            memcmp(&part->groups[a].demand, &part->groups[b].demand, sizeof part->groups[a].demand) == 0)
          fail_msg("%s and %s are one demand", part->groups[a].id, part->groups[b].id);
      }
  }
  claims_plan_release(&plan);
  claims_release(&book);
}

/* A claim of a figure says which; one that cannot be tested says why; texts end like sentences. */
static void claims_say_what_they_rest_on(void **state) {
  struct claims_book book = built_in();
  (void)state;
  for (unsigned i = 0; i < book.claim_count; i++) {
    const struct claim *claim = &book.claims[i];
    if (!*claim->published) fail_msg("%s: what was published?", claim->id);
    if (claim->says[strlen(claim->says) - 1] != '.') fail_msg("%s: no sentence", claim->id);
    for (unsigned c = 0; c < claim->case_count; c++)
      if (claim->cases[c].role == CLAIM_ORIGINAL && !*claim->cases[c].note)
        fail_msg("%s: what did the study do?", claim->id);
  }
  claims_release(&book);
}

/* ---- what is refused ---- */

#define HEAD "[study]\nname = S\ntitle = T\n[claim X1]\nsays = a.\n"
#define CASE HEAD "[case X1]\nsize = 1MiB\n"

static void bad_texts_are_refused_with_their_line(void **state) {
  static const char *const texts[][2] = {
      {"[claim X1]\nsays = a.\n", "a [study] has to come first"},
      {"[stud]\nname = S\n", "unknown section"},
      {HEAD, "needs a case that decides"},
      {HEAD "sais = b\n", "unknown key 'sais'"},
      {HEAD "[case X2]\nsize = 1MiB\n", "belongs to the claim above it"},
      {CASE, "tests nothing"},
      {CASE "pair = fd/read\n", "EXPECTED"},
      {CASE "pair = fd/read map/copy quicker\n", "one of faster, slower, equal, not-slower"},
      {CASE "pair = fd/read map/copy faster 2x\n", "a number like 2.9"},
      {CASE "pair = fd/read map/copy faster 4..2\n", "a number like 2.9"},
      {CASE "evidence = fd/read warmth above 50%\n", "one of resident-before"},
      {CASE "evidence = fd/read resident-before over 50%\n", "one of below, above"},
      {CASE "evidence = fd/read resident-before above 150%\n", "a share like 50%"},
      {CASE "role = judge\npair = fd/read map/copy faster\n", "one of decides, original, beside"},
      {CASE "pair = fd/read map/copy faster\n[claim X1]\nsays = b.\n", "this claim is there twice"},
      {CASE "pair = fd/read map/copy faster\n[case X1 b]\nsize = 1MiB\n[case X1]\nsize = 1MiB\n",
       "this case is there twice"},
      {HEAD "cannot = no\n[case X1]\nsize = 1MiB\npair = fd/read map/copy faster\n", "needs a case that decides, or"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const struct claims_text list[] = {{"made", texts[i][0]}, {NULL, NULL}};
    struct claims_book book;
    struct plan_error error = {.text = ""};
    if (claims_read(list, &book, &error) == 0) fail_msg("text %zu was read", i);
    if (!strstr(error.text, texts[i][1])) fail_msg("text %zu: %s", i, error.text);
  }
}

static void bad_plans_are_refused_with_their_claim(void **state) {
  static const char *const texts[][2] = {
      {CASE "pair = fd/raed map/copy faster\n", "X1: unknown method 'fd/raed'"},
      {CASE "pair = fd/read[blok=4KiB] map/copy faster\n", "X1: fd/read has no parameter 'blok'"},
      {CASE "pair = fd/read fd/write faster\n", "X1: 'fd/write' does not do 'read' here"},
      {CASE "pair = fd/* map/copy faster\n", "cells"},
      {CASE "pair = fd/read@4KiB map/copy faster\n", "names a group that is not there"},
      {HEAD "[case X1]\npair = fd/read map/copy faster\n", "size"},
      {CASE "colour = red\npair = fd/read map/copy faster\n", "unknown key 'colour'"},
      {CASE "beside = fd/raed\npair = fd/read map/copy faster\n", "unknown method 'fd/raed'"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const struct claims_text list[] = {{"made", texts[i][0]}, {NULL, NULL}};
    struct claims_book book;
    struct claims_plan plan;
    struct plan_error error = {.text = ""};
    if (claims_read(list, &book, &error) < 0) fail_msg("text %zu: %s", i, error.text);
    if (claims_make(&book, &here, methods_list, &plan, &error) == 0) fail_msg("text %zu made a plan", i);
    if (!strstr(error.text, texts[i][1])) fail_msg("text %zu: %s", i, error.text);
    claims_release(&book);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_claim_is_there),
      cmocka_unit_test(every_cell_is_a_method_and_fits_its_demand),
      cmocka_unit_test(checks_point_into_their_plans),
      cmocka_unit_test(groups_are_shared_and_their_names_unique),
      cmocka_unit_test(claims_say_what_they_rest_on),
      cmocka_unit_test(bad_texts_are_refused_with_their_line),
      cmocka_unit_test(bad_plans_are_refused_with_their_claim),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
