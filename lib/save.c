/*
 * save.c - weir_write_file, and how a file is put in place. An atomic save writes a temporary file in the same directory,
 * gives it the old one's mode and owner and renames it; its name is one of a few, so that what a crash left is found without
 * reading the directory. Collecting small pieces is not here but in writer.c.
 */
#include "lib/save.h"

#include <stdlib.h>
#include <string.h>

/* With WEIR_DURABLE, writing back is begun behind pieces of this size, so that the device works while the rest is copied. */
#define PIECE_BYTES ((size_t)8 << 20)

/* A name is at most 255 bytes on the file systems there are; ".", ".weir-" and six digits go with it. */
#define NAME_BYTES_MAX 255u
#define SLOT_DIGITS 6u
static const char slot_mark[] = ".weir-";
#define SLOT_EXTRA_BYTES (1u + (sizeof slot_mark - 1) + SLOT_DIGITS)

/*
 * Temporary files have the numbers 0, 1, 2 ... Each save looks at a group of them, uses the first free one, and removes
 * those that nobody holds; where there was anything it looks at the next group too. More at once than there are slots are
 * refused.
 */
#define SLOTS_AT_ONCE 4u
#define SLOTS 256u
/* A name that is taken away between two looks at it, by another save or what was just removed: look again so often. */
#define TRIES 8u
#define LINKS_MAX 40u
#define MODE_DEFAULT 0666u
#define LINK_BYTES 4096u

/* ---- paths ---- */

/* Length of the part up to the last slash, with it; 0 if there is none. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The first `length` bytes of `head`, then those of `tail`; NULL: out of memory. */
static char *join(const char *head, size_t length, const char *tail, size_t tail_length) {
  if (length > SIZE_MAX - 1 - tail_length) return NULL;
  char *path = malloc(length + tail_length + 1);
  if (!path) return NULL;
  memcpy(path, head, length);
  memcpy(path + length, tail, tail_length);
  path[length + tail_length] = 0;
  return path;
}

static char *copy(const char *path) { return join(path, strlen(path), "", 0); }

/* Puts where the link `*path` leads in its place. WEIR_EINVAL: it is none. */
static int follow_once(char **path) {
  char link[LINK_BYTES];
  int64_t length = os_read_link(*path, link, sizeof link);
  if (length < 0) return (int)length;
  if (length == 0) return WEIR_ENOENT;
  if ((size_t)length == sizeof link) return WEIR_ENAMETOOLONG;
  char *next = join(*path, link[0] == '/' ? 0 : directory_length(*path), link, (size_t)length);
  if (!next) return WEIR_ENOMEM;
  free(*path);
  *path = next;
  return 0;
}

/* Where the last part of `path` leads; the file need not exist. */
static int follow(const char *path, char **out) {
  char *at = copy(path);
  if (!at) return WEIR_ENOMEM;
  int code = 0;
  for (unsigned links = 0; !code; links++) code = links < LINKS_MAX ? follow_once(&at) : WEIR_ELOOP;
  if (code == WEIR_EINVAL || code == WEIR_ENOENT) { /* no link, or nothing there yet: this is the place */
    *out = at;
    return 0;
  }
  free(at);
  return code;
}

static bool is_link(const char *path) {
  char first;
  return os_read_link(path, &first, 1) >= 0;
}

int weir__sync_directory_of(const char *path) {
  char *target = NULL;
  int code = follow(path, &target);
  if (code) return code;
  size_t length = directory_length(target);
  if (length) target[length] = 0;
  code = os_sync_directory(length ? target : ".");
  free(target);
  return code;
}

/* Makes a file that was not there. weir__open does not tell whether it got as far as making one before it failed. */
static int create(struct weir__save *save, const char *path, unsigned os_flags, unsigned mode) {
  os_flags |= OS_WRITE | OS_CREATE | OS_EXCLUSIVE;
  int code = os_open_mode(path, os_flags, mode ? mode : MODE_DEFAULT, &save->file);
  if (code) return code;
  code = os_stat_file(save->file, &save->stat);
  if (!code) return 0;
  (void)os_remove(path);
  (void)os_close(save->file);
  save->file = os_no_file;
  return code;
}

