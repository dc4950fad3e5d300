/*
 * doctor_place.c - what `weir doctor` finds out about the directory where files would be made. What it promises it has
 * tried, on a file without a name, or whose name was taken away before the first byte was written.
 */
#include <errno.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "cli/doctor.h"
#include "measure/special.h"

#define MIB ((uint64_t)1 << 20)

/* ---- where it is --------------------------------------------------------------------------------------------------- */

static void look_at_file_system(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_place *place = &scene->place;
  const char *special = special_kind(place), *remedy = "name a directory on a disk of this machine";
  const char *device = place->device[0] ? place->device : "no device";
  if (place->ram_backed)
    doctor_say(out, DOCTOR_WARN, remedy, "%s at %.120s keeps its files in memory: nothing here tells of a disk",
               place->file_system, place->mount_point);
  else if (special)
    doctor_say(out, DOCTOR_WARN, remedy, "%s (%s) at %.100s: cold, direct and durable end there, not at a disk",
               place->file_system, special, place->mount_point);
  else if (special_packs(place))
    doctor_say(out, DOCTOR_WARN, "mount without compression, or keep to files that weir makes: they do not pack",
               "%s on %.40s at %.80s compresses: the device moves fewer bytes than a reader gets", place->file_system,
               device, place->mount_point);
  else
    doctor_ok(out, "%s on %.60s, mounted at %.100s", place->file_system[0] ? place->file_system : "unknown", device,
              place->mount_point);
}

#define FULL_PERCENT 5u /* of a file system that has less left, allocations get slow and scattered */

static bool nearly(uint64_t left, uint64_t all) { return all > 0 && left < all / 100 * FULL_PERCENT; }

static void look_at_space(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_place *place = &scene->place;
  char text[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
  units_size_text((double)place->free_bytes, text);
  units_size_text((double)place->total_bytes, all);
  if (place->total_files > 0 && place->free_files < 100)
    doctor_say(out, DOCTOR_WARN, "remove some files, or name another directory",
               "%llu more files fit: the file system has no room for their names", (unsigned long long)place->free_files);
  else if (place->free_bytes < 1024 * MIB)
    doctor_say(out, DOCTOR_WARN, "make room, or use a smaller --size", "%s for this user: files get smaller", text);
  else if (nearly(place->free_bytes, place->total_bytes))
    doctor_say(out, DOCTOR_WARN, "make room: a file system that is nearly full scatters its files",
               "%s of %s for this user: new files lie in what is left over", text, all);
  else
    doctor_ok(out, "%s of %s for this user", text, all);
}

static bool has_option(const struct os_place *place, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = place->options; *at; at += strcspn(at, ","), at += *at == ',') {
    if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
  }
  return false;
}

/* Options that make numbers mean something else, the worst first. */
static void look_at_options(const struct doctor_scene *scene, struct doctor_finding *out) {
  static const struct {
    const char *option, *what, *remedy;
  } known[] = {
      {"ro", "nothing can be written here", "mount -o remount,rw"},
      {"nobarrier", "what is called durable is not: the device is never told to flush", "mount without nobarrier"},
      {"barrier=0", "what is called durable is not: the device is never told to flush", "mount without barrier=0"},
      {"sync", "every write is durable, whatever --durability says", "mount without sync"},
      {"dirsync", "making and removing files waits for the device", "mount without dirsync"},
      {"data=journal", "everything is written twice, and direct transfers are refused", "mount with data=ordered"},
      {"strictatime", "every read changes the file's time, which is written", "mount with relatime"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!has_option(&scene->place, known[i].option)) continue;
    doctor_say(out, DOCTOR_WARN, known[i].remedy, "%s: %s", known[i].option, known[i].what);
    return;
  }
  doctor_ok(out, "%.200s", scene->place.options[0] ? scene->place.options : "none");
}

/* ---- the device ---------------------------------------------------------------------------------------------------- */

static void say_no_device(struct doctor_finding *out) {
  doctor_say(out, DOCTOR_SKIP, "name a directory on a disk of this machine", "no disk of this machine is seen beneath it");
}

