# The front door. The build itself is Meson's; see docs/architecture.md.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: run build check sanitize sanitize-threads fuzz peers install uninstall clean setup-run setup-check setup-peers
.DEFAULT_GOAL := build

setup-run:
	@sh scripts/setup.sh run
setup-peers:
	@sh scripts/setup.sh peers
setup-check:
	@sh scripts/setup.sh check

# Packages that came later may be used by a build that was configured without them.
$(BUILD)/build.ninja: $(wildcard build.packages)
	meson setup $(if $(wildcard $(BUILD)/build.ninja),--reconfigure) $(BUILD) --prefix $(PREFIX)

# What npm could not bring last time, the HTML report, is tried again.
build: $(BUILD)/build.ninja
	@test ! -e $(BUILD)/report/web.missing || rm -f $(BUILD)/report/web.missing $(BUILD)/report/web.c
	@ninja -C $(BUILD) $(if $(V),-v,--quiet)

# Everything from nothing to an answer; the run stays in $(BUILD)/report.*
run: setup-run
	@$(MAKE) --no-print-directory build
	@page=$$(test -e $(BUILD)/report/web.missing || echo "-o $(BUILD)/report.html"); set -x; \
	$(BUILD)/weir bench -o $(BUILD)/report.jsonl -o $(BUILD)/report.json -o $(BUILD)/report.txt $$page

check: setup-check
	@$(MAKE) --no-print-directory build
	@python3 scripts/check.py $(BUILD)

# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer; not those that limit memory or trace the program:
# the sanitizers reserve more address space than such limits allow, and look for leaks as a tracer themselves.
sanitize: setup-check
	@test -f $(BUILD)-sanitize/build.ninja || CC=clang CXX=clang++ meson setup $(BUILD)-sanitize \
	  -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=true
	@ninja -C $(BUILD)-sanitize --quiet
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 python3 scripts/check.py $(BUILD)-sanitize --timeout-multiplier 4 \
	  --no-suite faults --no-suite memory --no-suite doctor --no-suite browser

# What has threads under ThreadSanitizer. Of the library: queue, streams, parallel lines, counting, copies. Of the methods: the
# readers that use a block while the next ones are read, and the gates beneath.
sanitize-threads: setup-check
	@test -f $(BUILD)-threads/build.ninja || CC=clang CXX=clang++ meson setup $(BUILD)-threads \
	  -Db_sanitize=thread -Db_lundef=false -Dwerror=true
	@ninja -C $(BUILD)-threads --quiet $(addprefix tests/lib/test_lib_,count lines stream copy queue) \
	  tests/methods/test_overlap tests/os/test_os_gate
	@TSAN_OPTIONS=halt_on_error=1 python3 scripts/check.py $(BUILD)-threads --no-rebuild \
	  --timeout-multiplier 6 --suite threads

# The speed of weir beside that of others: a table and $(BUILD)/peers.json. Needs a machine that does nothing else. ROWS=pair
# takes only the rows with that word in their name.
ROWS ?=
peers: setup-peers
	@$(MAKE) --no-print-directory build
	@python3 scripts/peers.py $(BUILD) $(ROWS)

# A smoke test of everything that reads what others wrote. Finds crashes, hangs and leaks.
FUZZ_SECONDS ?= 20
fuzz: setup-check
	@test -f $(BUILD)-fuzz/build.ninja || CC=clang CXX=clang++ meson setup $(BUILD)-fuzz -Dfuzz=true \
	  -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C $(BUILD)-fuzz --quiet
	@sh scripts/fuzz.sh $(BUILD)-fuzz $(FUZZ_SECONDS)

# Into $(DESTDIR)$(PREFIX). A PREFIX that is said counts also where the build was configured with another one.
install: build
ifneq ($(filter command line environment,$(origin PREFIX)),)
	@meson configure $(BUILD) --prefix $(PREFIX) && ninja -C $(BUILD) --quiet
endif
	@meson install -C $(BUILD) --no-rebuild

# All that the last `make install` of this build put there, and the directories that it made.
uninstall:
	@test -f $(BUILD)/meson-logs/install-log.txt || { echo "nothing was installed from $(BUILD)" >&2; exit 2; }
	@python3 scripts/uninstall.py $(BUILD)

clean:
	rm -rf $(BUILD) build.packages $(BUILD)-sanitize $(BUILD)-threads $(BUILD)-fuzz
