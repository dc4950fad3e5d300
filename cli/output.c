/*
 * output.c - writes results. A named file appears whole or not at all: it is written under another name in the same
 * directory, made durable and renamed. Devices and FIFOs are written straight.
 */
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "cli/terminal.h"
#include "os/os.h"
#include "report/overlay.h"
#include "stat/compare.h"

#define RUN_FORMAT "jsonl"
#define RUN_SUFFIX ".jsonl"
#define LINKS_MAX 40

/* ---- formats ---- */

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Is it a format at all? The run file is one, but no report. */
static bool find_format(const char *name, const struct report **out) {
  *out = strcmp(name, RUN_FORMAT) == 0 ? NULL : report_by_name(name);
  return *out || strcmp(name, RUN_FORMAT) == 0;
}

static int unknown_format(const struct command *command, const char *name) {
  const char *names[16] = {RUN_FORMAT, NULL};
  for (unsigned i = 0; report_list[i] && i < 14; i++) names[i + 1] = report_list[i]->name;
  const char *hint = plan_nearest(name, names);
  return command_fail(command, "--format", hint, "unknown value '%s'%s", name, hint ? "" : "; see 'weir list reports'");
}

/* What a build had to leave out says so before anything is measured. */
static int check_present(const char *name, const struct report *report) {
  const char *reason = report && report->missing ? report->missing() : NULL;
  if (!reason) return 0;
  return command_cannot("'%s' cannot be written: this program was built without the %s report (%s); build it anew where npm "
                        "reaches its registry",
                        name, report->name, reason);
}

static int format_of_file(const struct command *command, const struct output_options *options, struct output *output) {
  output->report = report_by_suffix(output->name);
  if (output->report || ends_with(output->name, RUN_SUFFIX)) return check_present(output->name, output->report);
  if (options->format) {
    find_format(options->format, &output->report);
    return check_present(output->name, output->report);
  }
  return command_fail(command, "--output", NULL,
                      "'%s' does not tell the format; end it in .jsonl, .html, .json, .csv, .md or .txt, or say --format", output->name);
}

/* ---- where it goes ---- */

static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *directory_of(const char *path, char *out, size_t size) {
  size_t length = directory_length(path);
  snprintf(out, size, "%.*s", length ? (int)length : 1, length ? path : ".");
  return out;
}

/* Replaces a link by what it points to. 1: it was one, 0: it was none, or an error. */
static int follow_link(char *path, size_t size) {
  char target[1024], joined[2048];
  struct stat status;
  if (lstat(path, &status) < 0 || !S_ISLNK(status.st_mode)) return 0;
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return -errno;
  target[length] = '\0';
  int directory = target[0] == '/' ? 0 : (int)directory_length(path);
  int needed = snprintf(joined, sizeof joined, "%.*s%s", directory, path, target);
  if (needed < 0 || (size_t)needed >= size) return -ENAMETOOLONG;
  memcpy(path, joined, (size_t)needed + 1);
  return 1;
}

/* The last part of the path is followed, so that a link is written through and not replaced. */
static int follow_links(char *path, size_t size) {
  int code = 1;
  for (int i = 0; i < LINKS_MAX && code == 1; i++) {
    /* Names of descriptors ("/dev/stdout") look like links to files but stand for what is open already. */
    if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0) return 0;
    code = follow_link(path, size);
  }
  return code == 1 ? -ELOOP : code;
}

static int bad_output(const struct output *output, const char *why) {
  return command_cannot("'%s' cannot be written: %s", output->name, why);
}

static FILE *open_temporary(const char *path, char *name, size_t size) {
  uint64_t number = random_mix(os_wall_ns() ^ (uint64_t)os_process_id() << 40);
  for (int i = 0; i < 100; i++, number = random_mix(number)) {
    int needed =
        snprintf(name, size, "%.*s.weir-%06llx", (int)directory_length(path), path, (unsigned long long)(number & 0xffffff));
    if (needed < 0 || (size_t)needed >= size) {
      errno = ENAMETOOLONG;
      return NULL;
    }
    FILE *file = fopen(name, "wx");
    if (file || errno != EEXIST) return file;
  }
  return NULL;
}

