/* What a plan is made of: specs, suites, combinations of words, the rules for a user's file, the order of a round. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/parts.h"

#define ALL WEIR_PARAM_EVERYWHERE
#define MIB (UINT64_C(1) << 20)

static const struct weir_param block_params[] = {
    {.name = "block", .kind = WEIR_PARAM_SIZE, .preset = "128KiB", .sweep = "64KiB|1MiB", .min = 1, .max = 1 << 30, ALL},
    {.name = "buffer",
     .kind = WEIR_PARAM_CHOICE,
     .preset = "reused",
     .choices = "fresh|reused|huge",
     .tasks = WEIR_BIT(WEIR_TASK_WHOLE),
     .accesses = WEIR_ANY,
     .durabilities = WEIR_ANY},
};
static const struct weir_param ring_params[] = {
    {.name = "block", .kind = WEIR_PARAM_SIZE, .preset = "128KiB", .min = 512, .max = 1 << 30, ALL},
    {.name = "depth", .kind = WEIR_PARAM_COUNT, .preset = "8", .sweep = "1|8|32", .min = 1, .max = 256, ALL},
};
#define READS .directions = WEIR_BIT(WEIR_READ), .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE)
#define ALL_WAYS .tasks = WEIR_ANY, .accesses = WEIR_ANY
static const struct weir_method read_method = {.name = "fd/read", ALL_WAYS, READS, .params = block_params, .param_count = 2};
static const struct weir_method pread_method = {
    .name = "fd/pread", ALL_WAYS, READS, .params = block_params, .param_count = 2};
static const struct weir_method view_method = {.name = "map/view", ALL_WAYS, READS, .capabilities = WEIR_CAP_PACED};
static const struct weir_method ring_method = {.name = "ring/plain",
                                               ALL_WAYS,
                                               .directions = WEIR_ANY,
                                               .durabilities = WEIR_ANY,
                                               .params = ring_params,
                                               .param_count = 2};
static const struct weir_method write_method = {.name = "fd/pwrite",
                                                ALL_WAYS,
                                                .directions = WEIR_BIT(WEIR_WRITE),
                                                .durabilities = WEIR_ANY,
                                                .params = block_params,
                                                .param_count = 2};
/* Left out unless named; its file gets a length of its own only where it starts out empty. */
static const struct weir_param extend_params[] = {
    {.name = "extend",
     .kind = WEIR_PARAM_CHOICE,
     .preset = "grow",
     .choices = "grow|append",
     ALL,
     .targets = WEIR_BIT(WEIR_TARGET_NEW) | WEIR_BIT(WEIR_TARGET_TRUNCATE)},
};
static const struct weir_method variant_method = {.name = "sys/pwrite",
                                                  ALL_WAYS,
                                                  .directions = WEIR_BIT(WEIR_WRITE),
                                                  .durabilities = WEIR_ANY,
                                                  .capabilities = WEIR_CAP_VARIANT,
                                                  .params = extend_params,
                                                  .param_count = 1};
static const struct weir_method null_method = {
    .name = "null", ALL_WAYS, .directions = WEIR_ANY, .durabilities = WEIR_ANY, .capabilities = WEIR_CAP_FLOOR};
static const struct weir_method *const all_methods[] = {&read_method,  &pread_method,   &view_method, &ring_method,
                                                        &write_method, &variant_method, &null_method, NULL};

/* The suites of this test stand in for those of the program. */
static const char tiny_text[] =
    "[suite]\n"
    "summary = for tests\n"
    "[group warm]\n"
    "direction = read\n"
    "size = 64MiB\n"
    "smallest = 8MiB\n"
    "baseline = fd/read[block=64KiB]\n"
    "methods =\n"
    "  fd/pread[block=64KiB|128KiB]\n"
    "  # a comment\n"
    "  fd/read[block=64KiB] map/view\n"
    "[group cold]\n"
    "cache = cold\n"
    "size = 64MiB\n"
    "priority = 2\n"
    "methods = fd/pread ring/plain[depth=1|8]\n"
    "[group random]\n"
    "access = random\n"
    "coverage = 2%\n"
    "size = 64MiB\n"
    "[group write]\n"
    "direction = write\n"
    "size = 32MiB\n";
static const char wrong_text[] = "[suite]\nsummary = x\n[group a]\n\naccess = randm\n";
const struct plan_suite plan_suites[] = {
    {"default", "for tests", tiny_text}, {"wrong", "has a mistake", wrong_text}, {NULL, NULL, NULL}};

static struct plan made;
static struct plan_error error;

static void make(const struct plan_request *request) {
  memset(&error, 0, sizeof error);
  int code = plan_make(request, all_methods, &made, &error);
  if (code < 0) fail_msg("%s: %s", error.option, error.text);
}

static void refuse(const struct plan_request *request, const char *option, const char *text, const char *hint) {
  memset(&error, 0, sizeof error);
  assert_int_equal(plan_make(request, all_methods, &made, &error), -EINVAL);
  assert_string_equal(error.option, option);
  if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
  assert_string_equal(error.hint, hint);
  assert_int_equal(made.group_count, 0);
}

static void make_methods(const char *first, const char *second) {
  make(&(struct plan_request){.methods = {second ? 2 : 1, {first, second}}});
}