/* ---- temporary files ---- */

/* ".NAME.weir-000000" beside `target`; a name that would get too long is cut, never inside a UTF-8 character. */
static char *slot_path(const char *target) {
  size_t head = directory_length(target), name = strlen(target + head);
  if (name > NAME_BYTES_MAX - SLOT_EXTRA_BYTES) {
    name = NAME_BYTES_MAX - SLOT_EXTRA_BYTES;
    while (name && ((unsigned char)target[head + name] & 0xC0) == 0x80) name--;
  }
  if (head > SIZE_MAX - 1 - SLOT_EXTRA_BYTES - name) return NULL;
  char *path = malloc(head + name + SLOT_EXTRA_BYTES + 1), *at = path;
  if (!path) return NULL;
  memcpy(at, target, head);
  at += head;
  *at++ = '.';
  memcpy(at, target + head, name);
  at += name;
  memcpy(at, slot_mark, sizeof slot_mark - 1);
  at += sizeof slot_mark - 1;
  memset(at, '0', SLOT_DIGITS);
  at[SLOT_DIGITS] = 0;
  return path;
}

static void set_slot(char *path, unsigned slot) {
  char *end = path + strlen(path);
  for (unsigned i = 1; i <= SLOT_DIGITS; i++, slot /= 10) end[-(ptrdiff_t)i] = (char)('0' + slot % 10);
}

/*
 * Removes a temporary file that no living process holds. WEIR_ENOENT: there is none; WEIR_EBUSY: it is somebody's. While it
 * is locked here nobody else removes or renames it, so the look at its name holds until the removal.
 */
static int clear_slot(const char *path) {
  os_file file = os_no_file;
  struct os_stat stat;
  int code = weir__open(path, OS_READ | OS_STAY_READY, WEIR_NO_FOLLOW, 0, &file, &stat, NULL);
  if (code) return code == WEIR_ENOENT ? code : WEIR_EBUSY;
  bool removed = os_lock(file) == 0 && weir__still_named(path, &stat) && os_remove(path) == 0;
  (void)os_close(file);
  return removed ? 0 : WEIR_EBUSY;
}

/*
 * Makes the temporary file and locks it. WEIR_EEXIST: the slot is in use. Between making and locking, another save may take
 * it for a left one: then either the lock is refused or the name is gone. A file system without locks gives another error:
 * there nobody can lock a file to remove it.
 */
static int make_slot(struct weir__save *save, unsigned mode) {
  int code = create(save, save->temporary, 0, mode);
  if (code) return code;
  if (os_lock(save->file) != WEIR_EAGAIN && weir__still_named(save->temporary, &save->stat)) return 0;
  (void)os_close(save->file);
  save->file = os_no_file;
  return WEIR_EEXIST;
}

/* *found: there was something of that name. */
static int use_slot(struct weir__save *save, unsigned mode, bool *found) {
  int code = make_slot(save, mode);
  *found = code == WEIR_EEXIST;
  for (unsigned tries = 1; code == WEIR_EEXIST && tries < TRIES && clear_slot(save->temporary) != WEIR_EBUSY; tries++) {
    code = make_slot(save, mode);
  }
  return code;
}

/* Takes the first free slot from `first` on, if none is ours yet, and clears the left ones among the others. */
static int search_slots(struct weir__save *save, unsigned mode, unsigned first, unsigned *mine, bool *found) {
  *found = false;
  for (unsigned slot = first; slot < first + SLOTS_AT_ONCE; slot++) {
    bool here;
    set_slot(save->temporary, slot);
    if (*mine == SLOTS) {
      int code = use_slot(save, mode, &here);
      if (code == 0) *mine = slot;
      if (code && code != WEIR_EEXIST) return code;
    } else {
      here = clear_slot(save->temporary) != WEIR_ENOENT;
    }
    *found = *found || here;
  }
  return 0;
}