/* A run can take long: better to learn now that its directory takes no files. */
static int try_directory(const struct output *output) {
  char name[sizeof output->path + 16];
  FILE *file = open_temporary(output->path, name, sizeof name);
  if (!file) return bad_output(output, strerror(errno));
  fclose(file);
  os_remove(name);
  return 0;
}

static int place_of_file(struct output *output) {
  struct os_stat stat;
  char directory[sizeof output->path];
  if (strlen(output->name) >= sizeof output->path) return bad_output(output, "the name is too long");
  snprintf(output->path, sizeof output->path, "%s", output->name);
  int code = follow_links(output->path, sizeof output->path);
  if (code < 0) return bad_output(output, strerror(-code));
  code = os_stat_path(output->path, &stat);
  output->exists = code == 0;
  if (code == -ENOENT) code = os_stat_path(directory_of(output->path, directory, sizeof directory), &stat);
  if (code < 0) return bad_output(output, strerror(-code));
  output->device = stat.device;
  output->inode = stat.inode;
  if (!output->exists) return try_directory(output);
  output->straight = stat.kind == OS_CHARACTER_DEVICE || stat.kind == OS_FIFO || strncmp(output->path, "/proc/", 6) == 0 ||
                     strncmp(output->path, "/dev/fd/", 8) == 0;
  if (output->straight) return 0;
  if (stat.kind != OS_REGULAR) return bad_output(output, "it is no regular file");
  return try_directory(output);
}

static int prepare_standard(const struct command *command, const struct output_options *options, bool dash,
                            struct output_list *out) {
  struct output *output = &out->outputs[out->count++];
  *output = (struct output){.name = "standard output", .standard = true};
  const char *format = options->format ? options->format : dash ? "json" : "table";
  if (find_format(format, &output->report)) return check_present(output->name, output->report);
  return unknown_format(command, format);
}

static bool is_standard(const char *name) {
  const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", NULL};
  return plan_word_index(names, name) >= 0;
}

/* ---- what must not be overwritten ---- */

/* Identity, not names: links and ./ make many names for one file. */
int output_check_input(const struct command *command, const char *input, const struct output_list *out) {
  struct os_stat read, standard;
  if (!input || (strcmp(input, "-") == 0 ? os_stat_file(0, &read) : os_stat_path(input, &read)) < 0) return 0;
  if (read.kind != OS_REGULAR) return 0;
  for (unsigned i = 0; i < out->count; i++) {
    const struct output *output = &out->outputs[i];
    if (output->standard && os_stat_file(1, &standard) == 0 && standard.device == read.device && standard.inode == read.inode)
      return command_fail(command, NULL, NULL, "standard output goes to the file that is read, '%s'", input);
    if (output->exists && output->device == read.device && output->inode == read.inode)
      return command_fail(command, "--output", NULL, "'%s' is the file that is read; it would be lost", output->name);
  }
  return 0;
}

static bool same_file(const struct output *a, const struct output *b) {
  if (a->standard || b->standard || a->straight || b->straight || a->exists != b->exists) return false;
  if (a->device != b->device || a->inode != b->inode) return false;
  return a->exists || strcmp(a->path + directory_length(a->path), b->path + directory_length(b->path)) == 0;
}

static int check_distinct(const struct command *command, const struct output_list *out) {
  for (unsigned i = 0; i < out->count; i++)
    for (unsigned j = 0; j < i; j++)
      if (same_file(&out->outputs[i], &out->outputs[j]))
        return command_fail(command, "--output", NULL, "'%s' and '%s' are the same file", out->outputs[j].name,
                            out->outputs[i].name);
  return 0;
}