static void expect_cells(const struct plan_group *group, const char *const *ids) {
  unsigned i = 0;
  for (; ids[i] && i < group->cell_count; i++) assert_string_equal(group->cells[i].id, ids[i]);
  assert_null(ids[i]);
  assert_int_equal(i, group->cell_count);
}
#define CELLS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- words ---- */

static void nearest_words(void **state) {
  assert_string_equal(plan_nearest("randm", plan_access_words), "random");
  assert_string_equal(plan_nearest("raed", plan_direction_words) ? plan_nearest("raed", plan_direction_words) : "", "read");
  assert_null(plan_nearest("xyz", plan_access_words));
  assert_null(plan_nearest("", plan_access_words));
  assert_int_equal(plan_word_index(plan_cache_words, "cold"), PLAN_COLD);
  assert_int_equal(plan_word_index(plan_cache_words, "hot"), -1);
}

/* ---- specs ---- */

static void spec_alone_takes_presets(void **state) {
  make_methods("fd/pread", NULL);
  expect_cells(&made.groups[0], CELLS("fd/pread[block=128KiB]"));
  assert_string_equal(made.groups[0].id, "read-sequential-warm");
  assert_string_equal(made.groups[0].title, "read blocks, sequential, 128 MiB, warm");
  assert_string_equal(made.suite, "");
  assert_false(made.groups[0].size_fixed);
  plan_release(&made);
}

static void spec_values_multiply(void **state) {
  make_methods("ring/plain[depth=1|8,block=4k|1MiB,threads=1|2]", NULL);
  expect_cells(&made.groups[0], CELLS("ring/plain[block=4KiB,depth=1]", "ring/plain[block=4KiB,depth=1,threads=2]",
                                      "ring/plain[block=4KiB,depth=8]", "ring/plain[block=4KiB,depth=8,threads=2]",
                                      "ring/plain[block=1MiB,depth=1]", "ring/plain[block=1MiB,depth=1,threads=2]",
                                      "ring/plain[block=1MiB,depth=8]", "ring/plain[block=1MiB,depth=8,threads=2]"));
  plan_release(&made);
}

static void spec_star_is_the_sweep(void **state) {
  make_methods("ring/plain[depth=*]", NULL);
  assert_int_equal(made.groups[0].cell_count, 3);
  plan_release(&made);
}

static void spec_glob_skips_what_does_not_fit(void **state) {
  make_methods("fd/*[block=4KiB]", "*/vie?");
  expect_cells(&made.groups[0], CELLS("fd/read[block=4KiB]", "fd/pread[block=4KiB]", "map/view"));
  plan_release(&made);
}

static void spec_given_twice_makes_two_cells(void **state) {
  make_methods("map/view", "map/view");
  expect_cells(&made.groups[0], CELLS("map/view", "map/view#2"));
  plan_release(&made);
}

static void floors_only_by_name(void **state) {
  make_methods("*", NULL);
  for (unsigned i = 0; i < made.groups[0].cell_count; i++) assert_string_not_equal(made.groups[0].cells[i].method, "null");
  plan_release(&made);
  make_methods("null", "fd/read");
  expect_cells(&made.groups[0], CELLS("fd/read[block=128KiB]", "null"));
  assert_int_equal(plan_group_k(&made.groups[0]), 1);
  plan_release(&made);
}

static void refuse_spec(const char *spec, const char *text, const char *hint) {
  refuse(&(struct plan_request){.methods = {1, {spec}}}, "--method", text, hint);
}

static void variants_only_when_somebody_asks(void **state) {
  const struct plan_words writes = {1, {WEIR_WRITE}};
  make(&(struct plan_request){.direction = writes});
  for (unsigned i = 0; i < made.groups[0].cell_count; i++)
    assert_string_not_equal(made.groups[0].cells[i].method, "sys/pwrite");
  plan_release(&made);
  make(&(struct plan_request){.direction = writes, .methods = {1, {"*"}}});
  bool found = false;
  for (unsigned i = 0; i < made.groups[0].cell_count; i++)
    found = found || strcmp(made.groups[0].cells[i].method, "sys/pwrite") == 0;
  assert_true(found);
  plan_release(&made);
}

static void a_parameter_may_have_a_meaning_for_some_targets_only(void **state) {
  const struct plan_request asked = {
      .direction = {1, {WEIR_WRITE}}, .target = {1, {WEIR_TARGET_NEW}}, .methods = {1, {"sys/pwrite[extend=grow|append]"}}};
  make(&asked);
  assert_int_equal(made.groups[0].cell_count, 2);
  plan_release(&made);
  struct plan_request senseless = asked;
  senseless.target.values[0] = WEIR_TARGET_OVERWRITE;
  assert_int_equal(plan_make(&senseless, all_methods, &made, &error), -EINVAL);
  assert_non_null(strstr(error.text, "has no meaning"));
}

