/* topics.h - what `weir help` explains that is no command. Adding one: a row in topics.c. */
#ifndef WEIR_CLI_TOPICS_H
#define WEIR_CLI_TOPICS_H

struct topic {
  const char *name, *summary;
  void (*print)(void);
};
extern const struct topic topic_list[]; /* NULL-terminated by name */

#endif
