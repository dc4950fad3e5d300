/*
 * test_lib_records.c - records and fields against a simple reference: every prefix, every cut of a small file, every block
 * size, memory that ends at a guard page, hostile lengths, and failures at every place.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "inject.h"
#include "lib/internal.h"
#include "weir.h"

static char directory[96], path[160];

static int set_up(void **state) {
  strcpy(directory, "lib-records-XXXXXX");
  if (!mkdtemp(directory)) return -1;
  (void)snprintf(path, sizeof path, "%s/file", directory);
  inject_begin();
  return 0;
}

static int tear_down(void **state) {
  inject_disarm();
  inject_memory_disarm();
  for (size_t i = 0; i < INJECT_NAME_COUNT; i++) (void)os_override(inject_names[i], NULL);
  return os_remove_tree(directory);
}

/* ---- the reference ---- */

static const enum weir_record_prefix prefixes[] = {WEIR_RECORD_FIXED, WEIR_RECORD_U8,    WEIR_RECORD_U16LE,
                                                   WEIR_RECORD_U16BE, WEIR_RECORD_U32LE, WEIR_RECORD_U32BE,
                                                   WEIR_RECORD_U64LE, WEIR_RECORD_U64BE, WEIR_RECORD_VARINT};
#define PREFIXES 9u
#define FIXED 11u

static size_t put_length(unsigned char *out, enum weir_record_prefix prefix, uint64_t length) {
  static const size_t bytes[] = {0, 1, 2, 2, 4, 4, 8, 8};
  if (prefix == WEIR_RECORD_VARINT) {
    size_t i = 0;
    do {
      out[i] = (unsigned char)(length & 127);
      length >>= 7;
      if (length) out[i] |= 128;
      i++;
    } while (length);
    return i;
  }
  bool big = prefix == WEIR_RECORD_U16BE || prefix == WEIR_RECORD_U32BE || prefix == WEIR_RECORD_U64BE;
  for (size_t i = 0; i < bytes[prefix]; i++) {
    out[big ? bytes[prefix] - 1 - i : i] = (unsigned char)(length >> (8 * i));
  }
  return bytes[prefix];
}

#define RECORDS 6u
static const size_t lengths[RECORDS] = {5, 0, 1, 130, 17, 0};
static struct {
  char text[600];
  size_t size, begins[RECORDS], ends[RECORDS], starts[RECORDS]; /* prefix, end, data */
  size_t lengths[RECORDS];
} sample;

static void make_sample(enum weir_record_prefix prefix, size_t header) {
  memset(&sample, 0, sizeof sample);
  for (size_t i = 0; i < header; i++) sample.text[sample.size++] = (char)(0x80 + i);
  for (size_t i = 0; i < RECORDS; i++) {
    size_t length = sample.lengths[i] = prefix == WEIR_RECORD_FIXED ? FIXED : lengths[i];
    sample.begins[i] = sample.size;
    sample.size += put_length((unsigned char *)sample.text + sample.size, prefix, length);
    sample.starts[i] = sample.size;
    for (size_t k = 0; k < length; k++) sample.text[sample.size++] = (char)(i * 31 + k);
    sample.ends[i] = sample.size;
  }
}

static struct weir_record_format format_of(enum weir_record_prefix prefix, size_t header) {
  return (struct weir_record_format){.prefix = prefix, .fixed_bytes = FIXED, .header_bytes = header};
}

/* Reads all of the first `size` bytes of the sample and checks every record and the end. */
static void check_records(struct weir_records *records, size_t size, size_t header) {
  struct weir_slice record;
  for (size_t i = 0; i < RECORDS && sample.ends[i] <= size && header <= size; i++) {
    assert_int_equal(weir_records_next(records, &record), 1);
    assert_int_equal(record.size, sample.lengths[i]);
    assert_memory_equal(record.data, sample.text + sample.starts[i], record.size);
  }
  bool whole = size == header;
  for (size_t i = 0; i < RECORDS; i++) whole = whole || sample.ends[i] == size;
  int end = whole ? 0 : WEIR_ETRUNCATED;
  assert_int_equal(weir_records_next(records, &record), end);
  assert_int_equal(weir_records_next(records, &record), end);
  assert_int_equal(weir_records_error(records)->code, end);
  assert_int_equal(weir_records_close(records, NULL), end);
}