static void spec_mistakes(void **state) {
  refuse_spec("fd/preed", "unknown method 'fd/preed'", "fd/pread");
  refuse_spec("pread", "unknown method 'pread'", "fd/pread");
  refuse_spec("view", "unknown method", "map/view");
  refuse_spec("zzz/*", "no method matches", "");
  refuse_spec("fd/pread[blok=4k]", "no parameter 'blok'; it has block, buffer, threads", "block");
  refuse_spec("fd/pread[depth=4]", "no parameter 'depth'", "");
  refuse_spec("fd/pread[block=0]", "out of range, 1 to 1GiB", "");
  refuse_spec("fd/pread[block=x]", "'x' is not a size", "");
  refuse_spec("ring/plain[depth=300]", "out of range, 1 to 256", "");
  refuse_spec("fd/pread[buffer=new]", "choose from fresh|reused|huge", "");
  refuse_spec("fd/pread[threads=0]", "out of range, 1 to 256", "");
  refuse_spec("fd/pread[block=4k,block=8k]", "given twice", "");
  refuse_spec("fd/pread[block=]", "expected parameter=value", "");
  refuse_spec("fd/pread[block]", "expected parameter=value", "");
  refuse_spec("fd/pread[", "expected [parameter=value,...]", "");
  refuse_spec("fd/pread[]", "expected [parameter=value,...]", "");
  refuse_spec("fd/pread[block=4k]x", "expected [parameter=value,...]", "");
  refuse_spec("fd/pread[block=4k|]", "bad list", "");
  refuse_spec("", "names no method", "");
  refuse_spec("fd/pwrite", "does not do 'read'", "");
  refuse_spec("fd/pread[buffer=huge]", "has no meaning", "");
}

static void too_many_cells(void **state) {
  refuse_spec("ring/plain[block=1k|2k|3k|4k|5k|6k|7k|8k,depth=1|2|3|4|5|6,threads=1|2|3|4|5]", "more than 200 cells", "");
}

/* ---- demand ---- */

static void request_size_fixes_block(void **state) {
  make(&(struct plan_request){.request = {2, {4096, 256}}, .methods = {2, {"fd/pread", "ring/plain"}}});
  assert_int_equal(made.group_count, 2);
  expect_cells(&made.groups[0], CELLS("fd/pread", "ring/plain[depth=8]"));
  assert_int_equal(made.groups[0].cells[0].params[0].value, 4096);
  assert_true(made.groups[0].cells[0].params[0].fixed);
  expect_cells(&made.groups[1], CELLS("fd/pread")); /* a ring request has at least 512 bytes here */
  plan_release(&made);
  refuse(&(struct plan_request){.request = {1, {4096}}, .methods = {1, {"fd/pread[block=8k]"}}}, "--method",
         "block is fixed by the request size, 4KiB", "");
  refuse(&(struct plan_request){.request = {1, {256}}, .methods = {1, {"ring/plain"}}}, "--method", "cannot make requests",
         "");
  refuse(&(struct plan_request){.request = {1, {2 * MIB}}, .size = {1, {MIB}}}, "--request", "larger than the file", "");
}

static void random_access_has_a_request_size(void **state) {
  make(&(struct plan_request){.access = {2, {WEIR_SEQUENTIAL, WEIR_RANDOM}}, .coverage = 0.02});
  assert_int_equal(made.group_count, 2);
  assert_int_equal(made.groups[0].demand.request_bytes, 0);
  assert_true(made.groups[0].demand.coverage == 1);
  assert_int_equal(made.groups[1].demand.request_bytes, 4096);
  assert_string_equal(made.groups[1].title, "read blocks of 4 KiB, random, 128 MiB, 2 % of the blocks, warm");
  assert_string_equal(made.groups[1].id, "read-random-4KiB-warm");
  plan_release(&made);
}

/* A copy writes, whatever direction is asked for, and is as durable as is said, or not if nothing is said. */
static void copies_are_as_durable_as_is_said(void **state) {
  (void)state;
  const struct plan_words copy = {1, {WEIR_TASK_COPY}};
  make(&(struct plan_request){.task = copy, .durability = {2, {WEIR_DURABILITY_END, WEIR_DURABILITY_EACH}}});
  assert_int_equal(made.group_count, 2);
  assert_int_equal(made.groups[0].demand.durability, WEIR_DURABILITY_END);
  assert_int_equal(made.groups[1].demand.durability, WEIR_DURABILITY_EACH);
  assert_int_equal(made.groups[1].demand.direction, WEIR_WRITE);
  plan_release(&made);
  make(&(struct plan_request){.task = copy});
  assert_int_equal(made.group_count, 1);
  assert_int_equal(made.groups[0].demand.durability, WEIR_DURABILITY_NONE);
  plan_release(&made);
}

static void words_that_contradict(void **state) {
  const struct plan_words whole = {1, {WEIR_TASK_WHOLE}}, cold = {1, {PLAN_COLD}}, writes = {1, {WEIR_WRITE}};
  refuse(&(struct plan_request){.task = whole, .access = {1, {WEIR_RANDOM}}}, "--access", "goes with task 'blocks'", "");
  refuse(&(struct plan_request){.task = whole, .request = {1, {4096}}}, "--request", "no request size", "");
  refuse(&(struct plan_request){.task = whole, .coverage = 0.5}, "--coverage", "random access", "");
  refuse(&(struct plan_request){.durability = {1, {WEIR_DURABILITY_END}}, .direction = {1, {WEIR_READ}}}, "--durability",
         "--direction write", "");
  refuse(&(struct plan_request){.direction = writes, .cache = cold, .target = {1, {WEIR_TARGET_NEW}}}, "--cache", "no pages",
         "");
  refuse(&(struct plan_request){.size = {1, {0}}}, "--size", "at least 1 byte", "");
  refuse(&(struct plan_request){.threads = {1, {0}}}, "--threads", "out of range", "");
}

