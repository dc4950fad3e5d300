/*
 * stream.cpp - the C++ streams beneath stream.c. The only C++ here: it opens, moves bytes and closes, and knows nothing of
 * jobs. No exception leaves it.
 */
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <new>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "weir/method.h"

extern "C" {
#include "stream.h"
}

struct stream {
  virtual ~stream() = default;
  virtual int open(const stream_wish &wish) = 0;
  virtual int64_t read(char *, std::streamsize) { return -EBADF; }
  virtual int line(std::string &, bool *) { return -EBADF; }
  virtual int write(const char *, std::streamsize) { return -EBADF; }
  virtual int write_each(const weir_span *, size_t) { return -EBADF; }
  virtual int seek(std::streamoff offset) = 0;
  virtual int flush() { return 0; }
  virtual int close() = 0;
  std::string text; /* the line given last */
};

namespace {

int error_left() { return errno != 0 ? -errno : -EIO; }

std::ios_base::openmode mode_of(const stream_wish &wish) {
  const auto binary = std::ios_base::binary, in = std::ios_base::in, out = std::ios_base::out;
  if (!wish.writes) return in | binary;
  return wish.appends ? out | std::ios_base::app | binary : in | out | binary; /* out alone would truncate */
}

void set_buffer(std::streambuf &buffer, const stream_wish &wish) {
  (void)buffer.pubsetbuf(wish.buffer, wish.buffer ? static_cast<std::streamsize>(wish.buffer_size) : 0);
}

/* What a short read left behind: the end of the file, or an error. */
int64_t read_from(std::istream &in, char *data, std::streamsize length) {
  in.read(data, length);
  if (in) return length;
  if (in.bad()) return error_left();
  const std::streamsize count = in.gcount();
  in.clear();
  return count;
}

/* A line without LF is there only at the end of the file. */
int line_from(std::istream &in, std::string &text, bool *ended) {
  if (std::getline(in, text)) {
    *ended = !in.eof();
    return 1;
  }
  if (in.bad() || !in.eof()) return error_left();
  in.clear();
  return 0;
}

int seek_in(std::istream &in, std::streamoff offset) { return in.seekg(offset) ? 0 : error_left(); }

struct input final : stream {
  std::ifstream in;
  int open(const stream_wish &wish) override {
    set_buffer(*in.rdbuf(), wish);
    if (wish.sets_sync) std::ios_base::sync_with_stdio(wish.synced);
    in.open(wish.path, mode_of(wish));
    return in ? 0 : error_left();
  }
  int64_t read(char *data, std::streamsize length) override { return read_from(in, data, length); }
  int line(std::string &out, bool *ended) override { return line_from(in, out, ended); }
  int seek(std::streamoff offset) override { return seek_in(in, offset); }
  int close() override {
    in.close();
    return in ? 0 : error_left();
  }
};

struct output final : stream {
  std::ofstream out;
  int open(const stream_wish &wish) override {
    set_buffer(*out.rdbuf(), wish);
    out.open(wish.path, mode_of(wish));
    return out ? 0 : error_left();
  }
  int write(const char *data, std::streamsize length) override { return out.write(data, length) ? 0 : error_left(); }
  int write_each(const weir_span *pieces, size_t count) override {
    for (size_t i = 0; i < count; i++)
      if (!out.write(pieces[i].data, static_cast<std::streamsize>(pieces[i].size))) return error_left();
    return 0;
  }
  int seek(std::streamoff offset) override { return out.seekp(offset) ? 0 : error_left(); }
  int flush() override { return out.flush() ? 0 : error_left(); }
  int close() override {
    out.close();
    return out ? 0 : error_left();
  }
};

struct buffer final : stream {
  std::filebuf file;
  int open(const stream_wish &wish) override {
    set_buffer(file, wish);
    return file.open(wish.path, mode_of(wish)) ? 0 : error_left();
  }
  int64_t read(char *data, std::streamsize length) override { return file.sgetn(data, length); }
  int write(const char *data, std::streamsize length) override {
    return file.sputn(data, length) == length ? 0 : error_left();
  }
  int seek(std::streamoff offset) override { return file.pubseekpos(offset) == std::streampos(offset) ? 0 : error_left(); }
  int flush() override { return file.pubsync() == 0 ? 0 : error_left(); }
  int close() override { return file.close() ? 0 : error_left(); }
};

/* Borrows descriptor 0 while it is open. */
struct standard final : stream {
  int before = -1;
  int open(const stream_wish &wish) override {
    std::ios_base::sync_with_stdio(wish.synced);
    before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* -1 where it was closed */
    if (dup2(wish.descriptor, STDIN_FILENO) < 0) return error_left();
    std::clearerr(stdin);
    std::cin.clear();
    return seek_in(std::cin, 0); /* drops what an earlier file left in the buffer */
  }
  int64_t read(char *data, std::streamsize length) override { return read_from(std::cin, data, length); }
  int line(std::string &out, bool *ended) override { return line_from(std::cin, out, ended); }
  int seek(std::streamoff offset) override { return seek_in(std::cin, offset); }
  int close() override {
    const int result = before < 0 ? ::close(STDIN_FILENO) : dup2(before, STDIN_FILENO) < 0 ? -1 : ::close(before);
    return result < 0 ? error_left() : 0;
  }
};

stream *make(const stream_wish &wish) {
  if (wish.kind == STREAM_CIN) return new (std::nothrow) standard;
  if (wish.kind == STREAM_FILEBUF) return new (std::nothrow) buffer;
  if (wish.writes) return new (std::nothrow) output;
  return new (std::nothrow) input;
}

/* std::filebuf reports some errors by throwing. */
template <typename Result, typename Call>
Result guarded(Call call) {
  try {
    errno = 0;
    return call();
  } catch (...) {
    return error_left();
  }
}

}  // namespace

bool stream_built_in(void) { return true; }

int stream_open(const stream_wish *wish, stream **out) {
  return guarded<int>([&] {
    stream *made = make(*wish);
    if (!made) return -ENOMEM;
    const int error = made->open(*wish);
    if (error) {
      delete made;
      return error;
    }
    *out = made;
    return 0;
  });
}

int64_t stream_read(stream *s, void *data, size_t length) {
  return guarded<int64_t>([&] { return s->read(static_cast<char *>(data), static_cast<std::streamsize>(length)); });
}

int stream_line(stream *s, const char **data, size_t *length, bool *ended) {
  return guarded<int>([&] {
    const int more = s->line(s->text, ended);
    *data = s->text.data();
    *length = s->text.size();
    return more;
  });
}

int stream_write(stream *s, const void *data, size_t length) {
  return guarded<int>([&] { return s->write(static_cast<const char *>(data), static_cast<std::streamsize>(length)); });
}

int stream_write_each(stream *s, const weir_span *pieces, size_t count) {
  return guarded<int>([&] { return s->write_each(pieces, count); });
}

int stream_seek(stream *s, uint64_t offset) {
  return guarded<int>([&] { return s->seek(static_cast<std::streamoff>(offset)); });
}

int stream_flush(stream *s) {
  return guarded<int>([&] { return s->flush(); });
}

int stream_close(stream *s) {
  const int error = guarded<int>([&] { return s->close(); });
  delete s;
  return error;
}