/* ---- cuts ---- */

static void every_cut_with_every_block(void **state) {
  for (size_t p = 0; p < PREFIXES; p++) {
    for (size_t header = 0; header < 4; header += 3) {
      make_sample(prefixes[p], header);
      struct weir_record_format format = format_of(prefixes[p], header);
      for (size_t size = 0; size <= sample.size; size++) {
        put_content(path, sample.text, size);
        for (size_t block = 1; block <= 64; block += block < 12 ? 1 : 13) {
          struct weir_records *records;
          assert_int_equal(weir__records_open(path, &format, block, &records, NULL), 0);
          check_records(records, size, header);
        }
      }
    }
  }
}

static void every_block_with_the_whole_file(void **state) {
  for (size_t p = 0; p < PREFIXES; p++) {
    make_sample(prefixes[p], 0);
    struct weir_record_format format = format_of(prefixes[p], 0);
    put_content(path, sample.text, sample.size);
    for (size_t block = 1; block <= 64; block++) {
      struct weir_records *records;
      assert_int_equal(weir__records_open(path, &format, block, &records, NULL), 0);
      check_records(records, sample.size, 0);
    }
  }
}

/* The last byte stands before a page that kills whoever reads it. */
static void every_cut_of_memory_before_a_guard_page(void **state) {
  size_t page = os_page_size();
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  for (size_t p = 0; p < PREFIXES; p++) {
    for (size_t header = 0; header < 4; header += 3) {
      make_sample(prefixes[p], header);
      struct weir_record_format format = format_of(prefixes[p], header);
      for (size_t size = 0; size <= sample.size; size++) {
        char *data = pages + page - size;
        memcpy(data, sample.text, size);
        struct weir_records *records;
        assert_int_equal(weir_records_open_memory(data, size, &format, &records, NULL), 0);
        check_records(records, size, header);
      }
    }
  }
  assert_int_equal(munmap(pages, 2 * page), 0);
}

static void memory_is_not_copied(void **state) {
  make_sample(WEIR_RECORD_VARINT, 0);
  struct weir_record_format format = format_of(WEIR_RECORD_VARINT, 0);
  struct weir_records *records;
  struct weir_slice record;
  assert_int_equal(weir_records_open_memory(sample.text, sample.size, &format, &records, NULL), 0);
  for (size_t i = 0; i < RECORDS; i++) {
    assert_int_equal(weir_records_next(records, &record), 1);
    assert_ptr_equal(record.data, sample.text + sample.starts[i]);
  }
  assert_int_equal(weir_records_close(records, NULL), 0);
  assert_int_equal(weir_records_open_memory(NULL, 0, &format, &records, NULL), 0);
  assert_int_equal(weir_records_next(records, &record), 0);
  assert_int_equal(weir_records_close(records, NULL), 0);
}

static void headers_that_are_not_there_are_told(void **state) {
  struct weir_record_format format = {.prefix = WEIR_RECORD_U8, .header_bytes = 10};
  struct weir_slice record;
  for (size_t size = 0; size <= 10; size++) {
    put_content(path, "0123456789", size);
    for (unsigned memory = 0; memory < 2; memory++) {
      struct weir_records *records;
      if (memory)
        assert_int_equal(weir_records_open_memory("0123456789", size, &format, &records, NULL), 0);
      else
        assert_int_equal(weir_records_open(path, &format, &records, NULL), 0);
      assert_int_equal(weir_records_next(records, &record), size < 10 ? WEIR_ETRUNCATED : 0);
      assert_int_equal(weir_records_close(records, NULL), size < 10 ? WEIR_ETRUNCATED : 0);
    }
  }
}

/* ---- hostile ---- */

static size_t most_mapped;
static void *note_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (length > most_mapped) most_mapped = length;
  return inject_real_mmap(address, length, protection, flags, fd, offset);
}

