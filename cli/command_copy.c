/*
 * command_copy.c - `weir copy`: files to one or several directories at once, by the library's weir_copy. It decides what the
 * options mean and what the user reads; it moves no byte itself.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "measure/run.h"
#include "os/os.h"
#include "weir.h"

#define DRAW_NS UINT64_C(100000000)
#define BLOCK_MAX (UINT64_C(1) << 30)
#define WINDOW_MAX (UINT64_C(1) << 40)

struct copy_request {
  struct plan_strings to;
  bool verify, replace, durable, keep_mode, no_clone, dense, quiet;
  unsigned threads;
  struct plan_sizes block, window;
  int format;
};
enum { FORMAT_TEXT, FORMAT_JSON };
static const char *const format_words[] = {"text", "json", NULL};

#define FLAG_ROW(word, member, text) \
  { .name = word, .kind = OPTION_FLAG, .offset = offsetof(struct copy_request, member), .help = text }
static const struct option_row rows[] = {
    {.section = "What to do",
     .name = "to",
     .letter = 't',
     .argument = "DIR",
     .kind = OPTION_TEXTS,
     .offset = offsetof(struct copy_request, to),
     .help = "copy into this directory; may be repeated: each file is\nread once for all of them"},
    FLAG_ROW("replace", replace, "replace files that exist there; else they are left alone\nand the copy fails"),
    FLAG_ROW("verify", verify, "read each copy back, past the page cache where possible,\nand compare it"),
    FLAG_ROW("durable", durable, "wait until each copy is on stable storage, with its name"),
    {.name = "keep-mode",
     .letter = 'p',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct copy_request, keep_mode),
     .help = "copy permissions and times too"},
    FLAG_ROW("no-clone", no_clone, "move the bytes even where the file system could share them"),
    FLAG_ROW("dense", dense, "write holes out as zeros"),
    {.section = "How",
     .name = "threads",
     .argument = "N",
     .kind = OPTION_COUNT,
     .offset = offsetof(struct copy_request, threads),
     .low = 1,
     .high = 64,
     .help = "threads for each directory (1)"},
    {.name = "block",
     .argument = "SIZE",
     .kind = OPTION_SIZES,
     .offset = offsetof(struct copy_request, block),
     .help = "bytes of one read or write (chosen)"},
    {.name = "window",
     .argument = "SIZE",
     .kind = OPTION_SIZES,
     .offset = offsetof(struct copy_request, window),
     .help = "bytes read and not yet written everywhere, at most: a slow\ndirectory holds the others back when they are "
             "full (64MiB)"},
    {.section = "Results",
     .name = "format",
     .argument = "FORMAT",
     .kind = OPTION_WORD,
     .offset = offsetof(struct copy_request, format),
     .words = format_words,
     .help = "how it is printed"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct copy_request, quiet),
     .help = "no progress on standard error, no summary"},
    {0},
};

/* One run of the command. */
struct copying {
  const struct copy_request *request;
  char *const *sources;
  size_t source_count, copy_count;
  struct weir_copy_result *results;
  uint64_t began_ns, drawn_ns, elapsed_ns;
  bool draws, drawn;
};

/* ---- progress ---- */

static void draw(struct copying *copying, const struct weir_copy_progress *now, uint64_t now_ns) {
  char rate[UNITS_TEXT_MAX], left[UNITS_TEXT_MAX], line[160];
  const uint64_t spent_ns = now_ns - copying->began_ns;
  const double share = now->bytes_total ? (double)now->bytes_done / (double)now->bytes_total : 0;
  const double left_ns = share > 0 && share < 1 ? (double)spent_ns * (1 - share) / share : 0;
  int used = snprintf(line, sizeof line, "[%zu/%zu copies, %.0f%%, %s", now->copies_done, now->copies_total, share * 100,
                      units_rate_text((double)now->bytes_done * 1e9 / (double)(spent_ns ? spent_ns : 1), rate));
  if (left_ns >= 1e9)
    used += snprintf(line + used, sizeof line - (size_t)used, ", %s left", units_duration_text((uint64_t)left_ns, left));
  snprintf(line + used, sizeof line - (size_t)used, "]");
  const unsigned width = terminal_width(stderr);
  fprintf(stderr, "\r%.*s\x1b[K", width > 1 ? (int)width - 1 : 79, line);
  fflush(stderr);
  copying->drawn = true;
  copying->drawn_ns = now_ns;
}

static int on_progress(void *context, const struct weir_copy_progress *now) {
  struct copying *copying = context;
  const uint64_t now_ns = os_clock_ns();
  /* What is over before the first tenth of a second needs no line. */
  const uint64_t last_ns = copying->drawn ? copying->drawn_ns : copying->began_ns;
  if (copying->draws && now_ns - last_ns >= DRAW_NS) draw(copying, now, now_ns);
  return *command_interrupts() != 0;
}

/* ---- printing ---- */