static void combinations_are_distinct(void **state) {
  make(&(struct plan_request){.task = {2, {WEIR_TASK_BLOCKS, WEIR_TASK_WHOLE}},
                              .direction = {2, {WEIR_READ, WEIR_WRITE}},
                              .access = {2, {WEIR_SEQUENTIAL, WEIR_RANDOM}},
                              .cache = {2, {PLAN_WARM, PLAN_COLD}},
                              .target = {2, {WEIR_TARGET_OVERWRITE, WEIR_TARGET_NEW}},
                              .size = {2, {MIB, 2 * MIB}}});
  /* read: 3 shapes x 2 caches; write: 3 shapes x (overwritten warm, cold, new); all in 2 sizes */
  assert_int_equal(made.group_count, (3 * 2 + 3 * 3) * 2);
  for (unsigned i = 0; i < made.group_count; i++) {
    assert_true(made.groups[i].size_fixed);
    for (unsigned j = 0; j < i; j++) {
      assert_string_not_equal(made.groups[i].id, made.groups[j].id);
      assert_string_not_equal(made.groups[i].title, made.groups[j].title);
    }
  }
  assert_string_equal(made.groups[0].id, "read-sequential-warm-1MiB");
  plan_release(&made);
}

static void unnamed_methods_are_swept(void **state) {
  make(&(struct plan_request){.direction = {1, {WEIR_READ}}, .threads = {2, {1, 2}}});
  /* read 2, pread 2, view 1, ring 3; each on one and two threads */
  assert_int_equal(made.groups[0].cell_count, 16);
  assert_string_equal(made.groups[0].cells[0].id, "fd/read[block=64KiB]");
  plan_release(&made);
}

static void writers_are_durable_unless_said(void **state) {
  make(&(struct plan_request){.direction = {1, {WEIR_WRITE}}});
  assert_int_equal(made.groups[0].demand.durability, WEIR_DURABILITY_END);
  assert_string_equal(made.groups[0].id, "write-sequential-durable");
  assert_string_equal(made.groups[0].title, "write blocks, sequential, 128 MiB, overwritten, durable at the end");
  plan_release(&made);
}

/* ---- places, baseline, twin, size ---- */

static void places_name_cells(void **state) {
  make(&(struct plan_request){.places = {2, {"/a", "/b"}}, .methods = {1, {"fd/read"}}});
  expect_cells(&made.groups[0], CELLS("fd/read[block=128KiB]@/a", "fd/read[block=128KiB]@/b"));
  assert_int_equal(made.groups[0].cells[1].place, 1);
  plan_release(&made);
}

/* Members are the parts of one cell, and their number is no choice; one alone is a place like any other. */
static void members_are_parts_of_one_cell(void **state) {
  struct plan_request request = {.members = {3, {"/a", "/b", "/c"}}, .methods = {2, {"fd/read", "ring/plain[depth=1|8]"}},
                                 .size = {1, {10 * 4096}}};
  make(&request);
  expect_cells(&made.groups[0], CELLS("fd/read[block=128KiB]", "ring/plain[depth=1]", "ring/plain[depth=8]"));
  assert_int_equal(made.place_count, 3);
  assert_string_equal(made.places[2], "/c");
  assert_int_equal(made.groups[0].cells[1].threads, 3);
  assert_int_equal(made.groups[0].cells[1].place, 0);
  assert_string_equal(made.groups[0].title, "read blocks, sequential, 40 KiB striped over 3, warm");
  assert_string_equal(made.groups[0].id, "read-sequential-warm-striped-3");
  plan_release(&made);
  request.members.count = 1;
  make(&request);
  assert_int_equal(made.groups[0].demand.members, 0);
  assert_int_equal(made.groups[0].cells[1].threads, 1);
  assert_string_equal(made.places[0], "/a");
  plan_release(&made);
}

