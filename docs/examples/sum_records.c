/*
 * sum_records.c - adds up numbers in packed records: sum_records FILE. A record is a name, with its length in one byte
 * before it, and a number of 32 bits, low byte first.
 */
#include <stdio.h>
#include <weir.h>

static uint32_t number_of(struct weir_slice field) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; i++) number |= (uint32_t)(unsigned char)field.data[i] << 8 * i;
  return number;
}

int main(int argc, char **argv) {
  struct weir_record_format format = {.prefix = WEIR_RECORD_U8};
  struct weir_records *records;
  struct weir_slice field;
  unsigned long long sum = 0;
  if (argc != 2) return 2;
  int code = weir_records_open(argv[1], &format, &records, NULL);
  if (code == 0) {
    while (weir_records_next(records, &field) > 0) { /* the name */
      code = weir_records_field(records, WEIR_RECORD_FIXED, 4, &field);
      if (code == 0) code = WEIR_ETRUNCATED; /* a name without its number */
      if (code < 0) break;
      sum += number_of(field);
    }
    int closed = weir_records_close(records, NULL);
    code = code < 0 ? code : closed;
  }
  if (code < 0) {
    fprintf(stderr, "%s: %s\n", argv[1], weir_strerror(code));
    return 1;
  }
  printf("%llu\n", sum);
  return 0;
}
