/* terminal.c - asks the stream and the environment how text is shown. Prints nothing. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const terminal_color_words[] = {"auto", "always", "never", NULL};

bool terminal_is(FILE *stream) { return isatty(fileno(stream)) == 1; }

unsigned terminal_width(FILE *stream) {
  struct winsize size;
  if (!terminal_is(stream) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0) return 0;
  return size.ws_col;
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

static bool is_text(const char *name, const char *text) {
  const char *value = getenv(name);
  return value && strcmp(value, text) == 0;
}

bool terminal_can_redraw(FILE *stream) { return terminal_is(stream) && is_set("TERM") && !is_text("TERM", "dumb"); }

bool terminal_wants_color(FILE *stream, int mode) {
  if (mode != TERMINAL_AUTO) return mode == TERMINAL_ALWAYS;
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && !is_text("CLICOLOR_FORCE", "0")) return true;
  if (is_text("CLICOLOR", "0") || !is_set("TERM") || is_text("TERM", "dumb")) return false;
  return terminal_is(stream);
}