/* Whole pages each, so that all can be read directly; nothing is lost and nobody has more than a page above another. */
static void members_have_equal_shares(void **state) {
  static const uint64_t sizes[] = {8 * 4096, 64 * MIB, 64 * MIB + 1, UINT64_C(1) << 62, 100000000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (unsigned members = 2; members <= 8; members++) {
      const struct plan_demand demand = {.size_bytes = sizes[s], .members = members};
      uint64_t sum = 0, least = UINT64_MAX, most = 0;
      for (unsigned m = 0; m < members; m++) {
        const uint64_t bytes = plan_member_bytes(&demand, m);
        if (m + 1 < members) assert_true(bytes % PLAN_MEMBER_GRAIN == 0);
        if (bytes < least) least = bytes;
        if (bytes > most) most = bytes;
        sum += bytes;
      }
      assert_true(sum == sizes[s]);
      assert_true(least > 0 && most - least <= 2 * PLAN_MEMBER_GRAIN);
    }
  assert_true(plan_member_bytes(&(struct plan_demand){.size_bytes = 5000}, 0) == 5000);
}

static void members_contradict_other_words(void **state) {
  const struct plan_strings two = {2, {"/a", "/b"}};
  refuse(&(struct plan_request){.members = two, .places = {1, {"/c"}}}, "--member", "leave --dir out", "");
  refuse(&(struct plan_request){.members = two, .file = "/f", .file_bytes = MIB}, "--member", "'/f' is read where it is", "");
  refuse(&(struct plan_request){.members = two, .threads = {1, {2}}}, "--threads", "one thread", "");
  refuse(&(struct plan_request){.members = two, .methods = {1, {"fd/read[threads=2]"}}}, "--method", "one thread", "");
  refuse(&(struct plan_request){.members = two, .task = {1, {WEIR_TASK_WHOLE}}}, "--member", "task 'whole' has one file", "");
  refuse(&(struct plan_request){.members = two, .methods = {1, {"fd/read"}}, .size = {1, {8191}}}, "--size", "at least 8KiB", "");
  struct plan_request many = {.members = {PLAN_MEMBERS_MAX + 1, {0}}};
  for (unsigned i = 0; i < many.members.count; i++) many.members.values[i] = "/a";
  refuse(&many, "--member", "more than 64", "");
}

static void baseline_comes_first(void **state) {
  struct plan_request request = {.methods = {2, {"fd/read", "map/view"}}, .baseline = "map/view"};
  make(&request);
  expect_cells(&made.groups[0], CELLS("map/view", "fd/read[block=128KiB]"));
  plan_release(&made);
  request.baseline = "fd/pread[block=4k]";
  make(&request);
  expect_cells(&made.groups[0], CELLS("fd/pread[block=4KiB]", "fd/read[block=128KiB]", "map/view"));
  plan_release(&made);
  request.baseline = "fd/pwrite";
  refuse(&request, "--baseline", "does not do 'read'", "");
  request.baseline = "null";
  refuse(&request, "--baseline", "cannot be a baseline", "");
  request.baseline = "fd/raed";
  refuse(&request, "--baseline", "unknown method", "fd/read");
}

/* Nobody named it: first in the list of methods, however the specs are ordered; floors do not lead. */
static void unnamed_baseline_is_first_in_the_list(void **state) {
  make(&(struct plan_request){.methods = {4, {"null", "ring/plain", "fd/pread[block=4k|8k]", "map/view"}}});
  expect_cells(&made.groups[0],
               CELLS("fd/pread[block=4KiB]", "null", "ring/plain[depth=8]", "fd/pread[block=8KiB]", "map/view"));
  plan_release(&made);
}

static void twin_does_not_count(void **state) {
  make_methods("fd/read", "map/view");
  assert_int_equal(plan_add_twin(&made.groups[0], 0), 0);
  expect_cells(&made.groups[0], CELLS("fd/read[block=128KiB]", "map/view", "fd/read[block=128KiB]#twin"));
  assert_int_equal(plan_group_k(&made.groups[0]), 2);
  plan_release(&made);
}

static void resize_changes_size_and_title(void **state) {
  make_methods("fd/read", NULL);
  assert_int_equal(plan_resize(&made.groups[0], 64 * MIB), 0);
  assert_int_equal(made.groups[0].demand.size_bytes, 64 * MIB);
  assert_string_equal(made.groups[0].title, "read blocks, sequential, 64 MiB, warm");
  assert_string_equal(made.groups[0].id, "read-sequential-warm");
  plan_release(&made);
}

/* ---- suites ---- */

static void suite_makes_its_groups(void **state) {
  make(&(struct plan_request){.seed = 7});
  assert_string_equal(made.suite, "default");
  assert_int_equal(made.group_count, 4);
  expect_cells(&made.groups[0],
               CELLS("fd/read[block=64KiB]", "fd/pread[block=64KiB]", "fd/pread[block=128KiB]", "map/view"));
  assert_string_equal(made.groups[1].id, "cold");
  assert_int_equal(made.groups[1].priority, 2);
  assert_int_equal(made.groups[2].demand.request_bytes, 4096);
  assert_int_equal(made.groups[3].demand.durability, WEIR_DURABILITY_END);
  assert_int_equal(made.groups[0].smallest_bytes, 8 * MIB);
  assert_false(made.groups[0].size_fixed);
  plan_release(&made);
}

static void words_select_among_the_suite(void **state) {
  make(&(struct plan_request){.suite = "default", .cache = {1, {PLAN_COLD}}, .size = {2, {MIB, 2 * MIB}}});
  assert_int_equal(made.group_count, 2);
  assert_string_equal(made.groups[0].id, "cold-1MiB");
  assert_string_equal(made.groups[1].id, "cold-2MiB");
  assert_true(made.groups[0].size_fixed);
  plan_release(&made);
  refuse(&(struct plan_request){.suite = "default", .task = {1, {WEIR_TASK_WHOLE}}}, "--suite",
         "it has warm, cold, random, write", "");
  refuse(&(struct plan_request){.suite = "defualt"}, "--suite", "unknown suite", "default");
}

/* Like two buttons: they leave out groups, and make none of their own. */
static void only_leaves_groups_out(void **state) {
  const struct plan_words only_reads = {1, {WEIR_READ}}, only_writes = {1, {WEIR_WRITE}},
                          both = {2, {WEIR_READ, WEIR_WRITE}};
  make(&(struct plan_request){0});
  const unsigned all = made.group_count;
  plan_release(&made);
  make(&(struct plan_request){.only = both});
  assert_int_equal(made.group_count, all);
  plan_release(&made);
  make(&(struct plan_request){.only = only_writes});
  assert_string_equal(made.suite, "default");
  assert_int_equal(made.group_count, 1);
  assert_string_equal(made.groups[0].id, "write");
  plan_release(&made);
  make(&(struct plan_request){.only = only_reads, .suite = "default"});
  assert_int_equal(made.group_count, all - 1);
  plan_release(&made);
  /* among words of the user it stands for the direction, or thins those that were said */
  make(&(struct plan_request){.only = only_writes, .task = {1, {WEIR_TASK_WHOLE}}});
  assert_int_equal(made.group_count, 1);
  assert_int_equal(made.groups[0].demand.direction, WEIR_WRITE);
  plan_release(&made);
  make(&(struct plan_request){.only = only_reads, .direction = {2, {WEIR_READ, WEIR_WRITE}}});
  assert_int_equal(made.group_count, 1);
  assert_int_equal(made.groups[0].demand.direction, WEIR_READ);
  plan_release(&made);
  make(&(struct plan_request){.only = only_writes, .durability = {1, {WEIR_DURABILITY_EACH}}});
  assert_int_equal(made.groups[0].demand.durability, WEIR_DURABILITY_EACH);
  plan_release(&made);
  refuse(&(struct plan_request){.only = only_writes, .direction = {1, {WEIR_READ}}}, "--method", "no method can do", "");
  refuse(&(struct plan_request){.only = only_writes, .file = "a", .file_bytes = MIB}, "--only",
         "files of yours are only read", "");
  refuse(&(struct plan_request){.only = only_reads, .durability = {1, {WEIR_DURABILITY_END}}}, "--durability",
         "goes with --direction write", "");
}

static void a_file_has_no_private_copies(void **state) {
  refuse(&(struct plan_request){.private_copies = true, .file = "a", .file_bytes = MIB}, "--private-copies",
         "read where it is", "");
}

/* The cache alone selects among the usual uses; any other word, a request size or a method makes groups of its own. */
static void cache_alone_keeps_the_suite(void **state) {
  const struct plan_words cold = {1, {PLAN_COLD}};
  make(&(struct plan_request){.cache = cold, .size = {1, {MIB}}});
  assert_string_equal(made.suite, "default");
  assert_int_equal(made.group_count, 1);
  assert_string_equal(made.groups[0].id, "cold");
  plan_release(&made);
  make(&(struct plan_request){.cache = cold, .methods = {1, {"map/view"}}});
  assert_string_equal(made.suite, "");
  plan_release(&made);
  make(&(struct plan_request){.cache = cold, .access = {1, {WEIR_SEQUENTIAL}}});
  assert_string_equal(made.suite, "");
  assert_string_equal(made.groups[0].id, "read-sequential-cold");
  plan_release(&made);
}

static void methods_replace_those_of_the_suite(void **state) {
  make(&(struct plan_request){.suite = "default", .methods = {1, {"fd/pwrite"}}});
  assert_int_equal(made.group_count, 1);
  assert_string_equal(made.groups[0].id, "write");
  plan_release(&made);
  refuse(&(struct plan_request){.suite = "default", .direction = {1, {WEIR_WRITE}}, .methods = {1, {"fd/read"}}}, "--method",
         "does not do 'write'", "");
}

static void suite_mistakes(void **state) {
  refuse(&(struct plan_request){.suite = "wrong"}, "--suite",
         "wrong: line 5: access: unknown value 'randm'; allowed: sequential, random", "random");
  const struct {
    const char *text, *message, *hint;
  } cases[] = {
      {"[group a]\nsize = 1MiB\nsiez = 2\n", "line 3: unknown key 'siez'; allowed: task,", "size"},
      {"[group a]\nsize = much\n", "line 2: size: 'much' is not a size like 64MiB", ""},
      {"[group a]\nsize = 64mib\n", "line 2: size: '64mib' is not a size like 64MiB", "64MiB"},
      {"[group a]\nsize = 1MiB\nsize = 2MiB\n", "line 3: size is given twice", ""},
      {"[group a]\nsize = 1MiB\n[group b]\nsize = 1\n[group a]\nsize = 1\n", "line 5: this group is there twice", ""},
      {"[groop a]\nsize = 1MiB\n", "line 1: unknown section [groop a]; allowed: [suite], [group NAME]", "group NAME"},
      {"[group a]\ncache = warm\n", "line 1: [group a] has no size", ""},
      {"[group a]\nsize = 1MiB\ntask = whole\naccess = random\n", "no random access", ""},
      {"[group a]\nsize = 1MiB\ndurability = end\n", "reading has no durability", ""},
      {"[group a]\nsize = 1MiB\ncoverage = 0%\n", "coverage: '0%' is not", ""},
      {"[group a]\nthis is no line\n", "line 2: expected [section] or key = value", ""},
      {"[suite]\nmotto = x\n", "[suite] has no key 'motto'; allowed: summary, rounds, flush", ""},
      {"[suite]\nrounds = 0\n", "line 2: rounds: '0' is not a number from 1", ""},
      {"[suite]\nflush = fiel\n", "line 2: flush: 'fiel' is not dontneed, file, drop", ""},
      {"[group a]\nrequest = 64|0\n", "line 2: request: '0' is not a size", ""},
      {"[group a]\nrequest = 1024 | 1KiB\n", "line 2: request: '1KiB' is not new in its list", ""},
      {"[group a]\naccess = random|sequentail\n", "line 2: access: unknown value 'sequentail'", "sequential"},
      {"[group a]\nstyle.X = a b c\n", "line 2: X: 'a b c' is not a method that reads and one that writes", ""},
      {"[group a]\nstyle.X = a\nstyle.X = b\n", "line 3: style: 'X' is not new in its group", ""},
      {"[group a]\nstyle.ABCDEFGHIJKLMNOP = a\n", "is not a name of 1 to 15 letters", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct suite suite;
    memset(&error, 0, sizeof error);
    assert_int_equal(suite_parse("s", cases[i].text, &suite, &error), -EINVAL);
    if (!strstr(error.text, cases[i].message)) fail_msg("'%s' is not in '%s'", cases[i].message, error.text);
    assert_string_equal(error.hint, cases[i].hint);
  }
}

/* What the methods of a suite say wrong is found when its groups are made: the line is told all the same. */
static void suite_of_the_user(void **state) {
  static const char good[] = "[group own]\nsize = 1MiB\nbaseline = fd/read\nmethods =\n  fd/pread\n  fd/read\n";
  make(&(struct plan_request){.suite = "./my.ini", .suite_text = good});
  assert_string_equal(made.suite, "./my.ini");
  assert_string_equal(made.groups[0].id, "own");
  assert_int_equal(made.groups[0].cell_count, 2);
  plan_release(&made);
  const struct {
    const char *text, *message, *hint;
  } cases[] = {
      {"[suite]\nrounds = 5\n", "./my.ini: there is no [group NAME] in it", ""},
      {"", "./my.ini: there is no [group NAME] in it", ""},
      {"[group a]\nsize = 1MiB\nmethods =\n  fd/read\n\n  fd/raed\n", "./my.ini: line 6: unknown method 'fd/raed'", "fd/read"},
      {"[group a]\nsize = 1MiB\nbaseline = fd/raed\n", "./my.ini: line 3: unknown method 'fd/raed'", "fd/read"},
      {"[group a]\nsize = 1MiB\nstyle.A = fd/read\nstyle.B = fd/read[blok=1]\n", "./my.ini: line 4: fd/read has no parameter 'blok'", "block"},
      {"[group a]\nsize = 1MiB\nmethods = fd/pwrite\n", "./my.ini: line 3: 'fd/pwrite' does not do 'read' here", ""},
      {"[group a]\nsize = 1MiB\nmethods = fd/read[block=4kib]\n", "./my.ini: line 3: block: '4kib' is not a size", "4KiB"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(&(struct plan_request){.suite = "./my.ini", .suite_text = cases[i].text}, "--suite", cases[i].message, cases[i].hint);
}

static void suite_line_too_long(void **state) {
  char text[700] = "[group a]\nmethods = ";
  struct suite suite;
  memset(text + strlen(text), 'x', 600);
  assert_int_equal(suite_parse("s", text, &suite, &error), -EINVAL);
  assert_non_null(strstr(error.text, "line 2: the line is too long"));
}

/* ---- a user's file ---- */

static void file_is_only_read(void **state) {
  make(&(struct plan_request){.file = "/f", .file_bytes = 10 * MIB});
  assert_string_equal(made.file, "/f");
  assert_int_equal(made.group_count, 2); /* warm and random; neither cold nor write */
  for (unsigned i = 0; i < made.group_count; i++) {
    assert_int_equal(made.groups[i].demand.size_bytes, 10 * MIB);
    assert_int_equal(made.groups[i].demand.cache, PLAN_WARM);
    assert_true(made.groups[i].size_fixed);
  }
  plan_release(&made);
  refuse(&(struct plan_request){.file = "/f", .file_bytes = 1, .direction = {1, {WEIR_WRITE}}}, "--direction", "only read",
         "");
}

static void file_is_cold_when_asked(void **state) {
  make(&(struct plan_request){.file = "/f", .file_bytes = 1, .cache = {2, {PLAN_WARM, PLAN_COLD}}});
  assert_int_equal(made.group_count, 3);
  plan_release(&made);
}

static void file_sizes(void **state) {
  make(&(struct plan_request){.file = "/f",
                              .file_bytes = 10 * MIB,
                              .size = {3, {MIB, 20 * MIB, 30 * MIB}},
                              .cache = {1, {PLAN_WARM}},
                              .methods = {1, {"fd/read"}}});
  assert_int_equal(made.group_count, 2);
  assert_int_equal(made.groups[0].demand.size_bytes, MIB);
  assert_int_equal(made.groups[1].demand.size_bytes, 10 * MIB);
  plan_release(&made);
  make(&(struct plan_request){.file = "/f", .file_bytes = 0, .cache = {1, {PLAN_WARM}}});
  assert_int_equal(made.groups[0].demand.size_bytes, 0);
  plan_release(&made);
  make(&(struct plan_request){.file = "/f", .file_bytes = UINT64_C(1) << 40, .cache = {1, {PLAN_WARM}}});
  assert_int_equal(made.groups[0].demand.size_bytes, 1024 * MIB);
  plan_release(&made);
}

/* ---- rounds ---- */

static bool same_order(const uint32_t *a, const uint32_t *b, size_t count) { return memcmp(a, b, count * sizeof *a) == 0; }

static void rounds_are_permutations(void **state) {
  uint32_t order[16], before[16], again[16];
  unsigned repeats = 0;
  make(&(struct plan_request){.direction = {1, {WEIR_READ}}, .threads = {2, {1, 2}}, .seed = 42});
  for (unsigned round = 0; round < 50; round++) {
    uint32_t seen = 0;
    plan_round_order(&made, 0, round, order);
    for (unsigned i = 0; i < 16; i++) seen |= 1u << order[i];
    assert_int_equal(seen, 0xffff);
    if (round) repeats += same_order(order, before, 16);
    memcpy(before, order, sizeof order);
    plan_round_order(&made, 0, round, again);
    assert_true(same_order(order, again, 16));
  }
  assert_int_equal(repeats, 0);
  made.seed = 43;
  plan_round_order(&made, 0, 49, again);
  assert_false(same_order(order, again, 16));
  plan_release(&made);
}

static void who_cannot_keep_a_rate_is_a_row_that_says_so(void **state) {
  make(&(struct plan_request){.rate_per_s = 2500, .methods = {2, {"fd/pread", "map/view"}}});
  assert_int_equal(made.group_count, 1);
  assert_true(made.latency); /* without it a rate tells nothing */
  assert_true(made.groups[0].demand.rate_per_s == 2500);
  assert_string_equal(made.groups[0].id, "read-sequential-warm-rate-2500");
  assert_non_null(strstr(made.groups[0].title, ", 2500 requests/s"));
  assert_int_equal(made.groups[0].cell_count, 2);
  for (unsigned i = 0; i < 2; i++) {
    const struct plan_cell *cell = &made.groups[0].cells[i];
    const bool paced = strncmp(cell->id, "map/view", 8) == 0;
    assert_int_equal(cell->status, paced ? PLAN_OK : PLAN_UNAVAILABLE);
    assert_int_equal(cell->reason[0] != '\0', !paced);
  }
  plan_release(&made);
  refuse(&(struct plan_request){.rate_per_s = 1, .task = {1, {WEIR_TASK_WHOLE}}}, "--rate", "task 'whole'", "");
  refuse(&(struct plan_request){.rate_per_s = 2e9}, "--rate", "at most", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_cannot_keep_a_rate_is_a_row_that_says_so),
      cmocka_unit_test(nearest_words),
      cmocka_unit_test(spec_alone_takes_presets),
      cmocka_unit_test(spec_values_multiply),
      cmocka_unit_test(spec_star_is_the_sweep),
      cmocka_unit_test(spec_glob_skips_what_does_not_fit),
      cmocka_unit_test(spec_given_twice_makes_two_cells),
      cmocka_unit_test(floors_only_by_name),
      cmocka_unit_test(variants_only_when_somebody_asks),
      cmocka_unit_test(a_parameter_may_have_a_meaning_for_some_targets_only),
      cmocka_unit_test(spec_mistakes),
      cmocka_unit_test(too_many_cells),
      cmocka_unit_test(request_size_fixes_block),
      cmocka_unit_test(random_access_has_a_request_size),
      cmocka_unit_test(words_that_contradict),
      cmocka_unit_test(combinations_are_distinct),
      cmocka_unit_test(unnamed_methods_are_swept),
      cmocka_unit_test(writers_are_durable_unless_said),
      cmocka_unit_test(places_name_cells),
      cmocka_unit_test(members_are_parts_of_one_cell),
      cmocka_unit_test(members_have_equal_shares),
      cmocka_unit_test(members_contradict_other_words),
      cmocka_unit_test(baseline_comes_first),
      cmocka_unit_test(unnamed_baseline_is_first_in_the_list),
      cmocka_unit_test(twin_does_not_count),
      cmocka_unit_test(resize_changes_size_and_title),
      cmocka_unit_test(suite_makes_its_groups),
      cmocka_unit_test(words_select_among_the_suite),
      cmocka_unit_test(only_leaves_groups_out),
      cmocka_unit_test(a_file_has_no_private_copies),
      cmocka_unit_test(cache_alone_keeps_the_suite),
      cmocka_unit_test(methods_replace_those_of_the_suite),
      cmocka_unit_test(suite_mistakes),
      cmocka_unit_test(suite_of_the_user),
      cmocka_unit_test(suite_line_too_long),
      cmocka_unit_test(file_is_only_read),
      cmocka_unit_test(file_is_cold_when_asked),
      cmocka_unit_test(file_sizes),
      cmocka_unit_test(copies_are_as_durable_as_is_said),
      cmocka_unit_test(rounds_are_permutations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