/* "study-a, study-b, ..." */
static const char *overlay_names(char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (unsigned i = 0; overlay_list[i].name && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", overlay_list[i].name);
  return out;
}

static int find_overlay(const struct command *command, const char *name, struct output_list *out) {
  const char *hint = NULL;
  char names[128];
  if (!name) return 0;
  out->overlay = overlay_by_name(name, &hint);
  if (out->overlay) return 0;
  return command_fail(command, "--overlay", hint, "unknown study '%s'%s%s", name, hint ? "" : "; choose from ",
                      hint ? "" : overlay_names(names, sizeof names));
}

int output_prepare(const struct command *command, const struct output_options *options, const char *input,
                   struct output_list *out) {
  const struct plan_strings *files = &options->files;
  bool dash = false;
  *out = (struct output_list){.color = terminal_wants_color(stdout, options->color), .width = terminal_width(stdout),
                              .view = (enum report_view)options->view};
  out->ascii = options->ascii;
  out->ascii_here = options->ascii || terminal_is_ascii();
  out->outputs = calloc(files->count + 1u, sizeof *out->outputs);
  if (!out->outputs) return command_cannot("out of memory");
  for (unsigned i = 0; i < files->count; i++) {
    bool standard = is_standard(files->values[i]);
    if (standard && dash)
      return command_fail(command, "--output", NULL, "standard output is given twice; only one document goes there");
    dash = dash || standard;
  }
  int code = find_overlay(command, options->overlay, out);
  if (code == 0) code = prepare_standard(command, options, dash, out);
  for (unsigned i = 0; i < files->count && code == 0; i++) {
    if (is_standard(files->values[i])) continue;
    struct output *output = &out->outputs[out->count++];
    output->name = files->values[i];
    code = format_of_file(command, options, output);
    if (code == 0) code = place_of_file(output);
  }
  if (code == 0) code = output_check_input(command, input, out);
  return code == 0 ? check_distinct(command, out) : code;
}

int output_check_several(const struct command *command, const struct output_list *list) {
  for (unsigned i = 0; i < list->count; i++) {
    const struct output *output = &list->outputs[i];
    if (output->report && output->report->write_runs) continue;
    return command_fail(command, NULL, NULL, "%s takes one run; several go into a table or an .html page",
                        output->standard ? output->report ? output->report->name : RUN_FORMAT : output->name);
  }
  return 0;
}

FILE *output_live(struct output_list *list) {
  list->live = list->count && list->outputs[0].standard && !list->outputs[0].report;
  return list->live ? stdout : NULL;
}

bool output_keeps_samples(const struct output_list *list) {
  for (unsigned i = 0; i < list->count; i++)
    if (!list->outputs[i].report) return true;
  return false;
}

void output_release(struct output_list *list) {
  free(list->outputs);
  *list = (struct output_list){0};
}

/* ---- writing ---- */

static void write_run(const struct run *run, FILE *out) {
  size_t at = 0;
  run_write_header(run, out);
  run_write_floors(run, out);
  run_write_limits(run, out);
  for (; at < run->sample_count && (run->samples[at].flags & RUN_PILOT); at++) run_write_sample(run, &run->samples[at], out);
  run_write_found(run, out);
  for (; at < run->sample_count; at++) run_write_sample(run, &run->samples[at], out);
  for (size_t i = 0; i < run->round_count; i++) run_write_round(run, &run->rounds[i], out);
  run_write_trailer(run, out);
}

/* What is told: one of them. */
struct document {
  const struct summary *summary;
  const struct claim_report *claims;
  const struct report_run *runs; /* several */
  unsigned run_count;
  const struct comparison *comparison;
};

static void write_document(const struct output_list *list, const struct output *output, const struct document *document,
                           FILE *out) {
  const struct report_options options = {.color = output->standard && list->color,
                                         .width = output->standard ? list->width : 0,
                                         .overlay = list->overlay,
                                         .view = list->view,
                                         .ascii = output->standard ? list->ascii_here : list->ascii};
  if (document->claims)
    output->report->write_claims(document->claims, &options, out);
  else if (document->runs)
    output->report->write_runs(document->runs, document->run_count, &options, out);
  else if (document->comparison && output->report)
    output->report->write_comparison(document->comparison, &options, out);
  else if (output->report)
    output->report->write(document->summary, &options, out);
  else
    write_run(document->summary->run, out);
}

static int print_failure(const char *name, int code) {
  fprintf(stderr, "weir: %s: %s\n", name, code ? strerror(code) : "a write failed");
  return EXIT_CANNOT;
}

/* Did all that was printed get into the file? The stream is closed in any case. */
static int close_stream(FILE *out) {
  bool failed = ferror(out) != 0;
  int kept = errno;
  if (fclose(out) != 0 && !failed) return -errno;
  return failed ? -(kept ? kept : EIO) : 0;
}

static int write_straight(const struct output_list *list, const struct output *output, const struct document *document) {
  FILE *out = fopen(output->path, "w");
  if (!out) return -errno;
  errno = 0;
  write_document(list, output, document, out);
  return close_stream(out);
}

static int publish(const char *temporary, const char *path) {
  char directory[1024];
  int code = os_sync_file_path(temporary);
  if (code == 0) code = os_rename(temporary, path);
  directory_of(path, directory, sizeof directory);
  if (code == 0) os_sync_directory(directory); /* not every file system can; the file itself is safe */
  return code;
}

static int write_whole(const struct output_list *list, const struct output *output, const struct document *document) {
  char temporary[sizeof output->path + 16];
  FILE *out = open_temporary(output->path, temporary, sizeof temporary);
  if (!out) return -errno;
  errno = 0;
  write_document(list, output, document, out);
  int code = close_stream(out);
  if (code == 0) code = publish(temporary, output->path);
  if (code < 0) os_remove(temporary);
  return code;
}

int output_finish(int code) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) == 0 && !failed) return code;
  /* With that code something was printed already, most likely just this. */
  return code == EXIT_CANNOT ? code : print_failure("standard output", errno);
}

