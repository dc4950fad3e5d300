/*
 * exec.c - programs as contenders. A pass starts the command and waits for its end; all in between is its time. What it does
 * with the file is its own affair and is not seen here: only its exit status, and its output where a checksum was given.
 *
 * Nothing of it may outlive the sample. It leads a process group that is killed after each run, and a guard process does the
 * same should the worker itself be killed.
 */
#include "measure/exec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/units.h"
#include "os/os.h"

#define WORDS_MAX 256u
#define FAMILY "exec/"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+"
#define NAME_MAX_LENGTH 40
#define SLICE_NS (UINT64_C(50) * 1000000) /* how often it is asked whether to stop */

struct word {
  char *text;
  bool quoted; /* at least a part of it: then it is no sign of ours */
};

struct exec {
  struct weir_method method;
  char name[NAME_MAX_LENGTH + 32];
  bool named, found, checked;
  int error; /* why it was not found */
  uint64_t checksum;
  unsigned count;
  struct word words[WORDS_MAX + 1];
  char file[4096]; /* the program itself */
};

static int refuse(struct weir_reason *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(struct weir_reason *problem, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem->text, sizeof problem->text, format, arguments);
  va_end(arguments);
  return -EINVAL;
}

/* ---- words: split and unquoted as a shell does, and nothing else of a shell ----------------------------------------- */

/* Copies one character or quoted piece; NULL where a quote is not closed. */
static const char *take_piece(const char *at, char **out, bool *quoted) {
  if (*at != '\'' && *at != '"' && *at != '\\') {
    *(*out)++ = *at++;
    return at;
  }
  const char quote = *at++;
  *quoted = true;
  if (quote == '\\') {
    if (!*at) return NULL;
    *(*out)++ = *at++;
    return at;
  }
  while (*at && *at != quote) {
    if (quote == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1])) at++;
    *(*out)++ = *at++;
  }
  return *at ? at + 1 : NULL;
}

static int split(struct exec *exec, const char *text, struct weir_reason *problem) {
  static const char blanks[] = " \t\n";
  for (const char *at = text + strspn(text, blanks); *at; at += strspn(at, blanks)) {
    if (exec->count == WORDS_MAX) return refuse(problem, "it has more than %u words", WORDS_MAX);
    char *out = malloc(strlen(at) + 1);
    if (!out) return -ENOMEM;
    struct word *word = &exec->words[exec->count++];
    *word = (struct word){.text = out};
    while (at && *at && !strchr(blanks, *at)) at = take_piece(at, &out, &word->quoted);
    *out = '\0';
    if (!at) return refuse(problem, "a quote in it is not closed");
  }
  return 0;
}

static bool is_sign(const struct word *word, const char *sign) { return !word->quoted && strcmp(word->text, sign) == 0; }

static int refuse_shell(const struct exec *exec, struct weir_reason *problem) {
  static const char *const signs[] = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1", NULL};
  for (unsigned i = 0; i < exec->count; i++)
    for (unsigned s = 0; signs[s]; s++)
      if (is_sign(&exec->words[i], signs[s])) {
        snprintf(problem->remedy, sizeof problem->remedy, "write sh -c 'cat \"$1\" | wc -l' sh {} to have one");
        return refuse(problem, "no shell reads it, and '%s' would be an argument", signs[s]);
      }
  return 0;
}

/* The last two words: => CHECKSUM */
static int take_checksum(struct exec *exec, struct weir_reason *problem) {
  unsigned at = 0;
  while (at < exec->count && !is_sign(&exec->words[at], "=>")) at++;
  if (at == exec->count) return 0;
  const char *text = at + 2 == exec->count ? exec->words[at + 1].text : "";
  char *end;
  exec->checksum = strtoull(text, &end, 16);
  if (strlen(text) != 16 || text[strspn(text, "0123456789abcdefABCDEF")] || *end)
    return refuse(problem, "after '=>' has to stand one checksum, the 16 hexadecimal digits that 'xxhsum -H3' prints");
  exec->checked = true;
  for (unsigned i = at; i < exec->count; i++) {
    free(exec->words[i].text);
    exec->words[i] = (struct word){.text = NULL};
  }
  exec->count = at;
  return 0;
}