static const struct weir_copy_result *result_of(const struct copying *copying, size_t source, size_t directory) {
  return &copying->results[source * copying->request->to.count + directory];
}

/* Names may hold anything. */
static void print_harmless(FILE *out, const char *text) {
  for (; *text; text++) putc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

static void print_failures(const struct copying *copying) {
  char text[WEIR_ERROR_TEXT_MAX];
  for (size_t i = 0; i < copying->source_count; i++) {
    for (size_t d = 0; d < copying->request->to.count; d++) {
      const struct weir_copy_result *result = result_of(copying, i, d);
      if (result->status == 0) continue;
      weir_error_text(&result->error, text, sizeof text);
      fprintf(stderr, "weir: '");
      print_harmless(stderr, copying->sources[i]);
      fprintf(stderr, "' to '");
      print_harmless(stderr, copying->request->to.values[d]);
      fprintf(stderr, "': ");
      print_harmless(stderr, text);
      fprintf(stderr, "\n");
    }
  }
}

struct sums {
  size_t whole, failed;
  uint64_t bytes;
};

static struct sums add_up(const struct copying *copying) {
  struct sums sums = {0};
  for (size_t i = 0; i < copying->copy_count; i++) {
    if (copying->results[i].status) {
      sums.failed++;
    } else {
      sums.whole++;
      sums.bytes += copying->results[i].bytes;
    }
  }
  return sums;
}

static void print_summary(const struct copying *copying, const struct sums *sums) {
  char bytes[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX];
  const double seconds = (double)copying->elapsed_ns / 1e9;
  printf("%zu %s made", sums->whole, sums->whole == 1 ? "copy" : "copies");
  if (sums->failed) printf(", %zu failed", sums->failed);
  printf("; %s in %s", units_size_text((double)sums->bytes, bytes), units_time_text((double)copying->elapsed_ns, time));
  if (sums->bytes) printf(", %s", units_rate_text((double)sums->bytes / (seconds > 0 ? seconds : 1e-9), rate));
  if (copying->request->verify && sums->whole) printf("; verified");
  printf("\n");
}

static json_t *text_value(const char *text) {
  char *encoded = run_text_encode(text);
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

static json_t *copy_value(const struct copying *copying, size_t i, size_t d) {
  const struct weir_copy_result *result = result_of(copying, i, d);
  const char *name = weir_error_name(result->status);
  char text[512] = "";
  json_t *value = json_object();
  if (result->status) weir_error_text(&result->error, text, sizeof text);
  int code = json_object_set_new(value, "source", text_value(copying->sources[i]));
  if (code == 0) code = json_object_set_new(value, "directory", text_value(copying->request->to.values[d]));
  if (code == 0)
    code = json_object_set_new(value, "status", json_string(result->status == 0 ? "ok" : *name ? name : "failed"));
  if (code == 0) code = json_object_set_new(value, "reason", text_value(text));
  if (code == 0) code = json_object_set_new(value, "bytes", json_integer((json_int_t)result->bytes));
  if (code == 0) code = json_object_set_new(value, "method", json_string(result->method ? result->method : ""));
  if (code == 0) code = json_object_set_new(value, "verified", json_boolean(result->verified));
  if (code == 0) return value;
  json_decref(value);
  return NULL;
}

static int print_json(const struct copying *copying, const struct sums *sums) {
  json_t *document = json_object(), *list = json_array();
  int code = json_object_set_new(document, "schema", json_integer(1));
  if (code == 0) code = json_object_set_new(document, "whole", json_integer((json_int_t)sums->whole));
  if (code == 0) code = json_object_set_new(document, "failed", json_integer((json_int_t)sums->failed));
  if (code == 0) code = json_object_set_new(document, "size_bytes", json_integer((json_int_t)sums->bytes));
  if (code == 0) code = json_object_set_new(document, "elapsed_ns", json_integer((json_int_t)copying->elapsed_ns));
  for (size_t i = 0; i < copying->source_count && code == 0; i++)
    for (size_t d = 0; d < copying->request->to.count && code == 0; d++)
      code = json_array_append_new(list, copy_value(copying, i, d));
  if (json_object_set_new(document, "copies", list) < 0) code = -1;
  if (code == 0) code = json_dumpf(document, stdout, JSON_INDENT(2));
  if (code == 0) putchar('\n');
  json_decref(document);
  return code < 0 ? command_cannot("out of memory, or a write failed") : EXIT_FINE;
}

/* ---- the command ---- */

static int check_size(const struct command *self, const struct plan_sizes *sizes, const char *option, uint64_t most) {
  if (sizes->count > 1) return command_fail(self, option, NULL, "one size at a time");
  char text[UNITS_TEXT_MAX];
  if (most > SIZE_MAX) most = SIZE_MAX;
  if (sizes->count == 1 && (sizes->values[0] < 1 || sizes->values[0] > most))
    return command_fail(self, option, NULL, "out of range, 1 byte to %s", units_size_text((double)most, text));
  return 0;
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(name_of(*(char *const *)a), name_of(*(char *const *)b));
}

/* Two of one name would be one file in each directory. */
static int check_names(const struct command *self, const struct option_operands *operands) {
  char **sorted = malloc((size_t)operands->count * sizeof *sorted);
  if (!sorted) return command_cannot("out of memory");
  memcpy(sorted, operands->values, (size_t)operands->count * sizeof *sorted);
  qsort(sorted, (size_t)operands->count, sizeof *sorted, compare_names);
  int code = 0;
  for (int i = 1; i < operands->count && code == 0; i++)
    if (compare_names(&sorted[i - 1], &sorted[i]) == 0)
      code = command_fail(self, NULL, NULL, "'%s' and '%s' would have the same name in each directory", sorted[i - 1],
                          sorted[i]);
  free(sorted);
  return code;
}

static int check_request(const struct command *self, const struct copy_request *request,
                         const struct option_operands *operands) {
  if (operands->count == 0) return command_fail(self, NULL, NULL, "no file to copy");
  if (request->to.count == 0) return command_fail(self, NULL, NULL, "where to? say --to DIR");
  int code = check_names(self, operands);
  if (code == 0) code = check_size(self, &request->block, "--block", BLOCK_MAX);
  return code ? code : check_size(self, &request->window, "--window", WINDOW_MAX);
}

/* A file never stands there half: it gets its name when it is whole. */
static unsigned flags_of(const struct copy_request *request) {
  return WEIR_ATOMIC | (request->verify ? (unsigned)WEIR_COPY_VERIFY : 0) |
         (request->replace ? (unsigned)WEIR_COPY_REPLACE : 0) | (request->durable ? (unsigned)WEIR_DURABLE : 0) |
         (request->keep_mode ? (unsigned)WEIR_COPY_MODE : 0) | (request->no_clone ? (unsigned)WEIR_COPY_NO_CLONE : 0) |
         (request->dense ? (unsigned)WEIR_COPY_DENSE : 0);
}

static int copy_all(struct copying *copying) {
  const struct copy_request *request = copying->request;
  const struct weir_copy_options options = {
      .flags = flags_of(request),
      .threads = request->threads,
      .block_bytes = request->block.count ? (size_t)request->block.values[0] : 0,
      .window_bytes = request->window.count ? (size_t)request->window.values[0] : 0,
      .progress = on_progress,
      .context = copying,
  };
  copying->draws = !request->quiet && terminal_can_redraw(stderr);
  copying->began_ns = os_clock_ns();
  const int code = weir_copy((const char *const *)copying->sources, copying->source_count, request->to.values,
                             request->to.count, NULL, &options, copying->results, NULL);
  copying->elapsed_ns = os_clock_ns() - copying->began_ns;
  if (copying->drawn) fprintf(stderr, "\r\x1b[K");
  return code;
}

static int report(const struct copying *copying) {
  const struct sums sums = add_up(copying);
  int code = EXIT_FINE;
  print_failures(copying);
  if (copying->request->format == FORMAT_JSON)
    code = print_json(copying, &sums);
  else if (!copying->request->quiet)
    print_summary(copying, &sums);
  if (code == EXIT_FINE && sums.failed) code = EXIT_BAD_ANSWER;
  return sums.failed && *command_interrupts() ? EXIT_INTERRUPTED : code;
}

static int run_copy(const struct command *self, int argc, char **argv) {
  struct copy_request request = {.format = FORMAT_TEXT};
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, &request, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  int code = check_request(self, &request, &operands);
  if (code) return code;
  code = os_interrupts_catch(command_interrupts());
  if (code) return command_cannot("interrupts cannot be caught: %s", strerror(-code));
  struct copying copying = {.request = &request, .sources = operands.values, .source_count = (size_t)operands.count};
  copying.copy_count = copying.source_count * request.to.count;
  copying.results = calloc(copying.copy_count, sizeof *copying.results);
  if (!copying.results) return command_cannot("out of memory");
  copy_all(&copying);
  code = report(&copying);
  free(copying.results);
  return code;
}

const struct command cmd_copy = {
    .name = "copy",
    .synopsis = "SRC... --to DIR [--to DIR]... [OPTION]...",
    .summary = "copy files to one or several directories at once",
    .description =
        "Copies each file SRC into each directory DIR under its own name. A file appears there when it is whole, and one\n"
        "that exists is left alone unless --replace says otherwise. A directory that is full or broken does not hold the\n"
        "others. Exit code 0: all copies are whole; 1: some failed, each is named; 2: nothing was begun.",
    .examples =
        "  weir copy film.mkv --to /mnt/backup\n"
        "  weir copy *.raw --to /mnt/a --to /mnt/b --verify\n"
        "  weir copy notes.db --to /mnt/backup --replace --durable --keep-mode\n",
    .options = rows,
    .run = run_copy,
};