static void look_at_disk(const struct doctor_scene *scene, struct doctor_finding *out) {
  const char *guest = scene->machine.hypervisor[0] ? ", as the hypervisor says" : "";
  if (scene->place.rotational < 0)
    say_no_device(out);
  else
    doctor_ok(out, "%.60s %s%s", scene->place.device, scene->place.rotational ? "rotates" : "does not rotate", guest);
}

static void look_at_scheduler(const struct doctor_scene *scene, struct doctor_finding *out) {
  const char *scheduler = scene->place.scheduler;
  if (!scheduler[0])
    say_no_device(out);
  else if (strcmp(scheduler, "bfq") != 0)
    doctor_ok(out, "%s", scheduler);
  else
    doctor_say(out, DOCTOR_WARN, "echo none > /sys/block/DEVICE/queue/scheduler",
               "bfq shares the disk among processes: many small requests wait for it");
}

static void look_at_read_ahead(const struct doctor_scene *scene, struct doctor_finding *out) {
  int64_t kib = scene->place.read_ahead_kib;
  if (kib < 0)
    say_no_device(out);
  else if (kib == 0)
    doctor_say(out, DOCTOR_WARN, "blockdev --setra 256 /dev/DEVICE",
               "none: cold sequential reads go to the disk one by one");
  else
    doctor_ok(out, "%lld KiB", (long long)kib);
}

/* What a durable write has to wait for. */
static void look_at_write_cache(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_place *place = &scene->place;
  if (!place->write_cache[0])
    say_no_device(out);
  else if (strcmp(place->write_cache, "write back") == 0)
    doctor_ok(out, "write back: what is durable is flushed%s",
              place->write_through == 1 ? ", single requests may be written through (FUA)" : "");
  else if (scene->machine.hypervisor[0])
    doctor_say(out, DOCTOR_WARN, "look at the cache mode of the disk on the host, or measure on bare metal",
               "%s: no flush leaves this guest; what is durable is so as far as the host says", place->write_cache);
  else
    doctor_ok(out, "%s: every write is durable when it is done, a flush costs nothing", place->write_cache);
}

static void look_at_discard(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_place *place = &scene->place;
  if (place->discard_bytes < 0)
    say_no_device(out);
  else if (has_option(place, "discard") || has_option(place, "discard=sync"))
    doctor_say(out, DOCTOR_WARN, "mount without discard, and run fstrim between measurements",
               "discard: what a removed file took is given back at once, while the next sample runs");
  else if (place->discard_bytes == 0)
    doctor_ok(out, "not known to the device: removing files costs it nothing");
  else
    doctor_ok(out, "not at once: removing files costs the device nothing (fstrim gives back)");
}

static void look_at_sectors(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_place *place = &scene->place;
  if (place->sector_bytes < 0)
    say_no_device(out);
  else if (place->misaligned_bytes > 0)
    doctor_say(out, DOCTOR_WARN, "make the partition anew, from a multiple of 1 MiB on",
               "the partition begins %lld bytes off a sector: each write of one changes two", (long long)place->misaligned_bytes);
  else
    doctor_ok(out, "sectors of %lld bytes%s", (long long)place->sector_bytes,
              place->misaligned_bytes == 0 ? ", and the partition begins with one" : "");
}

#define OTHERS_NS UINT64_C(300000000)
#define OTHERS_MOST (4 * MIB) /* bytes a second */

/* Before this process writes anything there. */
static void look_at_others(const struct doctor_scene *scene, struct doctor_finding *out) {
  struct os_stat stat;
  struct os_device_counters before, after;
  char text[UNITS_TEXT_MAX];
  int code = os_stat_path(scene->directory, &stat);
  if (code == 0) code = os_device_counters(stat.device, &before);
  uint64_t began = os_clock_ns();
  if (code == 0) os_sleep_ns(OTHERS_NS);
  if (code == 0) code = os_device_counters(stat.device, &after);
  if (code < 0) {
    say_no_device(out);
    return;
  }
  const uint64_t moved = after.read_bytes - before.read_bytes + after.write_bytes - before.write_bytes;
  const double rate = (double)moved * 1e9 / (double)(os_clock_ns() - began);
  if (rate <= (double)OTHERS_MOST)
    doctor_ok(out, "%s for others in 0.3 s", units_rate_text(rate, text));
  else
    doctor_say(out, DOCTOR_WARN, "stop what else uses the disk, or give more --rounds", "%s for others in 0.3 s",
               units_rate_text(rate, text));
}