/* One write of the whole document, so that the reason for a failure is not lost among many. */
static int write_standard(const struct output_list *list, const struct output *output, const struct document *document) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (!memory) return print_failure(output->name, errno);
  write_document(list, output, document, memory);
  bool failed = ferror(memory) != 0;
  failed = fclose(memory) != 0 || failed;
  errno = failed ? ENOMEM : 0;
  if (!failed) failed = fwrite(text, 1, size, stdout) != size || fflush(stdout) != 0;
  int code = errno;
  free(text);
  return failed ? print_failure(output->name, code) : 0;
}

static int write_named(const struct output_list *list, const struct output *output, const struct document *document) {
  int code = output->straight ? write_straight(list, output, document) : write_whole(list, output, document);
  return code < 0 ? print_failure(output->name, -code) : 0;
}

static int write_all(const struct output_list *list, const struct document *document) {
  int worst = 0;
  for (unsigned i = 0; i < list->count; i++) {
    const struct output *output = &list->outputs[i];
    int code = 0;
    if (!output->standard)
      code = write_named(list, output, document);
    else if (!list->live)
      code = write_standard(list, output, document);
    else if (ferror(stdout))
      code = print_failure(output->name, 0);
    if (code) worst = code;
  }
  return worst;
}

int output_write(const struct output_list *list, const struct summary *summary) {
  return write_all(list, &(struct document){.summary = summary});
}

int output_write_runs(const struct output_list *list, const struct report_run *runs, unsigned count) {
  return write_all(list, &(struct document){.runs = runs, .run_count = count});
}

int output_write_comparison(const struct output_list *list, const struct comparison *comparison) {
  return write_all(list, &(struct document){.comparison = comparison, .summary = comparison->now});
}

int output_write_claims(const struct output_list *list, const struct claim_report *claims) {
  return write_all(list, &(struct document){.claims = claims});
}