static int first_code(const void *data, size_t size, enum weir_record_prefix prefix, size_t max) {
  struct weir_record_format format = {.prefix = prefix, .max_bytes = max};
  struct weir_records *records;
  struct weir_slice record;
  int codes[2];
  put_content(path, data, size);
  assert_int_equal(weir_records_open_memory(data, size, &format, &records, NULL), 0);
  codes[0] = weir_records_next(records, &record);
  (void)weir_records_close(records, NULL);
  assert_int_equal(weir_records_open(path, &format, &records, NULL), 0);
  codes[1] = weir_records_next(records, &record);
  assert_int_equal(weir_records_close(records, NULL), codes[1] < 0 ? codes[1] : 0);
  assert_int_equal(codes[0], codes[1]);
  return codes[1];
}

static void hostile_lengths_ask_for_no_memory(void **state) {
  (void)os_override("mmap", (os_function *)note_mmap);
  most_mapped = 0;
  static const char ones[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U32LE, 0), WEIR_ELIMIT);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U32BE, 0), WEIR_ELIMIT);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U64LE, 0), WEIR_ELIMIT);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U64BE, SIZE_MAX), WEIR_ELIMIT);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U16LE, 0), WEIR_ETRUNCATED);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U8, 254), WEIR_ELIMIT);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_U8, 255), WEIR_ETRUNCATED);
  assert_int_equal(first_code(ones, 12, WEIR_RECORD_VARINT, 0), WEIR_EFORMAT);
  assert_int_equal(first_code(ones, 9, WEIR_RECORD_VARINT, 0), WEIR_ETRUNCATED);
  assert_int_equal(first_code("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, WEIR_RECORD_VARINT, 0), WEIR_ELIMIT);
  assert_int_equal(first_code("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, WEIR_RECORD_VARINT, 0), WEIR_EFORMAT);
  assert_int_equal(first_code("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, WEIR_RECORD_VARINT, 0), WEIR_EFORMAT);
  assert_int_equal(first_code("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, WEIR_RECORD_VARINT, 0),
                   1);                                                                        /* 0, long-winded */
  assert_int_equal(first_code("\x00\x00\x00\x04", 4, WEIR_RECORD_U32LE, 0), WEIR_ETRUNCATED); /* 64 MiB: allowed */
  assert_int_equal(first_code("\x01\x00\x00\x04", 4, WEIR_RECORD_U32LE, 0), WEIR_ELIMIT);     /* and one more */
  assert_true(most_mapped <= 512 * KIB);
}

static void errors_tell_where(void **state) {
  put_content(path,
              "\x02"
              "ab"
              "\x09"
              "abc",
              7);
  struct weir_record_format format = {.prefix = WEIR_RECORD_U8};
  struct weir_records *records;
  struct weir_slice record;
  assert_int_equal(weir_records_open(path, &format, &records, NULL), 0);
  assert_int_equal(weir_records_next(records, &record), 1);
  assert_int_equal(weir_records_next(records, &record), WEIR_ETRUNCATED);
  const struct weir_error *error = weir_records_error(records);
  assert_int_equal(error->code, WEIR_ETRUNCATED);
  assert_int_equal(error->offset, 3);
  assert_int_equal(error->size, 10);
  assert_int_equal(error->transferred, 3);
  assert_string_equal(error->path, path);
  assert_int_equal(weir_records_close(records, NULL), WEIR_ETRUNCATED);
}

/* ---- fields ---- */

static void fields_follow_what_the_caller_says(void **state) {
  static const char text[] =
      "HH"
      "\x05"
      "hello"
      "\x03\x00\x00\x00"
      "abc"
      "xyz"
      "\x00"
      "\x00\x02"
      "zz";
  for (size_t block = 1; block < 40; block++) {
    struct weir_record_format format = {.header_bytes = 2};
    put_content(path, text, sizeof text - 1);
    struct weir_records *records;
    struct weir_slice field;
    assert_int_equal(weir__records_open(path, &format, block, &records, NULL), 0);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_VARINT, 0, &field), 1);
    assert_int_equal(field.size, 5);
    assert_memory_equal(field.data, "hello", 5);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_U32LE, 0, &field), 1);
    assert_int_equal(field.size, 3);
    assert_memory_equal(field.data, "abc", 3);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_FIXED, 3, &field), 1);
    assert_memory_equal(field.data, "xyz", 3);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_FIXED, 0, &field), 1);
    assert_int_equal(field.size, 0);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_U8, 0, &field), 1);
    assert_int_equal(field.size, 0);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_U16BE, 0, &field), 1);
    assert_memory_equal(field.data, "zz", 2);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_U8, 0, &field), 0);
    assert_int_equal(weir_records_field(records, WEIR_RECORD_FIXED, 7, &field), 0);
    assert_int_equal(weir_records_close(records, NULL), 0);
  }
}