static int make_temporary(struct weir__save *save, unsigned mode) {
  save->temporary = slot_path(save->target);
  if (!save->temporary) return WEIR_ENOMEM;
  unsigned mine = SLOTS;
  int code = 0;
  bool found = true;
  for (unsigned first = 0; first < SLOTS && (found || mine == SLOTS) && !code; first += SLOTS_AT_ONCE) {
    code = search_slots(save, mode, first, &mine, &found);
  }
  if (!code && mine == SLOTS) code = WEIR_EBUSY;
  if (mine != SLOTS) set_slot(save->temporary, mine);
  return code;
}

/* ---- beginning ---- */

/* The path that is replaced or made. */
static int find_target(struct weir__save *save, const char **operation) {
  *operation = "open";
  if (save->flags & WEIR_NEW) {
    struct os_stat stat;
    if (is_link(save->path) || os_stat_path(save->path, &stat) == 0) return WEIR_EEXIST;
  } else if (save->flags & WEIR_NO_FOLLOW) {
    if (is_link(save->path)) return WEIR_ELOOP;
  } else {
    *operation = "follow";
    return follow(save->path, &save->target);
  }
  save->target = copy(save->path);
  return save->target ? 0 : WEIR_ENOMEM;
}

/* What stands there now. A link of /proc leads to what may have another name by now or none: then the two differ. */
static int look_at_target(struct weir__save *save) {
  int code = os_stat_path(save->target, &save->old);
  if (code == WEIR_ENOENT) {
    struct os_stat stat;
    if (os_stat_path(save->path, &stat) == 0) return stat.kind == OS_REGULAR ? WEIR_ENOENT : WEIR_ENOTREG;
    if (!save->target[0]) return code;
    return save->target[directory_length(save->target)] ? 0 : WEIR_EISDIR; /* "name/" */
  }
  if (code) return code;
  if (save->old.kind == OS_DIRECTORY) return WEIR_EISDIR;
  if (save->old.kind != OS_REGULAR) return WEIR_ENOTREG;
  save->replaces = true;
  return 0;
}

/* Locks the file that is to be replaced. One that was replaced meanwhile is the wrong one to hold. */
static int lock_target(struct weir__save *save, struct weir_error *error) {
  for (unsigned tries = 0; tries < TRIES; tries++) {
    int code = weir__open(save->target, OS_WRITE, WEIR_LOCK, 0, &save->old_file, &save->old, error);
    if (code) return code;
    if (weir__still_named(save->target, &save->old)) return 0;
    (void)os_close(save->old_file);
    save->old_file = os_no_file;
  }
  return weir__fail(error, WEIR_EAGAIN, "lock", save->path, 0, 0, 0);
}

static int begin_atomic(struct weir__save *save, unsigned mode, struct weir_error *error) {
  const char *operation;
  int code = find_target(save, &operation);
  if (!code) code = look_at_target(save);
  if (code) return weir__fail(error, code, operation, save->path, 0, 0, 0);
  if ((save->flags & WEIR_LOCK) && save->replaces && (code = lock_target(save, error))) return code;
  /* What is replaced may be private; until its mode is given to the new one, that is too. */
  code = make_temporary(save, save->replaces ? 0600 : mode);
  return code ? weir__fail(error, code, "create", save->path, 0, 0, 0) : 0;
}

/* Who was faster with the lock has the file now, and needs it. */
static int create_in_place(struct weir__save *save, unsigned os_flags, unsigned mode) {
  int code = create(save, save->path, os_flags, mode);
  if (code) return code;
  save->created = true;
  if (!(save->flags & WEIR_LOCK) || (code = os_lock(save->file)) == 0) return 0;
  if (code != WEIR_EAGAIN) (void)os_remove(save->path);
  (void)os_close(save->file);
  return code;
}

/* The file there is, else a new one; a link that leads nowhere is in the way of both. WEIR_EEXIST: it is, or it changes. */
static int open_or_create(struct weir__save *save, unsigned os_flags, unsigned flags, unsigned mode,
                          struct weir_error *error) {
  struct weir_error refused; /* the caller's is filled only on failure */
  int code = WEIR_EEXIST;
  for (unsigned tries = 0; code == WEIR_EEXIST && tries < TRIES; tries++) {
    code = weir__open(save->path, os_flags, flags, mode, &save->file, &save->stat, &refused);
    if (code && code != WEIR_ENOENT && error) *error = refused;
    if (code != WEIR_ENOENT) return code;
    code = create_in_place(save, os_flags & ~(unsigned)OS_STAY_READY, mode);
  }
  return code && code != WEIR_EEXIST ? weir__fail(error, code, "create", save->path, 0, 0, 0) : code;
}

