/* lines_of_c.h - what the snippets leave to the caller. */
#ifndef LINES_OF_C_H
#define LINES_OF_C_H

#include <stddef.h>
#include <stdint.h>

/* What the program does with the bytes. */
void use(const void *data, size_t size);

/* A record of fixed shape. */
struct point {
  int32_t number, kind;
  double value;
  int64_t time;
};

#endif