/* ---- files that are tried ------------------------------------------------------------------------------------------ */

enum { TRIAL_BYTES = 1024 * 1024 };

static int open_named(const char *directory, unsigned flags, os_file *out) {
  char path[1024];
  uint64_t number = random_mix(os_wall_ns() ^ (uint64_t)os_process_id() << 40);
  int length = snprintf(path, sizeof path, "%s/.weir-doctor-%08llx", directory, (unsigned long long)(number & 0xffffffffu));
  if (length < 0 || (size_t)length >= sizeof path) return -ENAMETOOLONG;
  int code = os_open(path, flags | OS_CREATE | OS_EXCLUSIVE, out);
  if (code != -EEXIST) os_remove(path); /* a refused O_DIRECT may have made it all the same */
  return code;
}

/* A file that is gone when it is closed, whoever closes it. */
static int open_trial(const char *directory, unsigned flags, os_file *out) {
  int code = os_open(directory, OS_READ | OS_WRITE | OS_UNNAMED | flags, out);
  return code == -EOPNOTSUPP ? open_named(directory, OS_READ | OS_WRITE | flags, out) : code;
}

int doctor_try_directory(const char *directory) {
  os_file file = os_no_file;
  int code = open_trial(directory, 0, &file);
  os_close(file);
  return code;
}

/* Memory of TRIAL_BYTES that no file system packs or joins. */
static int trial_data(void **out) {
  int code = os_memory_get(TRIAL_BYTES, 0, out);
  for (size_t i = 0; code == 0 && i < TRIAL_BYTES / sizeof(uint64_t); i++) ((uint64_t *)*out)[i] = random_mix(i + 1);
  return code;
}

static int fill(os_file file, void *data) {
  int64_t count = os_pwrite_full(file, data, TRIAL_BYTES, 0);
  return count == TRIAL_BYTES ? os_sync(file, false) : count < 0 ? (int)count : -ENOSPC;
}

static void say_refused(struct doctor_finding *out, const char *what, int code) {
  doctor_say(out, DOCTOR_WARN, "look at permissions and free space, or name another directory", "%s: %s", what,
             strerror(-code));
}

/* `tell` speaks of a file of TRIAL_BYTES that is on the disk and in the cache. */
static void with_file(const struct doctor_scene *scene, struct doctor_finding *out,
                      void (*tell)(os_file file, void *data, struct doctor_finding *out)) {
  os_file file = os_no_file;
  void *data;
  int code = trial_data(&data);
  if (code < 0) {
    say_refused(out, "no memory", code);
    return;
  }
  code = open_trial(scene->directory, 0, &file);
  if (code == 0) code = fill(file, data);
  if (code < 0)
    say_refused(out, "a file cannot be written", code);
  else
    tell(file, data, out);
  os_close(file);
  os_memory_put(data, TRIAL_BYTES);
}

static void tell_of_cold(os_file file, void *data, struct doctor_finding *out) {
  struct os_cache cache;
  int64_t read = os_pread_full(file, data, TRIAL_BYTES, 0);
  int code = read < 0 ? (int)read : os_cache_evict(file, 0, TRIAL_BYTES);
  int known = os_cache_state(file, 0, TRIAL_BYTES, &cache);
  if (code < 0) {
    doctor_say(out, DOCTOR_WARN, "as root use --flush=drop", "a file cannot be taken out of the cache: %s", strerror(-code));
  } else if (known < 0) {
    doctor_say(out, DOCTOR_SKIP, "a kernel from 6.5 on, or your own files",
               "evicted, but the system does not tell what is left: %s", strerror(-known));
  } else if (cache.cached_bytes == 0) {
    doctor_ok(out, "eviction takes 100 %% of a file out of the cache (checked)");
  } else {
    doctor_say(out, DOCTOR_WARN, "use a file system on a disk; as root try --flush=drop",
               "eviction left %u %% of a file in the cache", (unsigned)(100 * cache.cached_bytes / TRIAL_BYTES));
  }
}

static void look_at_cold(const struct doctor_scene *scene, struct doctor_finding *out) {
  with_file(scene, out, tell_of_cold);
}