/* In place. Where all must be durable, whether the name is new decides whether its directory must be flushed too. */
static int begin_in_place(struct weir__save *save, unsigned os_flags, unsigned mode, struct weir_error *error) {
  unsigned flags = save->flags & (WEIR_ANY_KIND | WEIR_NO_FOLLOW | WEIR_LOCK);
  if (save->flags & WEIR_NEW) {
    int code = create_in_place(save, os_flags, mode);
    return code ? weir__fail(error, code, "create", save->path, 0, 0, 0) : 0;
  }
  os_flags |= OS_WRITE | (flags & WEIR_ANY_KIND || os_flags & OS_APPEND ? 0 : OS_STAY_READY);
  if (save->flags & WEIR_DURABLE) {
    int code = open_or_create(save, os_flags, flags, mode, error);
    if (code != WEIR_EEXIST) return code;
    save->created = true;
  }
  return weir__open(save->path, os_flags | OS_CREATE, flags, mode, &save->file, &save->stat, error);
}

static void release(struct weir__save *save) {
  (void)os_close(save->old_file);
  free(save->target);
  free(save->temporary);
  *save = (struct weir__save){.file = os_no_file, .old_file = os_no_file};
}

int weir__save_begin(struct weir__save *save, const char *path, unsigned os_flags, unsigned flags, unsigned mode,
                     struct weir_error *error) {
  *save = (struct weir__save){.path = path, .file = os_no_file, .old_file = os_no_file, .flags = flags};
  int code = flags & WEIR_ATOMIC ? begin_atomic(save, mode, error) : begin_in_place(save, os_flags, mode, error);
  if (code) release(save);
  return code;
}

/* ---- ending ---- */

/* Owner and group as far as this process may. Bits that lend their rights stay only with both of them. */
static int give_old_mode(struct weir__save *save) {
  bool kept = true;
  if (save->old.owner != save->stat.owner || save->old.group != save->stat.group) {
    kept = os_set_owner(save->file, save->old.owner, save->old.group) == 0;
    if (!kept)
      kept = os_set_owner(save->file, save->stat.owner, save->old.group) == 0 && save->old.owner == save->stat.owner;
  }
  uint32_t mode = kept ? save->old.mode : save->old.mode & ~(uint32_t)06000;
  return mode == save->stat.mode ? 0 : os_set_mode(save->file, mode);
}

static int cut(os_file file, uint64_t size) {
  struct os_stat now;
  int code = os_stat_file(file, &now);
  if (code || now.kind != OS_REGULAR || now.size <= size) return code;
  return os_resize(file, size);
}

/* Network file systems tell only at a close that data did not arrive, and the lock must be held until the rename. */
static int settle(os_file file) {
  os_file twin = os_no_file;
  return os_duplicate(file, &twin) == 0 ? os_close(twin) : 0;
}

/* Pipes and the like have no stable storage. */
static int flush(const struct weir__save *save) {
  int code = os_sync(save->file, save->temporary || save->created);
  return code == WEIR_EINVAL ? WEIR_EOPNOTSUPP : code;
}

/* All that must have gone well before the file gets its name. */
static int complete(struct weir__save *save, uint64_t size, const char **operation) {
  int code = 0;
  *operation = "resize";
  if (size != UINT64_MAX && (code = cut(save->file, size))) return code;
  *operation = "set the mode of";
  if (save->replaces && (code = give_old_mode(save))) return code;
  *operation = "sync";
  if ((save->flags & WEIR_DURABLE) && (code = flush(save))) return code;
  if (!save->temporary) return 0;
  *operation = "close";
  if ((code = settle(save->file))) return code;
  *operation = "rename";
  code = save->flags & WEIR_NEW ? os_rename_new(save->temporary, save->target) : os_rename(save->temporary, save->target);
  if (code) return code;
  free(save->temporary);
  save->temporary = NULL;
  return 0;
}