static int check_words(struct exec *exec, struct weir_reason *problem) {
  int result = take_checksum(exec, problem);
  if (result == 0) result = refuse_shell(exec, problem);
  if (result < 0) return result;
  if (exec->count == 0 || !exec->words[0].text[0]) return refuse(problem, "it names no command");
  for (unsigned i = 1; i < exec->count; i++)
    if (strstr(exec->words[i].text, "{}")) return 0;
  return refuse(problem, "it says nowhere where the file goes: write {} in its place");
}

/* ---- its name ------------------------------------------------------------------------------------------------------- */

/* Length of "NAME=" at the start, or 0. */
static size_t said_name(const char *text) {
  size_t length = strspn(text, NAME_LETTERS);
  return length > 0 && text[length] == '=' && text[length + 1] && !strchr(" \t\n", text[length + 1]) ? length + 1 : 0;
}

static void name_after_program(struct exec *exec, unsigned number) {
  const char *slash = strrchr(exec->words[0].text, '/');
  int used = snprintf(exec->name, sizeof exec->name, FAMILY "%.*s", NAME_MAX_LENGTH, slash ? slash + 1 : exec->words[0].text);
  for (char *at = exec->name + strlen(FAMILY); *at; at++)
    if (!strchr(NAME_LETTERS, *at)) *at = '-';
  if (number > 1 || used == (int)strlen(FAMILY))
    snprintf(exec->name + used, sizeof exec->name - (size_t)used, "%s%u", used > (int)strlen(FAMILY) ? "-" : "", number);
}