static void tell_of_cache(os_file file, void *data, struct doctor_finding *out) {
  struct os_cache cache;
  int code = os_cache_state(file, 0, TRIAL_BYTES, &cache);
  unsigned percent = code == 0 ? (unsigned)(100 * cache.cached_bytes / TRIAL_BYTES) : 0;
  if (code < 0)
    doctor_say(out, DOCTOR_SKIP, "a kernel from 6.5 on, or your own files", "the system does not tell: %s", strerror(-code));
  else if (cache.dirty_known)
    doctor_ok(out, "cachestat tells, dirty pages too (%u %% of a file just written)", percent);
  else
    doctor_say(out, DOCTOR_WARN, "a kernel from 6.5 on",
               "mincore tells (%u %% of a file just written), but not of dirty pages, and of your own files only", percent);
}

static void look_at_cache(const struct doctor_scene *scene, struct doctor_finding *out) {
  with_file(scene, out, tell_of_cache);
}

/* ---- direct transfers ---------------------------------------------------------------------------------------------- */

/* The smallest offset and length that a direct read may have, as far as tries tell; 0: none works. */
static uint32_t smallest_direct(os_file file, void *data) {
  for (uint32_t size = 1; size <= 65536; size = size == 1 ? 512 : size * 2) {
    if (os_pread(file, data, size, size) == (int64_t)size) return size;
  }
  return 0;
}

static void tell_of_direct(os_file file, void *data, struct doctor_finding *out) {
  struct os_cache cache;
  uint32_t memory, offset;
  os_cache_evict(file, 0, TRIAL_BYTES);
  int64_t read = os_pread_full(file, data, TRIAL_BYTES, 0);
  bool cached = os_cache_state(file, 0, TRIAL_BYTES, &cache) == 0 && cache.cached_bytes > 0;
  uint32_t smallest = smallest_direct(file, data);
  bool told = os_direct_alignment(file, &memory, &offset) == 0 && offset > 0;
  if (read != TRIAL_BYTES || smallest == 0)
    doctor_say(out, DOCTOR_WARN, "name another directory", "a direct read came back short or failed: %s",
               read < 0 ? strerror((int)-read) : "short");
  else if (cached)
    doctor_say(out, DOCTOR_WARN, "use a file system on a disk: here direct is only a word",
               "accepted, but what was read directly is in the page cache");
  else if (told)
    doctor_ok(out, "transfers work (tried); offsets of %u, memory of %u, as the system says", offset, memory);
  else
    doctor_ok(out, "transfers work (tried); offsets of %u bytes, found by trying", smallest);
}

static void look_at_direct(const struct doctor_scene *scene, struct doctor_finding *out) {
  os_file file = os_no_file;
  void *data;
  int code = trial_data(&data);
  if (code < 0) {
    say_refused(out, "no memory", code);
    return;
  }
  code = open_trial(scene->directory, OS_DIRECT, &file);
  if (code == 0) code = fill(file, data);
  if (code == -EINVAL)
    doctor_say(out, DOCTOR_SKIP, "name a directory on another file system", "%s refuses direct transfers",
               scene->place.file_system[0] ? scene->place.file_system : "the file system");
  else if (code < 0)
    say_refused(out, "a file cannot be written directly", code);
  else
    tell_of_direct(file, data, out);
  os_close(file);
  os_memory_put(data, TRIAL_BYTES);
}

const struct doctor_look doctor_looks_place[] = {
    {.name = "file system", .look = look_at_file_system},
    {.name = "mount options", .look = look_at_options},
    {.name = "free space", .look = look_at_space},
    {.name = "other I/O", .look = look_at_others},
    {.name = "disk", .look = look_at_disk},
    {.name = "scheduler", .look = look_at_scheduler},
    {.name = "read-ahead", .look = look_at_read_ahead},
    {.name = "write cache", .look = look_at_write_cache},
    {.name = "discard", .look = look_at_discard},
    {.name = "sectors", .look = look_at_sectors},
    {.name = "cold cache", .look = look_at_cold},
    {.name = "cache state", .look = look_at_cache},
    {.name = "O_DIRECT", .look = look_at_direct},
    {0},
};