/* What WEIR_NEW made in place, unless it has another name by now. */
static void remove_new(const struct weir__save *save) {
  bool is_ours = (save->flags & WEIR_NEW) && save->created && weir__still_named(save->path, &save->stat);
  if (is_ours) (void)os_remove(save->path);
}

int weir__save_flush(struct weir__save *save) {
  int code = flush(save);
  if (code || !save->created || save->directory_done) return code;
  code = weir__sync_directory_of(save->path);
  save->directory_done = code == 0;
  return code;
}

int weir__save_finish(struct weir__save *save, uint64_t size, struct weir_error *error) {
  const char *operation, *path = save->path;
  int code = complete(save, size, &operation);
  if (code) {
    weir__save_undo(save, size);
    return weir__fail(error, code, operation, path, 0, 0, 0);
  }
  code = os_close(save->file);
  operation = "close";
  if (code) remove_new(save);
  bool named = (save->flags & WEIR_ATOMIC) || (save->created && !save->directory_done);
  if (!code && named && (save->flags & WEIR_DURABLE) && weir__sync_directory_of(save->target ? save->target : path)) {
    code = WEIR_EDURABLE;
    operation = "sync the directory of";
  }
  release(save);
  return code ? weir__fail(error, code, operation, path, 0, 0, 0) : 0;
}

void weir__save_undo(struct weir__save *save, uint64_t size) {
  if (save->temporary) {
    (void)os_remove(save->temporary);
  } else if ((save->flags & WEIR_NEW) && save->created) {
    remove_new(save);
  } else if (size != UINT64_MAX) {
    (void)cut(save->file, size);
  }
  weir__save_drop(save);
}

void weir__save_drop(struct weir__save *save) {
  (void)os_close(save->file);
  release(save);
}

/* ---- weir_write_file ---- */

static int reserve(const struct weir__save *save, size_t size) {
  if (!(save->flags & WEIR_PREALLOCATE) || save->stat.kind != OS_REGULAR) return 0;
  int code = os_allocate(save->file, size);
  return code == WEIR_EOPNOTSUPP ? 0 : code;
}

/* All bytes from the front; *done tells how many are written, also on an error. */
static int write_all(const struct weir__save *save, const char *data, size_t size, size_t *done) {
  *done = 0;
  if (save->stat.kind != OS_REGULAR) return weir__write(save->file, data, size, done);
  size_t piece_max = save->flags & WEIR_DURABLE ? PIECE_BYTES : SIZE_MAX;
  int code = 0;
  while (!code && *done < size) {
    size_t left = size - *done, piece = left < piece_max ? left : piece_max, written = 0;
    code = weir__pwrite(save->file, data + *done, piece, *done, &written);
    if (!code && piece < left) (void)os_write_back(save->file, *done, written);
    *done += written;
  }
  return code;
}

int weir_write_file(const char *path, const void *data, size_t size, const struct weir_write_options *options,
                    struct weir_error *error) {
  static const struct weir_write_options defaults;
  if (!options) options = &defaults;
  int code = weir__check(options->flags, WEIR__SAVE_FLAGS & ~(unsigned)WEIR_LOCK, options->reserved);
  if (!path || (!data && size) || options->mode > 07777) code = WEIR_EINVAL;
  if (code) return weir__fail(error, code, "write", path, 0, size, 0);
  struct weir__save save;
  code = weir__save_begin(&save, path, 0, options->flags, options->mode, error);
  if (code) return code;
  size_t done = 0;
  const char *operation = "reserve space for";
  code = reserve(&save, size);
  bool reserved = code == 0;
  if (reserved) {
    operation = "write";
    code = write_all(&save, data, size, &done);
  }
  if (!code) return weir__save_finish(&save, size < save.stat.size ? size : UINT64_MAX, error);
  /* What could not be reserved may have lengthened the file; what could not be written stays as far as it went. */
  weir__save_undo(&save, reserved ? done : save.stat.size);
  return weir__fail(error, code, operation, path, done, size - done, done);
}