static int set_name(struct exec *exec, const char *text, size_t said, unsigned number, struct weir_reason *problem) {
  exec->named = said > 0;
  if (said > NAME_MAX_LENGTH) return refuse(problem, "its name is too long");
  if (said)
    snprintf(exec->name, sizeof exec->name, FAMILY "%.*s", (int)said - 1, text);
  else
    name_after_program(exec, number);
  return 0;
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

struct exec_state {
  os_file errors;    /* what it writes to its standard error */
  os_file lifeline;  /* to the guard: which group to end when this closes */
  os_process guard;
  bool guarded;
  char **arguments;  /* with the path in place of {} */
};

static int exec_probe(const struct weir_job *job, struct weir_reason *reason) {
  const struct exec *exec = job->data;
  if (exec->found) return 0;
  snprintf(reason->text, sizeof reason->text, "'%.80s' cannot be run: %s", exec->words[0].text,
           exec->error == -ENOENT && !strchr(exec->words[0].text, '/') ? "no such program in PATH" : strerror(-exec->error));
  snprintf(reason->remedy, sizeof reason->remedy, "install it, or name its file");
  return exec->error;
}

/* A program reads the file that it is given, to its end, and nobody can tell it to do less. */
static int check_job(const struct weir_job *job) {
  struct os_stat stat;
  char size[UNITS_TEXT_MAX];
  if (job->instances > 1) return job->host->fail(job, -EOPNOTSUPP, "a command reads the whole file: threads cannot share it");
  int result = os_stat_path(job->path, &stat);
  if (result < 0) return result;
  if (stat.size != job->file_size)
    return job->host->fail(job, -EOPNOTSUPP, "a command reads the whole file; say --size=%s to compare with that",
                           units_size_name(stat.size, size));
  if (job->operations != job->blocks)
    return job->host->fail(job, -EOPNOTSUPP, "a command reads the whole file, and a pass is cut short here; use a smaller --size");
  return 0;
}

/* `word` with every {} replaced. A path that begins like an option is made one that does not. */
static char *fill_in(const char *word, const char *path) {
  const char *lead = path[0] == '-' ? "./" : "";
  size_t room = 1, piece = strlen(path) + strlen(lead);
  for (const char *at = word; *at; at++) room += strncmp(at, "{}", 2) == 0 ? piece : 1;
  char *filled = malloc(room), *out = filled;
  while (filled && *word) {
    if (strncmp(word, "{}", 2) != 0) {
      *out++ = *word++;
      continue;
    }
    out += snprintf(out, room - (size_t)(out - filled), "%s%s", lead, path);
    word += 2;
  }
  if (filled) *out = '\0';
  return filled;
}

static int fill_arguments(struct exec_state *state, const struct exec *exec, const char *path) {
  state->arguments = calloc(exec->count + 1u, sizeof *state->arguments);
  if (!state->arguments) return -ENOMEM;
  for (unsigned i = 0; i < exec->count; i++) {
    state->arguments[i] = fill_in(exec->words[i].text, i == 0 ? "{}" : path);
    if (!state->arguments[i]) return -ENOMEM;
  }
  return 0;
}

struct guard { os_file read_end, write_end; };

/* Ends the last group that it was told of, unless it was told that nothing runs. */
static int guard_body(void *context) {
  const struct guard *guard = context;
  os_process running = 0, told;
  os_process_shield();
  os_close(guard->write_end);
  while (os_read(guard->read_end, &told, sizeof told) == (int64_t)sizeof told) running = told;
  if (running > 0) os_process_kill_group(running);
  return 0;
}

static int hire_guard(struct exec_state *state) {
  struct guard guard;
  int result = os_pipe(&guard.read_end, &guard.write_end);
  if (result < 0) return result;
  result = os_process_fork(guard_body, &guard, &state->guard);
  os_close(guard.read_end);
  state->guarded = result == 0;
  state->lifeline = guard.write_end;
  return result;
}

static int exec_setup(void *memory, const struct weir_job *job) {
  struct exec_state *state = memory;
  *state = (struct exec_state){.errors = os_no_file, .lifeline = os_no_file};
  int result = check_job(job);
  if (result == 0) result = os_memory_file("weir-errors", 0, &state->errors);
  if (result == 0) result = fill_arguments(state, job->data, job->path);
  return result == 0 ? hire_guard(state) : result;
}

static void exec_teardown(void *memory, const struct weir_job *job) {
  struct exec_state *state = memory;
  const struct exec *exec = job->data;
  os_close(state->lifeline);
  if (state->guarded) os_process_wait(state->guard, UINT64_MAX, NULL);
  os_close(state->errors);
  for (unsigned i = 0; state->arguments && i < exec->count; i++) free(state->arguments[i]);
  free(state->arguments);
}

/* ---- output that is looked at: hashed by a thread while the program runs ---- */

struct listener { os_file output; XXH64_hash_t hash; int error; struct os_thread *thread; };

static void *listen_body(void *context) {
  struct listener *listener = context;
  XXH3_state_t *hash = XXH3_createState();
  char *data = malloc(65536);
  int64_t got = hash && data && XXH3_64bits_reset(hash) == XXH_OK ? 1 : -ENOMEM;
  while (got > 0 && (got = os_read(listener->output, data, 65536)) > 0) (void)XXH3_64bits_update(hash, data, (size_t)got);
  listener->error = got < 0 ? (int)got : 0;
  if (hash) listener->hash = XXH3_64bits_digest(hash);
  XXH3_freeState(hash);
  free(data);
  return NULL;
}

/* The last line of what it said on standard error. */
static void last_words(const struct exec_state *state, char *out, size_t size) {
  struct os_stat stat;
  out[0] = '\0';
  if (os_stat_file(state->errors, &stat) < 0) return;
  uint64_t from = stat.size > size - 1 ? stat.size - (size - 1) : 0;
  int64_t got = os_pread_full(state->errors, out, size - 1, from);
  out[got > 0 ? got : 0] = '\0';
  for (size_t length = strlen(out); length > 0 && strchr(" \t\r\n", out[length - 1]); length--) out[length - 1] = '\0';
  char *line = strrchr(out, '\n');
  if (line) memmove(out, line + 1, strlen(line + 1) + 1);
  for (char *at = out; *at; at++)
    if ((unsigned char)*at < ' ') *at = '?';
}

static int judge(const struct exec_state *state, const struct weir_job *job, const struct os_exit *end) {
  char words[128];
  if (!end->crashed && end->code == 0) return 0;
  last_words(state, words, sizeof words);
  const char *colon = words[0] ? ": " : "";
  if (end->crashed) return job->host->fail(job, -EIO, "it was ended by %s%s%s", os_crash_name(end->code), colon, words);
  return job->host->fail(job, -EIO, "exit status %d%s%s", end->code, colon, words);
}

/* Waits for its end, or ends it. Whatever it left running in its group is ended in both cases. */
static int await(os_process program, const struct weir_flow *flow, struct os_exit *end, bool *stopped) {
  int result = os_process_wait(program, SLICE_NS, end);
  while (result == -ETIMEDOUT && !weir_stopped(flow)) result = os_process_wait(program, SLICE_NS, end);
  *stopped = result == -ETIMEDOUT;
  os_process_kill_group(program);
  return *stopped ? os_process_wait(program, UINT64_MAX, end) : result;
}

static int run_program(const struct exec_state *state, const struct weir_job *job, const struct weir_flow *flow,
                       os_file output, bool *stopped) {
  const struct exec *exec = job->data;
  const os_file streams[3] = {os_no_file, output, state->errors};
  const os_process nobody = 0;
  os_process program;
  struct os_exit end;
  int result = os_resize(state->errors, 0);
  if (result == 0) result = os_seek(state->errors, 0);
  if (result == 0) result = os_program_start(exec->file, (const char *const *)state->arguments, streams, &program);
  os_close(output);
  if (result < 0) return job->host->fail(job, result, "it cannot be started: %s", strerror(-result));
  (void)os_write(state->lifeline, &program, sizeof program);
  result = await(program, flow, &end, stopped);
  (void)os_write(state->lifeline, &nobody, sizeof nobody);
  return result < 0 || *stopped ? result : judge(state, job, &end);
}

static int run_and_listen(const struct exec_state *state, const struct weir_job *job, const struct weir_flow *flow,
                          bool *stopped) {
  const struct exec *exec = job->data;
  struct listener listener = {.output = os_no_file};
  os_file write_end;
  int result = os_pipe(&listener.output, &write_end);
  if (result < 0) return result;
  result = os_thread_start(listen_body, &listener, &listener.thread);
  if (result == 0) {
    result = run_program(state, job, flow, write_end, stopped);
    os_thread_join(listener.thread);
  } else {
    os_close(write_end);
  }
  os_close(listener.output);
  if (result == 0) result = listener.error;
  if (result < 0 || *stopped || listener.hash == exec->checksum) return result;
  return job->host->fail(job, -EIO, "wrong data: its output has the checksum %016llx, %016llx was expected",
                         (unsigned long long)listener.hash, (unsigned long long)exec->checksum);
}

/* A part of a pass is not to be had: the short one before the window does nothing. */
static int exec_run(void *memory, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct exec_state *state = memory;
  const struct exec *exec = job->data;
  bool stopped = false;
  if (budget < job->operations || weir_stopped(flow)) return 0;
  int result = exec->checked ? run_and_listen(state, job, flow, &stopped) : run_program(state, job, flow, os_no_file, &stopped);
  if (result < 0 || stopped) return result;
  flow->bytes += job->part_length;
  flow->operations += job->operations;
  return 0;
}

/* ---- making one ----------------------------------------------------------------------------------------------------- */

static const struct weir_method shape = {
    .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .summary = "a command of yours, from its start to its end",
    .tasks = WEIR_BIT(WEIR_TASK_BLOCKS) | WEIR_BIT(WEIR_TASK_WHOLE), .directions = WEIR_BIT(WEIR_READ),
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL), .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE), .capabilities = WEIR_CAP_OUTSIDE,
    .state_size = sizeof(struct exec_state), .probe = exec_probe, .setup = exec_setup, .run = exec_run,
    .teardown = exec_teardown};

static int make(struct exec *exec, const char *text, unsigned number, struct weir_reason *problem) {
  size_t said = said_name(text);
  int result = split(exec, text + said, problem);
  if (result == 0) result = check_words(exec, problem);
  if (result == 0) result = set_name(exec, text, said, number, problem);
  if (result < 0) return result;
  exec->error = os_program_find(exec->words[0].text, exec->file, sizeof exec->file);
  exec->found = exec->error == 0;
  exec->method = shape;
  exec->method.name = exec->name;
  exec->method.data = exec;
  return 0;
}

int exec_make(const char *text, unsigned number, struct exec **out, struct weir_reason *problem) {
  *problem = (struct weir_reason){.text = ""};
  *out = calloc(1, sizeof **out);
  if (!*out) return -ENOMEM;
  int result = make(*out, text, number, problem);
  if (result < 0) exec_free(*out);
  if (result < 0) *out = NULL;
  return result;
}

void exec_free(struct exec *exec) {
  for (unsigned i = 0; exec && i < exec->count; i++) free(exec->words[i].text);
  free(exec);
}

const struct weir_method *exec_method(const struct exec *exec) { return &exec->method; }
bool exec_is_named(const struct exec *exec) { return exec->named; }