static void fields_have_the_limit_too(void **state) {
  struct weir_record_format format = {.max_bytes = 10};
  struct weir_records *records;
  struct weir_slice field;
  assert_int_equal(weir_records_open_memory("0123456789ab", 12, &format, &records, NULL), 0);
  assert_int_equal(weir_records_field(records, WEIR_RECORD_FIXED, 10, &field), 1);
  assert_int_equal(weir_records_field(records, WEIR_RECORD_FIXED, 11, &field), WEIR_ELIMIT);
  assert_int_equal(weir_records_close(records, NULL), WEIR_ELIMIT);
  assert_int_equal(weir_records_open_memory("0123456789ab", 12, NULL, &records, NULL), 0);
  assert_int_equal(weir_records_field(records, (enum weir_record_prefix)9, 0, &field), WEIR_EINVAL);
  assert_int_equal(weir_records_close(records, NULL), WEIR_EINVAL);
  assert_int_equal(weir_records_open_memory("0123456789ab", 12, NULL, &records, NULL), 0);
  assert_int_equal(weir_records_next(records, &field), WEIR_EINVAL); /* records of no bytes have no end */
  assert_int_equal(weir_records_close(records, NULL), WEIR_EINVAL);
}

/* ---- opening ---- */

static void refuses_bad_arguments(void **state) {
  struct weir_records *records = (void *)path;
  struct weir_error error = {0};
  assert_int_equal(weir_records_open(NULL, NULL, &records, &error), WEIR_EINVAL);
  assert_null(records);
  assert_int_equal(error.code, WEIR_EINVAL);
  assert_int_equal(weir_records_open(path, NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_records_open_memory(NULL, 1, NULL, &records, NULL), WEIR_EINVAL);
  assert_int_equal(weir_records_open_memory("", 1, NULL, NULL, NULL), WEIR_EINVAL);
  struct weir_record_format format = {.prefix = (enum weir_record_prefix)9};
  assert_int_equal(weir_records_open(path, &format, &records, NULL), WEIR_EINVAL);
  format = (struct weir_record_format){.reserved = {1}};
  assert_int_equal(weir_records_open_memory("", 1, &format, &records, NULL), WEIR_EINVAL);
  assert_int_equal(weir_records_open(path, NULL, &records, &error), WEIR_ENOENT);
  assert_string_equal(error.path, path);
  assert_int_equal(weir_records_open(directory, NULL, &records, NULL), WEIR_EISDIR);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(weir_records_open(path, NULL, &records, NULL), WEIR_ENOTREG);
  assert_int_equal(weir_records_close(NULL, NULL), 0);
}

/* ---- growing ---- */

static void large_records_grow_the_buffer(void **state) {
  size_t size = 3 * MIB;
  char *data = malloc(size);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = (char)(i * 13 + i / 1000);
  struct weir_writer writer;
  assert_int_equal(weir_writer_open(&writer, path, NULL, NULL), 0);
  for (size_t length = 1; length <= size; length = length * 3 + 1) {
    assert_int_equal(weir_writer_put_record(&writer, WEIR_RECORD_VARINT, data, length), 0);
  }
  assert_int_equal(weir_writer_finish(&writer, NULL), 0);
  for (size_t block = 1; block <= MIB; block *= 8) {
    struct weir_record_format format = {.prefix = WEIR_RECORD_VARINT};
    struct weir_records *records;
    struct weir_slice record;
    assert_int_equal(weir__records_open(path, &format, block, &records, NULL), 0);
    for (size_t length = 1; length <= size; length = length * 3 + 1) {
      assert_int_equal(weir_records_next(records, &record), 1);
      assert_int_equal(record.size, length);
      assert_memory_equal(record.data, data, length);
    }
    assert_int_equal(weir_records_next(records, &record), 0);
    assert_int_equal(weir_records_close(records, NULL), 0);
  }
  free(data);
}

/* ---- writing ---- */

static void what_is_written_is_read_back(void **state) {
  static char data[70000];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 3);
  static const size_t tried[] = {0, 1, 127, 128, 255, 256, 16383, 16384, 65535, 65536};
  static const size_t most[] = {SIZE_MAX, 255, 65535, 65535, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  for (size_t p = 1; p < PREFIXES; p++) {
    for (size_t buffer = 1; buffer < 200000; buffer = buffer * 5 + 1) {
      struct weir_writer_options options = {.buffer_bytes = buffer};
      struct weir_writer writer;
      assert_int_equal(weir_writer_open(&writer, path, &options, NULL), 0);
      for (size_t i = 0; i < 10 && tried[i] <= most[p]; i++) {
        assert_int_equal(weir_writer_put_record(&writer, prefixes[p], tried[i] ? data : NULL, tried[i]), 0);
      }
      assert_int_equal(weir_writer_finish(&writer, NULL), 0);
      struct weir_record_format format = {.prefix = prefixes[p]};
      struct weir_records *records;
      struct weir_slice record;
      assert_int_equal(weir_records_open(path, &format, &records, NULL), 0);
      for (size_t i = 0; i < 10 && tried[i] <= most[p]; i++) {
        assert_int_equal(weir_records_next(records, &record), 1);
        assert_int_equal(record.size, tried[i]);
        assert_memory_equal(record.data, data, tried[i]);
      }
      assert_int_equal(weir_records_next(records, &record), 0);
      assert_int_equal(weir_records_close(records, NULL), 0);
    }
    if (most[p] == SIZE_MAX) continue;
    struct weir_writer writer;
    assert_int_equal(weir_writer_open(&writer, path, NULL, NULL), 0);
    assert_int_equal(weir_writer_put_record(&writer, prefixes[p], data, most[p] + 1), WEIR_EOVERFLOW);
    assert_int_equal(weir_writer_finish(&writer, NULL), WEIR_EOVERFLOW);
  }
  struct weir_writer writer;
  assert_int_equal(weir_writer_open(&writer, path, NULL, NULL), 0);
  assert_int_equal(weir_writer_put_record(&writer, WEIR_RECORD_FIXED, data, 100), 0);
  assert_int_equal(weir_writer_put_record(&writer, (enum weir_record_prefix)9, data, 100), WEIR_EINVAL);
  weir_writer_abandon(&writer);
}

/* What a reader written for .NET's BinaryWriter sees: a text with its length in 7-bit groups. */
static void varints_are_the_ones_others_write(void **state) {
  struct weir_writer writer;
  assert_int_equal(weir_writer_open(&writer, path, NULL, NULL), 0);
  static char data[300];
  assert_int_equal(weir_writer_put_record(&writer, WEIR_RECORD_VARINT, data, 300), 0);
  assert_int_equal(weir_writer_finish(&writer, NULL), 0);
  char got[400];
  assert_int_equal(get_content(path, got, sizeof got), 302);
  assert_memory_equal(got, "\xac\x02", 2);
}

/* ---- failures ---- */

static int read_all(size_t block) {
  struct weir_record_format format = format_of(WEIR_RECORD_U16LE, 3);
  struct weir_records *records;
  struct weir_slice record;
  int code = weir__records_open(path, &format, block, &records, NULL);
  if (code) return code;
  size_t count = 0;
  while ((code = weir_records_next(records, &record)) > 0) {
    assert_int_equal(record.size, sample.lengths[count]);
    assert_memory_equal(record.data, sample.text + sample.starts[count], record.size);
    count++;
  }
  if (code == 0) assert_int_equal(count, RECORDS);
  assert_int_equal(weir_records_close(records, NULL), code);
  return code;
}

static void every_call_may_fail(void **state) {
  make_sample(WEIR_RECORD_U16LE, 3);
  put_content(path, sample.text, sample.size);
  static const char *const used[] = {"open", "fstat", "mmap", "pread"};
  static const size_t blocks[] = {1, 7, 64, 4096};
  for (size_t c = 0; c < 4; c++) {
    for (size_t b = 0; b < 4; b++) {
      bool hit = true;
      for (unsigned at = 1; hit; at++) {
        unsigned files = open_files();
        inject_arm(used[c], at, c == 2 ? ENOMEM : EIO);
        int code = read_all(blocks[b]);
        hit = inject_disarm();
        assert_int_equal(code, !hit ? 0 : c == 2 ? WEIR_ENOMEM : WEIR_EIO);
        assert_int_equal(open_files(), files);
        inject_arm(used[c], at, EINTR);
        if (c == 3) assert_int_equal(read_all(blocks[b]), 0);
        (void)inject_disarm();
      }
    }
  }
}

static void memory_may_be_short_everywhere(void **state) {
  make_sample(WEIR_RECORD_U16LE, 3);
  put_content(path, sample.text, sample.size);
  bool hit = true;
  for (unsigned at = 1; hit; at++) {
    unsigned files = open_files();
    inject_memory_arm(at);
    int code = read_all(16);
    hit = inject_memory_disarm();
    assert_int_equal(code, hit ? WEIR_ENOMEM : 0);
    assert_int_equal(open_files(), files);
  }
  struct weir_records *records;
  for (unsigned at = 1; at <= 2; at++) {
    inject_memory_arm(at);
    int code = weir_records_open_memory("", 0, NULL, &records, NULL);
    assert_true(inject_memory_disarm());
    assert_int_equal(code, WEIR_ENOMEM);
  }
}

static size_t step;
static ssize_t short_pread(int fd, void *data, size_t size, off_t offset) {
  return inject_real_pread(fd, data, size < step ? size : step, offset);
}
static void short_reads_are_not_the_end(void **state) {
  (void)os_override("pread", (os_function *)short_pread);
  make_sample(WEIR_RECORD_U16LE, 3);
  put_content(path, sample.text, sample.size);
  for (step = 1; step <= sample.size; step++) {
    for (size_t block = 1; block < 4096; block *= 3) assert_int_equal(read_all(block), 0);
  }
}

static void a_forked_child_cannot_read_on(void **state) {
  make_sample(WEIR_RECORD_U16LE, 0);
  put_content(path, sample.text, sample.size);
  struct weir_record_format format = format_of(WEIR_RECORD_U16LE, 0);
  struct weir_records *records;
  struct weir_slice record;
  assert_int_equal(weir__records_open(path, &format, 4, &records, NULL), 0);
  assert_int_equal(weir_records_next(records, &record), 1);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int code;
    while ((code = weir_records_next(records, &record)) > 0) {
    }
    _exit(code == WEIR_EFORKED && weir_records_close(records, NULL) == code ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  for (size_t i = 1; i < RECORDS; i++) assert_int_equal(weir_records_next(records, &record), 1);
  assert_int_equal(weir_records_next(records, &record), 0);
  assert_int_equal(weir_records_close(records, NULL), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(every_cut_with_every_block),
      TEST(every_block_with_the_whole_file),
      TEST(every_cut_of_memory_before_a_guard_page),
      TEST(memory_is_not_copied),
      TEST(headers_that_are_not_there_are_told),
      TEST(hostile_lengths_ask_for_no_memory),
      TEST(errors_tell_where),
      TEST(fields_follow_what_the_caller_says),
      TEST(fields_have_the_limit_too),
      TEST(refuses_bad_arguments),
      TEST(large_records_grow_the_buffer),
      TEST(what_is_written_is_read_back),
      TEST(varints_are_the_ones_others_write),
      TEST(every_call_may_fail),
      TEST(memory_may_be_short_everywhere),
      TEST(short_reads_are_not_the_end),
      TEST(a_forked_child_cannot_read_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
